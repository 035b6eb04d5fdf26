//! Tensors joined, split, turned and written into, by operations that do one of these things.

use crate::schema::signatures::JOIN;
use crate::schema::{Entry, IntoReply, OutPolicy, both, function, inner, joined};
use smallvec::smallvec;

use crate::dispatch::batch;
use crate::dispatch::composites::checkpointed::{self, CheckpointedOp};
use crate::dispatch::composites::composite;
use crate::dispatch::composites::composite::Composite;
use crate::dispatch::composites::saved_inputs::LoadedInputs;
use crate::dispatch::operand::Operand;
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::shown::shown;
use crate::ops::creation::cast;
use crate::ops::geometry::view_copy::written;
use crate::ops::geometry::{join, part, permute, rearrange, reshape, squeeze, strided};
use crate::shape;
use crate::tensor::Tensor;

/// The tensor with at least three dimensions.
pub fn atleast_3d(x: &Tensor) -> Result<Tensor> {
    match x.ndim() {
        0 => reshape::reshape(x, &[1, 1, 1]),
        1 => squeeze::unsqueeze(&squeeze::unsqueeze(x, 0)?, -1),
        2 => squeeze::unsqueeze(x, -1),
        _ => Ok(x.clone()),
    }
}

/// Tensors one behind the other in the third dimension.
pub fn dstack(tensors: &[&Tensor]) -> Result<Tensor> {
    if tensors.is_empty() {
        return Err(Error::StackEmpty { operation: "dstack" }.into());
    }
    let lifted: Vec<Tensor> = tensors.iter().map(|x| atleast_3d(x)).collect::<Result<_>>()?;
    join::cat(&lifted.iter().collect::<Vec<_>>(), 2)
}

/// Vectors and matrices beside each other as columns.
pub fn column_stack(tensors: &[&Tensor]) -> Result<Tensor> {
    if tensors.is_empty() {
        return Err(Error::StackEmpty { operation: "column_stack" }.into());
    }
    let column = |x: &&Tensor| match x.ndim() {
        0 | 1 => reshape::reshape(x, &[x.numel() as i64, 1]),
        _ => Ok((*x).clone()),
    };
    let columns: Vec<Tensor> = tensors.iter().map(column).collect::<Result<_>>()?;
    join::hstack(&columns.iter().collect::<Vec<_>>())
}

/// The tensor turned by quarters from the first of two dimensions towards the second.
pub fn rot90(x: &Tensor, times: i64, dims: &[i64]) -> Result<Tensor> {
    let &[first, second] = dims else {
        return Err(Error::RotationCount { count: dims.len() }.into());
    };
    if x.ndim() < 2 {
        return Err(Error::RotationRank { ndim: x.ndim() }.into());
    }
    if first == second || (first - second).unsigned_abs() as usize == x.ndim() {
        return Err(Error::RotationSame { first, second }.into());
    }
    let ndim = x.ndim();
    let turned = [shape::normalize_dim(first, ndim)? as i64, shape::normalize_dim(second, ndim)? as i64];
    composite::apply(Turn { times, given: [first, second], dims: turned }, &[x])
}

/// y = x turned by quarters
///
/// dy is dx so turned, x̄ is ȳ turned back
#[derive(Clone)]
struct Turn {
    times: i64,
    /// The dimensions as the caller named them.
    given: [i64; 2],
    dims: [i64; 2],
}

impl Composite for Turn {
    const KEEPS: &'static [&'static str] = &[""];

    fn name(&self) -> &'static str {
        "Rot90Backward0"
    }

    fn shown(&self) -> Attributes {
        shown! { dims: &self.given[..], k: self.times }
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        let (x, [one, two]) = (inputs[0], self.dims);
        match self.times.rem_euclid(4) {
            1 => permute::transpose(&rearrange::flip(x, &[two])?, one, two),
            2 => rearrange::flip(x, &[one, two]),
            3 => permute::transpose(&rearrange::flip(x, &[one])?, one, two),
            _ => cast::clone(x),
        }
    }

    fn vjp(&self, _index: usize, _kept: &LoadedInputs, gradient: &Tensor) -> Result<Tensor> {
        rot90(gradient, -self.times, &self.dims)
    }

    fn jvp(&self, _index: usize, _kept: &LoadedInputs, tangent: &Tensor) -> Result<Tensor> {
        rot90(tangent, self.times, &self.dims)
    }
}

/// The tensor with the elements of `source` in one place of a dimension.
pub fn select_scatter(x: &Tensor, source: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    let shown = shown! { dim: dim, index: index };
    written(x, source, ("SelectScatterBackward0", shown), move |x| part::select(x, dim, index))
}

