//! `nansum`, `nanmean`, `trace` and `logcumsumexp`.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::graph::Attributes;
use crate::graph::shown::shown;
use crate::ops;
use crate::ops::geometry::part::Part;
use crate::ops::pointwise::logical;
use crate::shape::Layout;

use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call, Samples, plumbing};
use crate::dispatch::composites::attribute_override::apply_one_with_attributes;
use crate::dispatch::modes::recording;
use crate::dispatch::unary;
use crate::dtype::{Complex, DType};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor, mode};
use crate::kernels::pointwise::math;
use crate::kernels::reduction;
use crate::kernels::reduction::scan::Along;
use crate::ops::creation::{cast, copy, create};
use crate::ops::geometry::{expand, part, rearrange, reshape};
use crate::ops::indexing::along;
use crate::ops::pointwise::compare;
use crate::ops::pointwise::select::where_;
use crate::ops::reduction::over::Over;
use crate::ops::reduction::reduce::accumulated;
use crate::ops::reduction::{extremes_over, reduce, scan};
use crate::ops::{abs, add, conjugate, exp, log, mul, sub};
use crate::schema::{Entry, IntoReply, OutPolicy, Types, both};
use crate::shape::{self, SharedLayout};
use crate::storage;
use crate::tensor::{Array, Tensor};

/// y = Σ x over the elements that are not NaN
///
/// dy = Σ dx over the same; x̄ = ȳ there, and 0 where x is NaN
#[derive(Clone)]
struct Nansum {
    over: Over,
    dtype: DType,
}

impl Op for Nansum {
    type Saved = SavedTensor;
    const SAVED: &'static [&'static str] = &["self"];

    fn name(&self) -> &'static str {
        "NansumBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { dim: self.over.given(), keepdim: self.over.keepdim }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let wide = inputs[0].dtype.wide();
        let x = copy::as_type_in_order(
            &inputs[0],
            if self.dtype.is_differentiable() { self.dtype } else { wide },
        )?;
        if x.dtype == self.dtype && x.dtype.is_float() && !x.dtype.is_stored() {
            // Usually nothing is NaN. Then the plain sum is no NaN either, and one pass over the elements is enough.
            let sum = self.over.sum_numbers(&x, None)?;
            let are_numbers = dispatch!(float sum.dtype, T => {
                sum.view::<T>().iter().all(|sum| !sum.is_nan())
            }, else { unreachable!("only floating-point types come here") });
            if are_numbers {
                return Ok(smallvec![sum]);
            }
        }
        let x = copy::as_type_in_order(&x, wide)?;
        let x = dispatch!(float x.dtype, T => {
            unary::compute::<T, T>(&x, x.dtype, |x| if x.is_nan() { 0.0 } else { x })?
        }, else { unreachable!("only floating-point types come here") });
        // NaN is replaced before the conversion: `dtype` may be an integer type, which has none.
        Ok(smallvec![self.over.sum_numbers(&x, Some(self.dtype))?])
    }

    fn save(&self, keep: &Keep<'_>) -> SavedTensor {
        keep.input(0)
    }

    fn vjp(&self, saved: &SavedTensor, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let x = at.load(saved)?;
        let spread = self.over.spread(single(gradients), x.layout().shape())?;
        one(mul(&spread, &logical::not(&compare::isnan(&x.detach())?)?)?)
    }

    fn jvp(&self, saved: &SavedTensor, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let x = at.load(saved)?;
        let numbers = where_(&compare::isnan(&x)?, 0.0, tangent(tangents))?;
        one(self.over.sum(&cast::to_dtype(&numbers, self.dtype)?)?)
    }

    fn plumbing(&self) -> &'static str {
        plumbing::REDUCTION
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(Nansum { over: self.over.deeper(), ..*self })
    }
}

/// The sum of the elements that are not NaN.
pub fn nansum(x: &Tensor, dims: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    if x.dtype().is_complex() {
        return Err(Error::NanSumOfComplex {}.into());
    }
    if !x.dtype().is_float() {
        return reduce::sum(x, dims, keepdim, dtype);
    }
    let dtype = dtype.unwrap_or(accumulated(x.dtype()));
    apply_one(Nansum { over: Over::new(dims, keepdim, x)?, dtype }, &[x])
}

