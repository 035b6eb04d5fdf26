//! Softmax and its logarithm, what their derivatives make of a gradient, and log-sum-exp.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::ops;
use crate::ops::geometry::reshape;
use crate::ops::pointwise::compare;
use crate::ops::pointwise::select::where_;
use crate::ops::reduction;
use crate::ops::reduction::extremes_over;
use crate::schema::{Entry, IntoReply, Operator, OutPolicy, Types, both, function};
use smallvec::smallvec;
use std::mem::MaybeUninit;
use std::sync::Arc;

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call, plumbing};
use crate::dispatch::composites::checkpointed::{self, CheckpointedOp};
use crate::dispatch::default_dtype;
use crate::dispatch::direct::{Direct, OfWhole, Whole};
use crate::dtype::{DType, Real};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::neural::softmax as kernels;
use crate::kernels::reduction::reduce;
use crate::ops::creation::{cast, copy};
use crate::ops::reduction::over::Over;
use crate::ops::{exp, mul, sub};
use crate::shape;
use crate::tensor::{Array, Tensor};

/// Σ x along a dimension, which stays with size 1
fn total(x: &Tensor, dim: usize) -> Result<Tensor> {
    Over::along(dim, true, x.ndim()).sum(x)
}

/// The two sides' sum, where one may be absent.
fn joined(left: Option<Tensor>, right: Option<Tensor>) -> Result<Gradients> {
    match (left, right) {
        (Some(left), Some(right)) => one(ops::add(&left, &right)?),
        (left, right) => Ok(smallvec![left.or(right)]),
    }
}

/// y = eˣ / Σ eˣ, or the logarithm of that
///
/// `SoftmaxGradient` says x̄. The Jacobian J of softmax is symmetric, so ẏ = J ẋ is the same; for the
/// logarithm ẏ = ẋ - Σ eʸ ẋ.
#[derive(Clone)]
pub struct Softmax {
    dim: usize,
    /// The dimension as the caller named it.
    given: i64,
    log: bool,
    /// Whether elements that are all infinitely small become zeros.
    safe: bool,
}

impl Whole for Softmax {
    fn write<T: Real>(&self, operands: &[&Array], y: &mut [MaybeUninit<T>]) {
        match self.log {
            true => kernels::log_softmax(operands[0].view::<T>(), self.dim, y),
            false => kernels::softmax(operands[0].view::<T>(), self.dim, self.safe, y),
        }
    }
}

impl Op for Softmax {
    type Saved = SavedTensor;

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(OfWhole(self.clone())))
    }

    const SAVED: &'static [&'static str] = &["result"];

    fn name(&self) -> &'static str {
        match (self.log, self.safe) {
            (true, _) => "LogSoftmaxBackward0",
            (_, true) => "SafeSoftmaxBackward0",
            _ => "SoftmaxBackward0",
        }
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { dim: self.given }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let mut y = Array::uninit(&x.layout, x.dtype)?;
        if x.layout.numel() == 0 {
            return Ok(smallvec![y]);
        }
        dispatch!(float x.dtype, T => self.write::<T>(&[x], y.fresh()), else {
            let last = self.dim + 1 >= inputs[0].layout.ndim();
            let operation = match (self.log, last) {
                (true, true) => "log_softmax_lastdim_kernel_impl",
                (true, false) => "log_softmax_kernel_impl",
                (false, true) => "softmax_lastdim_kernel_impl",
                (false, false) => "softmax_kernel_impl",
            };
            return Err(Error::NotImplementedFor { operation, dtype: x.dtype }.into())
        });
        Ok(smallvec![y])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.output(0)
    }

    fn vjp(&self, y: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let op = SoftmaxGradient { dim: self.dim, log: self.log };
        one(apply_one(op, &[single(gradients), &at.load(y)?])?)
    }

    fn jvp(&self, y: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (y, t) = (at.load(y)?, tangent(tangents));
        one(match self.log {
            true => sub(t, &total(&mul(&exp(&y)?, t)?, self.dim)?)?,
            false => softmax_gradient(t, &y, self.dim)?,
        })
    }

    fn plumbing(&self) -> &'static str {
        if self.safe && !self.log { plumbing::GENERATED } else { plumbing::REDUCTION }
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.deeper(Softmax { dim: self.dim + 1, ..*self })
    }
}