/// The tensor with the elements of `source` in a range of a dimension.
pub fn slice_scatter(
    x: &Tensor,
    source: &Tensor,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Tensor> {
    let shown = shown! { dim: dim, start: start, end: end, step: step };
    written(x, source, ("SliceScatterBackward0", shown), move |x| part::slice(x, dim, start, end, step))
}

/// The tensor with the elements of `source` on a diagonal.
pub fn diagonal_scatter(x: &Tensor, source: &Tensor, offset: i64, first: i64, second: i64) -> Result<Tensor> {
    let shown = shown! { dim1: first, dim2: second, offset: offset };
    written(x, source, ("DiagonalScatterBackward0", shown), move |x| part::diagonal(x, offset, first, second))
}

/// The tensor with the elements of `source` at these sizes and strides.
pub fn as_strided_scatter(
    x: &Tensor,
    source: &Tensor,
    sizes: &[i64],
    strides: &[i64],
    offset: Option<i64>,
) -> Result<Tensor> {
    let shown = shown! { size: sizes, stride: strides, storage_offset: offset };
    let (sizes, strides) = (sizes.to_vec(), strides.to_vec());
    written(x, source, ("AsStridedScatterBackward0", shown), move |x| {
        strided::as_strided(x, &sizes, &strides, offset)
    })
}

/// The tensor with another value everywhere.
pub fn fill(x: &Tensor, value: Operand<'_>) -> Result<Tensor> {
    let names: &[&str] = &["", "", ""];
    match value {
        Operand::Scalar(number) => {
            let parts = move |inputs: &[&Tensor]| {
                let copy = cast::clone(inputs[0])?;
                cast::fill_(&copy, number)?;
                Ok(smallvec![copy])
            };
            let fill = CheckpointedOp::new("fill", "FillBackward0", &names[..2], 1, parts);
            checkpointed::apply_one(CheckpointedOp { linear: 0b1, ..fill }, &[x])
        }
        Operand::Tensor(number) if number.ndim() > 0 => Err(Error::FillValue { ndim: number.ndim() }.into()),
        Operand::Tensor(number) => {
            let parts = |inputs: &[&Tensor]| {
                let copy = batch::with_room(cast::clone(inputs[0])?, &[inputs[1]])?;
                cast::fill_(&copy, inputs[1])?;
                Ok(smallvec![copy])
            };
            let fill = CheckpointedOp::new("fill", "FillBackward1", names, 2, parts);
            checkpointed::apply_one(CheckpointedOp { linear: 0b11, ..fill }, &[x, number])
        }
    }
}

const FILL: &[&str] = &["(Tensor input, Tensor value)", "(Tensor input, Number value)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner("atleast_3d", &["(Tensor input)"], "A view of the tensor with at least three dimensions.", |a| {
        atleast_3d(a.tensor(0)?).reply()
    }),
    function("dstack", JOIN, "Stacks tensors along the third dimension.", |a| joined(a, dstack))
        .written(&OutPolicy::JOINED.refused_as("cat")),
    function(
        "column_stack",
        JOIN,
        "Stacks one-dimensional tensors as columns, and others along the second dimension.",
        |a| joined(a, column_stack),
    )
    .written(&OutPolicy::JOINED.refused_as("cat")),
    both(
        "rot90",
        &["(Tensor input, int k=1, int[] dims=[0,1])"],
        "Rotates the plane of two dimensions by 90 degrees, `k` times.",
        |a| rot90(a.tensor(0)?, a.int(1)?, &a.ints(2)?).reply(),
    )
    .operators(&[("Rot90Backward0", "rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor")]),
    both(
        "select_scatter",
        &["(Tensor input, Tensor src, int dim, SymInt index)"],
        "A copy of `input` with `src` embedded at `index` of a dimension.",
        |a| select_scatter(a.tensor(0)?, a.tensor(1)?, a.int(2)?, a.int(3)?).reply(),
    ),
    both(
        "slice_scatter",
        &["(Tensor input, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1)"],
        "A copy of `input` with `src` embedded in a slice of a dimension.",
        |a| {
            let (start, end) = (a.optional_int(3)?, a.optional_int(4)?);
            slice_scatter(a.tensor(0)?, a.tensor(1)?, a.int(2)?, start, end, a.int(5)?).reply()
        },
    ),
    both(
        "diagonal_scatter",
        &["(Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1)"],
        "A copy of `input` with `src` embedded on a diagonal.",
        |a| diagonal_scatter(a.tensor(0)?, a.tensor(1)?, a.int(2)?, a.int(3)?, a.int(4)?).reply(),
    ),
    both(
        "as_strided_scatter",
        &["(Tensor input, Tensor src, int[] size, int[] stride, SymInt? storage_offset=None)"],
        "A copy of `input` with `src` embedded at the elements that `as_strided` shows.",
        |a| {
            let (size, stride) = (a.ints(2)?, a.ints(3)?);
            as_strided_scatter(a.tensor(0)?, a.tensor(1)?, &size, &stride, a.optional_int(4)?).reply()
        },
    )
    .operators(&[("AsStridedScatterBackward0", "as_strided_scatter")]),
    function("fill", FILL, "A copy of `input` with every element set to `value`.", |a| {
        fill(a.tensor(0)?, a.operand(1)?).reply()
    })
    .operators(&[("FillBackward0", "fill.Scalar@1"), ("FillBackward1", "fill.Tensor")]),
];
