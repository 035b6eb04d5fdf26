//! Inverses of matrices that have none, and what comes nearest to solutions.

use std::cmp::Ordering;

use smallvec::smallvec;

use super::{Matrices, adjoint, check_square, place, sides};
use crate::dtype::{DType, Ring};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor, mode};
use crate::kernels::factor::{Field, rotations};
use crate::ops::apply::{Keep, Op, Outputs, apply, apply_one, one, single, tangent, two};
use crate::ops::batch::{Answer, Call};
use crate::ops::conjugate::{conj, real};
use crate::ops::matmul::matmul;
use crate::ops::{add, create, memory_order, mul, neg, reduce, squeeze, sub};
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
        one(inverse_back(&at.load(a)?, &at.load(y)?, single(gradients))?)
    }

    fn jvp(&self, [a, y]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(inverse_forth(&at.load(a)?, &at.load(y)?, tangent(tangents))?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// Ā from A, its inverse and the gradient of that.
fn inverse_back(a: &Tensor, y: &Tensor, g: &Tensor) -> Result<Tensor> {
    let (yt, gt) = (adjoint(y)?, adjoint(g)?);
    // The smaller products first.
    let (rows, columns) = sides(a);
    match rows <= columns {
        true => {
            let k = matmul(&gt, y)?;
            let across = matmul(&k, &yt)?;
            let sum = add(&neg(&adjoint(&matmul(y, &k)?)?)?, &across)?;
            let sum = sub(&sum, &matmul(&matmul(a, y)?, &across)?)?;
            add(&sum, &matmul(&matmul(&yt, y)?, &sub(&gt, &matmul(&k, a)?)?)?)
        }
        false => {
            let k = matmul(y, &gt)?;
            let across = matmul(&yt, &k)?;
            let beyond = matmul(&matmul(&sub(&gt, &matmul(a, &k)?)?, y)?, &yt)?;
            let sum = add(&add(&neg(&adjoint(&matmul(&k, y)?)?)?, &beyond)?, &across)?;
            sub(&sum, &matmul(&matmul(&across, y)?, a)?)
        }
    }
}

/// dY from A, its inverse and dA.
fn inverse_forth(a: &Tensor, y: &Tensor, t: &Tensor) -> Result<Tensor> {
    let (yt, tt) = (adjoint(y)?, adjoint(t)?);
    let plain = neg(&matmul(&matmul(y, t)?, y)?)?;
    let left = matmul(&matmul(y, &yt)?, &tt)?;
    let right = matmul(&tt, &matmul(&yt, y)?)?;
    let left = sub(&left, &matmul(&matmul(&left, a)?, y)?)?;
    let right = sub(&right, &matmul(y, &matmul(a, &right)?)?)?;
    add(&plain, &add(&left, &right)?)
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

/// X = A⁺ B, and the sums over columns of |R|² with R = A X - B, if they are measured
///
/// Through X those of A⁺ and of a product. Through the sums r: dr = 2 Re Σ conj(R) dR, so that
/// Ā = 2 (r̄ R) Xᴴ and B̄ = -2 r̄ R, since R is at right angles to what A reaches
#[derive(Clone)]
struct LeastSquares {
    /// Up to which share of the greatest singular value others count as zero.
    relative: f64,
    measured: bool,
}

impl LeastSquares {
    fn inverse(a: &Tensor, relative: f64) -> Result<Tensor> {
        apply_one(Pinv { bounds: [vec![0.0], vec![relative]], symmetric: false }, &[a])
    }

    /// What the derivatives take for zero, whatever the solution did.
    fn inverse_again(a: &Tensor) -> Result<Tensor> {
        let (rows, columns) = sides(a);
        let eps = if a.dtype().to_real() == DType::Float64 { f64::EPSILON } else { f32::EPSILON.into() };
        LeastSquares::inverse(a, rows.max(columns) as f64 * eps)
    }
}

impl Op for LeastSquares {
    type Saved = [SavedTensor; 3];
    const SAVED: &'static [&'static str] = &["self", "b", "solution"];

    fn name(&self) -> &'static str {
        "LinalgLstsqBackward0"
    }

    fn outputs(&self, _inputs: &[&Tensor]) -> usize {
        2
    }

    fn effort(&self, inputs: &[&Tensor]) -> u64 {
        super::effort(inputs[0])
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let _off = mode::GradModeGuard::off();
        let (a, b) = (inputs[0].detach(), inputs[1].detach());
        let x = matmul(&LeastSquares::inverse(&a, self.relative)?, &b)?;
        let sums = match self.measured {
            true => {
                let missing = sub(&matmul(&a, &x)?, &b)?;
                reduce::sum(&real(&mul(&missing, &conj(missing.clone())?)?)?, Some(&[-2]), false, None)?
            }
            false => create::zeros(&[0], a.dtype().to_real())?,
        };
        let x = Tensor::from_array(memory_order::by_columns(x.array())?);
        Ok(smallvec![x, Tensor::from_array(sums.array())])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.input(1), keep.output(0)]
    }

    fn vjp(&self, [a, b, x]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (a, b, x) = (at.load(a)?, at.load(b)?, at.load(x)?);
        let mut found: Gradients = smallvec![None, None];
        if let Some(g) = &gradients[0] {
            let inverse = LeastSquares::inverse_again(&a)?;
            let of_inverse = || inverse_back(&a, &inverse, &matmul(g, &adjoint(&b)?)?);
            found[0] = at.needs(0).then(of_inverse).transpose()?;
            found[1] = at.needs(1).then(|| matmul(&adjoint(&inverse)?, g)).transpose()?;
        }
        let of_sums = gradients.get(1).and_then(Option::as_ref).filter(|_| self.measured);
        if let Some(g) = of_sums {
            let (missing, g) = (sub(&matmul(&a, &x)?, &b)?, squeeze::unsqueeze(g, -2)?);
            let plus = |sum: &Option<Tensor>, term: Tensor| {
                sum.as_ref().map_or(Ok(term.clone()), |sum| add(sum, &term))
            };
            if at.needs(0) {
                let term = mul(&matmul(&mul(&g, &missing)?, &adjoint(&x)?)?, 2.0)?;
                found[0] = Some(plus(&found[0], term)?);
            }
            if at.needs(1) {
                found[1] = Some(plus(&found[1], mul(&mul(&g, -2.0)?, &missing)?)?);
            }
        }
        Ok(found)
    }

    fn jvp(&self, [a, b, x]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (a, b, x) = (at.load(a)?, at.load(b)?, at.load(x)?);
        let inverse = LeastSquares::inverse_again(&a)?;
        let through_a = |t: &Tensor| matmul(&inverse_forth(&a, &inverse, t)?, &b);
        let through_a = tangents[0].as_ref().map(through_a).transpose()?;
        let through_b = tangents[1].as_ref().map(|t| matmul(&inverse, t)).transpose()?;
        let dx = match (through_a, through_b) {
            (Some(first), Some(second)) => add(&first, &second)?,
            (first, second) => match first.or(second) {
                Some(only) => only,
                None => return Ok(smallvec![None, None]),
            },
        };
        if !self.measured {
            return Ok(smallvec![Some(dx), None]);
        }
        let mut moved = matmul(&a, &dx)?;
        if let Some(t) = &tangents[0] {
            moved = add(&moved, &matmul(t, &x)?)?;
        }
        if let Some(t) = &tangents[1] {
            moved = sub(&moved, t)?;
        }
        let missing = conj(sub(&matmul(&a, &x)?, &b)?)?;
        let sums = reduce::sum(&real(&mul(&mul(&missing, 2.0)?, &moved)?)?, Some(&[-2]), false, None)?;
        Ok(smallvec![Some(dx), Some(sums)])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let mut answer = call.front(self.clone())?;
        if !self.measured {
            // There are no sums of any sample.
            answer[1].dim = None;
        }
        Ok(answer)
    }
}

/// What comes nearest to the solutions of `a x = b`, where singular values up to a share of the greatest count
/// as zero, and by how much its squares are missed, if that is measured.
pub fn lstsq(a: &Tensor, b: &Tensor, relative: f64, measured: bool) -> Result<(Tensor, Tensor)> {
    apply(LeastSquares { relative, measured }, &[a, b]).map(two)
}
