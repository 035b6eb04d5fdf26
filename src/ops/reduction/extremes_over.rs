//! The greatest and the least element: as values, over all dimensions or some. With indices they
//! are in `extremes_along`.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::ops;
use crate::ops::pointwise::compare;
use crate::ops::reduction::extremes_along::{self, comparable};
use crate::schema::{Arguments, Entry, IntoReply, OtherArguments, OutPolicy, Reply, Types, both};
use smallvec::{SmallVec, smallvec};
use std::mem::MaybeUninit;
use std::sync::Arc;

use crate::dispatch::apply::{Arrays, Keep, Op, Unsigned, apply, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call, plumbing};
use crate::dispatch::direct::{Direct, OfWhole, Whole};
use crate::dispatch::fixed;
use crate::dtype::{Bool, DType, Number, Real};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor, mode};
use crate::kernels::reduction::reduce as kernels;
use crate::ops::creation::{copy, create};
use crate::ops::geometry::reshape;
use crate::ops::mul;
use crate::ops::pointwise::select;
use crate::ops::reduction::over::Over;
use crate::shape;
use crate::tensor::{Array, Tensor};

/// y = max x, or min x
///
/// With w = 1/n where x is one of the n extreme elements and 0 elsewhere: dy = Σ w dx, x̄ = w ȳ.
#[derive(Clone)]
pub struct Extreme {
    over: Over,
    greatest: bool,
    /// Whether torch calls it `amax` or `amin`; else it is `max` or `min` of all elements.
    named: bool,
}

impl Extreme {
    fn operation(&self) -> &'static str {
        match (self.named, self.greatest) {
            (true, true) => "amax",
            (true, false) => "amin",
            (false, true) => "max",
            (false, false) => "min",
        }
    }

    /// Writes the extreme elements.
    fn compare<T: Number>(&self, x: &Array, y: &mut [MaybeUninit<T>]) {
        match self.greatest {
            true => kernels::max::<T>(x.view(), &self.over.dims, y),
            false => kernels::min::<T>(x.view(), &self.over.dims, y),
        }
    }

    /// w. A NaN that is the maximum of all has a share in gradients; `amax` finds it equal to nothing.
    fn shares(&self, [x, y]: &[SavedTensor; 2], at: &At<'_>, back: bool) -> Result<Tensor> {
        shares(&self.over, &at.load(x)?, &at.load(y)?, back && !self.named)
    }
}

/// One by the number of elements of x that are y where they are it, else zero; with `nan`, what is not
/// a number is what is not a number.
pub(crate) fn shares(over: &Over, x: &Tensor, y: &Tensor, nan: bool) -> Result<Tensor> {
    let (hits, counts) = hits(over, x, y, nan)?;
    ops::div(&hits, &over.aligned(&counts, x.layout().shape())?)
}

/// One where x is y, else zero, and how many these are, in the shape of y.
fn hits(over: &Over, x: &Tensor, y: &Tensor, nan: bool) -> Result<(Tensor, Tensor)> {
    let _off = mode::GradModeGuard::off();
    let shape = x.layout();
    let chosen = over.aligned(y, shape.shape())?;
    let hits = fixed::equal(x, &chosen, nan)?;
    let counts = over.sum(&hits)?;
    Ok((hits, counts))
}

/// A gradient shared by the elements that are y, by the operations that torch records.
pub(crate) fn shared(over: &Over, x: &Tensor, y: &Tensor, g: &Tensor, nan: bool) -> Result<Tensor> {
    let (hits, counts) = hits(over, x, y, nan)?;
    if over.named() || counts.ndim() > 0 {
        let shape = crate::shape::reduced_shape(x.layout().shape(), &over.dims, true);
        let g = if over.keepdim { g.clone() } else { reshape::reshape_to(g, &shape)? };
        return mul(&ops::div(&g, &over.aligned(&counts, x.layout().shape())?)?, &hits);
    }
    let share = ops::div(g, &counts)?;
    select::masked_fill(&create::zeros_like(&x.detach())?, &compare::ne(&hits, 0)?, &share)
}

