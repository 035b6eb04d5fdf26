//! Inverses of matrices that have none, and what comes nearest to solutions.

use crate::schema::{Entry, IntoReply, OutPolicy, Types, both, inner};
use smallvec::smallvec;

use super::elimination::three;
use super::singular::check_finite;
use super::solve::broadcast;
use super::symmetric::EIGH;
use super::{Matrices, adjoint, check_square, sides};
use crate::dispatch::apply::{Arrays, Keep, Op, apply, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::on_tensors;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor, mode};
use crate::kernels::linalg::factor::nearest;
use crate::ops::conjugate::{conj, real};
use crate::ops::creation::create;
use crate::ops::geometry::squeeze;
use crate::ops::linalg::matmul::matmul;
use crate::ops::reduction::reduce;
use crate::ops::{add, mul, neg, sub};
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

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0])
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let a = Matrices::of(&inputs[0])?;
        let (rows, columns) = (a.rows, a.columns);
        let mut y = a.room(&[columns, rows], a.dtype)?;
        over!(a.dtype, T => {
            check_finite::<T>(&a)?;
            a.run(a.each::<T>().enumerate().zip(a.parts::<T>(&mut y)), |((item, matrix), y)| {
                let [absolute, relative] = self.bounds.each_ref().map(|bounds| bounds[item % bounds.len()]);
                nearest::invert(matrix, self.symmetric, absolute, relative, y);
            });
        });
        Ok(smallvec![y])
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
    if a.ndim() < 2 || !a.dtype().is_differentiable() || a.dtype().is_stored() {
        return Err(Error::PinvInput { dtype: a.dtype(), shape: a.layout().shape().to_vec() }.into());
    }
    if symmetric {
        check_square(a, EIGH)?;
    }
    let layout = a.layout();
    let lead = &layout.shape()[..layout.ndim() - 2];
    let bounds = |x: &Tensor| -> Result<Vec<f64>> {
        let wide = crate::dispatch::view::expand(x, &crate::shape::signed(lead))?;
        let array: Array = wide.array();
        let array = crate::ops::creation::copy::as_type(&array, crate::dtype::DType::Float64)?;
        let view = array.view::<f64>();
        crate::storage::collected(view.len(), view.iter().copied())
    };
    apply_one(Pinv { bounds: [bounds(absolute)?, bounds(relative)?], symmetric }, &[a])
}

/// X = A⁺ B, the sums over columns of |R|² with R = A X - B, if they are measured, and the rank of A
///
/// Through X those of A⁺ and of a product. Through the sums r: dr = 2 Re Σ conj(R) dR, so that
/// Ā = 2 (r̄ R) Xᴴ and B̄ = -2 r̄ R, since R is at right angles to what A reaches
#[derive(Clone)]
struct LeastSquares {
    /// Up to which share of the greatest singular value others count as zero.
    relative: f64,
    measured: bool,
    /// Whether B and X are vectors and not matrices.
    vectors: bool,
}

impl LeastSquares {
    fn inverse(a: &Tensor, relative: f64) -> Result<Tensor> {
        apply_one(Pinv { bounds: [vec![0.0], vec![relative]], symmetric: false }, &[a])
    }

    /// B, X or what they change by, as matrices.
    fn wide(&self, x: &Tensor) -> Result<Tensor> {
        if self.vectors { squeeze::unsqueeze(x, -1) } else { Ok(x.clone()) }
    }

