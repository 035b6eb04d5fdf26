//! torch's older `triangular_solve`, which returns its matrix too.

use crate::schema::{Entry, IntoReply, OutPolicy, Types, both, warn_once};
use smallvec::smallvec;

use super::cholesky::check_sides;
use super::triangular::SolveTriangular;
use super::triangular::solve_triangular;
use super::turned_numbers;
use super::{adjoint, moved_sides, turned};
use crate::dispatch::apply::{Arrays, Keep, Op, apply, two};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::memory_order;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::ops::conjugate::conj;
use crate::ops::creation::copy;
use crate::ops::geometry::triangle;
use crate::ops::linalg::matmul::matmul;
use crate::ops::{add, neg};
use crate::tensor::{Array, Tensor};

/// C X = B, where C is a triangle A or its transpose, and A once more
///
/// dX = C⁻¹ (dB - dC X), B̄ = C⁻ᴴ X̄, C̄ = -B̄ Xᴴ on the triangle. As in torch dC counts beside it too.
#[derive(Clone)]
struct TriangularSolve {
    upper: bool,
    transposed: bool,
    unit: bool,
}

impl TriangularSolve {
    /// The matrix of the system, from A or to it.
    fn seen(&self, a: &Tensor) -> Result<Tensor> {
        if self.transposed { turned(a) } else { Ok(a.clone()) }
    }

    fn solve(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        solve_triangular(&self.seen(a)?, b, self.upper != self.transposed, true, self.unit)
    }

    fn on_triangle(&self, a: &Tensor) -> Result<Tensor> {
        let inward = i64::from(self.unit);
        if self.upper { triangle::triu(a, inward) } else { triangle::tril(a, -inward) }
    }
}

impl Op for TriangularSolve {
    type Saved = [SavedTensor; 3];
    const SAVED: &'static [&'static str] = &["self", "A", "solution"];

    fn name(&self) -> &'static str {
        "TriangularSolveBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { transpose: self.transposed, unitriangular: self.unit, upper: self.upper }
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (b, a) = (&inputs[0], &inputs[1]);
        let seen = if self.transposed { turned_numbers(a) } else { a.clone() };
        let system = SolveTriangular { upper: self.upper != self.transposed, unit: self.unit, left: true };
        let x = system.numbers(&seen, b)?;
        Ok(smallvec![x, memory_order::by_columns(copy::dense(a)?)?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.input(1), keep.output(0)]
    }

    fn vjp(&self, [_, a, x]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (a, x) = (at.load(a)?, at.load(x)?);
        let copied = gradients.get(1).cloned().flatten();
        let Some(g) = gradients.first().cloned().flatten() else { return Ok(smallvec![None, copied]) };
        let (right, _) = triangular_solve(&g, &conj(a)?, self.upper, !self.transposed, self.unit)?;
        let left = || -> Result<Tensor> {
            let whole = self.seen(&neg(&matmul(&right, &adjoint(&x)?)?)?)?;
            let left = self.on_triangle(&whole)?;
            copied.map_or(Ok(left.clone()), |copied| add(&left, &copied))
        };
        let left = at.needs(1).then(left).transpose()?;
        Ok(smallvec![at.needs(0).then_some(right), left])
    }

    fn jvp(&self, [_, a, x]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (a, x) = (at.load(a)?, at.load(x)?);
        let change = |t: &Tensor| matmul(&self.seen(t)?, &x);
        let change = tangents[1].as_ref().map(change).transpose()?;
        let Some(right) = moved_sides(tangents[0].as_ref(), change)? else {
            return Ok(smallvec![None, None]);
        };
        Ok(smallvec![Some(self.solve(&a, &right)?), tangents[1].clone()])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The solutions of equations whose matrix is a triangle or its transpose, and the triangle.
pub fn triangular_solve(
    b: &Tensor,
    a: &Tensor,
    upper: bool,
    transposed: bool,
    unit: bool,
) -> Result<(Tensor, Tensor)> {
    const NAME: &str = "triangular_solve";
    for (argument, x) in [("b", b), ("A", a)] {
        if x.ndim() < 2 {
            return Err(Error::TriangularRank { argument, ndim: x.ndim() }.into());
        }
    }
    check_sides(b, a, NAME)?;
    if !a.dtype().is_differentiable() || a.dtype().is_stored() {
        return Err(Error::NotImplementedFor { operation: "triangular_solve_cpu", dtype: a.dtype() }.into());
    }
    let (a, b) = super::solve::broadcast(a, b)?;
    apply(TriangularSolve { upper, transposed, unit }, &[&b, &a]).map(two)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "triangular_solve",
        &[
            "(Tensor input, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False, *, Tensor[] out=None) -> return_types.triangular_solve",
        ],
        "Solves linear equations with triangular matrices; `linalg.solve_triangular` has taken its place.",
        |a| {
            warn_once(Error::TriangularSolveSuperseded {})?;
            triangular_solve(a.tensor(0)?, a.tensor(1)?, a.boolean(2), a.boolean(3), a.boolean(4))
                .named("triangular_solve")
        },
    )
    .written(&OutPolicy::PLAIN.typed(Types::Same))
    .operators(&[("TriangularSolveBackward0", "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)")]),
];
