//! Elements that lie anywhere, brought to loops that want them one after another: a block at a time, small
//! enough to stay in the nearest memory of the processor.
//!
//! A loop for each operation, element type and combination of strides would be most of the program. So
//! those loops run along slices only, and the walking is here, compiled once for each element type.

use ndarray::{ArrayViewD, Axis, Slice};
use std::borrow::Cow;

use super::dense::dense;
use super::parallel::parallel_items;

/// Elements of a block, roughly.
const BLOCK: usize = 1 << 12;

/// Blocks of one chunk of work.
const CHUNK: usize = 16;

/// A part of the operands whose elements follow each other in row-major order: one index into all
/// dimensions before `axis` taken together, and a range along it.
pub(super) struct Block {
    start: usize,
    outer: usize,
    axis: usize,
    range: Slice,
}

impl Block {
    /// The elements of an operand in this block: where they lie if they lie one after another.
    pub(super) fn of<'a, T: Copy + Send + Sync>(
        &self,
        operand: &ArrayViewD<'a, T>,
        len: usize,
    ) -> Cow<'a, [T]> {
        if let Some(elements) = operand.to_slice() {
            return Cow::Borrowed(&elements[self.start..self.start + len]);
        }
        let mut part = operand.clone();
        let mut outer = self.outer;
        for axis in (0..self.axis).rev() {
            let size = operand.shape()[axis];
            part.collapse_axis(Axis(axis), outer % size);
            outer /= size;
        }
        part.slice_axis_inplace(Axis(self.axis), self.range);
        dense(&part)
    }
}

/// Cuts a destination in row-major order into blocks and calls `body` with each. Where they are cut depends
/// on the shape only.
pub(super) fn each_block<V: Send>(shape: &[usize], out: &mut [V], body: &(dyn Fn(&mut [V], Block) + Sync)) {
    let inner_of = |axis: usize| shape[axis + 1..].iter().product::<usize>();
    let Some(axis) = (0..shape.len()).find(|&axis| inner_of(axis) <= BLOCK) else {
        unreachable!("the elements of a single number lie one after another")
    };
    let (size, inner) = (shape[axis], inner_of(axis));
    if out.is_empty() {
        return;
    }
    let rows = size.div_ceil((size * inner).div_ceil(BLOCK));
    let block = |outer: usize, index: usize| {
        let first = index * rows;
        let range = Slice::from(first..size.min(first + rows));
        Block { start: (outer * size + first) * inner, outer, axis, range }
    };
    if rows == size && out.len() == size * inner {
        return body(out, block(0, 0));
    }
    let outer = out.chunks_mut(size * inner).enumerate();
    let parts = outer.flat_map(|(outer, out)| {
        out.chunks_mut(rows * inner).enumerate().map(move |(index, out)| (out, block(outer, index)))
    });
    parallel_items(parts.collect(), CHUNK, |(out, block)| body(out, block));
}
