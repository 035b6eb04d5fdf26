//! Positive matrices as a triangle times its transpose.

use std::sync::Arc;

use smallvec::smallvec;

use super::solve::{broadcast, inverse};
use super::triangular::solve_triangular;
use super::{adjoint, check_square, elements, in_order, settled, sides, turned, unit};
use crate::dtype::Complex;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::factor;
use crate::ops::apply::{Keep, Op, Outputs, apply_one, one, single, tangent};
use crate::ops::batch::{Answer, Call};
use crate::ops::matmul::matmul;
use crate::ops::triangle::tril;
use crate::ops::whole::{Whole, whole_one};
use crate::ops::{add, cast, mul};
use crate::tensor::{Array, Tensor};

/// L Lᴴ = A, where ᴴ transposes and conjugates
///
/// With Φ, which halves the diagonal of a lower triangle: dL = L Φ(L⁻¹ dA L⁻ᴴ), and Ā is the
/// symmetric half of L⁻ᴴ Φ(Lᴴ L̄) L⁻¹
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

fn triangles<T: factor::Field>(a: &Array) -> Result<Array> {
    let shape = a.layout.shape();
    let side = shape[shape.len() - 1];
    let count: usize = shape[..shape.len() - 2].iter().product();
    let mut result = Vec::with_capacity(a.layout.numel());
    for item in 0..count {
        let matrix = &elements::<T>(a)[item * side * side..(item + 1) * side * side];
        match factor::cholesky(matrix, side) {
            Ok(triangle) => result.extend(triangle),
            Err(order) => {
                let place = if count > 1 { format!("(Batch element {item}): ") } else { String::new() };
                return Err(Error::NotPositive { place, order }.into());
            }
        }
    }
    Array::from_slice(shape, &result)
}

/// The lower triangle with half of the diagonal.
fn halved(x: &Tensor) -> Result<Tensor> {
    mul(&add(&tril(x, 0)?, &tril(x, -1)?)?, 0.5)
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

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let a = in_order(inputs[0])?;
        let triangle =
            dispatch!(float a.dtype, T => triangles::<T>(&a)?, else { triangles::<Complex<f64>>(&a)? });
        let triangle = settled(triangle, inputs[0])?;
        Ok(smallvec![if self.upper { cast::clone(&adjoint(&triangle)?)? } else { triangle }])
    }

    fn save(&self, keep: &Keep<'_>) -> SavedTensor {
        keep.output(0)
    }

    fn vjp(&self, saved: &SavedTensor, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (l, g) = (self.seen(&at.load(saved)?)?, self.seen(single(gradients))?);
        let back = inverse(&l)?;
        let middle = halved(&matmul(&adjoint(&l)?, &g)?)?;
        let half = matmul(&matmul(&adjoint(&back)?, &middle)?, &back)?;
        one(mul(&add(&half, &adjoint(&half)?)?, 0.5)?)
    }

    fn jvp(&self, saved: &SavedTensor, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let l = self.seen(&at.load(saved)?)?;
        let back = inverse(&l)?;
        let t = tangent(tangents);
        let t = mul(&add(t, &adjoint(t)?)?, 0.5)?;
        let moved = matmul(&l, &halved(&matmul(&matmul(&back, &t)?, &adjoint(&back)?)?)?)?;
        one(self.seen(&moved)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The lower triangles whose products with their transposes the matrices are, or the upper ones; for
/// torch's `cholesky` if `old`, else for `linalg.cholesky`.
pub fn cholesky(a: &Tensor, upper: bool, old: bool) -> Result<Tensor> {
    check_square(a, "linalg.cholesky")?;
    apply_one(Cholesky { upper, old }, &[a])
}

/// The solutions of equations whose matrix is the triangle times its transpose, the upper one second.
pub fn cholesky_solve(b: &Tensor, triangle: &Tensor, upper: bool) -> Result<Tensor> {
    if b.ndim() < 2 {
        return Err(Error::RightSideRank { ndim: b.ndim() }.into());
    }
    if triangle.ndim() < 2 {
        return Err(Error::LinearRank { operation: "cholesky_solve" }.into());
    }
    let ((rows, columns), (side, width)) = (sides(b), sides(triangle));
    if side != width {
        return Err(Error::TriangleSquare { rows: side, columns: width }.into());
    }
    if rows != side {
        return Err(Error::RightSideShape { rows, columns, side }.into());
    }
    if b.dtype() != triangle.dtype() {
        return Err(Error::RightSideDType { right: b.dtype(), left: triangle.dtype() }.into());
    }
    let (b, triangle) = broadcast(b, triangle)?;
    let operation = Whole {
        operation: "cholesky_solve",
        name: "CholeskySolveBackward0",
        names: &["self", "input2", "result"],
        counted: 2,
        linear: 0,
        constant: 0,
        shown: shown! { upper: upper },
        hosted: false,
        parts: Arc::new(move |inputs| Ok(smallvec![solved(inputs[0], inputs[1], upper)?])),
    };
    whole_one(operation, &[&b, &triangle])
}

fn solved(b: &Tensor, triangle: &Tensor, upper: bool) -> Result<Tensor> {
    let other = turned(triangle)?;
    let (lower, upper) = if upper { (&other, triangle) } else { (triangle, &other) };
    solve_triangular(upper, &solve_triangular(lower, b, false, true, false)?, true, true, false)
}

/// The inverses of the triangles times their transposes.
pub fn cholesky_inverse(triangle: &Tensor, upper: bool) -> Result<Tensor> {
    let side = check_square(triangle, "cholesky_inverse")?;
    let operation = Whole {
        operation: "cholesky_inverse",
        name: "CholeskyInverseBackward0",
        names: &["self", "result"],
        counted: 1,
        linear: 0,
        constant: 0,
        shown: shown! { upper: upper },
        hosted: false,
        parts: Arc::new(move |inputs| Ok(smallvec![solved(&unit(side, inputs[0])?, inputs[0], upper)?])),
    };
    whole_one(operation, &[triangle])
}
