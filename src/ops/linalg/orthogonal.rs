//! Matrices as an orthogonal one times a triangle.

use crate::schema::{Entry, IntoReply, OutPolicy, Types, both, inner, warn_once};
use smallvec::smallvec;

use super::triangular::solve_triangular;
use super::{HalfTypes, Matrices, Routine, adjoint, check_matrix, imaginary_diagonal};
use crate::dispatch::apply::{Arrays, Keep, Op, Outputs, apply, one, tangent, two};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::checkpointed::{self, CheckpointedOp};
use crate::dispatch::in_place;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor, mode};
use crate::kernels::linalg::factor::orthogonal;
use crate::ops::creation::create;
use crate::ops::geometry::squeeze::{Squeezed, squeeze};
use crate::ops::geometry::triangle::{tril, triu};
use crate::ops::geometry::{join, part};
use crate::ops::linalg::matmul::matmul;
use crate::ops::pointwise::compare;
use crate::ops::pointwise::logical;
use crate::ops::pointwise::select::where_;
use crate::ops::reduction::reduce;
use crate::ops::{add, conjugate, copysign, div, mul, neg, sqrt, sub};
use crate::shape;
use crate::tensor::{Array, Tensor};

/// How much of the factors is wanted.
#[derive(Clone, Copy, PartialEq)]
pub enum Mode {
    /// As many columns as the smaller side.
    Reduced,
    /// As many columns as there are rows.
    Complete,
    /// The triangle alone.
    Triangle,
}

/// Q R = A, where Qᴴ Q = 1
///
/// With M = Qᴴ dA R⁻¹, of which Ω is the lower triangle less its adjoint: dR = (M - Ω) R and
/// dQ = (dA - Q dR) R⁻¹. With M = R̄ Rᴴ - Qᴴ Q̄, of which S is the upper triangle mirrored:
/// Ā = (Q̄ + Q S) R⁻ᴴ. Of a wide matrix (X Y) the triangle is (U QᴴY), where Q U = X; with T the lower triangle
/// of Mᴴ - M there, Ā = Q (T U⁻ᴴ 0) + Q R̄.
#[derive(Clone)]
struct Qr {
    mode: Mode,
}

/// The lower triangle of a matrix less its adjoint, and what is imaginary of the diagonal.
fn skew(m: &Tensor) -> Result<Tensor> {
    let lower = tril(m, -1)?;
    let skew = sub(&lower, &adjoint(&lower)?)?;
    if m.dtype().is_complex() { add(&skew, &imaginary_diagonal(m)?) } else { Ok(skew) }
}

/// The upper triangle of a matrix with its adjoint below, and what is real of the diagonal.
fn mirrored(m: &Tensor) -> Result<Tensor> {
    let upper = triu(m, 0)?;
    let sum = add(&upper, &adjoint(&upper)?)?;
    halve_diagonal(&sum, false)?;
    Ok(sum)
}

/// The lower triangle of a matrix less its adjoint, and half of what is imaginary of the diagonal.
fn skewed(m: &Tensor) -> Result<Tensor> {
    let lower = tril(&sub(m, &adjoint(m)?)?, 0)?;
    if m.dtype().is_complex() {
        halve_diagonal(&lower, true)?;
    }
    Ok(lower)
}

/// Halves the real or the imaginary parts of the diagonal, in place.
fn halve_diagonal(m: &Tensor, imaginary: bool) -> Result<()> {
    let diagonal = part::diagonal(m, 0, -2, -1)?;
    let diagonal = if imaginary { conjugate::imag(&diagonal)? } else { conjugate::real(&diagonal)? };
    in_place::through(&diagonal, &[], |diagonal| mul(diagonal, 0.5))
}

/// x R⁻¹, or x R⁻ᴴ.
fn over(x: &Tensor, r: &Tensor, adjoined: bool) -> Result<Tensor> {
    match adjoined {
        true => solve_triangular(&adjoint(r)?, x, false, false, false),
        false => solve_triangular(r, x, true, false, false),
    }
}

/// The first columns, and the others.
fn parted(x: &Tensor, first: usize) -> Result<(Tensor, Tensor)> {
    let width = x.layout().shape().last().copied().unwrap_or(0);
    let first = first as i64;
    Ok((part::narrow(x, -1, 0, first)?, part::narrow(x, -1, first, width as i64 - first)?))
}

impl Qr {
    /// Both factors, if the derivatives can be had from them.
    fn factors(&self, saved: &[SavedTensor; 2], at: &At<'_>) -> Result<(Tensor, Tensor)> {
        if self.mode == Mode::Triangle {
            return Err(Error::QrTriangle {}.into());
        }
        let (q, r) = (at.load(&saved[0])?, at.load(&saved[1])?);
        let ((rows, _), (height, columns)) = (super::sides(&q), super::sides(&r));
        match self.mode == Mode::Complete && rows > columns {
            true => Err(Error::QrComplete {}.into()),
            false => {
                debug_assert!(height <= rows);
                Ok((q, r))
            }
        }
    }
}