/// The mean of the elements that are not NaN.
pub fn nanmean(x: &Tensor, dims: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    if x.dtype().is_complex() {
        return Err(Error::NanSumOfComplex {}.into());
    }
    if !x.dtype().is_float() {
        return Err(Error::NanmeanDType { dtype: x.dtype() }.into());
    }
    if let Some(dtype) = dtype.filter(|dtype| !dtype.is_differentiable()) {
        return Err(Error::FloatResultNeeded { operation: "nanmean", dtype }.into());
    }
    let numbers = logical::not(&compare::isnan(&x.detach())?)?;
    let count = reduce::sum(&numbers, dims, keepdim, None)?;
    ops::div(&nansum(x, dims, keepdim, dtype)?, &count)
}

/// y = Σ of the diagonal of x
///
/// dy = Σ of that of dx; x̄ = ȳ on the diagonal
#[derive(Clone)]
struct Trace;

impl Op for Trace {
    type Saved = SharedLayout;

    fn name(&self) -> &'static str {
        "TraceBackward0"
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        shown! { self_sym_sizes: saved }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let diagonal = Part::Diagonal { offset: 0, first: 0, second: 1 }.of(&inputs[0])?;
        Ok(smallvec![Over::along(0, false, 1).sum_numbers(&diagonal, None)?])
    }

    fn save(&self, keep: &Keep<'_>) -> SharedLayout {
        keep.layout(0)
    }

    fn vjp(&self, source: &SharedLayout, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let g = single(gradients);
        let (rows, columns) = (source.shape()[0] as i64, source.shape()[1] as i64);
        let places = (0..rows.min(columns)).map(|place| place * (columns + 1));
        let places = storage::collected(rows.min(columns) as usize, places)?;
        let places = Tensor::from_array(Array::from_slice(&[places.len()], &places)?);
        recording::fixed(&places)?;
        let zeros = create::zeros(&[rows * columns], g.dtype())?;
        one(reshape::view(&along::index_fill(&zeros, 0, &places, g)?, &[rows, columns])?)
    }

    fn jvp(&self, _: &SharedLayout, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(trace(tangent(tangents))?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let diagonal = part::diagonal(&call.inputs[0].moved(0)?, 0, 1, 2)?;
        Ok(smallvec![Samples::first(reduce::sum(&diagonal, Some(&[1]), false, None)?)])
    }
}

/// The sum of the diagonal of a matrix.
pub fn trace(x: &Tensor) -> Result<Tensor> {
    if x.ndim() != 2 {
        return Err(Error::TraceRank { ndim: x.ndim() }.into());
    }
    apply_one(Trace, &[x])
}

/// yₖ = ln Σ exp xᵢ for i up to k
///
/// dyₖ = Σ exp(xᵢ - yₖ) dxᵢ, x̄ᵢ = Σ exp(xᵢ - yₖ) ȳₖ over k from i on
#[derive(Clone)]
struct Logcumsumexp {
    dim: usize,
}

impl Logcumsumexp {
    /// Whether the result is the input: it is empty, or has no dimension to accumulate along.
    fn is_still(&self, x: &Layout) -> bool {
        x.numel() == 0 || self.dim >= x.ndim()
    }

    /// exp(xᵢ) Σ exp(hₖ - yₖ) over k from i on, of the elements that `counts` selects.
    fn back(&self, counts: &Tensor, h: &Tensor, x: &Tensor, y: &Tensor) -> Result<Tensor> {
        // Other elements become the least finite number rather than -∞, since -∞ - (-∞) is NaN.
        let weight = sub(&where_(counts, h, -h.dtype().greatest())?, y)?;
        let turned = |x: &Tensor| rearrange::flip(x, &[self.dim as i64]);
        let behind = turned(&logcumsumexp(&turned(&weight)?, self.dim as i64)?)?;
        exp(&add(&behind, x)?)
    }
}

impl Op for Logcumsumexp {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["self", "result"];

