//! Determinants, and the logarithms of their magnitudes.

use smallvec::smallvec;

use super::solve;
use super::{adjoint, as_row, check_square, diagonal, elements, in_order, settled, singular, turned};
use crate::dtype::{Complex, DType, Element};
use crate::error::Result;
use crate::graph::{At, Attributes, Gradients, SavedTensor, Shown};
use crate::kernels::factor::{self, Factors, Field};
use crate::ops::apply::{Keep, Op, Outputs, apply, apply_one, one, single, tangent};
use crate::ops::batch::{Answer, Call};
use crate::ops::complex::I;
use crate::ops::conjugate::{conj, imag, real};
use crate::ops::matmul::matmul;
use crate::ops::product::times_others;
use crate::ops::{add, cast, copy, create, expand, mul, part, reduce, squeeze};
use crate::shape;
use crate::tensor::{Array, Tensor};

/// `read` of the factors of every matrix.
fn each<T: Field, U: Element>(a: &Array, read: impl Fn(Factors<T>) -> U) -> Result<Array> {
    let shape = a.layout.shape();
    let (lead, side) = (&shape[..shape.len() - 2], shape[shape.len() - 1]);
    let count: usize = lead.iter().product();
    let matrix = |item: usize| &elements::<T>(a)[item * side * side..(item + 1) * side * side];
    let values: Vec<U> = (0..count).map(|item| read(factor::eliminate(matrix(item), side))).collect();
    Array::from_slice(lead, &values)
}

/// A⁻ᴴ, times a number for every matrix.
fn times_back(a: &Tensor, x: &Tensor) -> Result<Tensor> {
    let mut shape = shape::signed(a.layout().shape());
    shape.pop();
    let x = cast::to_dtype(x, a.dtype())?;
    let diagonal = diagonal(&expand::expand(&squeeze::unsqueeze(&x, -1)?, &shape)?)?;
    solve::solve_unchecked(&adjoint(a)?, &turned(&diagonal)?)
}

/// Whether there are matrices that cannot be inverted, as far as that can be told, by their determinants.
fn is_singular(y: &Tensor) -> Result<bool> {
    if let Some(batch) = y.batch() {
        return is_singular(&batch.value);
    }
    let numbers = copy::as_type(&y.array(), DType::Complex128)?.into_owned();
    let least =
        100.0 * if y.dtype().to_real() == DType::Float64 { f64::EPSILON } else { f32::EPSILON.into() };
    Ok(numbers.view::<Complex<f64>>().iter().any(|y| y.norm() < least))
}

/// Ā where A may not have an inverse: with A = U S Vᴴ it is U D Vᴴ, where D has the products of all other
/// singular values, times the phase that is left of the determinant.
fn adjugate(a: &Tensor, g: &Tensor) -> Result<Tensor> {
    let (u, s, v) = singular::svd(a, true)?;
    let phase = mul(&conj(mul(&det(&u)?, &det(&v)?)?)?, g)?;
    let others = times_others(&squeeze::unsqueeze(&phase, -1)?, &s, s.ndim() - 1)?;
    matmul(&mul(&u, &as_row(&others)?)?, &v)
}

/// Σ (A⁻ᵀ · dA), by matrix: the trace of A⁻¹ dA.
fn along(a: &Tensor, t: &Tensor) -> Result<Tensor> {
    let all = part::diagonal(&solve::solve_unchecked(a, t)?, 0, -2, -1)?;
    reduce::sum(&all, Some(&[-1]), false, None)
}

/// What elimination makes of a matrix: the triangles, or the rows that were exchanged.
pub(super) fn factored(name: &str, a: &Tensor) -> Result<Tensor> {
    let (lu, pivots) = super::elimination::lu_factor(a, true, "linalg.lu_factor_ex")?;
    Ok(if name == "LU" { lu } else { pivots })
}

/// y = det A
///
/// dy = y Σ A⁻ᵀ · dA, Ā = ȳ y A⁻ᵀ
#[derive(Clone)]
struct Determinant;

impl Op for Determinant {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["A", "result"];