/// The tangents of the factors of matrices that are not wide.
fn tall_jvp(q: &Tensor, r: &Tensor, t: &Tensor) -> Result<(Tensor, Tensor)> {
    let m = over(&matmul(&adjoint(q)?, t)?, r, false)?;
    let dr = matmul(&triu(&sub(&m, &skew(&m)?)?, 0)?, r)?;
    Ok((over(&sub(t, &matmul(q, &dr)?)?, r, false)?, dr))
}

/// R̄ Rᴴ - Qᴴ Q̄
fn turn(q: &Tensor, r: &Tensor, gq: Option<&Tensor>, gr: Option<&Tensor>) -> Result<Tensor> {
    match (gq, gr) {
        (Some(gq), Some(gr)) => sub(&matmul(gr, &adjoint(r)?)?, &matmul(&adjoint(q)?, gq)?),
        (None, Some(gr)) => matmul(gr, &adjoint(r)?),
        (Some(gq), None) => neg(&matmul(&adjoint(q)?, gq)?),
        (None, None) => unreachable!("rules run with a gradient"),
    }
}

impl Op for Qr {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["Q", "R"];

    fn name(&self) -> &'static str {
        "LinalgQrBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { mode: match self.mode {
            Mode::Reduced => "reduced",
            Mode::Complete => "complete",
            Mode::Triangle => "r",
        } }
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        super::effort(&inputs[0])
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let a = Matrices::of(&inputs[0])?;
        let (rows, columns) = (a.rows, a.columns);
        let height = if self.mode == Mode::Complete { rows } else { rows.min(columns) };
        let (mut q, mut r) = (a.columns(rows, height)?, a.columns(height, columns)?);
        let wanted = self.mode != Mode::Triangle;
        over!(a.dtype, T => {
            let room = a.parts::<T>(&mut q).zip(a.parts::<T>(&mut r));
            a.run(a.each::<T>().zip(room), |(matrix, (q, r))| {
                orthogonal::decompose(matrix, r, wanted.then_some(q));
            });
        });
        let q = if wanted { a.by_columns(q) } else { Array::uninit_shape(&[0], a.dtype)? };
        Ok(smallvec![q, a.by_columns(r)])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.output(0), keep.output(1)]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (q, r) = self.factors(saved, at)?;
        let (rows, columns) = super::sides(&r);
        let (gq, gr) = (gradients[0].as_ref(), gradients.get(1).and_then(Option::as_ref));
        let m = turn(&q, &r, gq, gr)?;
        if rows >= columns {
            let along = matmul(&q, &mirrored(&m)?)?;
            return one(over(&gq.map_or(Ok(along.clone()), |gq| add(&along, gq))?, &r, true)?);
        }
        // Of a wide matrix R is a triangle and more, of which only the triangle says what Q is.
        let square = part::narrow(&r, -1, 0, rows as i64)?;
        let left = over(&matmul(&q, &skewed(&neg(&m)?)?)?, &square, true)?;
        let mut beyond = shape::signed(left.layout().shape());
        if let Some(last) = beyond.last_mut() {
            *last = (columns - rows) as i64;
        }
        let whole = join::cat(&[&left, &create::zeros(&beyond, left.dtype())?], -1)?;
        one(gr.map_or(Ok(whole.clone()), |gr| add(&whole, &matmul(&q, gr)?))?)
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (q, r) = self.factors(saved, at)?;
        let (rows, columns) = super::sides(&r);
        if rows >= columns {
            let (dq, dr) = tall_jvp(&q, &r, tangent(tangents))?;
            return Ok(smallvec![Some(dq), Some(dr)]);
        }
        let ((u, v), (dx, dy)) = (parted(&r, rows)?, parted(tangent(tangents), rows)?);
        let (dq, du) = tall_jvp(&q, &u, &dx)?;
        let dv = matmul(&adjoint(&q)?, &sub(&dy, &matmul(&dq, &v)?)?)?;
        Ok(smallvec![Some(dq), Some(join::cat(&[&du, &dv], -1)?)])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// Orthogonal matrices and triangles whose products the matrices are.
pub fn qr(a: &Tensor, mode: Mode) -> Result<(Tensor, Tensor)> {
    check_matrix(a, Routine::of("linalg.qr").half_types(HalfTypes::RefusedBy("geqrf_cpu")))?;
    if mode == Mode::Complete {
        let (rows, _) = super::sides(a);
        super::check_room(a, rows, rows)?;
    }
    apply(Qr { mode }, &[a]).map(two)
}

/// The reflections of `qr` as LAPACK keeps them, and how much each one takes: derivatives are those of the
/// steps.
pub fn reflections(x: &Tensor) -> Result<(Tensor, Tensor)> {
    check_matrix(x, Routine::of("geqrf").refused_by("geqrf_cpu"))?;
    let parts = |inputs: &[&Tensor]| match mode::is_grad_enabled() || batch::is_batched(inputs[0]) {
        true => steps(inputs[0]),
        false => packed(inputs[0]),
    };
    Ok(two(checkpointed::apply(
        CheckpointedOp::new("geqrf", "GeqrfBackward0", &["", "", ""], 1, parts),
        &[x],
    )?))
}

