//! Any view as row-major memory, and row-major memory as seen from one of its axes. The kernels
//! that walk along an axis start from here.

use ndarray::{ArrayViewD, ArrayViewMutD, Dimension};
use std::borrow::Cow;

use crate::kernels::geometry::moves;

/// The elements in row-major order: borrowed where they lie so, copied otherwise.
pub(in crate::kernels) fn dense<'a, T: Copy + Send + Sync>(view: &ArrayViewD<'a, T>) -> Cow<'a, [T]> {
    match view.to_slice() {
        Some(slice) => Cow::Borrowed(slice),
        None => Cow::Owned(moves::gathered(view)),
    }
}

/// Lets `change` work on the elements in row-major order, wherever they lie.
pub(in crate::kernels) fn with_dense<T: Copy + Send + Sync>(
    mut view: ArrayViewMutD<'_, T>,
    change: impl FnOnce(&mut [T]),
) {
    match view.as_slice_mut() {
        Some(slice) => change(slice),
        None => {
            let mut copy = moves::gathered(&view.view());
            change(&mut copy);
            let shape = view.raw_dim();
            moves::move_into(view, moves::ordered(shape.slice(), &mut copy).view());
        }
    }
}

/// A row-major array seen from one axis: `outer` blocks of `len` rows of `inner` elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::kernels) struct Extent {
    pub(in crate::kernels) outer: usize,
    pub(in crate::kernels) len: usize,
    pub(in crate::kernels) inner: usize,
}

impl Extent {
    /// Around `axis` of `shape`; a 0-dimensional array has one axis of length 1.
    pub(in crate::kernels) fn new(shape: &[usize], axis: usize) -> Extent {
        let after = (axis + 1).min(shape.len());
        Extent {
            outer: shape[..axis.min(shape.len())].iter().product(),
            len: shape.get(axis).copied().unwrap_or(1),
            inner: shape[after..].iter().product(),
        }
    }
}
