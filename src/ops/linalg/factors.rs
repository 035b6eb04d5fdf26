//! The triangles that matrices are products of: what their gradients and tangents are, and how both are
//! read from one matrix.

use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Types, function};
use std::cmp::Ordering;

use smallvec::smallvec;

use super::elimination::{check_rank, exchanges};
use super::triangular::solve_triangular;
use super::{adjoint, sides, turned};
use crate::dispatch::apply::{Arrays, Keep, Op, apply, one, tangent, two};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::{binary, view};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients};
use crate::ops::creation::create;
use crate::ops::geometry::part::Part;
use crate::ops::geometry::triangle;
use crate::ops::geometry::triangle::{tril, triu};
use crate::ops::geometry::{join, part};
use crate::ops::linalg::matmul::matmul;
use crate::ops::pointwise::arithmetic::PLUS;
use crate::ops::{add, neg, sub};
use crate::shape::{self, SharedLayout};
use crate::tensor::{Array, Tensor};

/// The factors of matrices.
pub(super) struct Factors {
    pub(super) exchange: Tensor,
    pub(super) lower: Tensor,
    pub(super) upper: Tensor,
}

/// The first rows and the others, or columns if there are more of them; both are there if there are others.
fn parted(x: &Tensor, (rows, columns): (usize, usize)) -> Result<(Tensor, Tensor)> {
    let (rows, columns) = (rows as i64, columns as i64);
    let (dim, size, least) = if rows > columns { (-2, rows, columns) } else { (-1, columns, rows) };
    Ok((part::narrow(x, dim, 0, least)?, part::narrow(x, dim, least, size - least)?))
}

/// One of two triangles.
#[derive(Clone, Copy)]
enum Side {
    Lower,
    Upper,
}

impl Side {
    fn other(self) -> Side {
        match self {
            Side::Lower => Side::Upper,
            Side::Upper => Side::Lower,
        }
    }

    /// The dimension along which its triangle may go beyond a square.
    fn dim(self) -> i64 {
        match self {
            Side::Lower => -2,
            Side::Upper => -1,
        }
    }

    /// What of a matrix is on this side. The diagonal is above.
    fn of(self, x: &Tensor) -> Result<Tensor> {
        match self {
            Side::Lower => tril(x, -1),
            Side::Upper => triu(x, 0),
        }
    }

    /// L⁻ᴴ x or x U⁻ᴴ, where the triangle is a square.
    fn undone(self, triangle: &Tensor, x: &Tensor) -> Result<Tensor> {
        let lower = matches!(self, Side::Lower);
        solve_triangular(&adjoint(triangle)?, x, lower, lower, lower)
    }
}

impl Factors {
    pub(super) fn sides(&self) -> (usize, usize) {
        (sides(&self.lower).0, sides(&self.upper).1)
    }

    fn triangle(&self, side: Side) -> &Tensor {
        match side {
            Side::Lower => &self.lower,
            Side::Upper => &self.upper,
        }
    }

    /// Lᴴ L̄ or Ū Uᴴ
    fn product(&self, side: Side, g: &Tensor) -> Result<Tensor> {
        match side {
            Side::Lower => matmul(&adjoint(&self.lower)?, g),
            Side::Upper => matmul(g, &adjoint(&self.upper)?),
        }
    }

    /// The gradient with respect to the matrices from those with respect to the triangles, one of which is
    /// there.
    pub(super) fn vjp(&self, gl: Option<&Tensor>, gu: Option<&Tensor>) -> Result<Tensor> {
        let (rows, columns) = self.sides();
        let whole = match rows.cmp(&columns) {
            Ordering::Equal => self.of_squares(gl, gu)?,
            Ordering::Greater => self.of_longer(Side::Lower, gl, gu)?,
            Ordering::Less => self.of_longer(Side::Upper, gu, gl)?,
        };
        matmul(&self.exchange, &whole)
    }

    /// What both gradients come to before rows are exchanged, where both triangles are squares.
    fn of_squares(&self, gl: Option<&Tensor>, gu: Option<&Tensor>) -> Result<Tensor> {
        let part = |side: Side, g: &Tensor| side.of(&self.product(side, g)?);
        let below = gl.map(|gl| part(Side::Lower, gl)).transpose()?;
        let above = gu.map(|gu| part(Side::Upper, gu)).transpose()?;
        let middle = match (below, above) {
            (Some(below), Some(above)) => add(&below, &above)?,
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => unreachable!("rules run with a gradient"),
        };
        Side::Lower.undone(&self.lower, &Side::Upper.undone(&self.upper, &middle)?)
    }

