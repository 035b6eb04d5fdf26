//! Where along a dimension the greatest or the least element is, and which.

use crate::dispatch::apply::{Outputs, portable};
use crate::dispatch::modes::plain::{Portable, Row, plain};
use crate::schema::{Entry, IntoReply, Operator, OutPolicy, Types, both};
use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, Unsigned, apply, one, single, tangent};
use crate::dispatch::batch::{Answer, Call, plumbing};
use crate::dispatch::modes::{intercept, recording};
use crate::dispatch::operand::Value;
use crate::dispatch::{batch, long_work, stored};
use crate::dtype::{DType, Number};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::reduction::reduce as kernels;
use crate::ops::creation::{copy, create};
use crate::ops::geometry::reshape;
use crate::ops::indexing::gather;
use crate::ops::reduction::over::Over;
use crate::shape::{self, Dims, SharedLayout};
use crate::tensor::{Array, Tensor};

/// y = the extreme element along a dimension, i = the index of the first
///
/// dy = dxᵢ; x̄ is ȳ at i and 0 elsewhere. Indices have no derivative.
#[derive(Clone)]
pub struct ExtremeAlong {
    dim: usize,
    over: Over,
    greatest: bool,
}

impl ExtremeAlong {
    fn run<T: Number>(&self, x: &Array, y: &mut Array, index: &mut Array) {
        kernels::extreme_with_index::<T>(x.view(), self.dim, self.greatest, y.fresh(), index.fresh());
    }

    /// The index with ones in the place of the dimension.
    fn index(&self, (index, input): &(SavedTensor, SharedLayout), at: &At<'_>) -> Result<Tensor> {
        self.over.aligned(&at.load(index)?, input.shape())
    }
}

impl Op for ExtremeAlong {
    type Saved = (SavedTensor, SharedLayout);
    const SAVED: &'static [&'static str] = &["indices"];
    const UNSIGNED: Unsigned = Unsigned::Ordered;

    fn name(&self) -> &'static str {
        if self.greatest { "MaxBackward0" } else { "MinBackward0" }
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        shown! { dim: self.over.given().and_then(|given| given.first().copied()), keepdim: self.over.keepdim, self_sym_sizes: &saved.1 }
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let shape = self.over.shape(x.layout.shape());
        let dtype = if x.dtype == DType::Bool { DType::Int64 } else { comparable(x.dtype) };
        let wide = copy::as_type(x, dtype)?;
        let mut y = Array::uninit_shape(&shape, dtype)?;
        let mut index = Array::uninit_shape(&shape, DType::Int64)?;
        dispatch!(float dtype, T => self.run::<T>(&wide, &mut y, &mut index), else {
            self.run::<i64>(&wide, &mut y, &mut index)
        });
        let y = copy::as_type(&y, x.dtype)?.into_owned();
        Ok(smallvec![y, index])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        (keep.output(1), keep.layout(0))
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let g = self.over.aligned(single(gradients), saved.1.shape())?;
        one(placed(&g, self.dim, &self.index(saved, at)?, saved.1.shape())?)
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let picked = gather::gather(tangent(tangents), self.dim as i64, &self.index(saved, at)?)?;
        let picked = reshape::reshape_to(&picked, &self.over.shape(saved.1.shape()))?;
        Ok(smallvec![Some(picked), None])
    }

    fn plumbing(&self) -> &'static str {
        plumbing::REDUCTION
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.deeper(ExtremeAlong { dim: self.dim + 1, over: self.over.deeper(), greatest: self.greatest })
    }
}

/// Values written among zeros where `index` says along a dimension.
pub(crate) fn placed(values: &Tensor, dim: usize, index: &Tensor, shape: &[usize]) -> Result<Tensor> {
    gather::scatter(&create::zeros(&shape::signed(shape), values.dtype())?, dim as i64, index, values)
}

fn along(x: &Tensor, dim: i64, keepdim: bool, greatest: bool) -> Result<(Tensor, Tensor)> {
    let over = Over::new(Some(&[dim]), keepdim, x)?;
    let dim = shape::normalize_dim(dim, x.ndim())?;
    check(x, dim, if greatest { "max" } else { "min" })?;
    let mut outputs = apply(ExtremeAlong { dim, over, greatest }, &[x])?;
    match (outputs.pop(), outputs.pop()) {
        (Some(index), Some(y)) => Ok((y, index)),
        _ => unreachable!("the operation has two outputs"),
    }
}

/// An extreme of no element does not exist; of no lane there is none to find.
fn check(x: &Tensor, dim: usize, operation: &'static str) -> Result<()> {
    refuse_complex(x, operation)?;
    match x.layout().shape().get(dim) {
        Some(0) => Err(Error::ReduceEmptyDimension { operation, dim: dim as i64 }.into()),
        _ => Ok(()),
    }
}

fn refuse_complex(x: &Tensor, operation: &'static str) -> Result<()> {
    match x.dtype().is_complex() {
        true => Err(Error::PlaceOfComplex { operation }.into()),
        false => Ok(()),
    }
}

/// The greatest element along a dimension, and the index of the first.
pub fn max_along(x: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    along(x, dim, keepdim, true)
}

/// The least element along a dimension, and the index of the first.
pub fn min_along(x: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    along(x, dim, keepdim, false)
}