fn packed(x: &Tensor) -> Result<Outputs> {
    let a = Matrices::of(&x.array())?;
    let (mut packed, mut scales) =
        (a.columns(a.rows, a.columns)?, a.room(&[a.rows.min(a.columns)], a.dtype)?);
    over!(a.dtype, T => {
        let room = a.parts::<T>(&mut packed).zip(a.parts::<T>(&mut scales));
        a.run(a.each::<T>().zip(room), |(matrix, (packed, scales))| {
            let found = orthogonal::reflect(matrix);
            found.packed(packed);
            scales.copy_from_slice(&found.scales);
        });
    });
    Ok([a.by_columns(packed), scales].map(Tensor::from_array).into_iter().collect())
}

/// One reflection after the other, in operations: H = 1 - τ v vᴴ turns what is left of a column to β e,
/// with β = -|column| in the direction of its head α, τ = (β - α)/β and v = column/(α - β).
fn steps(x: &Tensor) -> Result<Outputs> {
    let (rows, columns) = super::sides(x);
    let parted = |x: &Tensor, dim: i64| -> Result<(Tensor, Tensor)> {
        let size = *x.layout().shape().get(x.ndim().wrapping_add_signed(dim as isize)).unwrap_or(&0) as i64;
        Ok((part::narrow(x, dim, 0, 1)?, part::narrow(x, dim, 1, size - 1)?))
    };
    let (mut left, mut scales, mut done) = (x.clone(), Vec::new(), Vec::new());
    for _ in 0..rows.min(columns) {
        let (column, others) = parted(&left, -1)?;
        let (head, tail) = parted(&column, -2)?;
        let real = conjugate::real(&head)?;
        let beyond = reduce::sum(&squared(&tail)?, Some(&[-2]), true, None)?;
        let settled = compare::eq(&beyond, 0.0)?;
        let settled = match head.dtype().is_complex() {
            true => logical::and(&settled, &compare::eq(&conjugate::imag(&head)?, 0.0)?)?,
            false => settled,
        };
        // Where nothing is to be turned the root is of one, so that its slope is a number.
        let length = sqrt(&where_(&settled, 1.0, &add(&squared(&head)?, &beyond)?)?)?;
        let turned = neg(&copysign(&length, &real.detach())?)?;
        let scale = where_(&settled, 0.0, &div(&sub(&turned, &head)?, &turned)?)?;
        let tail = where_(&settled, 0.0, &div(&tail, &sub(&head, &turned)?)?)?;
        let turned = where_(&settled, &head, &turned)?;
        let vector = join::cat(&[&create::ones_like(&head.detach())?, &tail], -2)?;
        let along = mul(&matmul(&adjoint(&vector)?, &others)?, &conjugate::conj(scale.clone())?)?;
        let (row, rest) = parted(&sub(&others, &matmul(&vector, &along)?)?, -2)?;
        scales.push(squeeze(&scale, Squeezed::One(-1))?);
        done.push((join::cat(&[&turned, &row], -1)?, tail));
        left = rest;
    }
    for (row, tail) in done.iter().rev() {
        left = join::cat(&[row, &join::cat(&[tail, &left], -1)?], -2)?;
    }
    if scales.is_empty() {
        let mut shape = shape::signed(x.layout().shape());
        shape.pop();
        shape[x.ndim() - 2] = 0;
        return Ok(smallvec![left, create::zeros(&shape, x.dtype())?]);
    }
    Ok(smallvec![left, join::cat(&scales.iter().collect::<Vec<_>>(), -1)?])
}

/// The squares of magnitudes.
fn squared(x: &Tensor) -> Result<Tensor> {
    conjugate::real(&mul(x, &conjugate::conj(x.clone())?)?)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "linalg_qr",
        &["(Tensor A, str mode=\"reduced\", *, Tensor[] out=None) -> return_types.linalg_qr"],
        "The QR decomposition of matrices.",
        |a| {
            let mode = match a.text(1)?.as_str() {
                "reduced" => Mode::Reduced,
                "complete" => Mode::Complete,
                "r" => Mode::Triangle,
                mode => return Err(Error::QrMode { mode: mode.to_owned() }.into()),
            };
            qr(a.tensor(0)?, mode).named("linalg_qr")
        },
    )
    .written(&OutPolicy::PLAIN.typed(Types::Same)),
    both(
        "geqrf",
        &["(Tensor input, *, Tensor[] out=None) -> return_types.geqrf"],
        "The QR decomposition as LAPACK's geqrf returns it: Householder reflectors and their scales.",
        |a| reflections(a.tensor(0)?).named("geqrf"),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Reflections)),
    both(
        "qr",
        &["(Tensor input, bool some=True, *, Tensor[] out=None) -> return_types.qr"],
        "The QR decomposition of matrices; `linalg.qr` has taken its place.",
        |a| {
            warn_once(Error::QrSuperseded {})?;
            qr(a.tensor(0)?, if a.boolean(1) { Mode::Reduced } else { Mode::Complete }).named("qr")
        },
    )
    .written(&OutPolicy::PLAIN.refused_as("linalg_qr").typed(Types::Same)),
];