impl Whole for Extreme {
    fn write<T: Real>(&self, operands: &[&Array], y: &mut [MaybeUninit<T>]) {
        self.compare(operands[0], y);
    }
}

impl Op for Extreme {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["self", "result"];
    const UNSIGNED: Unsigned = Unsigned::Ordered;

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(OfWhole(self.clone())))
    }

    fn name(&self) -> &'static str {
        match (self.named, self.greatest) {
            (true, true) => "AmaxBackward0",
            (true, false) => "AminBackward0",
            (false, true) => "MaxBackward1",
            (false, false) => "MinBackward1",
        }
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        match self.named {
            true => shown! { dim: self.over.given(), keepdim: self.over.keepdim },
            false => Attributes::new(),
        }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let shape = self.over.shape(x.layout.shape());
        // One kernel serves all integers but the most frequent ones, which would take longer to convert than to compare.
        let dtype = match x.dtype {
            DType::Int32 | DType::UInt8 => x.dtype,
            dtype => comparable(dtype),
        };
        let wide = copy::as_type(x, dtype)?;
        let mut y = Array::uninit_shape(&shape, dtype)?;
        let dims = &self.over.dims;
        match (dtype, self.greatest) {
            (DType::Float32, _) => self.compare::<f32>(&wide, y.fresh()),
            (DType::Float64, _) => self.compare::<f64>(&wide, y.fresh()),
            (DType::Int64, _) => self.compare::<i64>(&wide, y.fresh()),
            (DType::Int32, _) => self.compare::<i32>(&wide, y.fresh()),
            (DType::UInt8, _) => self.compare::<u8>(&wide, y.fresh()),
            (dtype, greatest) if dtype.is_complex() => {
                let operation = match (self.named, greatest) {
                    (true, true) => "max_values_cpu",
                    (true, false) => "min_values_cpu",
                    (false, true) => "max_all",
                    (false, false) => "min_all",
                };
                return Err(Error::NotImplementedFor { operation, dtype }.into());
            }
            (_, true) => kernels::any(wide.view::<Bool>(), dims, y.fresh()),
            (_, false) => kernels::all(wide.view::<Bool>(), dims, y.fresh()),
        }
        Ok(smallvec![copy::as_type(&y, x.dtype)?.into_owned()])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        if at.tracking {
            let (x, y) = (at.load(&saved[0])?, at.load(&saved[1])?);
            return one(shared(&self.over, &x, &y, single(gradients), !self.named)?);
        }
        let g = self.over.aligned(single(gradients), saved[0].layout().shape())?;
        one(mul(&self.shares(saved, at, true)?, &g)?)
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(self.over.sum(&mul(&self.shares(saved, at, false)?, tangent(tangents))?)?)
    }

    fn plumbing(&self) -> &'static str {
        plumbing::REDUCTION
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(Extreme { over: self.over.deeper(), named: true, ..*self })
    }
}

fn extreme(x: &Tensor, dims: Option<&[i64]>, keepdim: bool, greatest: bool) -> Result<Tensor> {
    let mut op = Extreme { over: Over::new(None, false, x)?, greatest, named: dims.is_some() };
    let operation = op.operation();
    op.over = Over::new(dims, keepdim, x)?;
    if x.numel() == 0 {
        let Some(dims @ [_, ..]) = dims else { return Err(Error::ReduceEmpty { operation }.into()) };
        // It is shown as the caller named it.
        for &dim in dims {
            if is_empty_along(x, dim)? {
                return Err(Error::ReduceEmptyDimension { operation, dim }.into());
            }
        }
    }
    apply_one(op, &[x])
}

