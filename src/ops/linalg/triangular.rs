//! Equations whose matrix is a triangle.

use smallvec::smallvec;

use super::{Matrices, adjoint, sides, turned};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::factor;
use crate::ops::apply::{Keep, Op, Outputs, apply_one, one, single};
use crate::ops::batch::{Answer, Call};
use crate::ops::matmul::matmul;
use crate::ops::{neg, sub, triangle};
use crate::tensor::Tensor;

/// A x = b for a triangle A
///
/// dx = A⁻¹ (db - dA x), b̄ = A⁻ᴴ x̄, Ā = -b̄ xᴴ, where dA and Ā have zeros beside the triangle, and on
/// its diagonal if that is of ones
#[derive(Clone)]
struct SolveTriangular {
    upper: bool,
    unit: bool,
    left: bool,
}

impl SolveTriangular {
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

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let (a, b) = (Matrices::of(inputs[0])?, Matrices::of(inputs[1])?);
        factored!(a, T => {
            let mut x = Vec::with_capacity(b.count() * b.rows * b.columns);
            for (a, right) in a.each::<T>().zip(b.each::<T>()) {
                x.extend(factor::solve_triangle(a, b.rows, right, b.columns, self.upper, self.unit));
            }
            Ok(smallvec![b.made(&[b.rows, b.columns], &x)?])
        })
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, [a, x]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (a, x) = (at.load(a)?, at.load(x)?);
        let back = SolveTriangular { upper: !self.upper, ..*self };
        let right = apply_one(back, &[&adjoint(&a)?, single(gradients)])?;
        let left = at.needs(0).then(|| self.part(&neg(&matmul(&right, &adjoint(&x)?)?)?)).transpose()?;
        Ok(smallvec![left, at.needs(1).then_some(right)])
    }

    fn jvp(&self, [a, x]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (a, x) = (at.load(a)?, at.load(x)?);
        let moved = tangents[0].as_ref().map(|t| matmul(&self.part(t)?, &x)).transpose()?;
        let right = match (&tangents[1], moved) {
            (Some(b), Some(moved)) => sub(b, &moved)?,
            (Some(b), None) => b.clone(),
            (None, Some(moved)) => neg(&moved)?,
            (None, None) => unreachable!("rules run with a tangent"),
        };
        one(apply_one(self.clone(), &[&a, &right])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The solutions of `a x = b`, or of `x a = b` if not `left`, where `a` is a triangle.
pub fn solve_triangular(a: &Tensor, b: &Tensor, upper: bool, left: bool, unit: bool) -> Result<Tensor> {
    const NAME: &str = "linalg.solve_triangular";
    check_equations(a, b, left, NAME)?;
    let (matrix, right) = match left {
        true => (a.clone(), b.clone()),
        false => (turned(a)?, turned(b)?),
    };
    let (matrix, right) = super::solve::broadcast(&matrix, &right)?;
    let x = apply_one(SolveTriangular { upper: upper == left, unit, left }, &[&matrix, &right])?;
    if left { Ok(x) } else { turned(&x) }
}

/// Refuses equations that do not fit, for operations that take no vector as right side.
pub(super) fn check_equations(a: &Tensor, b: &Tensor, left: bool, operation: &'static str) -> Result<()> {
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
    super::check_float(a.dtype(), operation)?;
    if side != if left { rows } else { columns } {
        let equation = if left { "AX = B" } else { "XA = B" };
        return Err(Error::EquationShapes { operation, equation, side, rows, columns }.into());
    }
    Ok(())
}
