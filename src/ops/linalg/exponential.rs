//! The exponential of matrices.

use smallvec::smallvec;

use super::{Matrices, adjoint, check_square, sides};
use crate::error::Result;
use crate::graph::{At, Gradients, SavedTensor};
use crate::kernels::factor::exponential::exponential;
use crate::ops::apply::{Keep, Op, Outputs, apply_one, one, single, tangent};
use crate::ops::batch::{Answer, Call};
use crate::ops::{create, join, part};
use crate::tensor::Tensor;

/// Y = exp A
///
/// The exponential of the matrix of blocks (A dA; 0 A) has dY in the place of dA; Ā is had so from Aᴴ
/// and Ȳ
#[derive(Clone)]
struct MatrixExp;

/// How the exponential of a matrix moves with the matrix.
fn along(a: &Tensor, t: &Tensor) -> Result<Tensor> {
    let side = sides(a).0 as i64;
    let above = join::cat(&[a, t], -1)?;
    let below = join::cat(&[&create::zeros_like(a)?, a], -1)?;
    let whole = apply_one(MatrixExp, &[&join::cat(&[&above, &below], -2)?])?;
    part::narrow(&part::narrow(&whole, -2, 0, side)?, -1, side, side)
}

impl Op for MatrixExp {
    type Saved = SavedTensor;
    const SAVED: &'static [&'static str] = &["self"];

    fn name(&self) -> &'static str {
        "LinalgMatrixExpBackward0"
    }

    fn effort(&self, inputs: &[&Tensor]) -> u64 {
        super::effort(inputs[0])
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let a = Matrices::of(inputs[0])?;
        factored!(a, T => {
            let y: Vec<T> = a.each::<T>().flat_map(|matrix| exponential(matrix, a.rows)).collect();
            Ok(smallvec![a.made(&[a.rows, a.rows], &y)?])
        })
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
    check_square(a, "linalg.matrix_exp")?;
    apply_one(MatrixExp, &[a])
}
