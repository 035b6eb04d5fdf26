//! Singular values and vectors of matrices.

use crate::ops::conjugate;
use crate::ops::geometry::permute;
use crate::schema::{Entry, IntoReply, OutPolicy, Types, both, inner};
use smallvec::smallvec;

use super::elimination::three;
use super::values_only::{Values, alone};
use super::{
    HalfTypes, Matrices, Routine, adjoint, as_column, as_row, check_matrix, check_phase, diagonal,
    imaginary_diagonal, place,
};
use crate::dispatch::apply::{Arrays, Keep, Op, apply, one, tangent};
use crate::dispatch::batch::{Answer, Call};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::linalg::factor::{Field, Part, values};
use crate::ops::conjugate::real;
use crate::ops::creation::{cast, create};
use crate::ops::geometry::{join, part};
use crate::ops::linalg::matmul::matmul;
use crate::ops::{add, div, mul, sub};
use crate::tensor::{Array, Tensor};

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

/// What the derivatives are made of: the vectors that go with values, on the left as columns, on the right as
/// rows.
struct Factors {
    u: Tensor,
    s: Tensor,
    vh: Tensor,
}

impl Svd {
    fn load(&self, [u, s, vh]: &[SavedTensor; 3], at: &At<'_>) -> Result<Factors> {
        let (u, s, vh) = (at.load(u)?, at.load(s)?, at.load(vh)?);
        let count = s.layout().shape().last().copied().unwrap_or(0) as i64;
        Ok(match self.full {
            true => Factors { u: part::narrow(&u, -1, 0, count)?, vh: part::narrow(&vh, -2, 0, count)?, s },
            false => Factors { u, s, vh },
        })
    }
}

/// s[j]² - s[i]², and one on the diagonal.
fn differences(s: &Tensor) -> Result<Tensor> {
    let squares = mul(s, s)?;
    let apart = sub(&as_row(&squares)?, &as_column(&squares)?)?;
    cast::fill_(&part::diagonal(&apart, 0, -2, -1)?, 1.0)?;
    Ok(apart)
}

/// X - Xᴴ
fn skew(x: &Tensor) -> Result<Tensor> {
    sub(x, &adjoint(x)?)
}

/// Refuses gradients that would turn pairs of vectors together.
fn check_turns(left: Option<&Tensor>, right: Option<&Tensor>) -> Result<()> {
    let turn = |x: &Tensor| part::diagonal(x, 0, -2, -1);
    let sum = match (left, right) {
        (Some(left), Some(right)) if left.dtype().is_complex() => add(&turn(left)?, &turn(right)?)?,
        (Some(only), None) | (None, Some(only)) if only.dtype().is_complex() => turn(only)?,
        _ => return Ok(()),
    };
    check_phase(&sum.detach(), Error::SingularVectorPhase {})
}

