//! Elementwise operations of two operands: a function of two elements and its two derivatives give
//! the operation on any mix of tensors and numbers, its in-place form, its rule in both modes.
//! Broadcasting is undone by the engine, never in a rule.

mod numbers;
mod operation;
mod rule;

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::in_place::{self, Write};
use super::operand::{Kept, Numbers, Operand, Value, result_type};
use super::record::{needed, passes_by, record_new};
use super::{batch, copy, intercept, tangents, watch};
use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::graph::node::boxed;
use crate::graph::{Edge, SavedTensor, check_kept, mode};
use crate::kernels::{map, zip};
use crate::shape;
use crate::tensor::{Array, Mapping, Reading, Tensor};

pub(super) use numbers::{combine, expanded};
use numbers::{forward, overwrite, sizes_first};
pub(super) use operation::floating;
pub use operation::{Elementwise2, Needs};
use rule::{Recorded, edges, recorded};

/// The operation on two operands, of which one may be a number of the engine's own.
pub fn apply_to<E: Elementwise2>(op: E, a: Operand<'_>, b: Operand<'_>, own_number: bool) -> Result<Tensor> {
    if own_number
        && let Some(with) = E::WITH_NUMBER
        && let Some(y) = with.recorded(a, b)
    {
        return y;
    }
    apply(op, a, b)
}

/// The operation on two operands.
pub fn apply<E: Elementwise2>(op: E, a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    if mode::special() {
        return apply_traced(op, a, b);
    }
    match apply_plain(op, a, b)? {
        Plain::Is(y) => return Ok(y),
        Plain::IsLong => return watch::at_length(false, || apply(op, a, b)),
        Plain::IsNot => {}
    }
    let ((left, a_requires), (right, b_requires)) = (a.observe(), b.observe());
    let common = result_type([&left, &right]);
    let checked = op.check(a, b, common).and_then(|()| op.result(common));
    let dtype = checked.map_err(|error| sizes_first(error, &left, &right))?;
    if watch::is_long(left.count().max(right.count()) as u64) {
        return watch::at_length(false, || apply(op, a, b));
    }
    let y = forward(&op, &left, &right, dtype)?;
    if !(a_requires || b_requires) || !mode::is_grad_enabled() || passes_by([a.tensor(), b.tensor()]) {
        return Ok(Tensor::unrecorded(y, a.standing().and(b.standing())));
    }
    let edges = edges(a, b)?;
    let rule = recorded(op, (a, left), (b, right), needed(&edges));
    record_new(rule, edges, y)
}

/// `apply` where more than the history of the operands may matter.
#[cold]
fn apply_traced<E: Elementwise2>(op: E, a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    if let Some(mapping) = batch::mapping([a, b].into_iter().filter_map(Operand::tensor)) {
        return apply_batched(op, a, b, &mapping);
    }
    let (left, right) = (a.numbers(), b.numbers());
    let common = result_type([&left, &right]);
    let checked = op.check(a, b, common).and_then(|()| op.result(common));
    let dtype = checked.map_err(|error| sizes_first(error, &left, &right))?;
    let forward = &mut || match intercept::is_active() {
        true => {
            let forward = Box::new(move |operands: &[Value]| {
                let numbers = |place: usize| Operand::from(&operands[place]).numbers();
                forward(&op, &numbers(0), &numbers(1), dtype)
            });
            intercept::elementwise(node(&op, a, b), &[a, b], forward)
        }
        false => forward(&op, &left, &right, dtype).map(Tensor::from_array),
    };
    tangents::run_one(&[a.tensor(), b.tensor()], forward, &mut |needed, _| {
        boxed(recorded(op, (a, left.clone()), (b, right.clone()), needed))
    })
}

/// torch's name of the node, whether or not anything will be kept.
fn node<E: Elementwise2>(op: &E, a: Operand<'_>, b: Operand<'_>) -> &'static str {
    let kept = |operand| match operand {
        Operand::Scalar(number) => Kept::Scalar(number.into()),
        Operand::Tensor(_) => Kept::Nothing,
    };
    op.node(&kept(a), &kept(b))
}

