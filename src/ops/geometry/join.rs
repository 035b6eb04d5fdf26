//! Several tensors as one.

pub mod diagonal;
mod directly;

use std::sync::Arc;

use crate::dispatch::apply;
use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::ops::geometry::expand;
use crate::schema::signatures::JOIN;
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, function, joined};
use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Keepsake, Op, apply_one};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::direct::Direct;
use crate::dispatch::memory_order;
use crate::dispatch::operand::{Numbers, result_type};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients};
use crate::kernels::geometry::join;
use crate::ops::creation::{copy, create};
use crate::ops::geometry::part::{Part, take};
use crate::ops::geometry::{reshape, squeeze};
use crate::shape::{self, Dims, Layout};
use crate::tensor::{Array, Tensor};
use directly::SideBySide;

/// What a joining operation keeps: which part of the output each input is, `None` for one that
/// was left out.
pub struct Places(Vec<Option<Part>>);

impl Keepsake for Places {}

/// y = the xᵢ side by side along a dimension
///
/// dy is the dxᵢ side by side; x̄ᵢ is the part of ȳ that xᵢ is
#[derive(Clone)]
struct Join {
    name: &'static str,
    places: Vec<Option<Part>>,
    shape: Dims,
    /// The dimension as the caller named it.
    given: i64,
}

/// Rows that are longer than this are copied one after the other.
const LONG: usize = 1 << 14;

impl Join {
    /// How many elements of the result lie in order between what is in front of the dimension.
    fn row(&self) -> Option<usize> {
        match self.places.iter().flatten().next()? {
            Part::Slice { dim, .. } | Part::Select { dim, .. } => Some(self.shape[*dim..].iter().product()),
            _ => None,
        }
    }

    /// Writes each input to its part of the result.
    fn write(&self, inputs: &[Array], y: &Array) -> Result<()> {
        let parts = self.places.iter().zip(inputs);
        parts
            .filter_map(|(part, input)| Some((part.as_ref()?, input)))
            .try_for_each(|(part, input)| copy::write(&part.of(y)?, input))
    }

    /// Joins short rows of tensors that lie in order, if they are such.
    fn in_rows(&self, inputs: &[Array], y: &mut Array) -> bool {
        let Some(row) = self.row() else { return false };
        let numel = y.layout.numel();
        if numel == 0 || row > LONG || inputs.iter().any(|array| array.dtype != y.dtype) {
            return false;
        }
        let lines = numel / row;
        dispatch!(bits y.dtype, T => {
            let slices: Option<Vec<(&[T], usize)>> =
                inputs.iter().map(|array| Some((array.slice::<T>()?, array.layout.numel() / lines))).collect();
            slices.inspect(|parts| join::side_by_side(parts, y.fresh::<T>())).is_some()
        })
    }
}

/// The type of arrays that are put together.
fn joined_type(inputs: &[Array]) -> Result<DType> {
    let first = inputs[0].dtype;
    match inputs.iter().all(|input| input.dtype == first) {
        true => Ok(first),
        false => result_type(&inputs.iter().cloned().map(Numbers::Array).collect::<Vec<_>>()),
    }
}

impl Op for Join {
    type Saved = Places;
    const MOVES: bool = true;

