//! Matrices as the product of two triangles with their rows exchanged, and equations solved by these.

use smallvec::smallvec;

use super::factors::{Factors, changes, lu_unpack};
use super::solve::broadcast;
use super::triangular::{check_factored, solve_triangular};
use super::{Matrices, Routine, adjoint, adjoint_numbers, check_matrix, moved_sides, refuse_failed, turned};
use crate::dispatch::apply::{Arrays, Keep, Op, Outputs, apply, apply_one, one, single, tangent, two};
use crate::dispatch::batch::{self, Answer, Call};
use crate::dispatch::modes::{intercept, recording};
use crate::dispatch::{operand::Value, view};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, Inputs, SavedTensor, mode};
use crate::kernels::linalg::factor::elimination::{self, Eliminated, Factored};
use crate::ops::geometry::part;
use crate::ops::geometry::triangle::{tril, triu};
use crate::ops::linalg::matmul::matmul;
use crate::ops::{add, neg};
use crate::schema::{Entry, IntoReply, OutPolicy, Types, both, inner, warn_once};
use crate::tensor::{Array, Tensor};
use crate::{shape, storage};

/// P L U = A, with both triangles in one matrix, and the rows that were exchanged
///
/// Of square matrices, with F = L⁻¹ Pᵀ dA U⁻¹: dL = L tril(F, -1) and dU = triu(F) U, and
/// Ā = P L⁻ᴴ (tril(Lᴴ L̄, -1) + triu(Ū Uᴴ)) U⁻ᴴ. What is below or beside the square follows by solving
/// with the triangle of the square.
#[derive(Clone)]
struct Elimination {
    exchange: bool,
}

impl Elimination {
    fn factors([triangles, pivots]: &[SavedTensor; 2], at: &At<'_>) -> Result<Factors> {
        let (lu, pivots) = (at.load(triangles)?, at.load(pivots)?);
        let (exchange, lower, upper) = lu_unpack(&lu, &pivots)?;
        Ok(Factors { exchange, lower, upper })
    }
}

impl Op for Elimination {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["LU", "pivots"];

    fn name(&self) -> &'static str {
        "LinalgLuFactorExBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { pivot: self.exchange }
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0])
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let a = Matrices::of(&inputs[0])?;
        let mut triangles = a.columns(a.rows, a.columns)?;
        let mut pivots = a.room(&[a.rows.min(a.columns)], DType::Int32)?;
        over!(a.dtype, T => {
            let room = a.parts::<T>(&mut triangles).zip(a.parts::<i32>(&mut pivots));
            let all = a.each::<T>().zip(room);
            let all = all.map(|(matrix, (triangles, pivots))| Eliminated { matrix, triangles, pivots });
            elimination::eliminate_each(all, self.exchange, a.size());
        });
        Ok(smallvec![a.by_columns(triangles), pivots])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.output(0), keep.output(1)]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (factors, g) = (Elimination::factors(saved, at)?, single(gradients));
        let (rows, columns) = factors.sides();
        let least = rows.min(columns) as i64;
        let (gl, gu) = (part::narrow(g, -1, 0, least)?, part::narrow(g, -2, 0, least)?);
        one(factors.vjp(Some(&gl), Some(&gu))?)
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        Ok(smallvec![Some(Elimination::factors(saved, at)?.jvp(tangent(tangents))?), None])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

pub(super) fn check_rank(a: &Tensor, operation: &'static str) -> Result<()> {
    match a.ndim() < 2 {
        true => Err(Error::EliminationRank { operation, shape: a.layout().shape().to_vec() }.into()),
        false => Ok(()),
    }
}

const LU_FACTOR: Routine = Routine::of("torch.lu_factor").elements_refused_by("lu_cpu");

/// Both triangles of matrices in one, and with which row each one was exchanged, counted from one.
pub fn lu_factor(a: &Tensor, exchange: bool, routine: impl Into<Routine>) -> Result<(Tensor, Tensor)> {
    let routine = routine.into();
    check_rank(a, routine.operation)?;
    check_matrix(a, routine)?;
    apply(Elimination { exchange }, &[a]).map(two)
}

