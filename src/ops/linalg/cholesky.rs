//! Positive matrices as a triangle times its transpose.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::{Entry, IntoReply, OutPolicy, Placed, Types, both, inner, warn_once};
use smallvec::smallvec;

use super::adjoint_numbers;
use super::elimination::first_zero;
use super::solve::inverse;
use super::triangular::SolveTriangular;
use super::triangular::solve_triangular;
use super::{HalfTypes, Matrices, Routine, adjoint, check_square, moved_sides, refuse_failed, sides};
use crate::dispatch::apply::{Arrays, Keep, Op, apply, apply_one, one, single, tangent, two};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::memory_order;
use crate::dispatch::modes::recording;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::linalg::factor::cholesky;
use crate::kernels::linalg::factor::cholesky::{Gradient, PULLED_BACK, Positive};
use crate::ops::creation::create;
use crate::ops::geometry::triangle::tril;
use crate::ops::linalg::matmul::matmul;
use crate::ops::{add, mul, neg};
use crate::tensor::{Array, Tensor};

/// L Lᴴ = A, where ᴴ transposes and conjugates
///
/// With Φ, which halves the diagonal of a lower triangle: dL = L Φ(L⁻¹ dA L⁻ᴴ), and Ā is the
/// symmetric half of L⁻ᴴ Φ(Lᴴ L̄) L⁻¹, of which the inner part is made symmetric
#[derive(Clone)]
struct Cholesky {
    /// Whether the result is Lᴴ.
    upper: bool,
    /// Whether it is torch's `cholesky`, not `linalg.cholesky`.
    old: bool,
}

impl Cholesky {
    /// L from the result, or the result from L.
    fn seen(&self, x: &Tensor) -> Result<Tensor> {
        if self.upper { adjoint(x) } else { Ok(x.clone()) }
    }
}

/// The lower triangle with half of the diagonal.
fn halved(x: &Tensor) -> Result<Tensor> {
    mul(&add(&tril(x, 0)?, &tril(x, -1)?)?, 0.5)
}

/// Whether the gradient of a matrix is found of that of its triangle at one go.
fn is_pulled_back(triangle: &Tensor, gradient: &Tensor) -> bool {
    matches!(triangle.dtype(), DType::Float32 | DType::Float64)
        && gradient.dtype() == triangle.dtype()
        && PULLED_BACK.contains(&sides(triangle).0)
}

/// It at one go: Φ and equations with the triangle are all that the composition of `vjp` is made of, and half of what they
/// make is made twice.
fn pull_back(name: &'static str, triangle: &Tensor, gradient: &Tensor) -> Result<Tensor> {
    let found = recording::as_one(name, &[triangle, gradient], 1, |given| {
        let (l, g) = (Matrices::of(&given[0].array())?, Matrices::of(&given[1].array())?);
        let mut matrix = l.columns(l.rows, l.rows)?;
        dispatch!(float l.dtype, T => {
            let all = l.each::<T>().zip(g.each::<T>()).zip(l.parts::<T>(&mut matrix));
            let all = all.map(|((triangle, gradient), matrix)| Gradient { triangle, gradient, matrix });
            cholesky::pull_back_each(all, l.size());
        }, else { unreachable!("the type was looked at") });
        Ok(smallvec![Tensor::from_array(memory_order::by_columns(l.by_columns(matrix))?)])
    });
    found?.pop().map_or_else(|| unreachable!("there is one"), Ok)
}

