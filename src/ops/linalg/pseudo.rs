//! Inverses of matrices that have none.

use std::cmp::Ordering;

use smallvec::smallvec;

use super::{Matrices, adjoint, check_square, place, sides};
use crate::dtype::Ring;
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor};
use crate::kernels::factor::{Field, rotations};
use crate::ops::apply::{Keep, Op, Outputs, apply_one, one, single, tangent};
use crate::ops::batch::{Answer, Call};
use crate::ops::matmul::matmul;
use crate::ops::{add, neg, sub};
use crate::tensor::{Array, Tensor};

/// Y = A⁺, in which singular values up to a bound count as zero
///
/// dY = -Y dA Y + Y Yᴴ dAᴴ (1 - A Y) + (1 - Y A) dAᴴ Yᴴ Y,
/// Ā = -Yᴴ Ȳ Yᴴ + (1 - A Y) Ȳᴴ Y Yᴴ + Yᴴ Y Ȳᴴ (1 - Y A)
#[derive(Clone)]
struct Pinv {
    /// Bounds, and bounds relative to the greatest singular value, of each matrix.
    bounds: [Vec<f64>; 2],
    /// Whether the lower triangle stands for all of a symmetric matrix. Derivatives are those of any matrix.
    symmetric: bool,
}

impl Op for Pinv {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["self", "result"];

    fn name(&self) -> &'static str {
        "LinalgPinvBackward0"
    }

    fn effort(&self, inputs: &[&Tensor]) -> u64 {
        super::effort(inputs[0])
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let a = Matrices::of(inputs[0])?;
        let (rows, columns) = (a.rows, a.columns);
        factored!(a, T => {
        let mut y = vec![T::ZERO; a.count() * rows * columns];
        for (item, matrix) in a.each::<T>().enumerate() {
            if matrix.iter().any(|x| !x.magnitude().is_finite()) {
                return Err(Error::SvdNotFinite { place: place(item, a.count()) }.into());
            }
            let mirrored = |place: usize| {
                let (row, column) = (place / columns, place % columns);
                match row.cmp(&column) {
                    Ordering::Less => matrix[column * columns + row].conj(),
                    Ordering::Equal => T::of(matrix[place].real()),
                    Ordering::Greater => matrix[place],
                }
            };
            let found = match self.symmetric {
                true => {
                    let matrix: Vec<T> = (0..rows * columns).map(mirrored).collect();
                    rotations::singular(&matrix, rows, columns, false)
                }
                false => rotations::singular(matrix, rows, columns, false),
            };
            let [absolute, relative] = self.bounds.each_ref().map(|bounds| bounds[item % bounds.len()]);
            let bound = absolute.max(relative * found.values.first().copied().unwrap_or(0.0));
            let y = &mut y[item * rows * columns..(item + 1) * rows * columns];
            for (at, &value) in found.values.iter().enumerate().take_while(|(_, value)| **value > bound) {
                let (left, right) = (&found.left[at * rows..], &found.right[at * columns..]);
                for (place, y) in y.iter_mut().enumerate() {
                    let product = right[place / rows].mul(left[place % rows].conj());
                    *y = y.add(product.div(T::of(value)));
                }
            }
        }
        Ok(smallvec![a.made(&[columns, rows], &y)?])
        })
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, [a, y]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (a, y) = (at.load(a)?, at.load(y)?);
        let (yt, gt) = (adjoint(&y)?, adjoint(single(gradients))?);
        // The smaller products first.
        let (rows, columns) = sides(&a);
        one(match rows <= columns {
            true => {
                let k = matmul(&gt, &y)?;
                let across = matmul(&k, &yt)?;
                let sum = add(&neg(&adjoint(&matmul(&y, &k)?)?)?, &across)?;
                let sum = sub(&sum, &matmul(&matmul(&a, &y)?, &across)?)?;
                add(&sum, &matmul(&matmul(&yt, &y)?, &sub(&gt, &matmul(&k, &a)?)?)?)?
            }
            false => {
                let k = matmul(&y, &gt)?;
                let across = matmul(&yt, &k)?;
                let beyond = matmul(&matmul(&sub(&gt, &matmul(&a, &k)?)?, &y)?, &yt)?;
                let sum = add(&add(&neg(&adjoint(&matmul(&k, &y)?)?)?, &beyond)?, &across)?;
                sub(&sum, &matmul(&matmul(&across, &y)?, &a)?)?
            }
        })
    }

    fn jvp(&self, [a, y]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (a, y) = (at.load(a)?, at.load(y)?);
        let (yt, tt) = (adjoint(&y)?, adjoint(tangent(tangents))?);
        let plain = neg(&matmul(&matmul(&y, tangent(tangents))?, &y)?)?;
        let left = matmul(&matmul(&y, &yt)?, &tt)?;
        let right = matmul(&tt, &matmul(&yt, &y)?)?;
        let left = sub(&left, &matmul(&matmul(&left, &a)?, &y)?)?;
        let right = sub(&right, &matmul(&y, &matmul(&a, &right)?)?)?;
        one(add(&plain, &add(&left, &right)?)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The matrices nearest to inverses. Singular values up to `absolute`, or up to `relative` times the
/// greatest of them, count as zero; both are numbers for each matrix, or one for all.
///
/// Of matrices that are `symmetric` the lower triangles are read.
pub fn pinv(a: &Tensor, absolute: &Tensor, relative: &Tensor, symmetric: bool) -> Result<Tensor> {
    if symmetric {
        check_square(a, "linalg.eigh")?;
    }
    if a.ndim() < 2 || !a.dtype().is_float() && !a.dtype().is_complex() {
        return Err(Error::PinvInput { dtype: a.dtype(), shape: a.layout().shape().to_vec() }.into());
    }
    let layout = a.layout();
    let lead = &layout.shape()[..layout.ndim() - 2];
    let bounds = |x: &Tensor| -> Result<Vec<f64>> {
        let wide = crate::ops::view::expand(x, &crate::shape::signed(lead))?;
        let array: Array = wide.array();
        let array = crate::ops::copy::as_type(&array, crate::dtype::DType::Float64)?;
        Ok(array.view::<f64>().iter().copied().collect())
    };
    apply_one(Pinv { bounds: [bounds(absolute)?, bounds(relative)?], symmetric }, &[a])
}