/// The number of the first zero on the diagonal of every matrix, counted from one, or zero.
pub fn first_zero(lu: &Tensor) -> Result<Tensor> {
    if let Some(found) = batch::front(lu, |lu, _| first_zero(lu)) {
        return found;
    }
    let again = |operands: &[Value]| first_zero(intercept::first(operands));
    if let Some(found) = intercept::of_subclass("first_zero", &[lu.into()], again) {
        return found;
    }
    let lu = Matrices::of(&lu.array().widened()?)?;
    let found: Vec<i32> = over!(lu.dtype, T => lu.each::<T>().map(elimination::first_zero).collect());
    Ok(Tensor::from_array(Array::from_slice(&lu.lead, &found)?))
}

/// Refuses factors with a zero on the diagonal.
pub fn check_solvable(info: &Tensor, operation: &'static str) -> Result<()> {
    refuse_failed(info, move |place, step| Error::EliminationZero { operation, place, step })
}

/// With which rows others are exchanged, each of which there is, or what is `refused` of the first that is not.
fn rows_exchanged(pivots: &Array, rows: usize, refused: fn(i32) -> Error) -> Result<Vec<i32>> {
    let steps = pivots.layout.shape().last().copied().unwrap_or(0);
    let view = pivots.view::<i32>();
    let pivots: Vec<i32> = storage::collected(view.len(), view.iter().copied())?;
    let is_none = |pivot: &i32| !usize::try_from(*pivot).is_ok_and(|pivot| (1..=rows).contains(&pivot));
    let missing = pivots.iter().copied().find(is_none).or((steps > rows).then_some(i32::MAX));
    missing.map_or(Ok(pivots), |pivot| Err(refused(pivot).into()))
}

/// The matrices that exchange rows as `pivots` say.
pub fn exchanges(pivots: &Tensor, rows: usize, dtype: DType) -> Result<Tensor> {
    if let Some(found) = batch::front(pivots, |pivots, _| exchanges(pivots, rows, dtype)) {
        return found;
    }
    let found = move |operands: &[Value]| exchanging(intercept::first(operands), rows, dtype);
    if recording::is_on()
        && let Some(found) = intercept::of_subclass("lu_unpack", &[pivots.into()], found)
    {
        return found;
    }
    exchanging(pivots, rows, dtype)
}

/// `exchanges` of what is not batched.
fn exchanging(pivots: &Tensor, rows: usize, dtype: DType) -> Result<Tensor> {
    let shape = pivots.layout().shape().to_vec();
    let (&steps, lead) = shape.split_last().unwrap_or((&0, &[]));
    let pivots = rows_exchanged(&pivots.array(), rows, |_| Error::UnpackRange {})?;
    let count: usize = lead.iter().product();
    let sizes = shape::checked_shape(&shape::signed(&[lead, &[rows, rows]].concat()))?;
    let mut result = storage::filled(sizes.iter().product(), 0.0)?;
    for item in 0..count {
        let mut order: Vec<usize> = storage::collected(rows, 0..rows)?;
        for (step, &pivot) in pivots[item * steps..(item + 1) * steps].iter().enumerate() {
            order.swap(step, pivot as usize - 1);
        }
        for (place, &row) in order.iter().enumerate() {
            result[(item * rows + row) * rows + place] = 1.0;
        }
    }
    let array = Array::from_slice(&sizes, &result)?;
    Ok(Tensor::from_array(crate::ops::creation::copy::as_type(&array, dtype)?.into_owned()))
}