/// `apply` for all samples of a mapping.
#[cold]
fn apply_batched<E: Elementwise2>(
    op: E,
    a: Operand<'_>,
    b: Operand<'_>,
    mapping: &Arc<Mapping>,
) -> Result<Tensor> {
    if !E::TAKES_NUMBERS_AS_TENSORS && matches!(b, Operand::Scalar(_)) {
        op.check(a, b, result_type([&a.numbers(), &b.numbers()]))?;
    }
    let y = batch::pair(a, b, mapping, |a, b| apply(op, a, b))?;
    let bound = [a, b].map(|operand| operand.tensor().map(|x| batch::bound(x, mapping)).transpose());
    let [left, right] = bound;
    let (left, right) = (left?, right?);
    let operand = |bound: &Option<Tensor>, operand: Operand<'_>| match (bound, operand) {
        (Some(x), _) => Value::Tensor(x.clone()),
        (None, Operand::Scalar(scalar)) => Value::Scalar(scalar),
        (None, Operand::Tensor(x)) => Value::Tensor(x.clone()),
    };
    let (first, second) = (operand(&left, a), operand(&right, b));
    let (a, b) = (Operand::from(&first), Operand::from(&second));
    tangents::trace(&[left.as_ref(), right.as_ref()], std::slice::from_ref(&y), |needed| {
        recorded(op, (a, a.numbers()), (b, b.numbers()), needed)
    })?;
    Ok(y)
}

/// Note [The short way]
/// ----
/// Most operations of small tensors are on operands of one floating-point type and one shape, in
/// row-major order, or on one such operand and a number. Their cost is that of counting handles, so
/// these operands are read where they lie; a handle is made only of what is kept. All others take
/// the general way, which gives the same results.
fn apply_plain<E: Elementwise2>(op: E, a: Operand<'_>, b: Operand<'_>) -> Result<Plain> {
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
    let same = p.layout.is_row_major()
        && (p.layout.is(&q.layout) || q.layout.is_contiguous() && p.layout.shape() == q.layout.shape());
    if !same || dtype != q.dtype || !dtype.is_float() || op.result(dtype)? != dtype {
        return Ok(Plain::IsNot);
    }
    if watch::is_long(p.layout.numel() as u64) {
        return Ok(Plain::IsLong);
    }
    let second = if number.is_some() { None } else { right.as_ref().or(Some(&left)) };
    let recording = mode::is_grad_enabled();
    if recording && mode::frozen_leaves() {
        return Ok(Plain::IsNot);
    }
    let requires = |reading: Option<&Reading<'_>>| match reading {
        Some(reading) if recording => reading.requires_grad(),
        _ => Some(false),
    };
    let (Some(left_requires), Some(right_requires)) = (requires(Some(&left)), requires(second)) else {
        return Ok(Plain::IsNot);
    };
    op.check(a, b, dtype)?;
    let quick = number.and_then(|number| op.with_number(p, number, dtype)).transpose()?;
    let computed = || {
        dispatch!(float dtype, T => {
        let (Some(p), Some(q)) = (p.slice::<T>(), q.slice::<T>()) else { return Ok(None) };
        let mut y = Array::uninit(&left.array().layout, dtype)?;
        match number {
            None => zip::zip_slice(p, q, y.fresh(), op.loops()),
            Some(number) => {
                let number: T = number.to();
                let f = op.loops();
                map::map_slice(p, y.fresh(), move |p| f(p, number));
            }
        }
        Ok(Some(y))
    }, else { Ok(None) })
    };
    let y: Result<Option<Array>> = match quick {
        Some(y) => Ok(Some(y)),
        None => computed(),
    };
    let Some(y) = y? else { return Ok(Plain::IsNot) };
    if !(left_requires || right_requires) {
        let standing = second.map_or_else(Default::default, Reading::standing).and(left.standing());
        drop((left, right));
        return Ok(Plain::Is(Tensor::unrecorded(y, standing)));
    }
    let wanted = |requires: bool, needs: Needs| if requires && op.derives() { needs } else { Needs::Nothing };
    let (first_needs, second_needs) =
        (wanted(left_requires, E::LEFT_NEEDS), wanted(right_requires, E::RIGHT_NEEDS));
    let shows = E::shows(left_requires, right_requires);
    let kept = |array: &Array, wanted: bool, index: u8| match wanted || !E::SHOWS_RESULT.is_empty() {
        true => rule::kept(array.clone(), index, shows),
        false => Kept::Nothing,
    };
    let a_kept = kept(p, first_needs.left() || second_needs.left(), 0);
    let b_kept = match number {
        Some(number) => Kept::Scalar(number.into()),
        None => kept(q, first_needs.right() || second_needs.right(), 1),
    };
    let (left_edge, right_edge) = (left.edge(), second.and_then(Reading::edge));
    drop((left, right));
    // Leaves and views look their edges up, which reads them again.
    let edge = |edge: Option<Edge>, requires: bool, operand: Operand<'_>| match operand {
        Operand::Tensor(tensor) if requires && edge.is_none() => tensor.gradient_edge(),
        _ => Ok(edge),
    };
    let edges =
        SmallVec::from_buf([edge(left_edge, left_requires, a)?, edge(right_edge, right_requires, b)?]);
    record_new(Recorded { op, a: a_kept, b: b_kept }, edges, y).map(Plain::Is)
}

