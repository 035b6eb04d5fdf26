//! Elementwise operations of two operands: a function of two elements and its two derivatives give
//! the operation on any mix of tensors and numbers, its in-place form, its rule in both modes.
//! Broadcasting is undone by the engine, never in a rule.

mod direct;
mod numbers;
mod operation;
mod overwrite;
mod plain;
pub(crate) mod portable;
mod rule;
mod slope;
mod stored;

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::dispatch::forward_mode::tangents;
use crate::dispatch::in_place;
use crate::dispatch::in_place::Write;
use crate::dispatch::modes::{intercept, recording};
use crate::dispatch::operand::{Numbers, Operand, SavedOperand, Value, result_type};
use crate::dispatch::record::{needed, passes_by, record_new};
use crate::dispatch::{batch, long_work};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::node::boxed;
use crate::graph::{Attributes, SavedTensor, check_kept, mode};
use crate::ops::creation::copy;
use crate::shape;
use crate::tensor::{Array, Mapping, Tensor};

pub(crate) use numbers::{combine, settled_beside};
use numbers::{forward, sizes_first};
pub(crate) use operation::floating;
pub use operation::{Elementwise2, Loop, Needs};
use overwrite::overwrite;
use plain::Plain;
use rule::{BinaryRule, edges, recorded};

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
    let now = mode::thread_mode();
    if now.special {
        return apply_traced(op, a, b);
    }
    match plain::apply(op, a, b, now.records)? {
        Plain::Is(y) => return Ok(y),
        Plain::IsLong => return long_work::at_length(false, || apply(op, a, b)),
        Plain::IsNot => {}
    }
    let ((left, a_requires), (right, b_requires)) = (a.observe(), b.observe());
    let common = result_type([&left, &right])?;
    let checked = op.check(a, b, common).and_then(|()| op.result(common));
    let dtype = checked.map_err(|error| sizes_first(error, &left, &right))?;
    if long_work::is_long(left.count_with(&right) as u64) {
        return long_work::at_length(false, || apply(op, a, b));
    }
    let y = forward(&op, &left, &right, dtype)?;
    if !(a_requires || b_requires) || !now.records || passes_by([a.tensor(), b.tensor()]) {
        return Ok(Tensor::unrecorded(y, a.standing().and(b.standing())));
    }
    let edges = edges(a, b)?;
    let rule = recorded(op, (a, left), (b, right), needed(&edges));
    record_new(rule, edges, y)
}

/// What the operation makes of the numbers of two operands, which it takes.
pub(crate) fn numbers<E: Elementwise2>(op: E, a: impl Into<Numbers>, b: impl Into<Numbers>) -> Result<Array> {
    let (a, b) = (a.into(), b.into());
    let dtype = op.result(result_type([&a, &b])?)?;
    forward(&op, &a, &b, dtype)
}