    fn name(&self) -> &'static str {
        self.name
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { dim: self.given }
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(SideBySide { row: self.row()? }))
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let last = |input: &Array| memory_order::has_channels_last(&input.layout, 2);
        let (is_last, dtype) = (inputs.iter().all(last), joined_type(inputs)?);
        let is_stacked = self.places.iter().flatten().any(|part| matches!(part, Part::Select { .. }));
        if is_last && !is_stacked && self.shape.len() == 4 {
            let y = memory_order::room_by_channels(&self.shape, dtype)?;
            self.write(inputs, &y)?;
            return Ok(smallvec![y]);
        }
        let mut y = Array::uninit_shape(&self.shape, dtype)?;
        if !is_last && self.in_rows(inputs, &mut y) {
            return Ok(smallvec![y]);
        }
        self.write(inputs, &y)?;
        if !is_last {
            return Ok(smallvec![y]);
        }
        // What is stacked is joined along the dimension behind the new one, if there is one.
        let mut joined: Dims = self.shape.clone();
        let new = match self.places.first() {
            Some(Some(Part::Select { dim, .. })) if dim + 1 < joined.len() => {
                Some((*dim, joined.remove(*dim)))
            }
            _ => None,
        };
        if joined.len() != 4 {
            return Ok(smallvec![y]);
        }
        if let Some((dim, count)) = new {
            joined[dim] *= count;
        }
        let flat = y.with_layout(Layout::contiguous(&joined)?);
        drop(y);
        let y = memory_order::channels_last(flat)?;
        let strides = shape::view_strides(&joined, y.layout.strides(), &self.shape);
        let strides = strides.unwrap_or_else(|| unreachable!("a dimension is parted in two"));
        Ok(smallvec![y.with_layout(Layout::strided(self.shape.clone(), strides, 0)?)])
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {
        Places(self.places.clone())
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let gradient = apply::single(gradients);
        let back = |(index, part): (usize, &Option<Part>)| match part {
            _ if !at.needs(index) => Ok(None),
            Some(part) => take(gradient, *part).map(Some),
            None => {
                let edge = at.node.edges()[index].as_ref();
                let shape = edge.map(|edge| edge.node.form(edge.output).layout.clone());
                let shape = shape.map_or_else(|| vec![0], |layout| shape::signed(layout.shape()));
                create::zeros(&shape, gradient.dtype()).map(Some)
            }
        };
        saved.0.iter().enumerate().map(back).collect()
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let form = at.node.form(0);
        let whole = Array::uninit_shape(form.layout.shape(), form.dtype)?;
        let forth = |(tangent, part): (&Option<Tensor>, &Option<Part>)| match (tangent, part) {
            (Some(tangent), _) => Ok(tangent.clone()),
            (None, Some(part)) => create::zeros(&shape::signed(part.of(&whole)?.layout.shape()), form.dtype),
            (None, None) => create::zeros(&[0], form.dtype),
        };
        let parts: Vec<Tensor> = tangents.iter().zip(&saved.0).map(forth).collect::<Result<_>>()?;
        let parts: Vec<&Tensor> = parts.iter().collect();
        let join = Join { places: saved.0.clone(), ..self.clone() };
        apply::one(apply_one(join, &parts)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let places = self.places.iter().map(|part| part.map(|part| part.deeper())).collect();
        let mut shape = self.shape.clone();
        shape.insert(0, call.size);
        call.front(Join { places, shape, ..self.clone() })
    }
}

/// The tensors one after the other along a dimension; one-dimensional ones without elements do not
/// count.
pub fn cat(tensors: &[&Tensor], dim: i64) -> Result<Tensor> {
    if tensors.is_empty() {
        return Err(Error::CatEmpty {}.into());
    }
    if let Some(position) = tensors.iter().position(|tensor| tensor.ndim() == 0) {
        return Err(Error::CatScalar { position }.into());
    }
    let counts = |tensor: &Tensor| tensor.layout().shape() != [0];
    let counted = tensors.iter().find(|tensor| counts(tensor));
    let model = counted.unwrap_or(&tensors[0]).layout();
    let given = dim;
    // Nobody looks at the dimension if none counts.
    let dim = if counted.is_some() { shape::normalize_dim(dim, model.ndim())? } else { 0 };
    let mut shape: Dims = model.shape().into();
    shape[dim] = 0;
    let mut places = Vec::with_capacity(tensors.len());
    for (position, tensor) in tensors.iter().enumerate() {
        if !counts(tensor) {
            places.push(None);
            continue;
        }
        let layout = tensor.layout();
        if layout.ndim() != model.ndim() {
            let error = Error::CatDimensions { first: model.ndim(), got: layout.ndim() };
            return Err(batch::told_of_all(error, tensors));
        }
        for (at, (&expected, &got)) in model.shape().iter().zip(layout.shape()).enumerate() {
            if at != dim && expected != got {
                return Err(batch::told_of_all(Error::CatSizes { dim, expected, got, position }, tensors));
            }
        }
        let length = layout.shape()[dim];
        places.push(Some(Part::Slice { dim, start: shape[dim], length, step: 1 }));
        shape[dim] = shape[dim].saturating_add(length);
    }
    shape::checked_shape(&shape::signed(&shape))?;
    apply_one(Join { name: "CatBackward0", places, shape, given }, tensors)
}

