//! The short way: operands that are read where they lie.
//!
//! Most operations of small tensors are on operands of one floating-point type and one shape, in
//! row-major order, or on one such operand and a number. Their cost is that of counting handles, so
//! these operands are read where they lie; a handle is made only of what is kept. All others take
//! the general way, which gives the same results.

use smallvec::SmallVec;

use super::numbers::compute_vector;
use super::overwrite::{Second, overwrite_at_once};
use super::rule::{BinaryRule, kept};
use super::{Elementwise2, Needs};
use crate::dispatch::long_work;
use crate::dispatch::operand::{Operand, SavedOperand};
use crate::dispatch::record::record_new;
use crate::dtype::Scalar;
use crate::error::Result;
use crate::graph::{Edge, mode};
use crate::kernels::pointwise::zip;
use crate::kernels::pointwise::zip::Rows;
use crate::tensor::{Array, Reading, Tensor};

/// What the short way came to.
pub(super) enum Plain {
    /// The result.
    Is(Tensor),
    /// It would, but the operation takes a while.
    IsLong,
    /// The operands take the general way.
    IsNot,
}

/// The operation on two operands, recorded if that is asked for, if they can be read where they lie.
pub(super) fn apply<E: Elementwise2>(
    op: E,
    a: Operand<'_>,
    b: Operand<'_>,
    recording: bool,
) -> Result<Plain> {
    let (x, number) = match (a, b) {
        (Operand::Tensor(x), Operand::Tensor(_)) => (x, None),
        (Operand::Tensor(x), Operand::Scalar(number)) => (x, Some(number)),
        _ => return Ok(Plain::IsNot),
    };
    if matches!(number, Some(Scalar::Complex(_))) {
        return Ok(Plain::IsNot);
    }
    let left = x.read();
    // The same tensor is not read twice at a time.
    let right = b.tensor().filter(|b| !b.is(x)).map(Tensor::read);
    let (p, q) = (left.array(), right.as_ref().map_or(left.array(), |right| right.array()));
    let dtype = p.dtype;
    if !are_alike(p, q) || op.result(dtype)? != dtype {
        return Ok(Plain::IsNot);
    }
    if long_work::is_long(p.layout.numel() as u64) {
        return Ok(Plain::IsLong);
    }
    let second = if number.is_some() { None } else { right.as_ref().or(Some(&left)) };
    let Some(requires) = requires_grad(&left, second, recording) else { return Ok(Plain::IsNot) };
    op.check(a, b, dtype)?;
    let Some(y) = compute(op, p, q, number)? else { return Ok(Plain::IsNot) };
    if requires == (false, false) {
        let standing = second.map_or_else(Default::default, Reading::standing).and(left.standing());
        drop((left, right));
        return Ok(Plain::Is(Tensor::unrecorded(y, standing)));
    }
    let rule = keeping(op, p, q, number, requires);
    let (left_edge, right_edge) = (left.edge(), second.and_then(Reading::edge));
    drop((left, right));
    // Leaves and views look their edges up, which reads them again.
    let edge = |edge: Option<Edge>, requires: bool, operand: Operand<'_>| match operand {
        Operand::Tensor(tensor) if requires && edge.is_none() => tensor.gradient_edge(),
        _ => Ok(edge),
    };
    let edges = SmallVec::from_buf([edge(left_edge, requires.0, a)?, edge(right_edge, requires.1, b)?]);
    record_new(rule, edges, y).map(Plain::Is)
}

/// The operation in place of its first operand, if nothing is recorded and both can be read where they lie. Answers
/// whether that was so.
pub(super) fn overwrite<E: Elementwise2>(op: E, x: &Tensor, b: Operand<'_>, recording: bool) -> Result<bool> {
    overwrite_alike(x, b, recording, &|target, second| {
        if op.result(target.dtype)? != target.dtype {
            return Ok(false);
        }
        op.check(Operand::Tensor(x), b, target.dtype)?;
        Ok(overwrite_at_once(&op, target, second))
    })
}