impl Op for Cholesky {
    type Saved = SavedTensor;
    const SAVED: &'static [&'static str] = &["L"];

    fn name(&self) -> &'static str {
        if self.old { "CholeskyBackward0" } else { "LinalgCholeskyExBackward0" }
    }

    fn saved_names(&self) -> &'static [&'static str] {
        if self.old { &["result"] } else { Self::SAVED }
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { upper: self.upper }
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0]) / 16
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let seen = |x: &Array| if self.upper { adjoint_numbers(x) } else { x.clone() };
        // The triangle that is asked for is the one that is read.
        let a = Matrices::of(&seen(&inputs[0]))?;
        let (mut triangle, mut orders) = (a.columns(a.rows, a.rows)?, a.room(&[], DType::Int32)?);
        over!(a.dtype, T => {
            let room = a.parts::<T>(&mut triangle).zip(a.numbers(&mut orders));
            let all = a.each::<T>().zip(room);
            let all = all.map(|(matrix, (triangle, order))| Positive { matrix, triangle, order });
            cholesky::cholesky_each(all, a.size());
        });
        let triangle = memory_order::by_columns(seen(&a.by_columns(triangle)))?;
        Ok(smallvec![triangle, orders])
    }

    fn save(&self, keep: &Keep<'_>) -> SavedTensor {
        keep.output(0)
    }

    fn vjp(&self, saved: &SavedTensor, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (l, g) = (self.seen(&at.load(saved)?)?, self.seen(single(gradients))?);
        if recording::is_undivided(&[&l, &g]) && is_pulled_back(&l, &g) {
            return one(pull_back(self.name(), &l, &g)?);
        }
        let lower = tril(&matmul(&adjoint(&l)?, &g)?, 0)?;
        let middle = mul(&add(&lower, &adjoint(&tril(&lower, -1)?)?)?, 0.5)?;
        let back = solve_triangular(&adjoint(&l)?, &middle, true, true, false)?;
        one(solve_triangular(&l, &back, false, false, false)?)
    }

    fn jvp(&self, saved: &SavedTensor, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let l = self.seen(&at.load(saved)?)?;
        let back = inverse(&l)?;
        let t = tangent(tangents);
        let t = mul(&add(t, &adjoint(t)?)?, 0.5)?;
        let moved = matmul(&l, &halved(&matmul(&matmul(&back, &t)?, &adjoint(&back)?)?)?)?;
        Ok(smallvec![Some(self.seen(&moved)?), None])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

const CHOLESKY: Routine =
    Routine::of("linalg.cholesky").half_types(HalfTypes::ElementsRefusedBy("cholesky_cpu"));

const OLD_CHOLESKY: Routine = Routine::of("cholesky").elements_refused_by("cholesky_cpu");

/// The lower triangles whose products with their transposes the matrices are, or the upper ones; for
/// torch's `cholesky` if `old`, else for `linalg.cholesky`.
pub fn cholesky(a: &Tensor, upper: bool, old: bool) -> Result<Tensor> {
    let routine = if old { OLD_CHOLESKY } else { CHOLESKY };
    check_square(a, routine)?;
    let (triangle, info) = two(apply(Cholesky { upper, old }, &[a])?);
    check_positive(&info, routine.operation)?;
    Ok(triangle)
}

/// `cholesky`, and zero, or the order at which a matrix turns out not to be positive: then the triangle is what
/// LAPACK leaves.
pub fn cholesky_ex(a: &Tensor, upper: bool) -> Result<(Tensor, Tensor)> {
    check_square(a, CHOLESKY)?;
    apply(Cholesky { upper, old: false }, &[a]).map(two)
}

/// Refuses matrices that turned out not to be positive.
pub fn check_positive(info: &Tensor, operation: &'static str) -> Result<()> {
    refuse_failed(info, move |place, order| Error::NotPositive { operation, place, order })
}

/// Refuses a triangle and a right side that do not go together.
pub(super) fn check_sides(b: &Tensor, triangle: &Tensor, operation: &'static str) -> Result<()> {
    let ((rows, columns), (side, width)) = (sides(b), sides(triangle));
    if b.dtype() != triangle.dtype() {
        return Err(Error::RightSideDType { right: b.dtype(), left: triangle.dtype() }.into());
    }
    if side != width {
        return Err(Error::TriangleSquare { rows: side, columns: width }.into());
    }
    if rows != side {
        return Err(Error::RightSideShape { operation, rows, columns, side }.into());
    }
    Ok(())
}

/// The solutions of equations whose matrix is the triangle times its transpose, the upper one second.
pub fn cholesky_solve(b: &Tensor, triangle: &Tensor, upper: bool) -> Result<Tensor> {
    if b.ndim() < 2 {
        return Err(Error::RightSideRank { ndim: b.ndim() }.into());
    }
    if triangle.ndim() < 2 {
        return Err(Error::TriangleRank { ndim: triangle.ndim() }.into());
    }
    check_sides(b, triangle, "cholesky_solve")?;
    if !b.dtype().is_differentiable() || b.dtype().is_stored() {
        return Err(Error::NotImplementedFor { operation: "cholesky_solve_cpu", dtype: b.dtype() }.into());
    }
    let (triangle, b) = super::solve::broadcast(triangle, b)?;
    apply_one(CholeskySolve { upper }, &[&b, &triangle])
}

/// L̄ where Ā = -r xᴴ, with the triangle on its side: -(r xᴴ + x rᴴ) L, of which the products with the triangle come
/// first where these have fewer columns than it.
fn toward(triangle: &Tensor, upper: bool, right: &Tensor, x: &Tensor) -> Result<Tensor> {
    let (rows, columns) = sides(x);
    if 2 * columns > rows {
        let whole = matmul(right, &adjoint(x)?)?;
        return along(triangle, upper, &add(&whole, &adjoint(&whole)?)?);
    }
    let half = |a: &Tensor, b: &Tensor| match upper {
        true => matmul(&matmul(triangle, a)?, &adjoint(b)?),
        false => matmul(a, &matmul(&adjoint(b)?, triangle)?),
    };
    neg(&add(&half(right, x)?, &half(x, right)?)?)
}

/// Less a symmetric matrix, with the triangle on its side.
fn along(triangle: &Tensor, upper: bool, twice: &Tensor) -> Result<Tensor> {
    neg(&if upper { matmul(triangle, twice)? } else { matmul(twice, triangle)? })
}

/// How the product of a triangle and its adjoint moves with the triangle.
fn moved(triangle: &Tensor, upper: bool, t: &Tensor) -> Result<Tensor> {
    let half = if upper { matmul(&adjoint(t)?, triangle)? } else { matmul(t, &adjoint(triangle)?)? };
    add(&half, &adjoint(&half)?)
}

/// L Lᴴ X = B, or Uᴴ U X = B
///
/// As a system with the matrix A = L Lᴴ: dX = A⁻¹ (dB - dA X), B̄ = A⁻¹ X̄ and Ā = -B̄ Xᴴ, where
/// dA = dL Lᴴ + L dLᴴ and L̄ = (Ā + Āᴴ) L. As in torch the triangle has gradients beside itself.
#[derive(Clone)]
struct CholeskySolve {
    upper: bool,
}

impl CholeskySolve {
    fn numbers(&self, b: &Array, triangle: &Array) -> Result<Array> {
        let other = adjoint_numbers(triangle);
        let (lower, upper) = if self.upper { (&other, triangle) } else { (triangle, &other) };
        let solve = |triangle: &Array, b: &Array, upper: bool| {
            SolveTriangular { upper, unit: false, left: true }.numbers(triangle, b)
        };
        solve(upper, &solve(lower, b, false)?, true)
    }
}

impl Op for CholeskySolve {
    type Saved = [SavedTensor; 3];
    const SAVED: &'static [&'static str] = &["self", "input2", "result"];

    fn name(&self) -> &'static str {
        "CholeskySolveBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { upper: self.upper }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Ok(smallvec![self.numbers(&inputs[0], &inputs[1])?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.input(1), keep.output(0)]
    }

    fn vjp(&self, [_, triangle, x]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (triangle, x) = (at.load(triangle)?, at.load(x)?);
        let right = apply_one(self.clone(), &[single(gradients), &triangle])?;
        let left = || toward(&triangle, self.upper, &right, &x);
        let left = at.needs(1).then(left).transpose()?;
        Ok(smallvec![at.needs(0).then_some(right), left])
    }

    fn jvp(
        &self,
        [_, triangle, x]: &Self::Saved,
        at: &At<'_>,
        tangents: &[Option<Tensor>],
    ) -> Result<Gradients> {
        let (triangle, x) = (at.load(triangle)?, at.load(x)?);
        let change = |t: &Tensor| matmul(&moved(&triangle, self.upper, t)?, &x);
        let change = tangents[1].as_ref().map(change).transpose()?;
        let Some(right) = moved_sides(tangents[0].as_ref(), change)? else { return Ok(smallvec![None]) };
        one(apply_one(self.clone(), &[&right, &triangle])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// Y = (L Lᴴ)⁻¹, or (Uᴴ U)⁻¹
///
/// With A = L Lᴴ: dY = -Y dA Y and Ā = -Y Ȳ Y, and L as for `CholeskySolve`
#[derive(Clone)]
struct CholeskyInverse {
    upper: bool,
}

impl Op for CholeskyInverse {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["self", "result"];

    fn name(&self) -> &'static str {
        "CholeskyInverseBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { upper: self.upper }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let triangle = &inputs[0];
        let lower = Matrices::of(&if self.upper { adjoint_numbers(triangle) } else { triangle.clone() })?;
        let (mut y, found) = (lower.columns(lower.rows, lower.rows)?, AtomicBool::new(true));
        over!(lower.dtype, T => {
            lower.run(lower.each::<T>().zip(lower.parts::<T>(&mut y)), |(triangle, y)| {
                found.fetch_and(cholesky::invert(triangle, y), Ordering::Relaxed);
            });
        });
        if found.into_inner() {
            return Ok(smallvec![memory_order::by_columns(lower.by_columns(y))?]);
        }
        let Some(&side) = triangle.layout.shape().last() else { unreachable!("they are matrices") };
        let unit = create::unit(side, side, triangle.dtype)?.expanded(triangle.layout.shape())?;
        Ok(smallvec![CholeskySolve { upper: self.upper }.numbers(&unit, triangle)?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, [triangle, y]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (triangle, y) = (at.load(triangle)?, at.load(y)?);
        let g = single(gradients);
        let twice = matmul(&add(g, &adjoint(g)?)?, &y)?;
        one(along(&triangle, self.upper, &matmul(&y, &twice)?)?)
    }

    fn jvp(
        &self,
        [triangle, y]: &Self::Saved,
        at: &At<'_>,
        tangents: &[Option<Tensor>],
    ) -> Result<Gradients> {
        let (triangle, y) = (at.load(triangle)?, at.load(y)?);
        let change = moved(&triangle, self.upper, tangent(tangents))?;
        one(neg(&matmul(&matmul(&y, &change)?, &y)?)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The inverses of the triangles times their adjoints.
pub fn cholesky_inverse(triangle: &Tensor, upper: bool) -> Result<Tensor> {
    let operation = "cholesky_inverse";
    check_square(triangle, Routine::of(operation).refused_by("cholesky_inverse_out_cpu"))?;
    refuse_failed(&first_zero(&triangle.detach())?, move |place, step| Error::InverseSingular {
        operation,
        place,
        step,
    })?;
    apply_one(CholeskyInverse { upper }, &[triangle])
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "cholesky_solve",
        &["(Tensor input, Tensor input2, bool upper=False, *, Tensor out=None)"],
        "Solves systems of linear equations, given the Cholesky factors of the matrices.",
        |a| cholesky_solve(a.tensor(0)?, a.tensor(1)?, a.boolean(2)).reply(),
    ).written(&OutPolicy::PLAIN.placed(Placed::InOrder).typed(Types::SafeResult))
    .operators(&[("CholeskySolveBackward0", "cholesky_solve")]),
    both(
        "cholesky_inverse",
        &["(Tensor input, bool upper=False, *, Tensor out=None)"],
        "The inverses of matrices, given their Cholesky factors.",
        |a| cholesky_inverse(a.tensor(0)?, a.boolean(1)).reply(),
    ).written(&OutPolicy::PLAIN.placed(Placed::InOrderUnlessEmpty).typed(Types::SafeResult))
    .operators(&[("CholeskyInverseBackward0", "cholesky_inverse")]),
    inner(
        "linalg_cholesky",
        &["(Tensor input, *, bool upper=False, Tensor out=None)"],
        "The Cholesky factors of symmetric or Hermitian positive-definite matrices.",
        |a| cholesky(a.tensor(0)?, a.boolean(1), false).reply(),
    )
    .written(&OutPolicy::PLAIN.refused_as("linalg_cholesky_ex").typed(Types::Same)),
    inner(
        "linalg_cholesky_ex",
        &[
            "(Tensor input, *, bool upper=False, bool check_errors=False, Tensor[] out=None) -> return_types.linalg_cholesky_ex",
        ],
        "The Cholesky factors, and for every matrix zero or the order of the minor that is not positive-definite.",
        |a| {
            let (triangle, info) = cholesky_ex(a.tensor(0)?, a.boolean(1))?;
            if a.boolean(2) {
                check_positive(&info, "linalg.cholesky_ex")?;
            }
            Ok((triangle, info)).named("linalg_cholesky_ex")
        },
    )
    .written(&OutPolicy::PLAIN.typed(Types::Same))
    .operators(&[("LinalgCholeskyExBackward0", "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)")]),
    both(
        "cholesky",
        &["(Tensor input, bool upper=False, *, Tensor out=None)"],
        "The Cholesky factors of matrices; `linalg.cholesky` has taken its place.",
        |a| {
            warn_once(Error::CholeskySuperseded {})?;
            cholesky(a.tensor(0)?, a.boolean(1), true).reply()
        },
    )
    .written(&OutPolicy::PLAIN.placed(Placed::InOrder).typed(Types::SafeResult)),
];

plain! {
    struct Cholesky { upper, old }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Cholesky>("cholesky")];