/// From a gradient g and the result y of softmax: z = y (g - Σ g y); of its logarithm: z = g - eʸ Σ g
///
/// softmax: ḡ = y (z̄ - Σ z̄ y), ȳ = z̄ (g - Σ g y) - g Σ z̄ y,
/// ż = y (ġ - Σ ġ y) + ẏ (g - Σ g y) - y Σ g ẏ
/// logarithm: ḡ = z̄ - Σ z̄ eʸ, ȳ = -z̄ eʸ Σ g, ż = ġ - eʸ Σ ġ - ẏ eʸ Σ g
#[derive(Clone)]
struct SoftmaxGradient {
    dim: usize,
    log: bool,
}

impl SoftmaxGradient {
    /// g - Σ g y
    fn centred(&self, g: &Tensor, y: &Tensor) -> Result<Tensor> {
        sub(g, &total(&mul(g, y)?, self.dim)?)
    }

    /// -eʸ Σ g
    fn weight(&self, g: &Tensor, y: &Tensor) -> Result<Tensor> {
        ops::neg(&mul(&exp(y)?, &total(g, self.dim)?)?)
    }
}

impl Whole for SoftmaxGradient {
    fn write<T: Real>(&self, operands: &[&Array], z: &mut [MaybeUninit<T>]) {
        let [g, y] = [0, 1].map(|index| operands[index].view::<T>());
        match self.log {
            true => kernels::log_softmax_backward(g, y, self.dim, z),
            false => kernels::softmax_backward(g, y, self.dim, z),
        }
    }
}

impl Op for SoftmaxGradient {
    type Saved = [SavedTensor; 2];

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(OfWhole(self.clone())))
    }

    const SAVED: &'static [&'static str] = &["grad_output", "output"];

    fn name(&self) -> &'static str {
        if self.log { "LogSoftmaxBackwardDataBackward0" } else { "SoftmaxBackwardDataBackward0" }
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { dim: self.dim }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let y = &inputs[1];
        let g = &inputs[0];
        let g = copy::as_type(g, y.dtype)?;
        let mut z = Array::uninit(&y.layout, y.dtype)?;
        if y.layout.numel() == 0 {
            return Ok(smallvec![z]);
        }
        dispatch!(float y.dtype, T => self.write::<T>(&[&g, y], z.fresh()), else {
            return Err(Error::NotImplementedFor { operation: "softmax_backward", dtype: y.dtype }.into())
        });
        Ok(smallvec![z])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.input(1)]
    }

    fn vjp(&self, [g, y]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (g, y, z) = (at.load(g)?, at.load(y)?, single(gradients));
        let to_g = match (at.needs(0), self.log) {
            (false, _) => None,
            (true, true) => Some(self.centred_log(z, &y)?),
            (true, false) => Some(softmax_gradient(z, &y, self.dim)?),
        };
        let to_y = match (at.needs(1), self.log) {
            (false, _) => None,
            (true, true) => Some(mul(z, &self.weight(&g, &y)?)?),
            (true, false) => {
                let through = mul(z, &self.centred(&g, &y)?)?;
                Some(sub(&through, &mul(&g, &total(&mul(z, &y)?, self.dim)?)?)?)
            }
        };
        Ok(smallvec![to_g, to_y])
    }

    fn jvp(&self, [g, y]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (g, y) = (at.load(g)?, at.load(y)?);
        let through_g = match &tangents[0] {
            Some(t) => Some(apply_one(SoftmaxGradient { dim: self.dim, log: self.log }, &[t, &y])?),
            None => None,
        };
        let through_y = match &tangents[1] {
            None => None,
            Some(t) if self.log => Some(mul(t, &self.weight(&g, &y)?)?),
            Some(t) => {
                let moved = mul(&y, &total(&mul(&g, t)?, self.dim)?)?;
                Some(sub(&mul(t, &self.centred(&g, &y)?)?, &moved)?)
            }
        };
        joined(through_g, through_y)
    }

    fn plumbing(&self) -> &'static str {
        plumbing::REDUCTION
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.deeper(SoftmaxGradient { dim: self.dim + 1, ..*self })
    }
}

