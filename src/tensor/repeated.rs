//! In-place writes to tensors whose memory shows an element several times, such as expanded tensors and windows of
//! `unfold`.
//!
//! What is written last stays, and what is calculated from the old values of an element sees what was written to
//! it before: rows that show no element twice are written one after the other, those that lie farthest apart in
//! memory outermost.

use std::cmp::Reverse;

use super::Array;
use crate::error::Result;
use crate::shape::Layout;

/// Whether all elements along some dimension are one.
pub(crate) fn is_expanded(layout: &Layout) -> bool {
    layout.numel() > 0 && repeats(layout).is_some()
}

/// A dimension along which all elements are one.
fn repeats(layout: &Layout) -> Option<usize> {
    layout.shape().iter().zip(layout.strides()).position(|(&size, &stride)| size > 1 && stride == 0)
}

/// Calls `write` with the rows of a target that show no element twice, one after the other, and with the same
/// rows of other arrays of its shape.
pub(crate) fn in_turn(
    target: &Array,
    others: &[Array],
    write: &mut dyn FnMut(&Array, &[Array]) -> Result<()>,
) -> Result<()> {
    let layout = &target.layout;
    if layout.is_non_overlapping() {
        return write(target, others);
    }
    let (shape, strides) = (layout.shape(), layout.strides());
    let outermost = (0..shape.len())
        .filter(|&dim| shape[dim] > 1)
        .max_by_key(|&dim| (strides[dim] == 0, strides[dim], shape[dim], Reverse(dim)));
    let dim = outermost.unwrap_or_else(|| unreachable!("one element is not shown twice"));
    for index in 0..shape[dim] {
        let others: Vec<Array> = others.iter().map(|other| row(other, dim, index)).collect::<Result<_>>()?;
        in_turn(&row(target, dim, index)?, &others, write)?;
    }
    Ok(())
}

/// `in_turn` for what only puts others in the place of elements: along dimensions that repeat all of them, nothing but
/// the last row stays, and there may be more rows than anybody can wait for.
pub(crate) fn replaced(
    target: &Array,
    others: &[Array],
    write: &mut dyn FnMut(&Array, &[Array]) -> Result<()>,
) -> Result<()> {
    let (mut target, mut others) = (target.clone(), others.to_vec());
    while let Some(dim) = repeats(&target.layout) {
        let last = target.layout.size(dim) - 1;
        target = row(&target, dim, last)?;
        for other in &mut others {
            *other = row(other, dim, last)?;
        }
    }
    in_turn(&target, &others, write)
}

fn row(array: &Array, dim: usize, index: usize) -> Result<Array> {
    let layout = &array.layout;
    let (mut shape, mut strides) = (layout.shape().to_vec(), layout.strides().to_vec());
    shape.remove(dim);
    let offset = layout.offset() + strides.remove(dim) * index;
    Ok(array.with_layout(Layout::strided(shape.into(), strides.into(), offset)?))
}