fn is_empty_along(x: &Tensor, dim: i64) -> Result<bool> {
    let layout = x.layout();
    shape::normalize_dim(dim, layout.ndim()).map(|dim| layout.size(dim) == 0)
}

/// The greatest of all elements.
pub fn max(x: &Tensor) -> Result<Tensor> {
    extreme(x, None, false, true)
}

/// The least of all elements.
pub fn min(x: &Tensor) -> Result<Tensor> {
    extreme(x, None, false, false)
}

/// The greatest element along some dimensions, or all if none is named.
pub fn amax(x: &Tensor, dims: &[i64], keepdim: bool) -> Result<Tensor> {
    extreme(x, Some(dims), keepdim, true)
}

/// The least element along some dimensions, or all if none is named.
pub fn amin(x: &Tensor, dims: &[i64], keepdim: bool) -> Result<Tensor> {
    extreme(x, Some(dims), keepdim, false)
}

/// Both the least and the greatest element: see `Extreme`
#[derive(Clone)]
struct Extremes {
    over: Over,
    /// The dimension as the caller named it.
    given: Option<i64>,
}

impl Extremes {
    fn one(&self, greatest: bool) -> Extreme {
        Extreme { over: self.over.clone(), greatest, named: true }
    }
}

impl Op for Extremes {
    type Saved = [SavedTensor; 3];
    const SAVED: &'static [&'static str] = &["self", "min", "max"];
    const UNSIGNED: Unsigned = Unsigned::Ordered;

    fn name(&self) -> &'static str {
        "AminmaxBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { dim: self.given, keepdim: self.over.keepdim }
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let mut outputs = self.one(false).forward(inputs)?;
        outputs.extend(self.one(true).forward(inputs)?);
        Ok(outputs)
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0), keep.output(1)]
    }

    fn vjp(&self, [x, least, most]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (x, mut total) = (at.load(x)?, None);
        for (saved, gradient) in [least, most].into_iter().zip(gradients) {
            let Some(gradient) = gradient else { continue };
            let part = shared(&self.over, &x, &at.load(saved)?, gradient, false)?;
            total = Some(total.map_or(Ok(part.clone()), |total: Tensor| ops::add(&total, &part))?);
        }
        Ok(smallvec![total])
    }

    fn jvp(
        &self,
        [x, least, most]: &Self::Saved,
        at: &At<'_>,
        tangents: &[Option<Tensor>],
    ) -> Result<Gradients> {
        let (x, t) = (at.load(x)?, tangent(tangents));
        let moved = |saved: &SavedTensor| {
            self.over.sum(&mul(&shares(&self.over, &x, &at.load(saved)?, false)?, t)?).map(Some)
        };
        Ok(smallvec![moved(least)?, moved(most)?])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(Extremes { over: self.over.deeper(), ..self.clone() })
    }
}

/// The least and the greatest element along a dimension, or all.
pub fn aminmax(x: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let dims: SmallVec<[i64; 1]> = dim.into_iter().collect();
    let over = Over::new(Some(&dims), keepdim, x)?;
    match dim {
        None if x.numel() == 0 => return Err(Error::ReduceEmpty { operation: "aminmax" }.into()),
        Some(dim) if is_empty_along(x, dim)? => {
            let dim = shape::normalize_dim(dim, x.ndim())?;
            return Err(Error::ExtremesEmptyDimension { dim }.into());
        }
        _ => {}
    }
    if x.dtype().is_complex() {
        return Err(Error::NotImplementedFor { operation: "aminmax_cpu", dtype: x.dtype() }.into());
    }
    let mut outputs = apply(Extremes { over, given: dim }, &[x])?;
    match (outputs.pop(), outputs.pop()) {
        (Some(most), Some(least)) => Ok((least, most)),
        _ => unreachable!("the operation has two outputs"),
    }
}

