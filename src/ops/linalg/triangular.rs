//! Equations whose matrix is a triangle.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::{Entry, IntoReply, OutPolicy, Types, inner};
use smallvec::smallvec;

use super::turned_numbers;
use super::{HalfTypes, Matrices, Routine, adjoint, moved_sides, sides};
use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::memory_order;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::linalg::factor::triangles;
use crate::kernels::linalg::factor::triangles::Equations;
use crate::ops::geometry::triangle;
use crate::ops::linalg::matmul::matmul;
use crate::ops::neg;
use crate::tensor::{Array, Tensor};

/// A x = b for a triangle A
///
/// dx = A⁻¹ (db - dA x), b̄ = A⁻ᴴ x̄, Ā = -b̄ xᴴ, where dA and Ā have zeros beside the triangle, and on
/// its diagonal if that is of ones
#[derive(Clone)]
pub(super) struct SolveTriangular {
    pub(super) upper: bool,
    pub(super) unit: bool,
    /// Whether it is A x = b, not x A = b, which is the same of transposes.
    pub(super) left: bool,
}

impl SolveTriangular {
    /// The solutions.
    pub(super) fn numbers(&self, a: &Array, b: &Array) -> Result<Array> {
        // What stands on the left of the equation, or the numbers again.
        let seen = |x: &Array| if self.left { x.clone() } else { turned_numbers(x) };
        let (a, b) = (Matrices::of(&seen(a))?, Matrices::of(&seen(b))?);
        let upper = self.upper == self.left;
        let mut x = b.columns(b.rows, b.columns)?;
        over!(a.dtype, T => {
            let all = a.each::<T>().zip(b.each::<T>()).zip(b.parts::<T>(&mut x));
            let all = all.map(|((triangle, right), solutions)| Equations { triangle, right, solutions });
            triangles::solve_each(all, (upper, self.unit), b.size());
        });
        memory_order::by_columns(seen(&b.by_columns(x)))
    }

    /// The same triangle transposed.
    fn back(&self) -> SolveTriangular {
        SolveTriangular { upper: !self.upper, ..*self }
    }

    fn part(&self, x: &Tensor) -> Result<Tensor> {
        let inward = i64::from(self.unit);
        if self.upper { triangle::triu(x, inward) } else { triangle::tril(x, -inward) }
    }
}

impl Op for SolveTriangular {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["self", "result"];

    fn name(&self) -> &'static str {
        "LinalgSolveTriangularBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { left: self.left, unitriangular: self.unit, upper: self.upper }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Ok(smallvec![self.numbers(&inputs[0], &inputs[1])?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, [a, x]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (a, x) = (at.load(a)?, at.load(x)?);
        let right = apply_one(self.back(), &[&adjoint(&a)?, single(gradients)])?;
        let product = || match self.left {
            true => matmul(&right, &adjoint(&x)?),
            false => matmul(&adjoint(&x)?, &right),
        };
        let left = at.needs(0).then(|| self.part(&neg(&product()?)?)).transpose()?;
        Ok(smallvec![left, at.needs(1).then_some(right)])
    }

    fn jvp(&self, [a, x]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (a, x) = (at.load(a)?, at.load(x)?);
        let moved = |t: &Tensor| match self.left {
            true => matmul(&self.part(t)?, &x),
            false => matmul(&x, &self.part(t)?),
        };
        let moved = tangents[0].as_ref().map(moved).transpose()?;
        let Some(right) = moved_sides(tangents[1].as_ref(), moved)? else { return Ok(smallvec![None]) };
        one(apply_one(self.clone(), &[&a, &right])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The solutions of `a x = b`, or of `x a = b` if not `left`, where `a` is a triangle.
pub fn solve_triangular(a: &Tensor, b: &Tensor, upper: bool, left: bool, unit: bool) -> Result<Tensor> {
    const SOLVE: Routine = Routine::of("linalg.solve_triangular").refused_by("triangular_solve_cpu");
    check_equations(a, b, left, SOLVE)?;
    let (matrix, right) = super::solve::broadcast(a, b)?;
    apply_one(SolveTriangular { upper, unit, left }, &[&matrix, &right])
}

/// Refuses equations that do not fit, for operations that take no vector as right side.
fn check_equations(a: &Tensor, b: &Tensor, left: bool, routine: Routine) -> Result<()> {
    let operation = routine.operation;
    for (argument, x) in [("A", a), ("B", b)] {
        if x.ndim() < 2 {
            return Err(Error::LinearArgumentRank { operation, argument }.into());
        }
    }
    let ((side, width), (rows, columns)) = (sides(a), sides(b));
    if side != width {
        return Err(Error::MatrixSquare { operation, rows: side, columns: width }.into());
    }
    if a.dtype() != b.dtype() {
        return Err(Error::EquationDTypes { operation, left: a.dtype(), right: b.dtype() }.into());
    }
    super::check_float(a, routine)?;
    if side != if left { rows } else { columns } {
        let equation = if left { "AX = B" } else { "XA = B" };
        return Err(Error::EquationShapes { operation, equation, side, rows, columns }.into());
    }
    Ok(())
}

/// Refuses factors, exchanges of rows and right sides that do not go together.
pub(super) fn check_factored(lu: &Tensor, pivots: &Tensor, b: &Tensor, left: bool) -> Result<()> {
    const NAME: &str = "linalg.lu_solve";
    const CHECKED: Routine =
        Routine::of("torch.linalg.lu_solve").half_types(HalfTypes::RefusedBy("linalg.lu_solve_cpu"));
    if lu.ndim() < 2 {
        return Err(Error::LinearArgumentRank { operation: CHECKED.operation, argument: "A" }.into());
    }
    super::check_float(lu, CHECKED)?;
    if lu.dtype() != b.dtype() {
        return Err(Error::FactorDTypes { operation: NAME, left: lu.dtype(), right: b.dtype() }.into());
    }
    if pivots.dtype() != DType::Int32 {
        return Err(Error::PivotDType { operation: NAME }.into());
    }
    super::check_square(lu, CHECKED)?;
    check_equations(lu, b, left, Routine::of(NAME))?;
    let (lu_layout, pivot_layout) = (lu.layout(), pivots.layout());
    if pivot_layout.shape().last() != Some(&sides(lu).0) {
        return Err(Error::PivotCount { operation: NAME }.into());
    }
    if pivot_layout.shape() != &lu_layout.shape()[..lu_layout.ndim() - 1] {
        return Err(Error::PivotShape { operation: NAME, shape: pivot_layout.shape().to_vec() }.into());
    }
    Ok(())
}

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "linalg_solve_triangular",
    &["(Tensor input, Tensor B, *, bool upper, bool left=True, bool unitriangular=False, Tensor out=None)"],
    "Solves systems of linear equations with triangular matrices.",
    |a| solve_triangular(a.tensor(0)?, a.tensor(1)?, a.boolean(2), a.boolean(3), a.boolean(4)).reply(),
)
.written(&OutPolicy::PLAIN.typed(Types::Triangular))];

plain! {
    struct SolveTriangular { upper, unit, left }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<SolveTriangular>("solve triangular")];
