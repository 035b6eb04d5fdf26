//! Singular values and vectors of matrices.

use smallvec::smallvec;

use super::{
    Matrices, adjoint, as_column, as_row, check_matrix, check_phase, diagonal, imaginary_diagonal, place,
};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::factor::{Field, rotations};
use crate::ops::apply::{Keep, Op, Outputs, apply, tangent};
use crate::ops::batch::{Answer, Call};
use crate::ops::conjugate::real;
use crate::ops::matmul::matmul;
use crate::ops::{add, cast, create, div, join, mul, part, select, sub};
use crate::tensor::Tensor;

/// U S Vᴴ = A
///
/// With P = Uᴴ dA V and E[i][j] = s[j]² - s[i]²: dS is the diagonal of P,
/// dU = U ((P S + S Pᴴ) / E) + (1 - U Uᴴ) dA V S⁻¹ and dV = V ((S P + Pᴴ S) / E) + (1 - V Vᴴ) dAᴴ U S⁻¹,
/// without the diagonals where E divides. Ā = U (S̄ + (skew(Uᴴ Ū) / E) S + S (skew(Vᴴ V̄) / E)) Vᴴ
/// + (1 - U Uᴴ) Ū S⁻¹ Vᴴ + U S⁻¹ V̄ᴴ (1 - V Vᴴ), where skew(X) = X - Xᴴ.
///
/// Of complex vectors a pair may turn together: dU takes all of what turns, U i Im(diag P) S⁻¹
#[derive(Clone)]
struct Svd {
    full: bool,
}

/// What the derivatives are made of: the vectors that go with values, as columns.
struct Factors {
    u: Tensor,
    s: Tensor,
    v: Tensor,
}

impl Factors {
    fn load([u, s, vh]: &[SavedTensor; 3], at: &At<'_>) -> Result<Factors> {
        let (u, s, vh) = (at.load(u)?, at.load(s)?, at.load(vh)?);
        let count = s.layout().shape().last().copied().unwrap_or(0) as i64;
        let first = |x: &Tensor| part::narrow(x, -1, 0, count);
        Ok(Factors { u: first(&u)?, v: first(&adjoint(&vh)?)?, s })
    }

    /// A matrix over the differences of squares, with zeros on the diagonal.
    fn over_differences(&self, x: &Tensor) -> Result<Tensor> {
        let (row, column) = (as_row(&self.s)?, as_column(&self.s)?);
        // As a product, because values that are close lose less.
        let apart = mul(&sub(&row, &column)?, &add(&row, &column)?)?;
        let unit = super::unit(super::sides(x).0, x)?;
        let diagonal = cast::to_dtype(&unit, DType::Bool)?;
        select::masked_fill(&div(x, &select::masked_fill(&apart, &diagonal, 1.0)?)?, &diagonal, 0.0)
    }
}

/// Ā if only values have a gradient: U S̄ Vᴴ, as the smaller product.
fn of_values([u, _, vh]: &[SavedTensor; 3], at: &At<'_>, g: &Tensor) -> Result<Tensor> {
    let (u, vh) = (at.load(u)?, at.load(vh)?);
    let ((rows, high), (wide, columns)) = (super::sides(&u), super::sides(&vh));
    let count = rows.min(columns);
    let first = |x: Tensor, dim: i64, size: usize| match size == count {
        true => Ok(x),
        false => part::narrow(&x, dim, 0, count as i64),
    };
    let (u, vh) = (first(u, -1, high)?, first(vh, -2, wide)?);
    match rows >= columns {
        true => matmul(&u, &mul(&as_column(g)?, &vh)?),
        false => matmul(&mul(&u, &as_row(g)?)?, &vh),
    }
}

/// x without what lies along the columns of `basis`.
fn beside(x: &Tensor, basis: &Tensor) -> Result<Tensor> {
    sub(x, &matmul(basis, &matmul(&adjoint(basis)?, x)?)?)
}

/// Whether the columns leave room beside them.
fn narrow(basis: &Tensor) -> bool {
    let (rows, columns) = super::sides(basis);
    rows > columns
}

/// With columns of zeros up to a square: vectors that go with no value could be any, and stay.
fn widened(x: &Tensor) -> Result<Tensor> {
    let (rows, columns) = super::sides(x);
    let mut shape = crate::shape::signed(x.layout().shape());
    if let Some(last) = shape.last_mut() {
        *last = (rows - columns) as i64;
    }
    join::cat(&[x, &create::zeros(&shape, x.dtype())?], -1)
}