    fn name(&self) -> &'static str {
        "LogcumsumexpBackward0"
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        if self.is_still(&x.layout) {
            return Ok(smallvec![copy::dense(x)?]);
        }
        if x.dtype.is_complex() {
            // In this order of arguments the running sum keeps its imaginary part where both are -∞.
            let step = |sum: Complex<f64>, x: Complex<f64>, _: usize| math::log_add_exp(x, sum);
            let nothing = Complex::new(f64::NEG_INFINITY, 0.0);
            let wide = copy::as_type(x, DType::Complex128)?;
            let mut y = Array::uninit(&x.layout, DType::Complex128)?;
            let along = Along::forward(self.dim);
            reduction::scan::scan(wide.view(), along, y.fresh::<Complex<f64>>(), nothing, step, |sum| sum);
            return Ok(smallvec![copy::as_type(&y, x.dtype)?.into_owned()]);
        }
        let mut y = Array::uninit(&x.layout, x.dtype)?;
        dispatch!(float x.dtype, T => {
            reduction::logarithms::log_cumsum_exp(x.view::<T>(), self.dim, y.fresh::<T>());
        }, else {
            return Err(Error::NotImplementedFor { operation: "logcumsumexp_out_cpu", dtype: x.dtype }.into())
        });
        Ok(smallvec![y])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, [x, y]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (x, y, g) = (at.load(x)?, at.load(y)?, single(gradients));
        if self.is_still(&x.layout()) {
            return one(g.clone());
        }
        if x.dtype().is_complex() {
            let (x, y) = (conjugate::conj(x)?, conjugate::conj(y)?);
            let turned = |x: &Tensor| rearrange::flip(x, &[self.dim as i64]);
            let weights = turned(&sub(&log(g)?, &y)?)?;
            let behind = turned(&logcumsumexp(&weights, self.dim as i64)?)?;
            return one(exp(&add(&behind, &x)?)?);
        }
        let logarithm = log(&abs(g)?)?;
        let part = |counts: Tensor| self.back(&counts, &logarithm, &x, &y);
        one(sub(&part(compare::gt(g, 0)?)?, &part(compare::lt(g, 0)?)?)?)
    }

    fn jvp(&self, [x, y]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (x, y) = (at.load(x)?, at.load(y)?);
        if self.is_still(&x.layout()) {
            return one(tangent(tangents).clone());
        }
        let most = {
            let _off = mode::GradModeGuard::off();
            expand::expand(
                &extremes_over::amax(&conjugate::real(&x.detach())?, &[self.dim as i64], true)?,
                &shape::signed(x.layout().shape()),
            )?
        };
        // While all elements so far are -∞, so is y. Zeros in the place of both avoid NaN, and the tangent is zero.
        let finite = |x: &Tensor| where_(&compare::gt(x, -x.dtype().greatest() / 2.0)?, x, 0.0);
        let most = finite(&most)?;
        let y = if y.dtype().is_complex() { y } else { finite(&y)? };
        let sums = scan::cumsum(&mul(tangent(tangents), &exp(&sub(&x, &most)?)?)?, self.dim as i64, None)?;
        one(mul(&sums, &exp(&sub(&most, &y)?)?)?)
    }

    fn plumbing(&self) -> &'static str {
        plumbing::REDUCTION
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(Logcumsumexp { dim: self.dim + 1 })
    }
}

/// The logarithms of the running sums of exponentials along a dimension.
pub fn logcumsumexp(x: &Tensor, dim: i64) -> Result<Tensor> {
    let given = dim;
    let dim = shape::normalize_dim(dim, x.ndim())?;
    if !x.dtype().is_differentiable() {
        return Err(Error::NotImplementedFor { operation: "logcumsumexp_out_cpu", dtype: x.dtype() }.into());
    }
    apply_one_with_attributes(Logcumsumexp { dim }, shown! { dim: given }, &[x])
}

const SUMS: &[&str] =
    &["(Tensor input, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None, Tensor out=None)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "logcumsumexp",
        &["(Tensor input, int dim, *, Tensor out=None)"],
        "The logarithm of the cumulative sum of the exponentials along a dimension.",
        |a| logcumsumexp(a.tensor(0)?, a.int(1)?).reply(),
    )
    .written(&OutPolicy::OF_FIRST.typed(Types::Running))
    .operators(&[("LogcumsumexpBackward0", "_logcumsumexp")]),
    both("nansum", SUMS, "The sum, with NaN counted as zero.", |a| {
        nansum(a.tensor(0)?, a.dims(1)?.as_deref(), a.boolean(2), a.dtype(3)).reply()
    })
    .operators(&[("NansumBackward0", "nansum")]),
    both("nanmean", SUMS, "The mean of the elements that are not NaN.", |a| {
        nanmean(a.tensor(0)?, a.dims(1)?.as_deref(), a.boolean(2), a.dtype(3)).reply()
    })
    .written(&OutPolicy::PLAIN.refused_as("nansum")),
    both("trace", &["(Tensor input)"], "The sum of the diagonal of a matrix.", |a| {
        trace(a.tensor(0)?).reply()
    })
    .operators(&[("TraceBackward0", "trace")]),
];

plain! {
    struct Nansum { over, dtype }
    struct Trace {}
    struct Logcumsumexp { dim }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[
    portable::row::<Nansum>("nansum"),
    portable::row::<Trace>("trace"),
    portable::row::<Logcumsumexp>("logcumsumexp"),
];
