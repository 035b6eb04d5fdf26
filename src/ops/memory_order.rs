//! How the results of elementwise operations lie in memory: their dimensions are in the order of
//! those of the operands. Kernels know row-major results only, so operands are shown to them with
//! the dimensions sorted, and the result is shown with the dimensions put back.

use crate::shape::{self, Dims, Layout};
use crate::tensor::Array;

/// The order of dimensions in memory, outermost first, where it is not row-major.
pub(super) struct MemoryOrder {
    dims: Dims,
}

impl MemoryOrder {
    /// The order of the result of operands of one shape; `None` if it is row-major.
    pub(super) fn of(operands: &[&Array]) -> Option<MemoryOrder> {
        let (first, rest) = operands.split_first()?;
        if first.layout.ndim() < 2 || operands.iter().all(|operand| operand.layout.is_contiguous()) {
            return None;
        }
        let mut strides: smallvec::SmallVec<[&[usize]; 3]> = smallvec::smallvec![first.layout.strides()];
        strides.extend(rest.iter().map(|operand| operand.layout.strides()));
        shape::memory_order(first.layout.shape(), &strides).map(|dims| MemoryOrder { dims })
    }

    /// The array with its dimensions in this order.
    pub(super) fn sorted(&self, array: &Array) -> Array {
        let pick = |values: &[usize]| -> Dims { self.dims.iter().map(|&dim| values[dim]).collect() };
        let layout = &array.layout;
        array.with_layout(Layout::strided(pick(layout.shape()), pick(layout.strides()), layout.offset()))
    }

    /// A sorted array with its dimensions where they were.
    pub(super) fn restored(&self, array: &Array) -> Array {
        let layout = &array.layout;
        let (mut shape, mut strides): (Dims, Dims) = (layout.shape().into(), layout.strides().into());
        for (place, &dim) in self.dims.iter().enumerate() {
            shape[dim] = layout.shape()[place];
            strides[dim] = layout.strides()[place];
        }
        let restored = Layout::strided(shape, strides, layout.offset());
        array.with_layout(restored)
    }
}