    fn name(&self) -> &'static str {
        "LinalgDetBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        vec![("LU", Shown::Computed), ("pivots", Shown::Computed)]
    }

    fn compute(&self, name: &str, [a, _]: &Self::Saved, at: &At<'_>) -> Result<Tensor> {
        factored(name, &at.load(a)?)
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let a = in_order(inputs[0])?;
        let y = dispatch!(float a.dtype, T => each(&a, |factors: Factors<T>| factors.determinant())?, else {
            each(&a, |factors: Factors<Complex<f64>>| factors.determinant())?
        });
        Ok(smallvec![settled(y, inputs[0])?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, [a, y]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (a, y, g) = (at.load(a)?, at.load(y)?, single(gradients));
        if a.numel() == 0 {
            return one(create::zeros_like(&a.detach())?);
        }
        if is_singular(&y)? {
            return one(adjugate(&a, g)?);
        }
        one(times_back(&a, &mul(g, &conj(y)?)?)?)
    }

    fn jvp(&self, [a, y]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (a, y, t) = (at.load(a)?, at.load(y)?, tangent(tangents));
        if is_singular(&y)? {
            let whole = conj(adjugate(&a, &create::ones_like(&y)?)?)?;
            return one(reduce::sum(&mul(&whole, t)?, Some(&[-2, -1]), false, None)?);
        }
        one(mul(&along(&a, t)?, &y)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The determinants of matrices.
pub fn det(a: &Tensor) -> Result<Tensor> {
    check_square(a, "linalg.det")?;
    apply_one(Determinant, &[a])
}

/// s = sgn det A, y = ln |det A|
///
/// With c = Σ A⁻ᵀ · dA: dy = Re c, ds = i s Im c, and Ā = (ȳ + i Im(conj(s) s̄)) conj(A⁻ᵀ)
#[derive(Clone)]
struct LogDeterminant;

impl Op for LogDeterminant {
    type Saved = SavedTensor;
    const SAVED: &'static [&'static str] = &["A"];

    fn name(&self) -> &'static str {
        "LinalgSlogdetBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        vec![("LU", Shown::Computed), ("pivots", Shown::Computed), ("sign", Shown::Computed)]
    }

    fn compute(&self, name: &str, a: &Self::Saved, at: &At<'_>) -> Result<Tensor> {
        let a = at.load(a)?;
        if name == "sign" { Ok(at.output(&slogdet(&a)?.0, 0)) } else { factored(name, &a) }
    }

    fn outputs(&self, _inputs: &[&Tensor]) -> usize {
        2
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let a = in_order(inputs[0])?;
        fn both<T: Field>(a: &Array) -> Result<(Array, Array)> {
            let sign = each(a, |factors: Factors<T>| factors.sign_and_logarithm().0)?;
            Ok((sign, each(a, |factors: Factors<T>| factors.sign_and_logarithm().1)?))
        }
        let (sign, logarithm) =
            dispatch!(float a.dtype, T => both::<T>(&a)?, else { both::<Complex<f64>>(&a)? });
        let logarithm = copy::as_type(&logarithm, inputs[0].dtype().to_real())?.into_owned();
        Ok(smallvec![settled(sign, inputs[0])?, Tensor::from_array(logarithm)])
    }

    fn save(&self, keep: &Keep<'_>) -> SavedTensor {
        keep.input(0)
    }

    fn vjp(&self, saved: &SavedTensor, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let a = at.load(saved)?;
        let outward = gradients.get(1).cloned().flatten();
        // Only a complex sign can turn.
        let around = match gradients.first().cloned().flatten() {
            Some(g) if a.dtype().is_complex() => {
                let (sign, _) = slogdet(&a)?;
                Some(mul(&imag(&mul(&conj(sign)?, &g)?)?, I)?)
            }
            _ => None,
        };
        let scale = match (outward, around) {
            (Some(outward), Some(around)) => add(&outward, &around)?,
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return Ok(smallvec![None]),
        };
        one(times_back(&a, &scale)?)
    }

    fn jvp(&self, saved: &SavedTensor, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let a = at.load(saved)?;
        let change = along(&a, tangent(tangents))?;
        if !a.dtype().is_complex() {
            return Ok(smallvec![None, Some(change)]);
        }
        let (sign, _) = slogdet(&a)?;
        let turn = mul(&mul(&sign, I)?, &imag(&change)?)?;
        Ok(smallvec![Some(turn), Some(real(&change)?)])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The signs of the determinants, and the logarithms of their magnitudes.
pub fn slogdet(a: &Tensor) -> Result<(Tensor, Tensor)> {
    check_square(a, "linalg.slogdet")?;
    let mut outputs = apply(LogDeterminant, &[a])?;
    match (outputs.pop(), outputs.pop()) {
        (Some(logarithm), Some(sign)) => Ok((sign, logarithm)),
        _ => unreachable!("the operation has two outputs"),
    }
}

/// The logarithms of the determinants, which are not numbers where real ones are negative.
pub fn logdet(a: &Tensor) -> Result<Tensor> {
    check_square(a, "logdet")?;
    let (sign, logarithm) = slogdet(a)?;
    if a.dtype().is_complex() {
        return add(&logarithm, &crate::ops::log(&sign)?);
    }
    super::super::select::where_(&crate::ops::compare::eq(&sign, -1)?, f64::NAN, &logarithm)
}
