//! Elements named one by one along a dimension: `gather`. Its reverse is in `scatter`.

pub(in crate::ops) mod scatter;

use crate::dispatch::apply::Outputs;
use crate::dispatch::apply::portable;
use crate::dispatch::modes::intercept;
use crate::dispatch::modes::plain::{Portable, Row, plain};
use crate::dispatch::operand::Value;
use crate::schema::{Entry, IntoReply, OutPolicy, Types, UnbatchedTarget, both, method, receiver};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call, Samples};
use crate::dispatch::direct::Direct;
use crate::dispatch::modes::recording;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::indexing::gather as kernels;
use crate::ops::creation::{copy, create};
use crate::ops::geometry::squeeze;
use crate::ops::indexing::directly::{Named, What};
use crate::shape;
use crate::tensor::{Array, Tensor};
pub(crate) use scatter::checked_scatter;
pub use scatter::{
    Combination, scatter, scatter_, scatter_add, scatter_add_, scatter_combined, scatter_combined_,
};
use scatter::{Mode, Scatter};

/// The elements of `x` that an index names along a dimension.
pub(crate) fn numbers(x: &Array, dim: usize, index: &Array) -> Result<Array> {
    let index = copy::as_type(index, DType::Int64)?;
    let mut y = Array::uninit(&index.layout, x.dtype)?;
    if index.layout.numel() > 0 {
        dispatch!(bits x.dtype, T => {
            kernels::gather(x.view::<T>(), dim, index.view::<i64>(), y.fresh::<T>());
        });
    }
    Ok(y)
}

/// y[i][j] = x[i][index[i][j]], for `dim` 1
///
/// dy is so gathered from dx; x̄ is ȳ added to zeros at the indices
#[derive(Clone)]
struct Gather {
    dim: usize,
    /// The dimension as the caller named it.
    given: i64,
    index: Tensor,
}

impl Op for Gather {
    type Saved = [SavedTensor; 2];
    const MOVES: bool = true;
    const SAVED: &'static [&'static str] = &["index", "self"];

    fn name(&self) -> &'static str {
        "GatherBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { dim: self.given, sparse_grad: false }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Ok(smallvec![numbers(&inputs[0], self.dim, &self.index.array())?])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(Named { dim: self.dim, what: What::Elements }))
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [SavedTensor::constant(&self.index), keep.input(0)]
    }

    fn vjp(&self, [index, source]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (index, source, gradient) = (at.load(index)?, at.load(source)?, single(gradients));
        let zeros = create::zeros(&shape::signed(source.layout().shape()), gradient.dtype())?;
        let scatter = Scatter { dim: self.dim, given: self.given, index, mode: Mode::Add };
        one(apply_one(scatter, &[&zeros, gradient])?)
    }

    fn jvp(&self, [index, _]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let index = at.load(index)?;
        one(apply_one(Gather { dim: self.dim, given: self.given, index }, &[tangent(tangents)])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let op = Gather { dim: self.dim + 1, given: self.given, index: lines(call, self.dim)? };
        let y = apply_one(op, &[&call.inputs[0].vectors(call.size)?])?;
        as_samples_of(&call.held[0], y)
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        smallvec![self.index.clone()]
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Self> {
        Ok(Gather { index: held[0].clone(), ..self.clone() })
    }
}

/// A tensor without dimensions counts as one with one.
fn counted(shape: &[usize]) -> &[usize] {
    if shape.is_empty() { &[1] } else { shape }
}

/// Checks the index of an operation against the tensor; answers the dimension.
fn checked(
    operation: &'static str,
    x: &Tensor,
    dim: i64,
    index: &Tensor,
    fits: impl Fn(&[usize], &[usize], usize) -> Result<()>,
) -> Result<usize> {
    let dim = check_index(operation, x, dim, index)?;
    let (layout, indices) = (x.layout(), index.layout());
    if indices.numel() == 0 {
        return Ok(dim);
    }
    fits(counted(layout.shape()), counted(indices.shape()), dim)?;
    let size = counted(layout.shape())[dim];
    if !batch::is_batched(index) {
        in_range(index, dim, size)?;
    }
    Ok(dim)
}

/// Checks the dimension, which is the answer, and the type of an index that says anything.
fn check_index(operation: &'static str, x: &Tensor, dim: i64, index: &Tensor) -> Result<usize> {
    let dim = shape::normalize_dim(dim, x.ndim())?;
    match index.numel() == 0 || matches!(index.dtype(), DType::Int32 | DType::Int64) {
        true => Ok(dim),
        false => Err(Error::IndexDTypeOf { operation, expected: "int32/int64" }.into()),
    }
}

/// Whether there is what an index names.
fn in_range(index: &Tensor, dim: usize, size: usize) -> Result<()> {
    recording::checked_by("GatherBackward0", &[index], Within { dim, size })
}

/// Whether an index names what is there, as a recorded operation.
#[derive(Clone)]
struct Within {
    dim: usize,
    size: usize,
}

impl Portable for Within {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let Within { dim, size } = *self;
        let array = intercept::only(operands)?.array();
        let array = copy::as_type(&array, DType::Int64)?;
        match kernels::first_bad(array.view(), size, false) {
            Some(index) => Err(Error::GatherRange { index, dim, size }.into()),
            None => Ok(Outputs::new()),
        }
    }
}