/// Ā if only values have a gradient: U S̄ Vᴴ, as the smaller product.
fn of_values(Factors { u, vh, .. }: &Factors, g: &Tensor) -> Result<Tensor> {
    match super::sides(u).0 >= super::sides(vh).1 {
        true => matmul(u, &mul(&as_column(g)?, vh)?),
        false => matmul(&mul(u, &as_row(g)?)?, vh),
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

    fn outputs(&self, _inputs: &[Array]) -> usize {
        3
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0])
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let a = Matrices::of(&inputs[0])?;
        let (rows, columns) = (a.rows, a.columns);
        let least = rows.min(columns);
        let (high, wide) = if self.full { (rows, columns) } else { (least, least) };
        let mut s = a.room(&[least], a.dtype.to_real())?;
        let (mut u, mut vh) = (a.columns(rows, high)?, a.columns(wide, columns)?);
        over!(a.dtype, T => {
            check_finite::<T>(&a)?;
            let vectors = a.parts::<T>(&mut u).zip(a.parts::<T>(&mut vh));
            let room = a.parts::<Part<T>>(&mut s).zip(vectors);
            a.run(a.each::<T>().zip(room), |(matrix, (s, vectors))| values::singular(matrix, s, Some(vectors)));
        });
        Ok(smallvec![a.by_columns(u), s, a.by_columns(vh)])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.output(0), keep.output(1), keep.output(2)]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        if let [None, Some(g), None] = &gradients[..] {
            return one(of_values(&self.load(saved, at)?, g)?);
        }
        let Factors { u, s, vh } = &self.load(saved, at)?;
        let count = s.layout().shape().last().copied().unwrap_or(0) as i64;
        // Vectors that go with no value could be any.
        let first =
            |g: &Tensor, dim: i64| if self.full { part::narrow(g, dim, 0, count) } else { Ok(g.clone()) };
        let gu = gradients[0].as_ref().map(|g| first(g, -1)).transpose()?;
        let gvh = gradients[2].as_ref().map(|g| first(g, -2)).transpose()?;
        let left = gu.as_ref().map(|g| skew(&matmul(&adjoint(u)?, g)?)).transpose()?;
        let right = gvh.as_ref().map(|g| skew(&matmul(vh, &adjoint(g)?)?)).transpose()?;
        check_turns(left.as_ref(), right.as_ref())?;
        let (row, column) = (|| as_row(s), || as_column(s));
        let mut middle = match (&left, &right) {
            (Some(left), Some(right)) => {
                let both = add(&mul(left, &row()?)?, &mul(&column()?, right)?)?;
                Some(div(&both, &differences(s)?)?)
            }
            (Some(left), None) => Some(mul(&div(left, &differences(s)?)?, &row()?)?),
            (None, Some(right)) => Some(mul(&column()?, &div(right, &differences(s)?)?)?),
            (None, None) => None,
        };
        let mut plus = |term: Tensor| -> Result<()> {
            middle = Some(match middle.take() {
                Some(sum) => add(&sum, &term)?,
                None => term,
            });
            Ok(())
        };
        if let Some(g) = &gradients[1] {
            plus(cast::to_dtype(&diagonal(g)?, u.dtype())?)?;
        }
        if let Some(left) = left.as_ref().filter(|left| left.dtype().is_complex()) {
            plus(diagonal(&div(&part::diagonal(left, 0, -2, -1)?, &mul(s, 2.0)?)?)?)?;
        }
        let Some(middle) = middle else { return Ok(smallvec![None]) };
        let (rows, columns) = (super::sides(u).0, super::sides(vh).1);
        one(match (gu, gvh) {
            (Some(g), _) if rows as i64 > count => {
                let over = div(&g, &row()?)?;
                let sum = add(&matmul(u, &middle)?, &over)?;
                let sum = sub(&sum, &matmul(u, &matmul(&adjoint(u)?, &over)?)?)?;
                matmul(&sum, vh)?
            }
            (_, Some(g)) if columns as i64 > count => {
                let over = div(&g, &column()?)?;
                let sum = add(&matmul(&middle, vh)?, &over)?;
                let sum = sub(&sum, &matmul(&matmul(&over, &adjoint(vh)?)?, vh)?)?;
                matmul(u, &sum)?
            }
            _ if rows >= columns => matmul(u, &matmul(&middle, vh)?)?,
            _ => matmul(&matmul(u, &middle)?, vh)?,
        })
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (Factors { u, s, vh }, t) = (&self.load(saved, at)?, tangent(tangents));
        let v = &adjoint(vh)?;
        let p = matmul(&matmul(&adjoint(u)?, t)?, v)?;
        let ds = real(&part::diagonal(&p, 0, -2, -1)?)?;
        // What moves values turns nothing.
        let turning_part = sub(&p, &cast::to_dtype(&diagonal(&ds)?, p.dtype())?)?;
        let (row, column, apart) = (as_row(s)?, as_column(s)?, differences(s)?);
        let turned_part = adjoint(&turning_part)?;
        let turning = |a: Tensor, b: Tensor| div(&add(&a, &b)?, &apart);
        let mut du = matmul(u, &turning(mul(&turning_part, &row)?, mul(&column, &turned_part)?)?)?;
        if p.dtype().is_complex() {
            du = add(&du, &matmul(u, &div(&imaginary_diagonal(&p)?, &row)?)?)?;
        }
        let mut dv = matmul(v, &turning(mul(&column, &turning_part)?, mul(&turned_part, &row)?)?)?;
        if narrow(u) {
            du = add(&du, &div(&beside(&matmul(t, v)?, u)?, &row)?)?;
        }
        if narrow(v) {
            dv = add(&dv, &div(&beside(&matmul(&adjoint(t)?, u)?, v)?, &row)?)?;
        }
        if self.full {
            (du, dv) = (widened(&du)?, widened(&dv)?);
        }
        Ok(smallvec![Some(du), Some(ds), Some(adjoint(&dv)?)])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// Refuses numbers that are infinite, or none.
pub(super) fn check_finite<T: Field>(a: &Matrices) -> Result<()> {
    match a.not_finite::<T>() {
        Some(item) => Err(Error::SvdNotFinite { place: place(item, !a.lead.is_empty()) }.into()),
        None => Ok(()),
    }
}

const SVD: Routine = Routine::of("linalg.svd").half_types(HalfTypes::ElementsRefusedBy("linalg_svd_cpu"));

/// Orthogonal matrices on both sides of the singular values, the right one transposed.
pub fn svd(a: &Tensor, full: bool) -> Result<(Tensor, Tensor, Tensor)> {
    check_matrix(a, SVD)?;
    if full {
        let (rows, columns) = super::sides(a);
        super::check_room(a, rows, rows)?;
        super::check_room(a, columns, columns)?;
    }
    apply(Svd { full }, &[a]).map(three)
}

/// The singular values.
pub fn svdvals(a: &Tensor) -> Result<Tensor> {
    check_matrix(a, SVD)?;
    alone(a, Values::Singular).unwrap_or_else(|| svd(a, false).map(|(_, values, _)| values))
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "linalg_svd",
        &[
            "(Tensor A, bool full_matrices=True, *, str? driver=None, Tensor[] out=None) -> return_types.linalg_svd",
        ],
        "The singular value decomposition of matrices.",
        |a| svd(a.tensor(0)?, a.boolean(1)).named("linalg_svd"),
    ).written(&OutPolicy::PLAIN.refused_as("_linalg_svd").typed(Types::Same)),
    inner(
        "linalg_svdvals",
        &["(Tensor A, *, str? driver=None, Tensor out=None)"],
        "The singular values of matrices.",
        |a| svdvals(a.tensor(0)?).reply(),
    ).written(&OutPolicy::PLAIN.refused_as("_linalg_svd").typed(Types::Same)),
    both(
        "svd",
        &["(Tensor input, bool some=True, bool compute_uv=True, *, Tensor[] out=None) -> return_types.svd"],
        "The singular value decomposition of matrices, with V instead of its conjugate transpose.",
        |a| plain_svd(a.tensor(0)?, !a.boolean(1), a.boolean(2)).named("svd"),
    ).written(&OutPolicy::PLAIN.refused_as("_linalg_svd").typed(Types::Same)),
];

fn plain_svd(x: &Tensor, full: bool, vectors: bool) -> Result<(Tensor, Tensor, Tensor)> {
    let (u, s, vh) = svd(x, full)?;
    let v = conjugate::conj(permute::transpose(&vh, -2, -1)?)?;
    if vectors { Ok((u, s, v)) } else { Ok((create::zeros_like(&u)?, s, create::zeros_like(&v)?)) }
}