/// What is the same for all operations: `write` is called with a target and what goes with it, and the write counted.
fn overwrite_alike(
    x: &Tensor,
    b: Operand<'_>,
    recording: bool,
    write: &dyn Fn(&Array, Second<'_>) -> Result<bool>,
) -> Result<bool> {
    if matches!(b, Operand::Tensor(b) if b.is(x)) {
        return Ok(false);
    }
    let target = x.read();
    let right = b.tensor().map(Tensor::read);
    let p = target.array();
    let second = match (&right, b) {
        (Some(right), _) => Second::Array(right.array()),
        (None, Operand::Scalar(number)) => Second::Number(number),
        (None, Operand::Tensor(_)) => return Ok(false),
    };
    let is_alike = match second {
        Second::Array(q) => are_alike(p, q),
        Second::Number(number) => !matches!(number, Scalar::Complex(_)) && are_alike(p, p),
    };
    if !is_alike
        || long_work::is_long(p.layout.numel() as u64)
        || requires_grad(&target, right.as_ref(), recording) != Some((false, false))
        || !write(p, second)?
    {
        return Ok(false);
    }
    // Only handles of others are handles to memory that others see.
    drop(right);
    target.bump_version()?;
    Ok(true)
}

/// Whether both are of one floating-point type and one shape, in row-major order.
#[inline(always)]
fn are_alike(p: &Array, q: &Array) -> bool {
    let same = p.layout.is_row_major()
        && (p.layout.is(&q.layout) || q.layout.is_contiguous() && p.layout.shape() == q.layout.shape());
    same && p.dtype == q.dtype && p.dtype.is_float()
}

/// Whether the operation is recorded for either operand, unless that has to be looked up.
#[inline(always)]
fn requires_grad(left: &Reading<'_>, second: Option<&Reading<'_>>, recording: bool) -> Option<(bool, bool)> {
    if recording && mode::frozen_leaves() {
        return None;
    }
    let requires = |reading: Option<&Reading<'_>>| match reading {
        Some(reading) if recording => reading.requires_grad(),
        _ => Some(false),
    };
    Some((requires(Some(left))?, requires(second)?))
}

/// The result; none if the elements cannot be read as they are.
#[inline(always)]
fn compute<E: Elementwise2>(op: E, p: &Array, q: &Array, number: Option<Scalar>) -> Result<Option<Array>> {
    let (layout, dtype) = (&p.layout, p.dtype);
    if let Some(y) = number.and_then(|number| op.with_number(p, number, dtype)) {
        return y.map(Some);
    }
    if const { !E::FLOATS } {
        return Ok(None);
    }
    dispatch!(float dtype, T => {
        let (Some(p), Some(q)) = (p.slice::<T>(), q.slice::<T>()) else { return Ok(None) };
        let mut y = Array::uninit(layout, dtype)?;
        if const { E::VECTOR.has::<T>() } {
            compute_vector(op, p, q, number, y.fresh());
            return Ok(Some(y));
        }
        match number {
            None => zip::zip_rows(p.len(), Rows::one(p), Rows::one(q), y.fresh(), op.loops()),
            Some(number) => {
                let number = [number.to::<T>()];
                zip::zip_beside(p.len(), Rows::one(p), Rows::one(&number), y.fresh(), op.loops());
            }
        }
        Ok(Some(y))
    }, else { Ok(None) })
}

/// The rule, which keeps what the derivatives need of the operands.
#[inline(always)]
fn keeping<E: Elementwise2>(
    op: E,
    p: &Array,
    q: &Array,
    number: Option<Scalar>,
    (left, right): (bool, bool),
) -> BinaryRule<E> {
    let wanted = |requires: bool, needs: Needs| if requires && op.derives() { needs } else { Needs::Nothing };
    let (first, second) = (wanted(left, E::LEFT_NEEDS), wanted(right, E::RIGHT_NEEDS));
    let shows = E::shows(left, right);
    let keep = |array: &Array, wanted: bool, index: u8| match wanted || !E::SHOWS_RESULT.is_empty() {
        true => kept(array.clone(), index, shows),
        false => SavedOperand::Nothing,
    };
    let a = keep(p, first.left() || second.left(), 0);
    let b = match number {
        Some(number) => SavedOperand::Scalar(number.into()),
        None => keep(q, first.right() || second.right(), 1),
    };
    BinaryRule { op, a, b }
}
