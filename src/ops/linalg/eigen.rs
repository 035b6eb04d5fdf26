//! Eigenvalues and eigenvectors of matrices of any kind.

use smallvec::smallvec;

use super::solve::solve;
use super::symmetric::{apart_from_diagonal, over_differences, with_diagonal};
use super::{adjoint, as_column, as_row, check_phase, check_square, elements, sides};
use crate::dtype::{Complex, DType};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor};
use crate::kernels::factor::spectrum;
use crate::ops::apply::{Keep, Op, Outputs, apply, one, tangent, two};
use crate::ops::batch::{Answer, Call};
use crate::ops::conjugate::{conj, real};
use crate::ops::matmul::matmul;
use crate::ops::{cast, copy, memory_order, mul, part, sub};
use crate::tensor::{Array, Tensor};

/// A V = V Λ, where the columns of V have length one
///
/// With P = V⁻¹ dA V and E[i][j] = λ[j] - λ[i]: dΛ is the diagonal of P, and dV = W - V Re(diag(Vᴴ W))
/// with W = V (P / E), without the diagonal. Ā = V⁻ᴴ (Λ̄ + Vᴴ (V̄ - V Re(diag(Vᴴ V̄))) / Ē) Vᴴ
#[derive(Clone)]
struct Eigen;

/// x less what of it would make the vectors longer.
fn turning(x: &Tensor, vectors: &Tensor, along: &Tensor) -> Result<Tensor> {
    let longer = real(&part::diagonal(along, 0, -2, -1)?)?;
    sub(x, &mul(vectors, &as_row(&longer)?)?)
}

/// Eigenvalues of a real matrix as LAPACK says them: of two that are conjugates, the one above the real line
/// first, and none beside it that is not one of two.
fn paired(values: &mut [Complex<f64>], vectors: &mut [Complex<f64>]) {
    let n = values.len();
    let scale = values.iter().map(|x| x.norm()).fold(0.0, f64::max);
    let mut at = 0;
    while at < n {
        if values[at].im.abs() <= 1e-10 * scale {
            values[at].im = 0.0;
            vectors[at * n..(at + 1) * n].iter_mut().for_each(|x| x.im = 0.0);
            at += 1;
            continue;
        }
        let apart = |other: &usize| (values[*other] - values[at].conj()).norm();
        let Some(other) = (at + 1..n).min_by(|a, b| apart(a).total_cmp(&apart(b))) else { return };
        for place in (at + 1..other).rev() {
            values.swap(place, place + 1);
            (0..n).for_each(|row| vectors.swap(place * n + row, (place + 1) * n + row));
        }
        if values[at].im < 0.0 {
            values[at] = values[at].conj();
            vectors[at * n..(at + 1) * n].iter_mut().for_each(|x| *x = x.conj());
        }
        values[at + 1] = values[at].conj();
        for row in 0..n {
            vectors[(at + 1) * n + row] = vectors[at * n + row].conj();
        }
        at += 2;
    }
}

impl Op for Eigen {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["eigenvalues", "eigenvectors"];

    fn name(&self) -> &'static str {
        "LinalgEigBackward0"
    }

    fn outputs(&self, _inputs: &[&Tensor]) -> usize {
        2
    }

    fn effort(&self, inputs: &[&Tensor]) -> u64 {
        8 * super::effort(inputs[0])
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let array = inputs[0].array();
        let dtype = array.dtype;
        let array = copy::as_type(&array, DType::Complex128)?;
        let array = copy::in_order(&array)?;
        let (shape, n) = (array.layout.shape().to_vec(), sides(inputs[0]).0);
        let count: usize = shape[..shape.len() - 2].iter().product();
        let (mut values, mut vectors) = (Vec::new(), Vec::new());
        for item in 0..count {
            let matrix = &elements::<Complex<f64>>(&array)[item * n * n..(item + 1) * n * n];
            if matrix.iter().any(|x| !x.is_finite()) {
                return Err(Error::EigenvaluesNotFinite { operation: "torch.linalg.eig" }.into());
            }
            let nothing = || {
                let nan = Complex::new(f64::NAN, f64::NAN);
                (vec![nan; n], vec![nan; n * n])
            };
            let (mut some, mut columns) = spectrum::eigen(matrix, n).unwrap_or_else(nothing);
            if !dtype.is_complex() {
                paired(&mut some, &mut columns);
            }
            values.extend(some);
            vectors.extend((0..n * n).map(|place| columns[place % n * n + place / n]));
        }
        let made = |shape: &[usize], numbers: &[Complex<f64>]| -> Result<Array> {
            let array = Array::from_slice(shape, numbers)?;
            Ok(copy::as_type(&array, dtype.to_complex())?.into_owned())
        };
        let vectors = memory_order::by_columns(made(&shape, &vectors)?)?;
        let values = made(&shape[..shape.len() - 1], &values)?;
        Ok(smallvec![Tensor::from_array(values), Tensor::from_array(vectors)])
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

/// The eigenvalues of matrices, and their eigenvectors as columns, for an operation of that name.
pub fn eig(a: &Tensor, operation: &'static str) -> Result<(Tensor, Tensor)> {
    if a.ndim() > 1 && !a.dtype().is_float() && !a.dtype().is_complex() {
        return Err(Error::NoComplexType { dtype: a.dtype() }.into());
    }
    check_square(a, operation)?;
    apply(Eigen, &[a]).map(two)
}