/// Tensors of one shape side by side along a new dimension.
pub fn stack(tensors: &[&Tensor], dim: i64) -> Result<Tensor> {
    let Some(first) = tensors.first() else { return Err(Error::StackEmpty { operation: "stack" }.into()) };
    let model = first.layout();
    let (dim, given) = (shape::normalize_dim(dim, model.ndim() + 1)?, dim);
    for (position, tensor) in tensors.iter().enumerate() {
        if tensor.layout().shape() != model.shape() {
            let (first, got) = (model.shape().to_vec(), tensor.layout().shape().to_vec());
            return Err(batch::told_of_all(Error::StackSizes { first, got, position }, tensors));
        }
    }
    let mut shape: Dims = model.shape().into();
    shape.insert(dim, tensors.len());
    shape::checked_shape(&shape::signed(&shape))?;
    let places = (0..tensors.len()).map(|index| Some(Part::Select { dim, index })).collect();
    apply_one(Join { name: "StackBackward0", places, shape, given }, tensors)
}

/// `cat` of the tensors with at least `ndim` dimensions each, which `raise` gives them.
fn cat_raised(
    tensors: &[&Tensor],
    operation: &'static str,
    dim: impl Fn(&Tensor) -> i64,
    raise: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    if tensors.is_empty() {
        return Err(Error::StackEmpty { operation }.into());
    }
    let raised: Vec<Tensor> = tensors.iter().map(|tensor| raise(tensor)).collect::<Result<_>>()?;
    let raised: Vec<&Tensor> = raised.iter().collect();
    cat(&raised, dim(raised[0]))
}

/// The tensors side by side: along the second dimension, vectors along their only one.
pub fn hstack(tensors: &[&Tensor]) -> Result<Tensor> {
    cat_raised(tensors, "hstack", |first| if first.ndim() == 1 { 0 } else { 1 }, atleast_1d)
}

/// The tensors one upon the other; vectors are rows.
pub fn vstack(tensors: &[&Tensor]) -> Result<Tensor> {
    cat_raised(tensors, "vstack", |_| 0, atleast_2d)
}

/// The tensor with at least one dimension.
pub fn atleast_1d(x: &Tensor) -> Result<Tensor> {
    if x.ndim() == 0 { reshape::reshape(x, &[1]) } else { Ok(x.clone()) }
}

/// The tensor with at least two dimensions; a vector is a row.
pub fn atleast_2d(x: &Tensor) -> Result<Tensor> {
    match x.ndim() {
        0 => reshape::reshape(x, &[1, 1]),
        1 => squeeze::unsqueeze(x, 0),
        _ => Ok(x.clone()),
    }
}

