//! Norms of vectors.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::dtype::Scalar;
use crate::ops::creation::cast;
use crate::schema::{Entry, IntoReply, OutPolicy, Types, inner};
use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call, plumbing};
use crate::dispatch::fixed;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor, mode};
use crate::kernels::reduction::reduce as kernels;
use crate::ops::creation::{copy, create};
use crate::ops::pointwise::compare;
use crate::ops::pointwise::select::masked_fill;
use crate::ops::reduction::over::Over;
use crate::ops::{abs, complex, conjugate, div, mul, pow, sgn};
use crate::shape;
use crate::tensor::{Array, Tensor};

/// y = (Σ |x|ᵖ)^(1/p), the number of elements that are not zero for p = 0, the greatest or the least
/// magnitude for p = ±∞
///
/// ∂y/∂x = sgn x · (|x|/y)^(p-1), and 0 where y is 0. For p = ±∞ it is sgn x, shared by the elements
/// that attain y. Powers of x and of y are calculated apart, as torch does.
#[derive(Clone)]
pub struct VectorNorm {
    over: Over,
    order: f64,
    /// The order as the caller gave it.
    given: Scalar,
    dtype: DType,
    /// Whether it is torch's `norm`, not `linalg.vector_norm`.
    old: bool,
}

impl VectorNorm {
    /// x̄ from ȳ, in the type of the result: 0 where y is.
    fn back(&self, x: &Tensor, y: &Tensor, g: &Tensor) -> Result<Tensor> {
        let (x, p) = (cast::to_dtype(x, self.dtype)?, self.order);
        let shape = x.layout();
        let (y, g) = (self.over.aligned(y, shape.shape())?, self.over.aligned(g, shape.shape())?);
        if p.is_infinite() {
            // Which elements they are does not change.
            let _off = mode::GradModeGuard::off();
            let hits = fixed::equal(&abs(&x)?, &y, true)?;
            let count = self.over.aligned(&self.over.sum(&hits)?, shape.shape())?;
            drop(_off);
            return mul(&sgn(&x)?, &mul(&div(&g, &count)?, &hits)?);
        }
        if p == 1.0 {
            return mul(&sgn(&x)?, &g);
        }
        let still = compare::eq(&y, 0)?;
        if p == 2.0 {
            return mul(&g, &masked_fill(&div(&x, &y)?, &still, 0.0)?);
        }
        if p < 1.0 {
            let steep = masked_fill(&pow(&abs(&x)?, p - 1.0)?, &compare::eq(&x, 0)?, 0.0)?;
            return mul(&mul(&mul(&sgn(&x)?, &steep)?, &g)?, &pow(&y, 1.0 - p)?);
        }
        let own = match p < 2.0 {
            true => mul(&sgn(&x)?, &pow(&abs(&x)?, p - 1.0)?)?,
            false => mul(&x, &pow(&abs(&x)?, p - 2.0)?)?,
        };
        mul(&own, &masked_fill(&div(&g, &pow(&y, p - 1.0)?)?, &still, 0.0)?)
    }

    /// ∂y/∂x, in the type of the result.
    fn slope(&self, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        self.back(x, y, &create::ones_like(y)?)
    }
}

impl Op for VectorNorm {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["self", "result"];

    fn name(&self) -> &'static str {
        if self.old { "NormBackward1" } else { "LinalgVectorNormBackward0" }
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        let dims = self.over.given();
        let mut shown = shown! { dim: dims, keepdim: self.over.keepdim };
        shown.push((if self.old { "p" } else { "ord" }, self.given.into()));
        shown
    }

    fn result(&self) -> Option<DType> {
        Some(self.dtype.to_real())
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let x = copy::as_type(x, self.dtype.wide())?;
        let x = if x.dtype.is_complex() { complex::magnitudes(&x)? } else { x.into_owned() };
        let mut y = Array::uninit_shape(&self.over.shape(x.layout.shape()), x.dtype)?;
        // Of a single element it is the magnitude, whatever becomes of its powers.
        let single = self.order != 0.0 && self.over.count(x.layout.shape()) == 1;
        let order = if single { 1.0 } else { self.order };
        dispatch!(float x.dtype, T => {
            kernels::norm(x.view::<T>(), &self.over.dims, order, y.fresh())
        }, else {
            return Err(Error::NormDType { dtype: self.dtype }.into())
        });
        Ok(smallvec![y])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        if self.order == 0.0 {
            return Ok(smallvec![None]);
        }
        one(self.back(&at.load(&saved[0])?, &at.load(&saved[1])?, single(gradients))?)
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let t = tangent(tangents);
        if self.order == 0.0 {
            // How many there are does not change: the tangent is there, and nothing.
            return one(create::zeros_like(&self.over.sum(&conjugate::real(t)?)?)?);
        }
        let slope = self.slope(&at.load(&saved[0])?, &at.load(&saved[1])?)?;
        one(self.over.sum(&complex::real_product(&slope, t)?)?)
    }

    fn plumbing(&self) -> &'static str {
        if self.old { plumbing::GENERATED } else { plumbing::REDUCTION }
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
    apply_one(VectorNorm { over, order, given, dtype: to, old: false }, &[x])
}

/// `vector_norm` along a dimension, as torch's older function of that name.
pub fn norm_along(x: &Tensor, order: f64, dim: i64, keepdim: bool) -> Result<Tensor> {
    let place = shape::normalize_dim(dim, x.ndim())?;
    let over = Over::along(place, keepdim, x.ndim());
    apply_one(VectorNorm { over, order, given: Scalar::Float(order), dtype: x.dtype(), old: true }, &[x])
}

/// The norm along some dimensions, as it lies in a larger tensor.
fn lying(x: &Tensor, order: f64, dims: Option<&[i64]>) -> Result<VectorNorm> {
    let over = Over::new(dims, true, x)?;
    Ok(VectorNorm { over, order, given: Scalar::Float(order), dtype: x.dtype(), old: false })
}

/// The gradient of elements from that of their norm, both with its dimensions kept.
pub(crate) fn back(
    x: &Tensor,
    norm: &Tensor,
    gradient: &Tensor,
    order: f64,
    dims: Option<&[i64]>,
) -> Result<Tensor> {
    lying(x, order, dims)?.back(x, norm, gradient)
}

/// The derivative of the norm by the elements, given the norm with its dimensions kept.
pub(crate) fn slope(x: &Tensor, norm: &Tensor, order: f64, dims: Option<&[i64]>) -> Result<Tensor> {
    lying(x, order, dims)?.slope(x, norm)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "norm",
    &["(Tensor input, float p, int dim, bool keepdim)"],
    "The p-norm of all elements, or of those along dimensions.",
    |a| norm_along(a.tensor(0)?, a.float(1)?, a.int(2)?, a.boolean(3)).reply(),
)
.written(&OutPolicy::PLAIN.refused_as("linalg_vector_norm").typed(Types::Same))
.operators(&[(
    "NormBackward1",
    "norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
)]),
    inner(
        "linalg_vector_norm",
        &[
            "(Tensor input, Number ord=2, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None, Tensor out=None)",
        ],
        "The vector norm of all elements, or along dimensions.",
        |a| {
            let (order, dims) = (a.number(1)?, a.dims(2)?);
            vector_norm(a.tensor(0)?, order, dims.as_deref(), a.boolean(3), a.dtype(4)).reply()
        },
    ).written(&OutPolicy::PLAIN.typed(Types::Same))
    .operators(&[("LinalgVectorNormBackward0", "linalg_vector_norm")]),
];

plain! {
    struct VectorNorm { over, order, given, dtype, old }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<VectorNorm>("vector norm")];
