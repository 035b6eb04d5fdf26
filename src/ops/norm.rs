//! Norms of vectors.

use crate::dtype::Scalar;
use smallvec::smallvec;

use super::apply::{Keep, Op, Outputs, apply_one, one, single, tangent};
use super::batch::{Answer, Call};
use super::operand::Operand;
use super::reduce::Over;
use super::select::{masked_fill, where_};
use super::{abs, compare, complex, conjugate, copy, create, div, fixed, mul, pow, sgn};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor, mode};
use crate::kernels::reduce as kernels;
use crate::tensor::{Array, Tensor};

/// y = (Σ |x|ᵖ)^(1/p), the number of elements that are not zero for p = 0, the greatest or the least
/// magnitude for p = ±∞
///
/// ∂y/∂x = sgn x · (|x|/y)^(p-1), and 0 where y is 0. For p = ±∞ it is sgn x, shared by the elements
/// that attain y.
#[derive(Clone)]
pub struct VectorNorm {
    over: Over,
    order: f64,
    /// The order as the caller gave it.
    given: Scalar,
    dtype: DType,
}

impl VectorNorm {
    fn load(&self, [x, y]: &[SavedTensor; 2], at: &At<'_>) -> Result<Tensor> {
        self.slope(&at.load(x)?, &at.load(y)?)
    }

    /// ∂y/∂x, in the type of the result.
    fn slope(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        let x = super::cast::to_dtype(x, self.dtype)?;
        let shape = x.layout();
        let y = self.over.aligned(y, shape.shape())?;
        let sign = sgn(&x)?;
        if self.order.is_infinite() {
            // Which elements they are does not change; the sign of a complex one does.
            let shares = {
                let _off = mode::GradModeGuard::off();
                let magnitude = if x.dtype().is_complex() { abs(&x)? } else { x };
                let hit = |x: f64, y: f64| f64::from(u8::from(x.abs() == y || x.is_nan() && y.is_nan()));
                let hits = fixed::zip(&magnitude, &y, hit)?;
                let count = self.over.aligned(&self.over.sum(&hits)?, shape.shape())?;
                div(&hits, &count)?
            };
            return mul(&sign, &shares);
        }
        if self.order == 1.0 {
            return Ok(sign);
        }
        if self.order == 2.0 {
            // Zero where there is no slope; the derivative of the slope is not a number there.
            let slope = div(&x, &y)?;
            return where_(
                &compare::eq(&y, 0)?,
                Operand::Scalar(Scalar::Float(0.0)),
                Operand::Tensor(&slope),
            );
        }
        let y = fixed::without_zeros(&y)?;
        let mut ratio = div(&abs(&x)?, &y)?;
        if self.order < 1.0 {
            ratio = fixed::without_zeros(&ratio)?;
        }
        mul(&sign, &pow(&ratio, self.order - 1.0)?)
    }
}

impl Op for VectorNorm {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["self", "result"];

    fn name(&self) -> &'static str {
        "LinalgVectorNormBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        let dims = self.over.given();
        shown! { dim: dims, keepdim: self.over.keepdim, ord: self.given }
    }

    fn result(&self) -> Option<DType> {
        Some(self.dtype.to_real())
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let x = inputs[0].array();
        let x = copy::as_type(&x, self.dtype.wide())?;
        let x = if x.dtype.is_complex() { complex::magnitudes(&x)? } else { x.into_owned() };
        let mut y = Array::uninit_shape(&self.over.shape(x.layout.shape()), x.dtype)?;
        dispatch!(float x.dtype, T => {
            kernels::norm(x.view::<T>(), &self.over.dims, self.order, y.fresh())
        }, else {
            return Err(Error::NormDType { dtype: self.dtype }.into())
        });
        Ok(smallvec![Tensor::from_array(y)])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        if self.order == 0.0 {
            return Ok(smallvec![None]);
        }
        let g = self.over.aligned(single(gradients), saved[0].layout().shape())?;
        if self.order == 2.0 {
            // Zero where there is no slope; the derivative of the slope is not a number there.
            let x = super::cast::to_dtype(&at.load(&saved[0])?, self.dtype)?;
            let y = self.over.aligned(&at.load(&saved[1])?, x.layout().shape())?;
            return one(mul(&g, &masked_fill(&div(&x, &y)?, &compare::eq(&y, 0)?, 0.0)?)?);
        }
        one(mul(&self.load(saved, at)?, &g)?)
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let t = tangent(tangents);
        if self.order == 0.0 {
            // How many there are does not change: the tangent is there, and nothing.
            return one(create::zeros_like(&self.over.sum(&conjugate::real(t)?)?)?);
        }
        let slope = self.load(saved, at)?;
        one(self.over.sum(&complex::real_product(&slope, t)?)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(VectorNorm { over: self.over.deeper(), ..*self })
    }
}

/// The norm of order `order` over some dimensions, or all.
pub fn vector_norm(
    x: &Tensor,
    order: impl Into<Scalar>,
    dims: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let given = order.into();
    let order = given.to_f64();
    let from = x.dtype();
    if !from.is_differentiable() {
        return Err(Error::NormDType { dtype: from }.into());
    }
    let to = dtype.unwrap_or(from);
    if !to.is_differentiable() {
        return Err(Error::NormResultDType { dtype: to }.into());
    }
    if from > to {
        return Err(Error::NormNarrowing { from, to }.into());
    }
    let over = Over::new(dims, keepdim, x)?;
    let layout = x.layout();
    if x.numel() == 0 && (order < 0.0 || order == f64::INFINITY) {
        match (dims, over.dims.iter().find(|&&dim| layout.shape()[dim] == 0)) {
            (None | Some([]), _) => return Err(Error::NormEmpty { order }.into()),
            (_, Some(&dim)) => return Err(Error::NormEmptyDimension { order, dim }.into()),
            _ => {}
        }
    }
    apply_one(VectorNorm { over, order, given, dtype: to }, &[x])
}

/// The derivative of the norm by the elements, given the norm with its dimensions kept.
pub(super) fn slope(x: &Tensor, norm: &Tensor, order: f64, dims: Option<&[i64]>) -> Result<Tensor> {
    let over = Over::new(dims, true, x)?;
    VectorNorm { over, order, given: Scalar::Float(order), dtype: x.dtype() }.slope(x, norm)
}