impl SoftmaxGradient {
    /// z - Σ z eʸ
    fn centred_log(&self, z: &Tensor, y: &Tensor) -> Result<Tensor> {
        sub(z, &total(&mul(z, &exp(y)?)?, self.dim)?)
    }
}

/// The gradient that passes through softmax along a dimension, from that of its result `y`.
pub(crate) fn softmax_gradient(gradient: &Tensor, y: &Tensor, dim: usize) -> Result<Tensor> {
    apply_one(SoftmaxGradient { dim, log: false }, &[gradient, y])
}

fn along(x: &Tensor, dim: i64, dtype: Option<DType>, [log, safe]: [bool; 2]) -> Result<Tensor> {
    let (dim, given) = (shape::normalize_dim(dim, x.ndim())?, dim);
    let x = match dtype {
        Some(dtype) => cast::to_dtype(x, dtype)?,
        None => x.clone(),
    };
    apply_one(Softmax { dim, given, log, safe }, &[&x])
}

/// eˣ, scaled to add up to one along a dimension.
pub fn softmax(x: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    along(x, dim, dtype, [false, false])
}

/// `softmax`, which is zero where all elements are infinitely small.
pub fn safe_softmax(x: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    along(x, dim, dtype, [false, true])
}

/// The logarithm of `softmax`, without its loss of precision.
pub fn log_softmax(x: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    along(x, dim, dtype, [true, false])
}

/// y = ln Σ eˣ
///
/// dy = Σ e^(x - y) dx, x̄ = ȳ e^(x - y)
#[derive(Clone)]
pub struct LogSumExp {
    over: Over,
}

impl LogSumExp {
    fn slope(&self, [x, y]: &[SavedTensor; 2], at: &At<'_>) -> Result<Tensor> {
        let x = at.load(x)?;
        exp(&sub(&x, &self.over.aligned(&at.load(y)?, x.layout().shape())?)?)
    }
}

impl Whole for LogSumExp {
    fn write<T: Real>(&self, operands: &[&Array], y: &mut [MaybeUninit<T>]) {
        reduce::logsumexp(operands[0].view::<T>(), &self.over.dims, y);
    }
}

impl Op for LogSumExp {
    type Saved = [SavedTensor; 2];

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(OfWhole(self.clone())))
    }

    const SAVED: &'static [&'static str] = &["self", "result"];

    fn name(&self) -> &'static str {
        "LogsumexpBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { dim: self.over.given(), keepdim: self.over.keepdim }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let result = if x.dtype.is_float() { x.dtype } else { default_dtype::get() };
        let dtype = result.wide();
        let x = copy::as_type(x, dtype)?;
        let mut y = Array::uninit_shape(&self.over.shape(x.layout.shape()), dtype)?;
        dispatch!(float dtype, T => self.write::<T>(&[&x], y.fresh()), else {
            unreachable!("the default type is a floating-point type")
        });
        Ok(smallvec![copy::rounded(y, result)?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let g = self.over.aligned(single(gradients), saved[0].layout().shape())?;
        one(mul(&g, &self.slope(saved, at)?)?)
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(self.over.sum(&mul(&self.slope(saved, at)?, tangent(tangents))?)?)
    }

    fn plumbing(&self) -> &'static str {
        plumbing::REDUCTION
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(LogSumExp { over: self.over.deeper() })
    }
}

