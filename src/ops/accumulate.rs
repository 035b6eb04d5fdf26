//! The vector space that the engine adds gradients in: all that it may call of the operations.

use crate::dtype::{DType, Scalar};
use crate::error::Result;
use crate::graph::{Form, mode};
use crate::shape::Layout;
use crate::tensor::Tensor;

/// a + b
pub fn add(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    super::add(a, b)
}

/// a + b, in the memory of `a` if nobody else holds it and nothing is recorded.
pub fn add_owned(a: Tensor, b: &Tensor) -> Result<Tensor> {
    if !mode::is_grad_enabled()
        && !mode::special()
        && a.is_sole()
        && a.is_contiguous()
        && a.dtype() == b.dtype()
    {
        add_in_place(&a, b)?;
        return Ok(a);
    }
    super::add(&a, b)
}

/// a ← a + b, unrecorded
pub fn add_in_place(a: &Tensor, b: &Tensor) -> Result<()> {
    let _off = mode::GradModeGuard::off();
    super::add_(a, b)
}

/// One in every element of a gradient of this form.
pub fn ones(form: &Form) -> Result<Tensor> {
    let sizes: Vec<i64> = form.layout.shape().iter().map(|&size| size as i64).collect();
    super::create::full(&sizes, Scalar::Float(1.0), form.dtype)
}

/// The tensor as the first `.grad` of a leaf with this layout: itself if nobody else holds it and its
/// elements lie as the leaf's do, else a copy.
pub fn take_over(gradient: Tensor, like: &Layout) -> Result<Tensor> {
    let fits = {
        let layout = gradient.layout();
        layout.is_plain() && (like.is_contiguous() || !like.is_dense())
    };
    if fits && gradient.is_sole() { Ok(gradient.detach()) } else { copy_like(&gradient, like) }
}

/// A copy whose elements lie as those of a leaf with this layout do.
pub fn copy_like(gradient: &Tensor, like: &Layout) -> Result<Tensor> {
    if like.is_contiguous() || !like.is_dense() {
        return super::cast::clone_as(gradient, &Layout::contiguous(gradient.layout().shape()));
    }
    super::cast::clone_as(gradient, like)
}

/// The sum over the dimensions along which a tensor of `shape` was repeated.
pub fn sum_to(x: &Tensor, shape: &[usize]) -> Result<Tensor> {
    let layout = x.layout();
    let lead = layout.ndim() - shape.len();
    let repeated = |dim: usize| dim < lead || shape[dim - lead] == 1 && layout.shape()[dim] != 1;
    let dims: Vec<i64> = (0..layout.ndim()).filter(|&dim| repeated(dim)).map(|dim| dim as i64).collect();
    if dims.is_empty() {
        return Ok(x.clone());
    }
    let sum = super::reduce::sum(x, Some(&dims), true, None)?;
    if lead > 0 { super::view::reshape_to(&sum, shape) } else { Ok(sum) }
}

/// Ones of the shape and type of `x`.
pub fn ones_like(x: &Tensor) -> Result<Tensor> {
    super::create::ones_like(x)
}

/// The tensor as another type.
pub fn to_dtype(x: Tensor, dtype: DType) -> Result<Tensor> {
    if x.dtype() == dtype { Ok(x) } else { super::cast::to_dtype(&x, dtype) }
}