/// Vectors as the coordinates of a grid: one tensor of the grid's shape for each. With an
/// `indexing` of `xy` the first two dimensions are exchanged, which those of `ij` are not.
pub fn meshgrid(tensors: &[&Tensor], indexing: &str) -> Result<Vec<Tensor>> {
    let Some(first) = tensors.first() else {
        return Err(Error::StackEmpty { operation: "meshgrid" }.into());
    };
    if tensors.iter().any(|tensor| tensor.dtype() != first.dtype()) {
        return Err(Error::MeshgridDTypes {}.into());
    }
    let swapped = match indexing {
        "ij" => false,
        "xy" => true,
        _ => return Err(Error::MeshgridIndexing { indexing: indexing.to_owned() }.into()),
    };
    if let Some(tensor) = tensors.iter().find(|tensor| tensor.ndim() > 1) {
        return Err(Error::MeshgridDimensions { ndim: tensor.ndim() }.into());
    }
    let place = |index: usize| match index {
        0 | 1 if swapped && tensors.len() > 1 => 1 - index,
        _ => index,
    };
    let grid: Vec<i64> = (0..tensors.len()).map(|index| tensors[place(index)].numel() as i64).collect();
    let coordinate = |(index, tensor): (usize, &&Tensor)| {
        let mut line = vec![1; tensors.len()];
        line[place(index)] = -1;
        expand::expand(&reshape::view(tensor, &line)?, &grid)
    };
    tensors.iter().enumerate().map(coordinate).collect()
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function(
        "cat",
        &["(Tensor[] tensors, int dim=0, *, Tensor out=None)"],
        "Concatenates tensors along a dimension.",
        cat_call,
    )
    .written(&OutPolicy::JOINED)
    .operators(&[("CatBackward0", "cat")]),
    function(
        "concat",
        &["(Tensor[] tensors, int dim=0, *, Tensor out=None)"],
        "Concatenates tensors along a dimension: `cat`.",
        cat_call,
    )
    .written(&OutPolicy::JOINED.refused_as("cat")),
    function(
        "concatenate",
        &["(Tensor[] tensors, int dim=0, *, Tensor out=None)"],
        "Concatenates tensors along a dimension: `cat`.",
        cat_call,
    )
    .written(&OutPolicy::JOINED.refused_as("cat")),
    function(
        "stack",
        &["(Tensor[] tensors, int dim=0, *, Tensor out=None)"],
        "Stacks tensors along a new dimension.",
        |a| {
            let dim = a.int(1)?;
            joined(a, |tensors| stack(tensors, dim))
        },
    )
    .written(&OutPolicy::JOINED)
    .operators(&[("StackBackward0", "stack")]),
    function(
        "hstack",
        JOIN,
        "Stacks tensors horizontally, along the second dimension, or the first of one-dimensional ones.",
        |a| joined(a, hstack),
    )
    .written(&OutPolicy::JOINED.refused_as("cat")),
    function("vstack", JOIN, "Stacks tensors vertically, along the first dimension.", |a| joined(a, vstack))
        .written(&OutPolicy::JOINED.refused_as("cat")),
    function("row_stack", JOIN, "Stacks tensors vertically: `vstack`.", |a| joined(a, vstack))
        .written(&OutPolicy::JOINED.refused_as("cat")),
    function(
        "meshgrid",
        &[
            "(Tensor[] tensors) -> tuple[Tensor, ...]",
            "(Tensor[] tensors, *, str indexing) -> tuple[Tensor, ...]",
        ],
        "Grids of coordinates from one-dimensional tensors.",
        meshgrid_call,
    ),
    function("atleast_1d", &["(Tensor input)"], "A view of the tensor with at least one dimension.", |a| {
        atleast_1d(a.tensor(0)?).reply()
    }),
    function("atleast_2d", &["(Tensor input)"], "A view of the tensor with at least two dimensions.", |a| {
        atleast_2d(a.tensor(0)?).reply()
    }),
];

fn cat_call(arguments: &dyn Arguments) -> Result<Reply> {
    let dim = arguments.int(1)?;
    joined(arguments, |tensors| cat(tensors, dim))
}

fn meshgrid_call(arguments: &dyn Arguments) -> Result<Reply> {
    let indexing = if arguments.overload() == 0 { None } else { Some(arguments.text(1)?) };
    joined(arguments, |tensors| meshgrid(tensors, indexing.as_deref().unwrap_or("ij")))
}

plain! {
    struct Join { name, places, shape, given }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Join>("join")];