/// The index of many samples, after a look at whether there is what it names.
pub(crate) fn lines(call: &Call<'_>, dim: usize) -> Result<Tensor> {
    let index = call.held[0].vectors(call.size)?;
    if index.numel() > 0 {
        in_range(&index, dim + 1, counted(&call.inputs[0].shape())[dim])?;
    }
    Ok(index)
}

/// A write to lines of many samples, by an operation that knows the index of all of them.
pub(crate) fn write_lines(call: &Call<'_>, op: impl Op) -> Result<Answer> {
    let inputs: SmallVec<[Tensor; 2]> =
        call.inputs.iter().map(|input| input.vectors(call.size)).collect::<Result<_>>()?;
    let y = apply_one(op, &inputs.iter().collect::<SmallVec<[&Tensor; 2]>>())?;
    as_samples_of(&call.inputs[0], y)
}

/// Results whose samples have as many dimensions as those of `like`.
fn as_samples_of(like: &Samples, y: Tensor) -> Result<Answer> {
    let y = if like.rank() == 0 { squeeze::squeeze(&y, squeeze::Squeezed::One(1))? } else { y };
    Ok(smallvec![Samples::first(y)])
}

/// The elements that an index names along a dimension, in the shape of the index.
pub fn gather(x: &Tensor, dim: i64, index: &Tensor) -> Result<Tensor> {
    let (given, all) = (dim, [x, index]);
    // An index without elements may have any type and any number of dimensions.
    let dim = match index.numel() {
        0 => shape::normalize_dim(dim, x.ndim())?,
        _ => checked("gather", x, dim, index, |shape, index, dim| {
            if index.len() != shape.len() {
                return Err(Error::GatherDimensions { argument: "input" }.into());
            }
            match (0..shape.len()).find(|&at| at != dim && index[at] > shape[at]) {
                Some(at) => {
                    let (index, shape) = (index.to_vec(), shape.to_vec());
                    Err(batch::told_of_all(Error::GatherShape { at, index, shape, dim }, &all))
                }
                None => Ok(()),
            }
        })?,
    };
    apply_one(Gather { dim, given, index: index.clone() }, &[x])
}

const ADDED_ALONG: &[&str] = &["(Tensor input, int dim, Tensor index, Tensor src, *, Tensor out=None)"];

const SCATTER_ADD: &[&str] = &["(Tensor input, int dim, Tensor index, Tensor src)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "gather",
        &["(Tensor input, int dim, Tensor index, *, bool sparse_grad=False, Tensor out=None)"],
        "Gathers the elements along a dimension at the given indices.",
        |a| gather(a.tensor(0)?, a.int(1)?, a.tensor(2)?).reply(),
    )
    .written(&OutPolicy::APART.typed(Types::Same))
    .operators(&[("GatherBackward0", "gather")]),
    both(
        "scatter_add",
        ADDED_ALONG,
        "A copy of `input` with the elements of `src` added at the given indices along a dimension.",
        |a| scatter_add(a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.tensor(3)?).reply(),
    )
    .written(&OutPolicy::OF_FIRST.typed(Types::Same)),
    method(
        "scatter_add_",
        SCATTER_ADD,
        "Adds the elements of `src` at the given indices along a dimension, in place.",
        |a| receiver(a, scatter_add_(a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.tensor(3)?)),
    )
    .written(&OutPolicy::PLAIN.unbatched_target(|_| UnbatchedTarget::Rule("scatter_add_"))),
];

plain! {
    struct Gather { dim, given, index }
    struct Within { dim, size }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Gather>("gather"), Row::of::<Within>("elements are there")];
