//! Eigenvalues and eigenvectors of symmetric matrices, and of complex ones that are their own adjoints.

use std::cmp::Ordering;

use smallvec::smallvec;

use super::{Matrices, adjoint, as_column, as_row, check_phase, check_square};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor};
use crate::kernels::factor::{Field, rotations};
use crate::ops::apply::{Keep, Op, Outputs, apply, one, tangent};
use crate::ops::batch::{self, Answer, Call};
use crate::ops::conjugate::real;
use crate::ops::matmul::matmul;
use crate::ops::{cast, div, mul, part, sub};
use crate::tensor::Tensor;

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

    fn outputs(&self, _inputs: &[&Tensor]) -> usize {
        2
    }

    fn effort(&self, inputs: &[&Tensor]) -> u64 {
        super::effort(inputs[0])
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let a = Matrices::of(inputs[0])?;
        let n = a.rows;
        factored!(a, T => {
            let (mut values, mut vectors) = (Vec::new(), Vec::new());
            for matrix in a.each::<T>() {
                let read = |place: usize| {
                    let (row, column) = (place / n, place % n);
                    match row.cmp(&column) {
                        Ordering::Equal => T::of(matrix[place].real()),
                        side if (side == Ordering::Less) == self.upper => matrix[place],
                        _ => matrix[column * n + row].conj(),
                    }
                };
                let found = rotations::symmetric(&(0..n * n).map(read).collect::<Vec<T>>(), n);
                values.extend(found.values);
                vectors.extend((0..n * n).map(|place| found.vectors[place % n * n + place / n]));
            }
            Ok(smallvec![a.made_real(&[n], &values)?, a.made_by_columns(&[n, n], &vectors)?])
        })
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

/// The eigenvalues of symmetric matrices, and their eigenvectors as columns. The lower triangle is
/// read if `triangle` is `"L"`, the upper one if it is `"U"`.
pub fn eigh(a: &Tensor, triangle: &str) -> Result<(Tensor, Tensor)> {
    check_square(a, "linalg.eigh")?;
    let upper = match triangle {
        "L" | "l" => false,
        "U" | "u" => true,
        other => return Err(Error::TriangleName { name: other.to_owned() }.into()),
    };
    let mut outputs = apply(Eigh { upper }, &[a])?;
    match (outputs.pop(), outputs.pop()) {
        (Some(vectors), Some(values)) => Ok((values, vectors)),
        _ => unreachable!("the operation has two outputs"),
    }
}