const GREATEST: &[&str] = &[
    "(Tensor input, *, Tensor out=None)",
    "(Tensor input, Tensor other, *, Tensor out=None)",
    "(Tensor input, int dim, bool keepdim=False, *, Tensor[] out=None) -> return_types.max",
];

const LEAST: &[&str] = &[
    "(Tensor input, *, Tensor out=None)",
    "(Tensor input, Tensor other, *, Tensor out=None)",
    "(Tensor input, int dim, bool keepdim=False, *, Tensor[] out=None) -> return_types.min",
];

const OVER: &[&str] = &["(Tensor input, int[1]? dim=(), bool keepdim=False, *, Tensor out=None)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "max",
        GREATEST,
        "The maximum of all elements or along a dimension, there with its index; or of two tensors.",
        max_call,
    )
    .written(
        &OutPolicy::ALIGNED
            .refused_of_two_as("maximum")
            .typed(Types::ExtremeOfAll)
            .out_as(|given| extreme_call(given, ".dim_max")),
    )
    .operators(&[("MaxBackward1", "max")]),
    both(
        "min",
        LEAST,
        "The minimum of all elements or along a dimension, there with its index; or of two tensors.",
        min_call,
    )
    .written(
        &OutPolicy::ALIGNED
            .refused_of_two_as("minimum")
            .typed(Types::ExtremeOfAll)
            .out_as(|given| extreme_call(given, ".dim_min")),
    )
    .operators(&[("MinBackward1", "min")]),
    both(
        "amax",
        OVER,
        "The maximum along dimensions; gradients are spread evenly over equal elements.",
        |a| amax(a.tensor(0)?, &a.ints(1)?, a.boolean(2)).reply(),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Extreme))
    .operators(&[("AmaxBackward0", "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor")]),
    both(
        "amin",
        OVER,
        "The minimum along dimensions; gradients are spread evenly over equal elements.",
        |a| amin(a.tensor(0)?, &a.ints(1)?, a.boolean(2)).reply(),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Extreme))
    .operators(&[("AminBackward0", "amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor")]),
    both(
        "aminmax",
        &["(Tensor input, *, int? dim=None, bool keepdim=False, Tensor[] out=None) -> return_types.aminmax"],
        "The minimum and the maximum, of all elements or along a dimension.",
        |a| {
            let dims: Vec<i64> = a.optional_int(1)?.into_iter().collect();
            let x = a.tensor(0)?;
            if x.numel() == 0 && dims.is_empty() {
                return Err(Error::AminmaxEmpty {}.into());
            }
            aminmax(x, dims.first().copied(), a.boolean(2)).named("aminmax")
        },
    )
    .written(&OutPolicy::PLAIN.typed(Types::Same))
    .operators(&[(
        "=",
        "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    )]),
];

/// What torch calls the overload of `max` and `min` that writes. The name is that along a dimension.
fn extreme_call(given: &OtherArguments<'_>, along: &'static str) -> &'static str {
    match given.tensors.len() {
        _ if given.count < 2 => ".unary_out",
        0 | 1 => along,
        _ => ".out",
    }
}

fn max_call(arguments: &dyn Arguments) -> Result<Reply> {
    let x = arguments.tensor(0)?;
    match arguments.overload() {
        0 => max(x).reply(),
        1 => ops::maximum(x, arguments.tensor(1)?).reply(),
        _ => extremes_along::max_along(x, arguments.int(1)?, arguments.boolean(2)).named("max"),
    }
}

fn min_call(arguments: &dyn Arguments) -> Result<Reply> {
    let x = arguments.tensor(0)?;
    match arguments.overload() {
        0 => min(x).reply(),
        1 => ops::minimum(x, arguments.tensor(1)?).reply(),
        _ => extremes_along::min_along(x, arguments.int(1)?, arguments.boolean(2)).named("min"),
    }
}

plain! {
    struct Extreme { over, greatest, named }
    struct Extremes { over, given }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Extreme>("extreme"), portable::row::<Extremes>("aminmax")];
