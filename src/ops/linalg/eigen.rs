//! Eigenvalues and eigenvectors of matrices of any kind.

use crate::schema::{Entry, IntoReply, OutPolicy, Types, inner};
use std::borrow::Cow;

use smallvec::smallvec;

use super::solve::solve;
use super::symmetric::{apart_from_diagonal, over_differences, with_diagonal};
use super::values_only::{Values, alone};
use super::{HalfTypes, Matrices, Routine, adjoint, as_column, as_row, check_phase, check_square};
use crate::dispatch::apply::{Arrays, Keep, Op, apply, one, tangent, two};
use crate::dispatch::batch::{Answer, Call};
use crate::dtype::{Complex, DType};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor};
use crate::kernels::linalg::factor::{Field, values};
use crate::ops::conjugate::{conj, real};
use crate::ops::creation::{cast, copy};
use crate::ops::geometry::part;
use crate::ops::linalg::matmul::matmul;
use crate::ops::{mul, sub};
use crate::tensor::{Array, Tensor};

/// A V = V Λ, where the columns of V have length one
///
/// With P = V⁻¹ dA V and E[i][j] = λ[j] - λ[i]: dΛ is the diagonal of P, and dV = W - V Re(diag(Vᴴ W))
/// with W = V (P / E), without the diagonal. Ā = V⁻ᴴ (Λ̄ + Vᴴ (V̄ - V Re(diag(Vᴴ V̄))) / Ē) Vᴴ
#[derive(Clone)]
struct Eigen;

/// Refuses matrices of which some numbers are not finite.
pub(super) fn check_finite<T: Field>(a: &Matrices) -> Result<()> {
    match a.not_finite::<T>() {
        Some(_) => Err(Error::EigenvaluesNotFinite { operation: "torch.linalg.eig" }.into()),
        None => Ok(()),
    }
}

/// x less what of it would make the vectors longer.
fn turning(x: &Tensor, vectors: &Tensor, along: &Tensor) -> Result<Tensor> {
    let longer = real(&part::diagonal(along, 0, -2, -1)?)?;
    sub(x, &mul(vectors, &as_row(&longer)?)?)
}

impl Op for Eigen {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["eigenvalues", "eigenvectors"];

    fn name(&self) -> &'static str {
        "LinalgEigBackward0"
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        8 * super::effort(&inputs[0])
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let a = Matrices::of(&inputs[0])?;
        let n = a.rows;
        let (mut values, mut vectors) =
            (a.room(&[n], DType::Complex128)?, a.room(&[n, n], DType::Complex128)?);
        over!(a.dtype, T => {
            check_finite::<T>(&a)?;
            let room = a.parts::<Complex<f64>>(&mut values).zip(a.parts::<Complex<f64>>(&mut vectors));
            a.run(a.each::<T>().zip(room), |(matrix, (values, vectors))| {
                let found = values::general(matrix, true);
                values.copy_from_slice(&found.values);
                vectors.copy_from_slice(&found.vectors);
            });
        });
        let narrowed = |array: Array| copy::as_type(&array, a.dtype.to_complex()).map(Cow::into_owned);
        Ok(smallvec![narrowed(values)?, a.by_columns(narrowed(vectors)?)])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.output(0), keep.output(1)]
    }

    fn vjp(&self, [values, v]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (values, v) = (at.load(values)?, at.load(v)?);
        let of_values = gradients[0].as_ref();
        let Some(g) = gradients.get(1).and_then(Option::as_ref) else {
            let Some(of_values) = of_values else { return Ok(smallvec![None]) };
            let middle = mul(&as_column(of_values)?, &adjoint(&v)?)?;
            return one(solve(&adjoint(&v)?, &middle, true)?);
        };
        let along = matmul(&adjoint(&v)?, g)?;
        let diagonal = part::diagonal(&along, 0, -2, -1)?;
        check_phase(&diagonal, Error::EigenvectorPhase { operation: "linalg_eig" })?;
        let longer = mul(&v, &as_row(&real(&diagonal)?)?)?;
        let turned = sub(&along, &matmul(&adjoint(&v)?, &longer)?)?;
        let middle = with_diagonal(over_differences(&turned, &conj(values)?)?, of_values)?;
        one(solve(&adjoint(&v)?, &matmul(&middle, &adjoint(&v)?)?, true)?)
    }

    fn jvp(&self, [values, v]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (values, v) = (at.load(values)?, at.load(v)?);
        let t = cast::to_dtype(tangent(tangents), v.dtype())?;
        let p = solve(&v, &matmul(&t, &v)?, true)?;
        let w = matmul(&v, &apart_from_diagonal(&p, &values)?)?;
        let dv = turning(&w, &v, &matmul(&adjoint(&v)?, &w)?)?;
        Ok(smallvec![Some(part::diagonal(&p, 0, -2, -1)?), Some(dv)])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// Refuses what has no eigenvalues.
fn check_matrices(a: &Tensor, operation: &'static str) -> Result<()> {
    if a.ndim() > 1 && !a.dtype().is_float() && !a.dtype().is_complex() {
        return Err(Error::NoComplexType { dtype: a.dtype() }.into());
    }
    check_square(a, Routine::of(operation).half_types(HalfTypes::RefusedBy("linalg_eig_out_cpu"))).map(|_| ())
}

/// The eigenvalues of matrices, and their eigenvectors as columns, for an operation of that name.
pub fn eig(a: &Tensor, operation: &'static str) -> Result<(Tensor, Tensor)> {
    check_matrices(a, operation)?;
    apply(Eigen, &[a]).map(two)
}

/// The eigenvalues of matrices.
fn eigvals(a: &Tensor) -> Result<Tensor> {
    const NAME: &str = "linalg.eigvals";
    check_matrices(a, NAME)?;
    alone(a, Values::General).unwrap_or_else(|| eig(a, NAME).map(|(values, _)| values))
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "linalg_eig",
        &["(Tensor input, *, Tensor[] out=None) -> return_types.linalg_eig"],
        "The eigenvalues and eigenvectors of square matrices.",
        |a| {
            let elements = eig(a.tensor(0)?, "linalg.eig")?;
            Ok(elements).named("linalg_eig")
        },
    )
    .written(&OutPolicy::PLAIN.typed(Types::Eigenvectors)),
    inner(
        "linalg_eigvals",
        &["(Tensor input, *, Tensor out=None)"],
        "The eigenvalues of square matrices.",
        |a| eigvals(a.tensor(0)?).reply(),
    )
    .written(&OutPolicy::PLAIN.unknown("linalg_eigvals").typed(Types::Eigenvalues)),
];
