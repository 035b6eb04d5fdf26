//! In which order dimensions lie in memory: of results, from that of operands. One place for the rule, so that
//! whatever makes a result lays it out alike.

use std::cmp::Ordering;

use smallvec::{SmallVec, smallvec};

use super::{Dims, Layout};

/// The order of dimensions in memory, outermost first, of operands that are shown in one shape with these
/// strides. The first operand that tells two dimensions apart decides; repeated elements (stride 0) tell
/// nothing, and dimensions that nobody tells apart stay in their order.
pub fn memory_order(shape: &[usize], operands: &[&[usize]]) -> Dims {
    // Innermost first while sorting.
    let mut order: Dims = (0..shape.len()).rev().collect();
    let compare = |inner: usize, outer: usize| {
        for strides in operands {
            match (strides[inner], strides[outer]) {
                (0, _) | (_, 0) => {}
                (a, b) if a != b => return a.cmp(&b),
                _ if shape[inner] > shape[outer] => return Ordering::Greater,
                _ => {}
            }
        }
        Ordering::Equal
    };
    for start in 1..order.len() {
        let mut outer = start;
        for inner in (0..start).rev() {
            match compare(order[inner], order[outer]) {
                Ordering::Greater => {
                    order.swap(inner, outer);
                    outer = inner;
                }
                Ordering::Less => break,
                Ordering::Equal => {}
            }
        }
    }
    order.reverse();
    order
}

/// The strides of elements without gaps, the dimensions in this order, outermost first.
pub fn strides_in(order: &[usize], size: impl Fn(usize) -> usize) -> Dims {
    let (mut strides, mut next): (Dims, usize) = (SmallVec::from_elem(1, order.len()), 1);
    for &dim in order.iter().rev() {
        strides[dim] = next;
        next *= size(dim);
    }
    strides
}

/// The strides without gaps and repetitions that leave dimensions in the order in which these strides have them.
pub(super) fn dense_strides(shape: &[usize], strides: &[usize]) -> Dims {
    strides_in(&memory_order(shape, &[strides]), |dim| shape[dim].max(1))
}

/// The order of the dimensions of elements without gaps, outermost first.
pub fn order_of_strides(shape: &[usize], strides: &[usize]) -> Dims {
    let mut order: Dims = (0..shape.len()).collect();
    order.sort_by_key(|&dim| std::cmp::Reverse((strides[dim], shape[dim])));
    order
}

/// The strides with which the second dimension, that of channels, comes last in memory.
pub fn channels_last_strides(shape: &[usize]) -> Dims {
    let order: Dims = std::iter::once(0).chain(2..shape.len()).chain([1]).collect();
    strides_in(&order, |dim| shape[dim])
}

/// Whether the second dimension, that of channels, comes last in memory, whatever the strides of dimensions of
/// size one say.
pub fn is_channels_last(shape: &[usize], strides: &[usize]) -> bool {
    let expected = channels_last_strides(shape);
    (0..shape.len()).all(|dim| shape[dim] == 1 || strides[dim] == expected[dim])
}

/// Whether four dimensions are meant as images, or five as volumes, of which the channels come last in memory.
/// Where sizes of one leave that open, they are not.
pub fn suggests_channels_last(shape: &[usize], strides: &[usize]) -> bool {
    if !matches!(shape.len(), 4 | 5) || strides[1] == 0 {
        return false;
    }
    let mut least = 0;
    for dim in std::iter::once(1).chain((2..shape.len()).rev()).chain([0]) {
        if shape[dim] == 0 || strides[dim] < least || dim == 0 && least == strides[1] {
            return false;
        }
        least = strides[dim] * shape[dim].max(1);
    }
    true
}

/// The strides of the result of an elementwise operation, if they are not simply those of row-major elements.
/// `shape` is what the operands broadcast to; a number is an operand without dimensions.
///
/// Operands of one shape agree on an order or they do not: row-major elements give such, channels that all have
/// last stay last, and what lies without gaps and alike is followed stride by stride. Else the dimensions are
/// sorted.
pub fn result_strides(shape: &[usize], operands: &[&Layout]) -> Option<Dims> {
    // The usual case: nobody asks for another order.
    let usual = |operand: &&Layout| {
        operand.is_row_major() && operand.numel() > 0 || operand.strides().iter().all(|&stride| stride == 0)
    };
    if operands.iter().all(usual) {
        return None;
    }
    let alike = operands.iter().all(|operand| operand.shape() == shape);
    if alike {
        if operands.iter().all(|operand| operand.is_contiguous()) {
            return None;
        }
        let four = |operand: &&Layout| operand.ndim() == 4 && is_channels_last(shape, operand.strides());
        if operands.iter().all(four) {
            return Some(channels_last_strides(shape));
        }
        let (first, rest) = operands.split_first()?;
        if first.is_dense() && rest.iter().all(|operand| operand.strides() == first.strides()) {
            return Some(first.strides().into());
        }
    }
    if shape.len() < 2 {
        return None;
    }
    let shown: SmallVec<[Dims; 3]> =
        operands.iter().map(|operand| repeated_strides(operand, shape)).collect();
    let shown: SmallVec<[&[usize]; 3]> = shown.iter().map(|strides| strides.as_slice()).collect();
    let order = memory_order(shape, &shown);
    let row_major = order.iter().enumerate().all(|(place, &dim)| place == dim);
    (!row_major).then(|| strides_in(&order, |dim| shape[dim]))
}

/// The strides of an operand in a larger shape, zero in every dimension that it does not have or repeats.
fn repeated_strides(operand: &Layout, shape: &[usize]) -> Dims {
    let mut strides: Dims = smallvec![0; shape.len()];
    let lead = shape.len() - operand.ndim();
    for (dim, (&size, &stride)) in operand.shape().iter().zip(operand.strides()).enumerate() {
        strides[lead + dim] = if size == 1 && shape[lead + dim] != 1 { 0 } else { stride };
    }
    strides
}

/// Whether strides are those of fresh row-major elements in every dimension, also where they say nothing.
pub(super) fn is_row_major(shape: &[usize], strides: &[usize]) -> bool {
    let mut expected = 1;
    for (&size, &stride) in shape.iter().zip(strides).rev() {
        if stride != expected {
            return false;
        }
        expected *= size.max(1);
    }
    true
}