/// The exchange of rows, and the lower and the upper triangle, all row by row.
fn unpack(lu: &Array, pivots: &Array) -> Result<[Array; 3]> {
    let lu = Matrices::of(lu)?;
    let (rows, columns, least) = (lu.rows, lu.columns, lu.rows.min(lu.columns));
    let rooms = [(rows, rows), (rows, least), (least, columns)];
    let [exchange, lower, upper] = rooms.map(|(rows, columns)| lu.room(&[rows, columns], lu.dtype));
    let (mut exchange, mut lower, mut upper) = (exchange?, lower?, upper?);
    over!(lu.dtype, T => {
        let all = lu.shown::<i32>(pivots).zip(lu.parts::<T>(&mut exchange));
        let room = lu.parts::<T>(&mut lower).zip(lu.parts::<T>(&mut upper));
        lu.run(lu.each::<T>().zip(all.zip(room)), |(triangles, ((pivots, exchange), (lower, upper)))| {
            elimination::unpack(triangles, pivots, exchange, lower, upper);
        });
    });
    Ok([exchange, lower, upper])
}

/// P L U = A: see `Elimination`. The exchange has no derivative and comes last, as torch counts it.
#[derive(Clone)]
struct Lu {
    exchange: bool,
}

impl Lu {
    fn factors([lower, upper, exchange]: &[SavedTensor; 3], at: &At<'_>) -> Result<Factors> {
        Ok(Factors { exchange: at.load(exchange)?, lower: at.load(lower)?, upper: at.load(upper)? })
    }
}

impl Op for Lu {
    type Saved = [SavedTensor; 3];
    const SAVED: &'static [&'static str] = &["L", "U", "P"];

    fn name(&self) -> &'static str {
        "LinalgLuBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { pivot: self.exchange }
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        3
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0])
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let found = Elimination { exchange: self.exchange }.forward(inputs)?;
        let [exchange, lower, upper] = unpack(&found[0], &found[1])?;
        Ok(smallvec![lower, upper, exchange])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.output(0), keep.output(1), keep.constant(2)]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (gl, gu) = (gradients[0].as_ref(), gradients.get(1).and_then(Option::as_ref));
        if gl.is_none() && gu.is_none() {
            return Ok(smallvec![None]);
        }
        one(Lu::factors(saved, at)?.vjp(gl, gu)?)
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (below, above) = changes(&Lu::factors(saved, at)?.jvp(tangent(tangents))?)?;
        Ok(smallvec![Some(below), Some(above), None])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The exchanges of rows, and the triangles, of matrices.
pub fn lu(a: &Tensor, exchange: bool) -> Result<(Tensor, Tensor, Tensor)> {
    const LU: Routine = Routine::of("linalg.lu").elements_refused_by("lu_cpu");
    check_rank(a, LU.operation)?;
    check_matrix(a, LU)?;
    let (lower, upper, exchange) = three(apply(Lu { exchange }, &[a])?);
    // Without a derivative it has no history.
    let exchange = if mode::special() { exchange.detach() } else { Tensor::from_array(exchange.array()) };
    Ok((exchange, lower, upper))
}

/// The outputs of an operation with three.
pub(super) fn three(mut outputs: Outputs) -> (Tensor, Tensor, Tensor) {
    match (outputs.pop(), outputs.pop(), outputs.pop()) {
        (Some(third), Some(second), Some(first)) => (first, second, third),
        _ => unreachable!("the operation has three outputs"),
    }
}

/// X of A X = B, X A = B or the same with Aᴴ in the place of A, where P L U = A
///
/// B̄ has X̄ in the place of B in the adjoint equation. Of A X = B, with R = -U⁻ᴴ X̄ Xᴴ: Ū = triu(R) and
/// L̄ = tril(L⁻ᴴ R Uᴴ, -1). Of Aᴴ X = B, with R = -Pᵀ X X̄ᴴ P L⁻ᴴ: L̄ = tril(R, -1) and Ū = triu(Lᴴ R U⁻ᴴ).
/// Equations from the right are those of the adjoints.
#[derive(Clone)]
struct Solution {
    left: bool,
    adjoined: bool,
}

