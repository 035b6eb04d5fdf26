//! Positive matrices as a triangle times its transpose.

use smallvec::smallvec;

use super::solve::inverse;
use super::{check_square, elements, in_order, turned};
use crate::dtype::{Element, Real};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor};
use crate::kernels::factor;
use crate::ops::apply::{Keep, Op, Outputs, apply_one, one, single, tangent};
use crate::ops::batch::{Answer, Call};
use crate::ops::matmul::matmul;
use crate::ops::triangle::tril;
use crate::ops::{add, mul};
use crate::tensor::{Array, Tensor};

/// L Lᵀ = A
///
/// With Φ, which halves the diagonal of a lower triangle: dL = L Φ(L⁻¹ dA L⁻ᵀ), and Ā is the
/// symmetric half of L⁻ᵀ Φ(Lᵀ L̄) L⁻¹
#[derive(Clone)]
struct Cholesky;

fn triangles<T: Element + Real>(a: &Array) -> Result<Array> {
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

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let a = in_order(inputs[0])?;
        let triangle = dispatch!(float a.dtype, T => triangles::<T>(&a)?, else {
            unreachable!("the type was checked")
        });
        Ok(smallvec![Tensor::from_array(triangle)])
    }

    fn save(&self, keep: &Keep<'_>) -> SavedTensor {
        keep.output(0)
    }

    fn vjp(&self, saved: &SavedTensor, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let l = at.load(saved)?;
        let back = inverse(&l)?;
        let middle = halved(&matmul(&turned(&l)?, single(gradients))?)?;
        let half = matmul(&matmul(&turned(&back)?, &middle)?, &back)?;
        one(mul(&add(&half, &turned(&half)?)?, 0.5)?)
    }

    fn jvp(&self, saved: &SavedTensor, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let l = at.load(saved)?;
        let back = inverse(&l)?;
        let t = tangent(tangents);
        let t = mul(&add(t, &turned(t)?)?, 0.5)?;
        one(matmul(&l, &halved(&matmul(&matmul(&back, &t)?, &turned(&back)?)?)?)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The lower triangles whose products with their transposes the matrices are, or the upper ones.
pub fn cholesky(a: &Tensor, upper: bool) -> Result<Tensor> {
    check_square(a, "linalg.cholesky")?;
    if upper {
        return turned(&apply_one(Cholesky, &[&turned(a)?])?);
    }
    apply_one(Cholesky, &[a])
}
