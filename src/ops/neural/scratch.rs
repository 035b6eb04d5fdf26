//! Memory that kernels of layers work in, and elements of arrays that lie in order.

use crate::dtype::Number;
use crate::kernels::interrupt;
use crate::shape::SharedLayout;
use crate::tensor::Array;

/// The elements of an array that was laid out in order.
pub(super) fn elements<T: Number>(array: &Array) -> &[T] {
    array.slice().unwrap_or_else(|| unreachable!("the operands were laid out in order"))
}

/// Memory of zeros for so many elements. Work for which there is none is given up.
pub(super) fn room<T: Number>(len: usize) -> Array {
    let zeroed = SharedLayout::contiguous(&[len]).and_then(|layout| Array::zeroed(&layout, T::DTYPE));
    zeroed.unwrap_or_else(|_| interrupt::exhausted(len.saturating_mul(size_of::<T>())))
}
