//! Eigenvalues and eigenvectors of symmetric matrices, and of complex ones that are their own adjoints.

use crate::schema::{Entry, IntoReply, OutPolicy, Types, inner};
use smallvec::smallvec;

use super::values_only::{Values, alone};
use super::{Matrices, Routine, adjoint, as_column, as_row, check_phase, check_square, place};
use crate::dispatch::apply::{Arrays, Keep, Op, apply, one, tangent, two};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor};
use crate::kernels::linalg::factor::{Part, values};
use crate::ops::conjugate::real;
use crate::ops::creation::cast;
use crate::ops::geometry::part;
use crate::ops::linalg::matmul::matmul;
use crate::ops::{div, mul, sub};
use crate::tensor::{Array, Tensor};

/// V Λ Vᴴ = A, of which one triangle is read
///
/// With M = Vᴴ dA V and E[i][j] = λ[j] - λ[i]: dΛ is the diagonal of M and dV = V (M / E), and Ā is
/// V (Λ̄ + N / E) Vᴴ with N = (Vᴴ V̄ - V̄ᴴ V) / 2, without the diagonals where there is a division
#[derive(Clone)]
struct Eigh {
    upper: bool,
}

/// A matrix over the differences of eigenvalues, with ones in the place of those on the diagonal.
pub(super) fn over_differences(x: &Tensor, values: &Tensor) -> Result<Tensor> {
    let apart = sub(&as_row(values)?, &as_column(values)?)?;
    cast::fill_(&part::diagonal(&apart, 0, -2, -1)?, 1.0)?;
    div(x, &apart)
}

/// `over_differences` with zeros on the diagonal.
pub(super) fn apart_from_diagonal(x: &Tensor, values: &Tensor) -> Result<Tensor> {
    let quotient = over_differences(x, values)?;
    cast::zero_(&part::diagonal(&quotient, 0, -2, -1)?)?;
    Ok(quotient)
}

/// A matrix with this on the diagonal, if it is there: what the matrix had is nothing but rounding.
pub(super) fn with_diagonal(x: Tensor, diagonal: Option<&Tensor>) -> Result<Tensor> {
    let Some(diagonal) = diagonal else { return Ok(x) };
    let x = batch::with_room(x, &[diagonal])?;
    cast::copy_(&part::diagonal(&x, 0, -2, -1)?, diagonal)?;
    Ok(x)
}

impl Op for Eigh {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["eigenvalues", "eigenvectors"];

    fn name(&self) -> &'static str {
        "LinalgEighBackward0"
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0])
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let a = Matrices::of(&inputs[0])?;
        let n = a.rows;
        let (mut values, mut vectors) = (a.room(&[n], a.dtype.to_real())?, a.columns(n, n)?);
        over!(a.dtype, T => {
            let room = a.parts::<Part<T>>(&mut values).zip(a.parts::<T>(&mut vectors));
            a.run(a.each::<T>().zip(room), |(matrix, (values, vectors))| {
                values::symmetric(matrix, self.upper, values, Some(vectors));
            });
            check_found::<Part<T>>(&a, &values, 1)?;
        });
        Ok(smallvec![values, a.by_columns(vectors)])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.output(0), keep.output(1)]
    }

    fn vjp(&self, [values, v]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (values, v) = (at.load(values)?, at.load(v)?);
        if let [Some(g), None] | [Some(g)] = &gradients[..] {
            return one(matmul(&mul(&v, &as_row(g)?)?, &adjoint(&v)?)?);
        }
        let Some(g) = gradients.get(1).and_then(Option::as_ref) else { return Ok(smallvec![None]) };
        let along = matmul(&adjoint(&v)?, g)?;
        check_phase(
            &part::diagonal(&along, 0, -2, -1)?,
            Error::EigenvectorPhase { operation: "linalg_eigh" },
        )?;
        let skew = mul(&sub(&along, &adjoint(&along)?)?, 0.5)?;
        let middle = with_diagonal(over_differences(&skew, &values)?, gradients[0].as_ref())?;
        one(matmul(&v, &matmul(&middle, &adjoint(&v)?)?)?)
    }

    fn jvp(&self, [values, v]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (values, v) = (at.load(values)?, at.load(v)?);
        let m = matmul(&matmul(&adjoint(&v)?, tangent(tangents))?, &v)?;
        let dv = matmul(&v, &apart_from_diagonal(&m, &values)?)?;
        Ok(smallvec![Some(real(&part::diagonal(&m, 0, -2, -1)?)?), Some(dv)])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// Refuses values that were not found, because matrices have numbers that are none. Those of two rows are none, too.
pub(super) fn check_found<R: Element>(a: &Matrices, values: &Array, left: usize) -> Result<()> {
    let missed = |values: &&[R]| a.rows > 2 && values[0].to_f64().is_nan();
    match a.shown::<R>(values).position(|value| missed(&value)) {
        Some(item) => {
            let (place, code) = (place(item, !a.lead.is_empty()), a.rows - left);
            Err(Error::EigenvaluesNotFound { operation: "linalg.eigh", place, code }.into())
        }
        None => Ok(()),
    }
}

/// Whether the upper triangle is read; by its name, else the lower one.
fn is_upper(triangle: &str) -> Result<bool> {
    match triangle {
        "L" | "l" => Ok(false),
        "U" | "u" => Ok(true),
        other => Err(Error::TriangleName { name: other.to_owned() }.into()),
    }
}

pub(super) const EIGH: Routine = Routine::of("linalg.eigh").elements_refused_by("linalg_eigh_cpu");

/// The eigenvalues of symmetric matrices, and their eigenvectors as columns. The lower triangle is
/// read if `triangle` is `"L"`, the upper one if it is `"U"`.
pub fn eigh(a: &Tensor, triangle: &str) -> Result<(Tensor, Tensor)> {
    check_square(a, EIGH)?;
    apply(Eigh { upper: is_upper(triangle)? }, &[a]).map(two)
}

/// The eigenvalues of `eigh`.
pub fn eigvalsh(a: &Tensor, triangle: &str) -> Result<Tensor> {
    check_square(a, EIGH)?;
    let upper = is_upper(triangle)?;
    alone(a, Values::Symmetric { upper }).unwrap_or_else(|| eigh(a, triangle).map(|(values, _)| values))
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "linalg_eigh",
        &["(Tensor A, str UPLO=\"L\", *, Tensor[] out=None) -> return_types.linalg_eigh"],
        "The eigenvalues and eigenvectors of symmetric or Hermitian matrices.",
        |a| eigh(a.tensor(0)?, &a.text(1)?).named("linalg_eigh"),
    )
    .written(&OutPolicy::PLAIN.refused_as("_linalg_eigh").typed(Types::Same)),
    inner(
        "linalg_eigvalsh",
        &["(Tensor A, str UPLO=\"L\", *, Tensor out=None)"],
        "The eigenvalues of symmetric or Hermitian matrices.",
        |a| eigvalsh(a.tensor(0)?, &a.text(1)?).reply(),
    )
    .written(&OutPolicy::PLAIN.refused_as("_linalg_eigh").typed(Types::Same)),
];