    /// What both gradients come to before rows are exchanged, where the triangle of one side goes beyond a
    /// square, and so does the matrix.
    fn of_longer(&self, long: Side, longer: Option<&Tensor>, shorter: Option<&Tensor>) -> Result<Tensor> {
        let (short, triangle) = (long.other(), self.triangle(long));
        let (square, _) = parted(triangle, self.sides())?;
        let own = shorter.map(|g| self.product(short, g)).transpose()?;
        let taken = longer.map(|g| self.product(long, &long.of(g)?)).transpose()?;
        let middle = match (own, taken) {
            (Some(own), Some(taken)) => sub(&own, &taken)?,
            (Some(own), None) => own,
            (None, Some(taken)) => neg(&taken)?,
            (None, None) => unreachable!("rules run with a gradient"),
        };
        let inner = long.undone(&square, &short.of(&middle)?)?;
        let across = |x: &Tensor| short.undone(self.triangle(short), x);
        let joined = |square: &Tensor, others: &Tensor| join::cat(&[square, others], long.dim());
        match longer {
            Some(g) => {
                let (first, others) = parted(g, self.sides())?;
                across(&joined(&add(&inner, &long.of(&first)?)?, &others)?)
            }
            None => {
                let zeros = create::zeros_like(&parted(&triangle.detach(), self.sides())?.1)?;
                joined(&across(&inner)?, &zeros)
            }
        }
    }

    /// The tangents of both triangles, in one matrix.
    pub(super) fn jvp(&self, t: &Tensor) -> Result<Tensor> {
        let (rows, columns) = self.sides();
        let moved = matmul(&turned(&self.exchange)?, t)?;
        let square = |x: &Tensor| parted(x, (rows, columns)).map(|(square, _)| square);
        let (l, u) = match rows.cmp(&columns) {
            Ordering::Greater => (square(&self.lower)?, self.upper.clone()),
            _ => (self.lower.clone(), square(&self.upper)?),
        };
        let (inner, beyond) = parted(&moved, (rows, columns))?;
        let over_upper = |x: &Tensor| solve_triangular(&u, x, true, false, false);
        let under_lower = |x: &Tensor| solve_triangular(&l, x, false, true, true);
        let f = over_upper(&under_lower(&inner)?)?;
        let (dl, du) = (matmul(&l, &tril(&f, -1)?)?, matmul(&triu(&f, 0)?, &u)?);
        let whole = add(&dl, &du)?;
        match rows.cmp(&columns) {
            Ordering::Equal => Ok(whole),
            Ordering::Greater => {
                let (_, known) = parted(&self.lower, (rows, columns))?;
                join::cat(&[&whole, &over_upper(&sub(&beyond, &matmul(&known, &du)?)?)?], -2)
            }
            Ordering::Less => {
                let (_, known) = parted(&self.upper, (rows, columns))?;
                join::cat(&[&whole, &under_lower(&sub(&beyond, &matmul(&dl, &known)?)?)?], -1)
            }
        }
    }
}

/// Both triangles that are in one matrix
///
/// dL is below the diagonal of dA, dU the rest; Ā is both again, of what L and U are longer by as it is
#[derive(Clone)]
struct Unpack;

impl Op for Unpack {
    type Saved = SharedLayout;