/// What the short way came to.
enum Plain {
    /// The result.
    Is(Tensor),
    /// It would, but the operation takes a while.
    IsLong,
    /// The operands take the general way.
    IsNot,
}

/// The operation in place of its first operand.
pub fn apply_in_place<E: Elementwise2>(op: E, x: &Tensor, b: Operand<'_>) -> Result<()> {
    let a = Operand::Tensor(x);
    let others: SmallVec<[&Tensor; 1]> = b.tensor().into_iter().collect();
    if batch::highest(std::iter::once(x).chain(others.iter().copied())).is_some() {
        op.check(a, b, result_type([&a.numbers(), &b.numbers()]))?;
        return batch::through(x, &others, "inplace arithmetic", |before| apply(op, before.into(), b));
    }
    if watch::is_long(x.numel() as u64) {
        return watch::at_length(true, || apply_in_place(op, x, b));
    }
    if x.is_pending() {
        return in_place::through(x, &others, |before| apply(op, before.into(), b));
    }
    let mut write = Write::with_numbers(smallvec![Some(x), b.tensor()])?;
    let target = x.array();
    let right = b.numbers();
    let common = result_type([&Numbers::Array(target.clone()), &right]);
    op.check(a, b, common)?;
    let dtype = op.result(common)?;
    let overlapping = match &right {
        Numbers::Array(array) if target.overlaps(array) => Some(array),
        _ => None,
    };
    overlapping.map_or(Ok(()), |array| target.check_read(array))?;
    let broadcast = shape::broadcast(target.layout.shape(), right.shape())?;
    if broadcast.as_slice() != target.layout.shape() {
        let output = target.layout.shape().to_vec();
        return Err(Error::OutputShape { output, broadcast: broadcast.to_vec() }.into());
    }
    if !dtype.can_cast(target.dtype) {
        return Err(Error::ResultCast { from: dtype, to: target.dtype }.into());
    }
    let apart = match overlapping {
        Some(array) => Numbers::Array(copy::dense(array)?),
        None => right.clone(),
    };
    let rule = match write.is_traced() {
        // The old values of the target are about to go: what is kept of them is a copy.
        true => {
            // A tangent needs old values of the second operand too, where backward refuses.
            let right = if write.has_tangents() { apart.clone() } else { right };
            let mut rule = recorded(op, (a, Numbers::Array(target.clone())), (b, right), write.needed());
            if let Kept::Tensor(saved) = &rule.a {
                let before = SavedTensor::former(copy::dense(&target)?, 0);
                rule.a = Kept::Tensor(if saved.is_hidden() { before.hidden() } else { before });
            }
            check_kept(&rule)?;
            if mode::special() {
                write.pack(&rule)?;
            }
            Some(rule)
        }
        false => None,
    };
    match intercept::is_active() {
        true => {
            let target = target.clone();
            intercept::written(node(&op, a, b), &[a, b], move || overwrite(&op, &target, &apart, dtype))?;
        }
        false => overwrite(&op, &target, &apart, dtype)?,
    }
    write.finish(|_| rule.unwrap_or_else(|| unreachable!("a write that is traced has a rule")))
}