impl Op for Svd {
    type Saved = [SavedTensor; 3];
    const SAVED: &'static [&'static str] = &["U", "S", "Vh"];

    fn name(&self) -> &'static str {
        "LinalgSvdBackward0"
    }

    fn shown(&self, [_, s, _]: &Self::Saved) -> Attributes {
        let values = s.layout().shape().last().copied().unwrap_or_default();
        shown! { full_matrices: self.full, S_sym_argsize_minus_1: values }
    }

    fn outputs(&self, _inputs: &[&Tensor]) -> usize {
        3
    }

    fn effort(&self, inputs: &[&Tensor]) -> u64 {
        super::effort(inputs[0])
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let a = Matrices::of(inputs[0])?;
        let (rows, columns) = (a.rows, a.columns);
        let least = rows.min(columns);
        let (high, wide) = if self.full { (rows, columns) } else { (least, least) };
        factored!(a, T => {
            let (mut u, mut s, mut vh) = (Vec::new(), Vec::new(), Vec::new());
            for (item, matrix) in a.each::<T>().enumerate() {
                if matrix.iter().any(|x| !x.magnitude().is_finite()) {
                    return Err(Error::SvdNotFinite { place: place(item, a.count()) }.into());
                }
                let found = rotations::singular(matrix, rows, columns, self.full);
                u.extend((0..rows * high).map(|place| found.left[place % high * rows + place / high]));
                s.extend(found.values);
                vh.extend(found.right.into_iter().map(Field::conj));
            }
            let s = a.made_real(&[least], &s)?;
            Ok(smallvec![
                a.made_by_columns(&[rows, high], &u)?,
                s,
                a.made_by_columns(&[wide, columns], &vh)?
            ])
        })
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.output(0), keep.output(1), keep.output(2)]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        if let [None, Some(g), None] = &gradients[..] {
            return Ok(smallvec![Some(of_values(saved, at, g)?)]);
        }
        let factors = Factors::load(saved, at)?;
        let Factors { u, s, v } = &factors;
        let count = s.layout().shape().last().copied().unwrap_or(0) as i64;
        let along = |g: &Tensor| cast::to_dtype(&diagonal(g)?, u.dtype());
        let mut middle = gradients[1].as_ref().map(along).transpose()?;
        let mut around: Option<Tensor> = None;
        let plus = |sum: &mut Option<Tensor>, term: Tensor| -> Result<()> {
            *sum = Some(match sum.take() {
                Some(sum) => add(&sum, &term)?,
                None => term,
            });
            Ok(())
        };
        let mut turn: Option<Tensor> = None;
        let mut turning = |basis: &Tensor, g: &Tensor| {
            let m = matmul(&adjoint(basis)?, g)?;
            if m.dtype().is_complex() {
                plus(&mut turn, part::diagonal(&m, 0, -2, -1)?)?;
            }
            factors.over_differences(&sub(&m, &adjoint(&m)?)?)
        };
        if let Some(g) = &gradients[0] {
            let g = part::narrow(g, -1, 0, count)?;
            plus(&mut middle, mul(&turning(u, &g)?, &as_row(s)?)?)?;
            if g.dtype().is_complex() {
                let turn = imaginary_diagonal(&matmul(&adjoint(u)?, &g)?)?;
                plus(&mut middle, div(&turn, &as_row(s)?)?)?;
            }
            if narrow(u) {
                plus(&mut around, matmul(&div(&beside(&g, u)?, &as_row(s)?)?, &adjoint(v)?)?)?;
            }
        }
        if let Some(g) = &gradients[2] {
            let g = part::narrow(&adjoint(g)?, -1, 0, count)?;
            plus(&mut middle, mul(&turning(v, &g)?, &as_column(s)?)?)?;
            if narrow(v) {
                plus(&mut around, matmul(u, &adjoint(&div(&beside(&g, v)?, &as_row(s)?)?)?)?)?;
            }
        }
        if let Some(turn) = &turn {
            check_phase(turn, Error::SingularVectorPhase {})?;
        }
        if let Some(middle) = middle {
            plus(&mut around, matmul(&matmul(u, &middle)?, &adjoint(v)?)?)?;
        }
        Ok(smallvec![around])
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let factors = Factors::load(saved, at)?;
        let (Factors { u, s, v }, t) = (&factors, tangent(tangents));
        let p = matmul(&matmul(&adjoint(u)?, t)?, v)?;
        let (row, column, pt) = (as_row(s)?, as_column(s)?, adjoint(&p)?);
        let turning = |a: Tensor, b: Tensor| factors.over_differences(&add(&a, &b)?);
        let mut du = matmul(u, &turning(mul(&p, &row)?, mul(&column, &pt)?)?)?;
        if p.dtype().is_complex() {
            du = add(&du, &matmul(u, &div(&imaginary_diagonal(&p)?, &row)?)?)?;
        }
        let mut dv = matmul(v, &turning(mul(&column, &p)?, mul(&pt, &row)?)?)?;
        if narrow(u) {
            du = add(&du, &div(&beside(&matmul(t, v)?, u)?, &row)?)?;
        }
        if narrow(v) {
            dv = add(&dv, &div(&beside(&matmul(&adjoint(t)?, u)?, v)?, &row)?)?;
        }
        if self.full {
            (du, dv) = (widened(&du)?, widened(&dv)?);
        }
        Ok(smallvec![Some(du), Some(real(&part::diagonal(&p, 0, -2, -1)?)?), Some(adjoint(&dv)?)])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// Orthogonal matrices on both sides of the singular values, the right one transposed.
pub fn svd(a: &Tensor, full: bool) -> Result<(Tensor, Tensor, Tensor)> {
    check_matrix(a, "linalg.svd")?;
    let mut outputs = apply(Svd { full }, &[a])?;
    match (outputs.pop(), outputs.pop(), outputs.pop()) {
        (Some(vh), Some(s), Some(u)) => Ok((u, s, vh)),
        _ => unreachable!("the operation has three outputs"),
    }
}

/// The singular values.
pub fn svdvals(a: &Tensor) -> Result<Tensor> {
    svd(a, false).map(|(_, values, _)| values)
}
