//! Tensors out of nothing: filled, counted.

use std::sync::Arc;

use crate::dtype::{DType, Scalar};
use crate::error::Result;
use crate::kernels::map;
use crate::shape::{self, Layout};
use crate::tensor::{Array, Tensor};

/// Zeros.
pub fn zeros(shape: &[i64], dtype: DType) -> Result<Tensor> {
    let layout = Arc::new(Layout::contiguous(&shape::checked_shape(shape)?));
    Ok(Tensor::from_array(Array::zeroed(&layout, dtype)?))
}

/// Uninitialised memory, which is all that it promises; it is zeros, so that nothing leaks.
pub fn empty(shape: &[i64], dtype: DType) -> Result<Tensor> {
    zeros(shape, dtype)
}

/// Every element `value`.
pub fn full(shape: &[i64], value: Scalar, dtype: DType) -> Result<Tensor> {
    filled(&Arc::new(Layout::contiguous(&shape::checked_shape(shape)?)), value, dtype)
}

fn filled(layout: &Arc<Layout>, value: Scalar, dtype: DType) -> Result<Tensor> {
    let mut array = Array::uninit(layout, dtype)?;
    dispatch!(all dtype, T => map::fill_slice(array.fresh::<T>(), value.to::<T>()));
    Ok(Tensor::from_array(array))
}

/// Zeros of the shape and type of `x`.
pub fn zeros_like(x: &Tensor) -> Result<Tensor> {
    full_like(x, Scalar::Int(0), x.dtype())
}

/// Ones of the shape and type of `x`.
pub fn ones_like(x: &Tensor) -> Result<Tensor> {
    full_like(x, Scalar::Int(1), x.dtype())
}

/// Every element `value`, in the shape of `x`.
pub fn full_like(x: &Tensor, value: Scalar, dtype: DType) -> Result<Tensor> {
    filled(&x.layout(), value, dtype)
}
