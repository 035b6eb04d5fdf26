//! Matrices one behind the other on the diagonal of a larger one.

use smallvec::smallvec;

use super::joined_type;
use crate::dispatch::apply::portable;
use crate::dispatch::apply::{self, Arrays, Keep, Op, apply_one};
use crate::dispatch::batch::{self, Answer, Call};
use crate::dispatch::default_dtype;
use crate::dispatch::modes::plain::{Row, plain};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients};
use crate::ops::creation::{copy, create};
use crate::ops::geometry::part::{Part, take};
use crate::schema::{Entry, inner, joined};
use crate::shape::{self, Dims, SharedLayout};
use crate::tensor::{Array, Tensor};

/// y = the xᵢ on the diagonal, zero elsewhere
///
/// dy is the dxᵢ on the diagonal; x̄ᵢ is the part of ȳ that xᵢ is
#[derive(Clone)]
struct BlockDiagonal {
    /// Of each input, the rows that it is, and the columns of those.
    places: Vec<[Part; 2]>,
    shape: Dims,
}

impl BlockDiagonal {
    /// Part of an array that an input is.
    fn part(of: &Array, [rows, columns]: [Part; 2]) -> Result<Array> {
        columns.of(&rows.of(of)?)
    }
}

impl Op for BlockDiagonal {
    type Saved = ();
    const MOVES: bool = true;

    fn name(&self) -> &'static str {
        "BlockDiagBackward0"
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let y = Array::zeroed(&SharedLayout::contiguous(&self.shape)?, joined_type(inputs)?)?;
        for (place, input) in self.places.iter().zip(inputs) {
            copy::write(&BlockDiagonal::part(&y, *place)?, input)?;
        }
        Ok(smallvec![y])
    }

    fn save(&self, _keep: &Keep<'_>) {}

    fn vjp(&self, _saved: &(), at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let gradient = apply::single(gradients);
        let back = |(index, [rows, columns]): (usize, &[Part; 2])| match at.needs(index) {
            true => take(&take(gradient, *rows)?, *columns).map(Some),
            false => Ok(None),
        };
        self.places.iter().enumerate().map(back).collect()
    }

    fn jvp(&self, _saved: &(), at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let form = at.node.form(0);
        let whole = Array::uninit_shape(form.layout.shape(), form.dtype)?;
        let forth = |(tangent, place): (&Option<Tensor>, &[Part; 2])| match tangent {
            Some(tangent) => Ok(tangent.clone()),
            None => {
                let part = BlockDiagonal::part(&whole, *place)?;
                create::zeros(&shape::signed(part.layout.shape()), form.dtype)
            }
        };
        let parts: Vec<Tensor> = tangents.iter().zip(&self.places).map(forth).collect::<Result<_>>()?;
        let parts: Vec<&Tensor> = parts.iter().collect();
        apply::one(apply_one(self.clone(), &parts)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let places = self.places.iter().map(|place| place.map(Part::deeper)).collect();
        let mut shape = self.shape.clone();
        shape.insert(0, call.size);
        call.front(BlockDiagonal { places, shape })
    }
}

/// The tensors on the diagonal of a matrix: a vector is a row, and a number a matrix of one element.
pub fn block_diag(tensors: &[&Tensor]) -> Result<Tensor> {
    if tensors.is_empty() {
        return create::empty(&[1, 0], default_dtype::get());
    }
    let (mut rows, mut columns, mut places) = (0usize, 0usize, Vec::with_capacity(tensors.len()));
    for (position, tensor) in tensors.iter().enumerate() {
        let layout = tensor.layout();
        let (height, width) = match *layout.shape() {
            [] => (1, 1),
            [width] => (1, width),
            [height, width] => (height, width),
            _ => {
                let error = Error::BlockDimensions { position, ndim: layout.ndim() };
                return Err(batch::told_of_all(error, tensors));
            }
        };
        // Both places are along the first dimension that is left, or the one behind it.
        let row = match layout.ndim() {
            2 => Part::Slice { dim: 0, start: rows, length: height, step: 1 },
            _ => Part::Select { dim: 0, index: rows },
        };
        let column = match layout.ndim() {
            0 => Part::Select { dim: 0, index: columns },
            ndim => Part::Slice { dim: ndim - 1, start: columns, length: width, step: 1 },
        };
        places.push([row, column]);
        (rows, columns) = (rows.saturating_add(height), columns.saturating_add(width));
    }
    let shape: Dims = smallvec![rows, columns];
    shape::checked_shape(&shape::signed(&shape))?;
    apply_one(BlockDiagonal { places, shape }, tensors)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "block_diag",
    &["(Tensor[] tensors)"],
    "The matrices one behind the other on the diagonal of a larger one.",
    |a| joined(a, block_diag),
)
.operators(&[("BlockDiagBackward0", "block_diag")])];

plain! {
    struct BlockDiagonal { places, shape }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<BlockDiagonal>("block diagonal")];