/// `logsumexp` of complex numbers, of which the greatest real part is taken out first.
fn complex_logsumexp(x: &Tensor, dims: &[i64], keepdim: bool) -> Result<Tensor> {
    let greatest = extremes_over::amax(&ops::conjugate::real(&x.detach())?, dims, true)?;
    let greatest = where_(&compare::isinf(&greatest)?, 0.0, &greatest)?;
    let apart = ops::sub(x, &greatest)?;
    let sum = reduction::reduce::sum(&ops::exp(&apart)?, Some(dims), keepdim, None)?;
    let over = Over::new(Some(dims), keepdim, x)?;
    let greatest = reshape::reshape_to(&greatest, &over.shape(x.layout().shape()))?;
    ops::add(&ops::log(&sum)?, &greatest)
}

/// The logarithm of the sum of exponentials over some dimensions.
pub fn logsumexp(x: &Tensor, dims: &[i64], keepdim: bool) -> Result<Tensor> {
    if x.dtype().is_complex() {
        let over = Over::new(Some(dims), keepdim, x)?;
        let (shown, dims) = (shown! { dim: over.given(), keepdim: keepdim }, dims.to_vec());
        let parts = move |inputs: &[&Tensor]| Ok(smallvec![complex_logsumexp(inputs[0], &dims, keepdim)?]);
        let names = &["self", "result"];
        return checkpointed::apply_one(
            CheckpointedOp {
                shown,
                ..CheckpointedOp::new("logsumexp", "LogsumexpBackward0", names, 1, parts)
            },
            &[x],
        );
    }
    apply_one(LogSumExp { over: Over::new(Some(dims), keepdim, x)? }, &[x])
}

const SOFTMAX: &[&str] = &["(Tensor input, int dim, dtype? dtype=None, *, Tensor out=None)"];

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    (
        "LogSoftmaxBackwardDataBackward0",
        "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
    ),
    (
        "SoftmaxBackwardDataBackward0",
        "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
    ),
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("softmax", SOFTMAX, "The softmax along a dimension: exponentials, scaled to sum up to one.", |a| {
        softmax(a.tensor(0)?, a.int(1)?, a.dtype(2)).reply()
    })
    .written(&OutPolicy::PLAIN.unknown("softmax").typed(Types::Same).out_as(|_| ".int_out"))
    .operators(&[("SoftmaxBackward0", "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor")]),
    function(
        "_safe_softmax",
        SOFTMAX,
        "The softmax along a dimension, zero where all elements are minus infinity.",
        |a| safe_softmax(a.tensor(0)?, a.int(1)?, a.dtype(2)).reply(),
    ),
    both("log_softmax", SOFTMAX, "The logarithm of the softmax along a dimension.", |a| {
        log_softmax(a.tensor(0)?, a.int(1)?, a.dtype(2)).reply()
    })
    .written(&OutPolicy::PLAIN.unknown("log_softmax").typed(Types::Same).out_as(|_| ".int_out"))
    .operators(&[(
        "LogSoftmaxBackward0",
        "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
    )]),
    both(
        "logsumexp",
        &["(Tensor input, int[1] dim, bool keepdim=False, *, Tensor out=None)"],
        "The logarithm of the sum of the exponentials along dimensions.",
        |a| logsumexp(a.tensor(0)?, &a.ints(1)?, a.boolean(2)).reply(),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Logsumexp))
    .operators(&[("LogsumexpBackward0", "logsumexp")]),
];

plain! {
    struct Softmax { dim, given, log, safe }
    struct SoftmaxGradient { dim, log }
    struct LogSumExp { over }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[
    portable::row::<Softmax>("softmax"),
    portable::row::<SoftmaxGradient>("softmax gradient"),
    portable::row::<LogSumExp>("logsumexp"),
];