    fn name(&self) -> &'static str {
        "LuUnpackBackward0"
    }

    fn shown(&self, source: &Self::Saved) -> Attributes {
        let [.., rows, columns] = *source.shape() else { return Attributes::new() };
        shown! { LU_data_sym_argsize_minus_2: rows, LU_data_sym_argsize_minus_1: columns }
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let lu = &inputs[0];
        let &[.., rows, columns] = lu.layout.shape() else { unreachable!("they are matrices") };
        let (last, length) = (lu.layout.ndim() - 1, rows.min(columns));
        let first = |dim: usize| Part::Slice { dim, start: 0, length, step: 1 }.of(lu);
        let strict = triangle::numbers(&first(last)?, false, -1)?;
        let lower = binary::numbers(PLUS, &strict, &create::unit(rows, length, lu.dtype)?)?;
        Ok(smallvec![lower, triangle::numbers(&first(last - 1)?, true, 0)?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.layout(0)
    }

    fn vjp(&self, source: &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let [.., rows, columns] = *source.shape() else { return Ok(smallvec![None]) };
        let (gl, gu) = (gradients[0].as_ref(), gradients.get(1).and_then(Option::as_ref));
        let square = |gl: Option<&Tensor>, gu: Option<&Tensor>| {
            let below = gl.map(|gl| tril(gl, -1)).transpose()?;
            let above = gu.map(|gu| triu(gu, 0)).transpose()?;
            match (below, above) {
                (Some(below), Some(above)) => add(&below, &above),
                (Some(only), None) | (None, Some(only)) => Ok(only),
                (None, None) => unreachable!("rules run with a gradient"),
            }
        };
        // One triangle is as large as the matrix, or both are.
        let whole = rows == columns || if rows > columns { gu.is_none() } else { gl.is_none() };
        if whole {
            return one(square(gl, gu)?);
        }
        let (tall, dim) = (rows > columns, if rows > columns { -2 } else { -1 });
        let parts = if tall { gl } else { gu }.map(|longer| parted(longer, (rows, columns))).transpose()?;
        let (first, others) = match parts {
            Some((first, others)) => (Some(first), others),
            None => {
                let mut sizes = shape::signed(source.shape());
                let place = (sizes.len() as i64 + dim) as usize;
                sizes[place] = rows.abs_diff(columns) as i64;
                (
                    None,
                    create::zeros(&sizes, if tall { gu } else { gl }.map_or(DType::Float64, Tensor::dtype))?,
                )
            }
        };
        let square = if tall { square(first.as_ref(), gu)? } else { square(gl, first.as_ref())? };
        one(join::cat(&[&square, &others], dim)?)
    }

    fn jvp(&self, _source: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (below, above) = changes(tangent(tangents))?;
        Ok(smallvec![Some(below), Some(above)])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The tangents of both triangles, from those in one matrix.
pub(super) fn changes(t: &Tensor) -> Result<(Tensor, Tensor)> {
    let (rows, columns) = sides(t);
    let least = rows.min(columns) as i64;
    Ok((tril(&part::narrow(t, -1, 0, least)?, -1)?, triu(&part::narrow(t, -2, 0, least)?, 0)?))
}

/// The exchange of rows, and the lower and the upper triangle, of matrices that were factored.
pub fn lu_unpack(lu: &Tensor, pivots: &Tensor) -> Result<(Tensor, Tensor, Tensor)> {
    check_rank(lu, "torch.lu_unpack")?;
    if pivots.dtype() != DType::Int32 {
        return Err(Error::UnpackPivots {}.into());
    }
    let exchange = exchanges(&of_each(pivots, lu)?, sides(lu).0, lu.dtype())?;
    let (lower, upper) = two(apply(Unpack, &[lu])?);
    Ok((exchange, lower, upper))
}

/// Exchanges of rows for each matrix, where there are more matrices.
fn of_each(pivots: &Tensor, matrices: &Tensor) -> Result<Tensor> {
    let (own, layout) = (pivots.layout(), matrices.layout());
    let Some(steps) = own.shape().last() else { return Ok(pivots.clone()) };
    let mut shape = layout.shape()[..layout.ndim() - 2].to_vec();
    shape.push(*steps);
    match own.ndim() < layout.ndim() && own.shape() != shape {
        true => view::expand(pivots, &shape::signed(&shape)),
        false => Ok(pivots.clone()),
    }
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function(
        "lu_unpack",
        &[
            "(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True, *, Tensor[] out=None) -> return_types.lu_unpack",
        ],
        "Unpacks LU decompositions into permutation, lower and upper triangular matrices.",
        |a| parts(a).named("lu_unpack"),
    ).written(&OutPolicy::PLAIN.typed(Types::Same)),
];

/// What `lu_unpack` was asked for; the rest is empty.
fn parts(a: &dyn Arguments) -> Result<(Tensor, Tensor, Tensor)> {
    let (lu, pivots) = match (a.optional_tensor(0), a.optional_tensor(1)) {
        (Some(lu), Some(pivots)) => (lu, pivots),
        _ => unreachable!("the signature asks for both"),
    };
    let (exchange, lower, upper) = lu_unpack(lu, pivots)?;
    let empty = || create::empty(&[0], lu.dtype());
    Ok((
        if a.boolean(3) { exchange } else { empty()? },
        if a.boolean(2) { lower } else { empty()? },
        if a.boolean(2) { upper } else { empty()? },
    ))
}