/// `apply` on a special thread: Note [The layers of a call].
#[cold]
fn apply_traced<E: Elementwise2>(op: E, a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    if let Some(mapping) = batch::mapping([a, b].into_iter().filter_map(Operand::tensor)) {
        return apply_batched(op, a, b, &mapping);
    }
    let (left, right) = (a.numbers(), b.numbers());
    let common = result_type([&left, &right])?;
    let checked = op.check(a, b, common).and_then(|()| op.result(common));
    let dtype = checked.map_err(|error| sizes_first(error, &left, &right))?;
    let forward = &mut || match intercept::is_active() {
        true => {
            let forward = Box::new(move |operands: &[Value]| {
                let numbers = |place: usize| Operand::from(&operands[place]).numbers();
                forward(&op, &numbers(0), &numbers(1), dtype)
            });
            let name = intercept::known_by(node(&op, a, b), E::NAME);
            intercept::elementwise(name, Attributes::new(), &[a, b], forward, &|| {
                portable::beneath(op, dtype)
            })
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
        Operand::Scalar(number) => SavedOperand::Scalar(number.into()),
        Operand::Tensor(_) => SavedOperand::Nothing,
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
        op.check(a, b, result_type([&a.numbers(), &b.numbers()])?)?;
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

/// The operation in place of its first operand.
pub fn apply_in_place<E: Elementwise2>(op: E, x: &Tensor, b: Operand<'_>) -> Result<()> {
    let now = mode::thread_mode();
    if !now.special && plain::overwrite(op, x, b, now.records)? {
        return Ok(());
    }
    let a = Operand::Tensor(x);
    let others: SmallVec<[&Tensor; 1]> = b.tensor().into_iter().collect();
    if batch::highest(std::iter::once(x).chain(others.iter().copied())).is_some() {
        op.check(a, b, result_type([&a.numbers(), &b.numbers()])?)?;
        return batch::through(x, &others, "inplace arithmetic", |before| apply(op, before.into(), b));
    }
    if long_work::is_long(x.numel() as u64) {
        return long_work::at_length(true, || apply_in_place(op, x, b));
    }
    if x.is_pending() {
        return in_place::through(x, &others, |before| apply(op, before.into(), b));
    }
    let mut write = Write::with_numbers(smallvec![Some(x), b.tensor()])?;
    let target = x.array();
    let right = b.numbers();
    let common = result_type([&Numbers::Array(target.clone()), &right])?;
    op.check(a, b, common)?;
    let dtype = op.result(common)?;
    let apart = fitted(&target, &right, dtype)?;
    let rule = match write.is_traced() {
        true => {
            // A tangent needs old values of the second operand too, where backward refuses.
            let right = if write.has_tangents() { apart.clone() } else { right };
            Some(rule_of_write(op, &mut write, (a, &target), (b, right))?)
        }
        false => None,
    };
    match intercept::is_active() {
        true => {
            let name = intercept::known_by(node(&op, a, b), E::NAME);
            let what = recording::is_on().then(|| portable::written(op, dtype));
            intercept::written_as(name, &[a, b], Attributes::new(), what, move |operands| {
                let target = intercept::first(operands).array();
                let apart = fitted(&target, &Operand::from(&operands[1]).numbers(), dtype)?;
                overwrite(&op, &target, &apart, dtype)
            })?;
        }
        false => overwrite(&op, &target, &apart, dtype)?,
    }
    write.finish(|_| rule.unwrap_or_else(|| unreachable!("a write that is traced has a rule")))
}

/// The second operand as it can be read while the target is written to, if a result of this type fits in there.
fn fitted(target: &Array, right: &Numbers, dtype: DType) -> Result<Numbers> {
    let overlapping = match right {
        Numbers::Array(array) if target.overlaps(array) => Some(array),
        _ => None,
    };
    overlapping.map_or(Ok(()), |array| target.check_read(array))?;
    shape::check_expandable(right.shape(), target.layout.shape())?;
    if !dtype.can_cast(target.dtype) {
        return Err(Error::ResultCast { from: dtype, to: target.dtype }.into());
    }
    match overlapping {
        Some(array) => copy::dense(array).map(Numbers::Array),
        None => Ok(right.clone()),
    }
}

/// The rule of a write. The old values of the target are about to go: what is kept of them is a copy.
fn rule_of_write<E: Elementwise2>(
    op: E,
    write: &mut Write<'_>,
    (a, target): (Operand<'_>, &Array),
    b: (Operand<'_>, Numbers),
) -> Result<BinaryRule<E>> {
    let mut rule = recorded(op, (a, Numbers::Array(target.clone())), b, write.needed());
    if let SavedOperand::Tensor(saved) = &rule.a {
        let copy = a.tensor().map_or_else(|| copy::dense(target), in_place::former)?;
        let before = SavedTensor::former(copy, 0);
        rule.a = SavedOperand::Tensor(if saved.is_hidden() { before.hidden() } else { before });
    }
    check_kept(&rule)?;
    if mode::special() {
        write.pack(&rule)?;
    }
    Ok(rule)
}
