//! Determinants, and the logarithms of their magnitudes.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::ops::pointwise::select;
use crate::schema::signatures::{MATRIX, ONE};
use crate::schema::{Entry, IntoReply, OutPolicy, Types, both, inner};
use ndarray::ArrayView2;
use smallvec::smallvec;

use super::elimination::lu_solve;
use super::solve;
use super::{HalfTypes, Matrices, Routine, adjoint, as_row, check_square, diagonal, singular, turned};
use crate::dispatch::apply::{Arrays, Keep, Op, apply, one, single, tangent, two};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::modes::recording;
use crate::dtype::{Complex, DType, Element};
use crate::error::Result;
use crate::graph::{At, Attributes, Gradients, SavedTensor, Shown};
use crate::kernels::linalg::factor::elimination;
use crate::kernels::linalg::factor::elimination::Eliminated;
use crate::kernels::linalg::factor::{Known, Part};
use crate::ops::complex::I;
use crate::ops::conjugate::{conj, imag, real};
use crate::ops::creation::{cast, copy, create};
use crate::ops::geometry::{expand, part, squeeze};
use crate::ops::linalg::matmul::matmul;
use crate::ops::reduction::product::times_others;
use crate::ops::reduction::reduce;
use crate::ops::{add, mul};
use crate::shape;
use crate::tensor::{Array, Tensor};

/// What a determinant was found by: triangles, and rows that were exchanged.
struct Elimination {
    triangles: Array,
    pivots: Array,
}

impl Elimination {
    fn of(a: &Matrices) -> Result<Elimination> {
        let (mut triangles, mut pivots) = (a.columns(a.rows, a.rows)?, a.room(&[a.rows], DType::Int32)?);
        over!(a.dtype, T => {
            let room = a.parts::<T>(&mut triangles).zip(a.parts::<i32>(&mut pivots));
            let all = a.each::<T>().zip(room);
            let all = all.map(|(matrix, (triangles, pivots))| Eliminated { matrix, triangles, pivots });
            elimination::eliminate_each(all, true, a.size());
        });
        Ok(Elimination { triangles, pivots })
    }

    /// What `read` makes of the triangles and the exchanged rows of each matrix.
    fn each<T: Known, U>(&self, a: &Matrices, read: impl Fn(ArrayView2<'_, T>, &[i32]) -> U) -> Vec<U> {
        let all = a.shown::<T>(&self.triangles).zip(a.shown::<i32>(&self.pivots));
        all.map(|(triangles, pivots)| read(elimination::by_columns(triangles, a.rows), pivots)).collect()
    }
}

/// A⁻ᴴ, times a number for every matrix: by what elimination has left, unless that is recorded.
fn times_back(a: &Tensor, lu: &SavedTensor, pivots: &SavedTensor, at: &At<'_>, x: &Tensor) -> Result<Tensor> {
    let mut shape = shape::signed(a.layout().shape());
    shape.pop();
    let x = cast::to_dtype(x, a.dtype())?;
    let diagonal = turned(&diagonal(&expand::expand(&squeeze::unsqueeze(&x, -1)?, &shape)?)?)?;
    match recording::is_undivided(&[a, &diagonal]) {
        true => lu_solve(&at.load(lu)?, &at.load(pivots)?, &diagonal, true, true),
        false => solve::solve_unchecked(&adjoint(a)?, &diagonal),
    }
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
    type Saved = [SavedTensor; 4];
    const SAVED: &'static [&'static str] = &["A", "result", "", ""];

