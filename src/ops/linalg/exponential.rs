//! The exponential of matrices.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::{Entry, IntoReply, both};
use smallvec::smallvec;

use super::{HalfTypes, Matrices, Routine, adjoint, check_square, sides};
use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::modes::recording;
use crate::error::Result;
use crate::graph::{At, Gradients, SavedTensor};
use crate::kernels::linalg::factor::exponential::{derivative, exponential};
use crate::ops::creation::{cast, create};
use crate::ops::geometry::part;
use crate::tensor::{Array, Tensor};

/// Y = exp A
///
/// The exponential of the matrix of blocks (A dA; 0 A) has dY in the place of dA; Ā is had so from Aᴴ
/// and Ȳ
#[derive(Clone)]
struct MatrixExp;

/// How the exponential of a matrix moves with the matrix: at once, or if that is recorded by an operation.
fn along(a: &Tensor, t: &Tensor) -> Result<Tensor> {
    if recording::is_undivided(&[a, t]) && !a.dtype().is_stored() {
        let found = recording::as_one("LinalgMatrixExpBackward0", &[a, t], 1, |given| {
            let (a, t) = (Matrices::of(&given[0].array())?, Matrices::of(&given[1].array())?);
            let mut y = a.room(&[a.rows, a.rows], a.dtype)?;
            over!(a.dtype, T => {
                let all = a.each::<T>().zip(t.each::<T>()).zip(a.parts::<T>(&mut y));
                a.run(all, |((matrix, along), y)| derivative(matrix, along, y));
            });
            Ok(smallvec![Tensor::from_array(y)])
        });
        return found?.pop().map_or_else(|| unreachable!("there is one"), Ok);
    }
    let side = sides(a).0 as i64;
    let mut shape = crate::shape::signed(a.layout().shape());
    shape.iter_mut().rev().take(2).for_each(|size| *size *= 2);
    let blocks = batch::with_room(create::zeros(&shape, a.dtype())?, &[a, t])?;
    let block =
        |x: &Tensor, row: i64, column: i64| part::narrow(&part::narrow(x, -2, row, side)?, -1, column, side);
    for (row, column, x) in [(0, 0, a), (side, side, a), (0, side, t)] {
        cast::copy_(&block(&blocks, row, column)?, x)?;
    }
    block(&apply_one(MatrixExp, &[&blocks])?, 0, side)
}

impl Op for MatrixExp {
    type Saved = SavedTensor;
    const SAVED: &'static [&'static str] = &["self"];

    fn name(&self) -> &'static str {
        "LinalgMatrixExpBackward0"
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0])
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let a = Matrices::of(&inputs[0])?;
        let mut y = a.room(&[a.rows, a.rows], a.dtype)?;
        over!(a.dtype, T => a.run(a.each::<T>().zip(a.parts::<T>(&mut y)), |(matrix, y)| exponential(matrix, y)));
        Ok(smallvec![y])
    }

    fn save(&self, keep: &Keep<'_>) -> SavedTensor {
        keep.input(0)
    }

    fn vjp(&self, a: &SavedTensor, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(along(&adjoint(&at.load(a)?)?, single(gradients))?)
    }

    fn jvp(&self, a: &SavedTensor, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(along(&at.load(a)?, tangent(tangents))?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The exponentials of matrices.
pub fn matrix_exp(a: &Tensor) -> Result<Tensor> {
    check_square(a, Routine::of("linalg.matrix_exp").half_types(HalfTypes::Taken))?;
    apply_one(MatrixExp, &[a])
}

/// The entries.
pub const ENTRIES: &[Entry] =
    &[both("matrix_exp", &["(Tensor input)"], "The exponentials of matrices.", |a| {
        matrix_exp(a.tensor(0)?).reply()
    })];

plain! {
    struct MatrixExp {}
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<MatrixExp>("matrix exp")];
