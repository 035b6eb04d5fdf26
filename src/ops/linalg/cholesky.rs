//! Positive matrices as a triangle times its transpose.

use smallvec::smallvec;

use super::solve::inverse;
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
use crate::ops::{add, mul};
use crate::tensor::{Array, Tensor};

/// L Lᴴ = A, where ᴴ transposes and conjugates
///
/// With Φ, which halves the diagonal of a lower triangle: dL = L Φ(L⁻¹ dA L⁻ᴴ), and Ā is the
/// symmetric half of L⁻ᴴ Φ(Lᴴ L̄) L⁻¹
#[derive(Clone)]
struct Cholesky;

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
        "LinalgCholeskyExBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { upper: false }
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let a = in_order(inputs[0])?;
        let triangle =
            dispatch!(float a.dtype, T => triangles::<T>(&a)?, else { triangles::<Complex<f64>>(&a)? });
        Ok(smallvec![settled(triangle, inputs[0])?])
    }

    fn save(&self, keep: &Keep<'_>) -> SavedTensor {
        keep.output(0)
    }

    fn vjp(&self, saved: &SavedTensor, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let l = at.load(saved)?;
        let back = inverse(&l)?;
        let middle = halved(&matmul(&adjoint(&l)?, single(gradients))?)?;
        let half = matmul(&matmul(&adjoint(&back)?, &middle)?, &back)?;
        one(mul(&add(&half, &adjoint(&half)?)?, 0.5)?)
    }

    fn jvp(&self, saved: &SavedTensor, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let l = at.load(saved)?;
        let back = inverse(&l)?;
        let t = tangent(tangents);
        let t = mul(&add(t, &adjoint(t)?)?, 0.5)?;
        one(matmul(&l, &halved(&matmul(&matmul(&back, &t)?, &adjoint(&back)?)?)?)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The lower triangles whose products with their transposes the matrices are, or the upper ones.
pub fn cholesky(a: &Tensor, upper: bool) -> Result<Tensor> {
    check_square(a, "linalg.cholesky")?;
    if upper {
        return adjoint(&apply_one(Cholesky, &[&adjoint(a)?])?);
    }
    apply_one(Cholesky, &[a])
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
    let other = turned(triangle)?;
    let (lower, upper) = if upper { (&other, triangle) } else { (triangle, &other) };
    solve_triangular(upper, &solve_triangular(lower, b, false, true, false)?, true, true, false)
}

/// The inverses of the triangles times their transposes.
pub fn cholesky_inverse(triangle: &Tensor, upper: bool) -> Result<Tensor> {
    let side = check_square(triangle, "cholesky_inverse")?;
    cholesky_solve(&unit(side, triangle)?, triangle, upper)
}
