//! Singular values and eigenvalues without the vectors, where nobody will ask for derivatives: those are made of the
//! vectors.

use smallvec::smallvec;

use super::singular::check_finite;
use super::symmetric::check_found;
use super::{Matrices, eigen};
use crate::dispatch::apply::{Arrays, Keep, Op, apply_one};
use crate::dispatch::batch::{Answer, Call};
use crate::dtype::{Complex, DType};
use crate::error::Result;
use crate::graph::{At, Gradients, mode};
use crate::kernels::linalg::factor::{Part, values};
use crate::ops::creation::copy;
use crate::tensor::{Array, Tensor};

/// Which values of a matrix.
#[derive(Clone, Copy)]
pub(super) enum Values {
    Singular,
    /// Eigenvalues, which are complex.
    General,
    /// Those of a matrix that is its own adjoint, of which one triangle is read.
    Symmetric {
        upper: bool,
    },
}

/// The values, if operations on the matrices are not recorded and nothing else makes use of vectors.
pub(super) fn alone(a: &Tensor, values: Values) -> Option<Result<Tensor>> {
    let used = mode::special() || a.requires_grad() && mode::is_grad_enabled();
    (!used).then(|| apply_one(values, &[a]))
}

impl Op for Values {
    type Saved = ();

    fn name(&self) -> &'static str {
        match self {
            Values::Singular => "LinalgSvdBackward0",
            Values::General => "LinalgEigBackward0",
            Values::Symmetric { .. } => "LinalgEighBackward0",
        }
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0]) * if matches!(self, Values::General) { 8 } else { 1 }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let a = Matrices::of(&inputs[0])?;
        let dtype = match self {
            Values::General => DType::Complex128,
            _ => a.dtype.to_real(),
        };
        let mut found = a.room(&[a.rows.min(a.columns)], dtype)?;
        over!(a.dtype, T => {
            match *self {
                Values::General => {
                    eigen::check_finite::<T>(&a)?;
                    let room = a.each::<T>().zip(a.parts::<Complex<f64>>(&mut found));
                    a.run(room, |(matrix, found)| {
                        found.copy_from_slice(&values::general(matrix, false).values);
                    });
                    found = copy::as_type(&found, a.dtype.to_complex())?.into_owned();
                }
                Values::Singular => {
                    check_finite::<T>(&a)?;
                    let room = a.each::<T>().zip(a.parts::<Part<T>>(&mut found));
                    a.run(room, |(matrix, found)| values::singular(matrix, found, None));
                }
                Values::Symmetric { upper } => {
                    let room = a.each::<T>().zip(a.parts::<Part<T>>(&mut found));
                    a.run(room, |(matrix, found)| values::symmetric(matrix, upper, found, None));
                    check_found::<Part<T>>(&a, &found, 2)?;
                }
            }
        });
        Ok(smallvec![found])
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, _gradients: &Gradients) -> Result<Gradients> {
        unreachable!("values that are recorded come with their vectors")
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, _tangents: &[Option<Tensor>]) -> Result<Gradients> {
        unreachable!("values that have tangents come with their vectors")
    }

    fn batch(&self, _call: &Call<'_>) -> Result<Answer> {
        unreachable!("values of many samples come with their vectors")
    }
}