    /// Such a matrix as B and X are given.
    fn narrow(&self, x: Tensor) -> Result<Tensor> {
        if self.vectors { squeeze::squeeze(&x, squeeze::Squeezed::One(-1)) } else { Ok(x) }
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

    fn outputs(&self, _inputs: &[Array]) -> usize {
        3
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0])
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        on_tensors(inputs, |inputs| {
            let _off = mode::GradModeGuard::off();
            let (a, b) = (inputs[0].detach(), self.wide(&inputs[1].detach())?);
            let (left, right) = broadcast(&a, &b)?;
            let (left, right) = (Matrices::of(&left.array())?, Matrices::of(&right.array())?);
            let (mut x, mut ranks) =
                (left.columns(left.columns, right.columns)?, left.room(&[], DType::Int64)?);
            over!(left.dtype, T => {
                check_finite::<T>(&left)?;
                let room = left.parts::<T>(&mut x).zip(left.parts::<i64>(&mut ranks));
                left.run(left.each::<T>().zip(right.each::<T>()).zip(room), |((matrix, right), (x, rank))| {
                    rank[0] = nearest::solve(matrix, right, self.relative, x) as i64;
                });
            });
            let x = Tensor::from_array(left.above(left.by_columns(x))?);
            let sums = match self.measured {
                true => {
                    let missing = sub(&matmul(&a, &x)?, &b)?;
                    reduce::sum(&real(&mul(&missing, &conj(missing.clone())?)?)?, Some(&[-2]), false, None)?
                }
                false => create::zeros(&[0], a.dtype().to_real())?,
            };
            Ok(smallvec![self.narrow(x)?, Tensor::from_array(sums.array()), Tensor::from_array(ranks)])
        })
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.input(1), keep.output(0)]
    }

    fn vjp(&self, [a, b, x]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (a, b, x) = (at.load(a)?, self.wide(&at.load(b)?)?, self.wide(&at.load(x)?)?);
        let mut found: Gradients = smallvec![None, None];
        if let Some(g) = &gradients[0] {
            let g = &self.wide(g)?;
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
        found[1] = found[1].take().map(|found| self.narrow(found)).transpose()?;
        Ok(found)
    }

    fn jvp(&self, [a, b, x]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (a, b, x) = (at.load(a)?, self.wide(&at.load(b)?)?, self.wide(&at.load(x)?)?);
        let of_b = tangents[1].as_ref().map(|t| self.wide(t)).transpose()?;
        let inverse = LeastSquares::inverse_again(&a)?;
        let through_a = |t: &Tensor| matmul(&inverse_forth(&a, &inverse, t)?, &b);
        let through_a = tangents[0].as_ref().map(through_a).transpose()?;
        let through_b = of_b.as_ref().map(|t| matmul(&inverse, t)).transpose()?;
        let dx = match (through_a, through_b) {
            (Some(first), Some(second)) => add(&first, &second)?,
            (first, second) => match first.or(second) {
                Some(only) => only,
                None => return Ok(smallvec![None, None, None]),
            },
        };
        if !self.measured {
            return Ok(smallvec![Some(self.narrow(dx)?), None, None]);
        }
        let mut moved = matmul(&a, &dx)?;
        if let Some(t) = &tangents[0] {
            moved = add(&moved, &matmul(t, &x)?)?;
        }
        if let Some(t) = &of_b {
            moved = sub(&moved, t)?;
        }
        let missing = conj(sub(&matmul(&a, &x)?, &b)?)?;
        let sums = reduce::sum(&real(&mul(&mul(&missing, 2.0)?, &moved)?)?, Some(&[-2]), false, None)?;
        Ok(smallvec![Some(self.narrow(dx)?), Some(sums), None])
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
/// as zero, by how much its squares are missed, if that is measured, and how many do not count as zero. `b` and `x` may
/// be `vectors`.
pub fn lstsq(
    a: &Tensor,
    b: &Tensor,
    relative: f64,
    measured: bool,
    vectors: bool,
) -> Result<(Tensor, Tensor, Tensor)> {
    let dtype = a.dtype();
    if dtype.is_stored() || !dtype.is_float() && !dtype.is_complex() {
        return Err(Error::NotImplementedFor { operation: "linalg_lstsq_cpu", dtype }.into());
    }
    apply(LeastSquares { relative, measured, vectors }, &[a, b]).map(three)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "linalg_pinv",
        &["(Tensor A, Tensor atol, Tensor rtol, bool hermitian=False)"],
        "The Moore-Penrose pseudoinverses of matrices.",
        |a| pinv(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.boolean(3)).reply(),
    )
    .written(&OutPolicy::PLAIN.typed(Types::SafeLinalg)),
    inner(
        "linalg_lstsq",
        &["(Tensor A, Tensor B, float rtol, bool measured, bool vectors)"],
        "The least-squares solutions of systems of linear equations.",
        |a| lstsq(a.tensor(0)?, a.tensor(1)?, a.float(2)?, a.boolean(3), a.boolean(4)).reply(),
    ),
    both(
        "pinverse",
        &["(Tensor input, float rcond=1e-15)"],
        "The Moore-Penrose pseudoinverses of matrices: `linalg.pinv`.",
        |a| {
            let number = |value: f64| create::full(&[], value.into(), crate::dtype::DType::Float64);
            let bounds = number(0.0).and_then(|zero| Ok((zero, number(a.float(1).unwrap_or(1e-15))?)));
            let (absolute, relative) = bounds?;
            pinv(a.tensor(0)?, &absolute, &relative, false).reply()
        },
    ),
];