    fn name(&self) -> &'static str {
        "LinalgDetBackward0"
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        3
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0]) / 8
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        vec![("LU", Shown::Computed), ("pivots", Shown::Computed)]
    }

    fn compute(&self, name: &str, [a, ..]: &Self::Saved, at: &At<'_>) -> Result<Tensor> {
        factored(name, &at.load(a)?)
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let a = Matrices::of(&inputs[0])?;
        let found = Elimination::of(&a)?;
        let y = over!(a.dtype, T => {
            Array::from_slice(&a.lead, &found.each::<T, T>(&a, elimination::determinant))?
        });
        let [y, pivots] = [y, found.pivots];
        Ok(smallvec![y, a.by_columns(found.triangles), pivots])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0), keep.constant(1), keep.constant(2)]
    }

    fn vjp(&self, [a, y, lu, pivots]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (a, y, g) = (at.load(a)?, at.load(y)?, single(gradients));
        if a.numel() == 0 {
            return one(create::zeros_like(&a.detach())?);
        }
        if is_singular(&y)? {
            return one(adjugate(&a, g)?);
        }
        one(times_back(&a, lu, pivots, at, &mul(g, &conj(y)?)?)?)
    }

    fn jvp(&self, [a, y, ..]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (a, y, t) = (at.load(a)?, at.load(y)?, tangent(tangents));
        if is_singular(&y)? {
            let whole = conj(adjugate(&a, &create::ones_like(&y)?)?)?;
            let moved = reduce::sum(&mul(&whole, t)?, Some(&[-2, -1]), false, None)?;
            return Ok(smallvec![Some(moved), None, None]);
        }
        Ok(smallvec![Some(mul(&along(&a, t)?, &y)?), None, None])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The determinants of matrices.
pub fn det(a: &Tensor) -> Result<Tensor> {
    check_square(a, Routine::of("linalg.det").half_types(HalfTypes::ElementsRefusedBy("lu_cpu")))?;
    apply(Determinant, &[a]).map(|mut outputs| outputs.swap_remove(0))
}

/// s = sgn det A, y = ln |det A|
///
/// With c = Σ A⁻ᵀ · dA: dy = Re c, ds = i s Im c, and Ā = (ȳ + i Im(conj(s) s̄)) conj(A⁻ᵀ)
#[derive(Clone)]
struct LogDeterminant;

impl Op for LogDeterminant {
    type Saved = [SavedTensor; 3];
    const SAVED: &'static [&'static str] = &["A", "", ""];

    fn name(&self) -> &'static str {
        "LinalgSlogdetBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        vec![("LU", Shown::Computed), ("pivots", Shown::Computed), ("sign", Shown::Computed)]
    }

    fn compute(&self, name: &str, [a, ..]: &Self::Saved, at: &At<'_>) -> Result<Tensor> {
        let a = at.load(a)?;
        if name == "sign" { Ok(at.output(&slogdet(&a)?.0, 0)) } else { factored(name, &a) }
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        4
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0]) / 8
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let a = Matrices::of(&inputs[0])?;
        let found = Elimination::of(&a)?;
        let (sign, logarithm) = over!(a.dtype, T => {
            let both = found.each::<T, _>(&a, elimination::sign_and_logarithm);
            let (sign, logarithm): (Vec<T>, Vec<Part<T>>) =
                both.into_iter().map(|(sign, logarithm)| (sign, <Part<T> as Element>::from_f64(logarithm))).unzip();
            (Array::from_slice(&a.lead, &sign)?, Array::from_slice(&a.lead, &logarithm)?)
        });
        let [sign, logarithm, pivots] = [sign, logarithm, found.pivots];
        Ok(smallvec![sign, logarithm, a.by_columns(found.triangles), pivots])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.constant(2), keep.constant(3)]
    }

    fn vjp(&self, [a, lu, pivots]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let a = at.load(a)?;
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
        one(times_back(&a, lu, pivots, at, &scale)?)
    }

    fn jvp(&self, [a, ..]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let a = at.load(a)?;
        let change = along(&a, tangent(tangents))?;
        if !a.dtype().is_complex() {
            return Ok(smallvec![None, Some(change), None, None]);
        }
        let (sign, _) = slogdet(&a)?;
        let turn = mul(&mul(&sign, I)?, &imag(&change)?)?;
        Ok(smallvec![Some(turn), Some(real(&change)?), None, None])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The signs of the determinants, and the logarithms of their magnitudes.
pub fn slogdet(a: &Tensor) -> Result<(Tensor, Tensor)> {
    check_square(a, Routine::of("linalg.slogdet").half_types(HalfTypes::Refused))?;
    let mut outputs = apply(LogDeterminant, &[a])?;
    outputs.truncate(2);
    Ok(two(outputs))
}

/// The logarithms of the determinants, which are not numbers where real ones are negative.
pub fn logdet(a: &Tensor) -> Result<Tensor> {
    check_square(a, Routine::of("logdet").half_types(HalfTypes::Refused))?;
    let (sign, logarithm) = slogdet(a)?;
    if a.dtype().is_complex() {
        return add(&logarithm, &crate::ops::log(&sign)?);
    }
    select::where_(&crate::ops::pointwise::compare::eq(&sign, -1)?, f64::NAN, &logarithm)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner("linalg_det", MATRIX, "The determinants of matrices.", |a| det(a.tensor(0)?).reply())
        .written(&OutPolicy::PLAIN.refused_as("_linalg_det").typed(Types::Same))
        .operators(&[(
            "LinalgDetBackward0",
            "_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
        )]),
    both("det", ONE, "The determinants of matrices.", |a| det(a.tensor(0)?).reply()),
    both("logdet", ONE, "The logarithms of the determinants of matrices.", |a| logdet(a.tensor(0)?).reply()),
    inner(
        "linalg_slogdet",
        &["(Tensor A, *, Tensor[] out=None) -> return_types.linalg_slogdet"],
        "The signs of the determinants of matrices, and the logarithms of their absolute values.",
        |a| slogdet(a.tensor(0)?).named("linalg_slogdet"),
    )
    .written(&OutPolicy::PLAIN.refused_as("_linalg_slogdet").typed(Types::Same))
    .operators(&[(
        "LinalgSlogdetBackward0",
        "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
    )]),
    both(
        "slogdet",
        &["(Tensor input, *, Tensor[] out=None) -> return_types.slogdet"],
        "The signs of the determinants of matrices, and the logarithms of their absolute values.",
        |a| slogdet(a.tensor(0)?).named("slogdet"),
    )
    .written(&OutPolicy::PLAIN.refused_as("_linalg_slogdet").typed(Types::Same)),
];

plain! {
    struct Determinant {}
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Determinant>("determinant")];