impl Op for Solution {
    type Saved = [SavedTensor; 3];
    const SAVED: &'static [&'static str] = &["LU", "pivots", "result"];

    fn name(&self) -> &'static str {
        "LinalgLuSolveBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { left: self.left, adjoint: self.adjoined }
    }

    fn inputs(&self) -> Option<Inputs> {
        Some(smallvec![Some(0), Some(1)])
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0])
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let [lu, b, pivots] = [0, 1, 2].map(|index| &inputs[index]);
        Ok(smallvec![match self.left {
            true => solved(lu, pivots, b, self.adjoined)?,
            false => adjoint_numbers(&solved(lu, pivots, &adjoint_numbers(b), !self.adjoined)?),
        }])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.input(2), keep.output(0)]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let [lu, pivots, x] = [0, 1, 2].map(|index| at.load(&saved[index]));
        let (lu, pivots, x, g) = (lu?, pivots?, x?, single(gradients));
        let of_factors = at.needs(0).then(|| self.of_factors((&lu, &pivots), &x, g)).transpose()?;
        let of_right = || lu_solve(&lu, &pivots, g, self.left, !self.adjoined);
        Ok(smallvec![of_factors, at.needs(1).then(of_right).transpose()?])
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let [lu, pivots, x] = [0, 1, 2].map(|index| at.load(&saved[index]));
        let (lu, pivots, x) = (lu?, pivots?, x?);
        let change = |t: &Tensor| -> Result<Tensor> {
            let (exchange, lower, upper) = lu_unpack(&lu, &pivots)?;
            let (below, above) = changes(t)?;
            let inner = add(&matmul(&below, &upper)?, &matmul(&lower, &above)?)?;
            let moved = matmul(&exchange, &inner)?;
            let moved = if self.adjoined { adjoint(&moved)? } else { moved };
            if self.left { matmul(&moved, &x) } else { matmul(&x, &moved) }
        };
        let change = tangents[0].as_ref().map(change).transpose()?;
        let Some(right) = moved_sides(tangents[1].as_ref(), change)? else { return Ok(smallvec![None]) };
        one(lu_solve(&lu, &pivots, &right, self.left, self.adjoined)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

impl Solution {
    /// The gradient of both triangles in one.
    fn of_factors(&self, (lu, pivots): (&Tensor, &Tensor), x: &Tensor, g: &Tensor) -> Result<Tensor> {
        let (exchange, lower, upper) = lu_unpack(lu, pivots)?;
        let (below, above) = (|| adjoint(&lower), || adjoint(&upper));
        let seen = |x: &Tensor, as_is: bool| if as_is { Ok(x.clone()) } else { adjoint(x) };
        if self.left != self.adjoined {
            let product = matmul(&seen(g, self.left)?, &seen(x, !self.left)?)?;
            let whole = solve_triangular(&above()?, &neg(&product)?, false, true, false)?;
            let inner = solve_triangular(&below()?, &matmul(&whole, &above()?)?, true, true, true)?;
            return add(&tril(&inner, -1)?, &triu(&whole, 0)?);
        }
        let product = matmul(&matmul(&turned(&exchange)?, &seen(x, self.left)?)?, &seen(g, !self.left)?)?;
        let whole = neg(&matmul(&product, &exchange)?)?;
        let whole = solve_triangular(&below()?, &whole, true, false, true)?;
        let inner = solve_triangular(&above()?, &matmul(&below()?, &whole)?, false, false, false)?;
        add(&tril(&whole, -1)?, &triu(&inner, 0)?)
    }
}

/// The solutions of `a x = b`, or `x a = b` if not `left`, for an `a` that was factored, or for its
/// adjoint.
pub fn lu_solve(lu: &Tensor, pivots: &Tensor, b: &Tensor, left: bool, adjoined: bool) -> Result<Tensor> {
    check_factored(lu, pivots, b, left)?;
    let (lu, b) = broadcast(lu, b)?;
    let layout = lu.layout();
    let lead = &layout.shape()[..layout.ndim() - 1];
    if pivots.layout().shape() == lead {
        return apply_one(Solution { left, adjoined }, &[&lu, &b, pivots]);
    }
    let pivots = view::expand(pivots, &shape::signed(lead))?;
    apply_one(Solution { left, adjoined }, &[&lu, &b, &pivots])
}

fn solved(lu: &Array, pivots: &Array, b: &Array, adjoined: bool) -> Result<Array> {
    let (_, lead) = lu.layout.shape().split_last().unwrap_or_else(|| unreachable!("they are matrices"));
    let n = lead.last().copied().unwrap_or_default();
    let refused = |pivot| if pivot < 1 { Error::PivotBelow {} } else { Error::PivotAbove {} };
    let pivots = rows_exchanged(&pivots.expanded(lead)?, n, refused)?;
    let (lu, b) = (Matrices::of(lu)?, Matrices::of(b)?);
    let mut x = b.columns(b.rows, b.columns)?;
    let pivots = (0..lu.count()).map(|item| &pivots[item * n..(item + 1) * n]);
    over!(lu.dtype, T => {
        let all = lu.each::<T>().zip(pivots).zip(b.each::<T>()).zip(b.parts::<T>(&mut x));
        let all = all.map(|(((triangles, pivots), right), solutions)| {
            Factored { triangles, pivots, right, solutions }
        });
        elimination::solve_each_factored(all, adjoined, b.size());
    });
    Ok(b.by_columns(x))
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "linalg_lu",
        &["(Tensor A, *, bool pivot=True, Tensor[] out=None) -> return_types.linalg_lu"],
        "The LU decomposition with partial pivoting: permutation, lower and upper triangular matrices.",
        |a| lu(a.tensor(0)?, a.boolean(1)).named("linalg_lu"),
    ).written(&OutPolicy::PLAIN.typed(Types::Same))
    .operators(&[("LinalgLuBackward0", "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)")]),
    inner(
        "linalg_lu_factor",
        &["(Tensor A, *, bool pivot=True, Tensor[] out=None) -> return_types.linalg_lu_factor"],
        "The LU decomposition in compact form, and the pivots.",
        |a| {
            let (lu, pivots) = lu_factor(a.tensor(0)?, a.boolean(1), LU_FACTOR)?;
            let info = first_zero(&lu)?;
            check_solvable(&info, "torch.linalg.lu_factor")?;
            Ok((lu, pivots)).named("linalg_lu_factor")
        },
    ).written(&OutPolicy::PLAIN.refused_as("linalg_lu_factor_ex").typed(Types::Same)),
    inner(
        "linalg_lu_factor_ex",
        &[
            "(Tensor A, *, bool pivot=True, bool check_errors=False, Tensor[] out=None) -> return_types.linalg_lu_factor_ex",
        ],
        "The LU decomposition in compact form, the pivots, and zero or the step at which the pivot was zero.",
        |a| {
            let (lu, pivots) = lu_factor(a.tensor(0)?, a.boolean(1), LU_FACTOR)?;
            let info = first_zero(&lu)?;
            if a.boolean(2) {
                check_solvable(&info, "torch.linalg.lu_factor_ex")?;
            }
            Ok((lu, pivots, info)).named("linalg_lu_factor_ex")
        },
    ).written(&OutPolicy::PLAIN.typed(Types::Same)),
    inner(
        "linalg_lu_solve",
        &["(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False, Tensor out=None)"],
        "Solves systems of linear equations, given the LU decompositions of the matrices.",
        |a| lu_solve(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.boolean(3), a.boolean(4)).reply(),
    ).written(&OutPolicy::PLAIN.typed(Types::Same)),
    both(
        "lu_solve",
        &["(Tensor input, Tensor LU_data, Tensor LU_pivots, *, Tensor out=None)"],
        "Solves linear equations by LU decompositions; `linalg.lu_solve` has taken its place.",
        |a| {
            warn_once(Error::LuSolveSuperseded {})?;
            lu_solve(a.tensor(1)?, a.tensor(2)?, a.tensor(0)?, true, false).reply()
        },
    )
    .written(&OutPolicy::PLAIN.refused_as("linalg_lu_solve").typed(Types::Same)),
];