/// The index of the greatest element along a dimension, or in row-major order of all.
pub fn argmax(x: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
    arg(x, dim, keepdim, true)
}

/// The index of the least element along a dimension, or in row-major order of all.
pub fn argmin(x: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
    arg(x, dim, keepdim, false)
}

/// By which name torch refuses what has no extreme element.
fn arg_name(greatest: bool) -> &'static str {
    if greatest { "argmax" } else { "argmin" }
}

/// `arg` of each sample, if the tensor is batched.
fn batched_arg(x: &Tensor, dim: Option<i64>, keepdim: bool, greatest: bool) -> Option<Result<Tensor>> {
    let layout = x.layout();
    batch::front(x, |x, size| {
        if let Some(dim) = dim
            && layout.ndim() > 0
        {
            let dim = shape::normalize_dim(dim, layout.ndim())?;
            return arg(x, Some(dim as i64 + 1), keepdim, greatest);
        }
        shape::normalize_dim(dim.unwrap_or(0), layout.ndim())?;
        if layout.numel() == 0 {
            return Err(Error::ArgumentReduceEmpty { operation: arg_name(greatest) }.into());
        }
        let y = arg(&reshape::reshape_to(x, &[size, layout.numel()])?, Some(1), false, greatest)?;
        let mut shape = Dims::from_elem(1, if keepdim { layout.ndim() + 1 } else { 1 });
        shape[0] = size;
        reshape::reshape_to(&y, &shape)
    })
}

fn arg(x: &Tensor, dim: Option<i64>, keepdim: bool, greatest: bool) -> Result<Tensor> {
    if let Some(y) = batched_arg(x, dim, keepdim, greatest) {
        return y;
    }
    if recording::is_on()
        && let Some(y) =
            intercept::of_value(arg_name(greatest), &[x.into()], Place { dim, keepdim, greatest })
    {
        return y;
    }
    searched(x, dim, keepdim, greatest)
}

/// Where the most extreme element is, as a recorded operation.
#[derive(Clone)]
struct Place {
    dim: Option<i64>,
    keepdim: bool,
    greatest: bool,
}

impl Portable for Place {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let x = intercept::only(operands)?;
        Ok(smallvec![searched(x, self.dim, self.keepdim, self.greatest)?])
    }
}

/// `arg` of a tensor that is not batched.
fn searched(x: &Tensor, dim: Option<i64>, keepdim: bool, greatest: bool) -> Result<Tensor> {
    refuse_complex(x, arg_name(greatest))?;
    let array = stored::widened(&x.array(), Unsigned::Ordered)?;
    let (over, axis) = match dim {
        Some(dim) => {
            let dim = shape::normalize_dim(dim, x.ndim())?;
            check(x, dim, arg_name(greatest))?;
            (Over::along(dim, keepdim, x.ndim()), dim)
        }
        None if x.numel() == 0 => {
            return Err(Error::ArgumentReduceEmpty { operation: arg_name(greatest) }.into());
        }
        None => (Over::new(None, keepdim, x)?, 0),
    };
    if array.dtype == DType::Bool {
        return Err(Error::BoolInput { operation: arg_name(greatest) }.into());
    }
    let mut index = Array::uninit_shape(&over.shape(array.layout.shape()), DType::Int64)?;
    long_work::patiently(array.layout.numel() as u64, || {
        let wide = copy::as_type(&array, comparable(array.dtype))?;
        let searched = match dim {
            Some(_) => wide.into_owned(),
            None => copy::dense(&wide)?.with_layout(x.layout().fresh().line()),
        };
        dispatch!(float searched.dtype, T => {
            kernels::arg_extreme(searched.view::<T>(), axis, greatest, index.fresh())
        }, else {
            kernels::arg_extreme(searched.view::<i64>(), axis, greatest, index.fresh())
        });
        Ok(())
    })?;
    Ok(Tensor::unrecorded(index, x.standing()))
}

const PLACE: &[&str] = &["(Tensor input, int? dim=None, bool keepdim=False, *, Tensor out=None)"];

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    ("MaxBackward0", "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"),
    ("MinBackward0", "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"),
];

/// The type in which elements are compared.
pub(crate) fn comparable(dtype: DType) -> DType {
    if dtype.is_differentiable() || dtype == DType::Bool { dtype } else { DType::Int64 }
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("argmax", PLACE, "The index of the maximum of all elements, or of those along a dimension.", |a| {
        argmax(a.tensor(0)?, a.optional_int(1)?, a.boolean(2)).reply()
    })
    .written(&OutPolicy::PLAIN.unrecorded().typed(Types::Same))
    .operators(&[("-", "argmax")]),
    both("argmin", PLACE, "The index of the minimum of all elements, or of those along a dimension.", |a| {
        argmin(a.tensor(0)?, a.optional_int(1)?, a.boolean(2)).reply()
    })
    .written(&OutPolicy::PLAIN.unrecorded().typed(Types::Same))
    .operators(&[("-", "argmin")]),
];

plain! {
    struct ExtremeAlong { dim, over, greatest }
    struct Place { dim, keepdim, greatest }
}

/// How these are written as plain data.
pub const ROWS: &[Row] =
    &[portable::row::<ExtremeAlong>("extreme along a dimension"), Row::of::<Place>("place of the extreme")];
