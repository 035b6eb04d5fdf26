//! How an entry point shows its operation to modes and classes, one function for each kind of operation.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::{Again, Forward, Operation, given, is_dispatching_to_subclasses};
use crate::dispatch::apply;
use crate::dispatch::apply::{Overwrite, apart, memory};
use crate::dispatch::direct::Direct;
use crate::dispatch::erased::AnyOp;
use crate::dispatch::modes::plain::{Portable, Ready, What, damaged};
use crate::dispatch::modes::recording;
use crate::dispatch::operand::{Operand, Value};
use crate::dispatch::{stored, view};
use crate::error::Result;
use crate::graph::Attributes;
use crate::tensor::{Creation, Outputs, Tensor};

/// Tensors as operands that are kept.
pub(crate) fn owned(inputs: &[&Tensor]) -> SmallVec<[Value; 3]> {
    inputs.iter().map(|&input| Value::Tensor(input.clone())).collect()
}

/// The outputs of a structured operation.
#[cold]
pub(crate) fn structured(op: &dyn AnyOp, inputs: &[&Tensor]) -> Result<Outputs> {
    let (own, creation, count) = (op.owned(), op.creation(), inputs.len());
    let beside = op.held();
    // What it holds beside is an operand like others for a dispatch subclass, or it is recorded.
    let subclassed =
        recording::is_on() || is_dispatching_to_subclasses() && beside.iter().any(Tensor::is_subclassed);
    let held: &[Tensor] = if subclassed { &beside } else { &[] };
    let all: SmallVec<[&Tensor; 4]> = inputs.iter().copied().chain(held).collect();
    let compute = Arc::new(move |operands: &[Value]| {
        let tensors = tensors(operands);
        let (inputs, held) = tensors.split_at(count);
        match held {
            [] => own.compute(inputs),
            held => own.with_held(&kept(held))?.compute(inputs),
        }
    });
    let operation = Operation {
        outputs: op.outputs(&memory(inputs)),
        attributes: op.dispatch_attributes(inputs),
        again: if creation.is_some() { Again::LyingAlike } else { Again::Alike },
        held: held.len(),
        beside: beside.clone(),
        direct: if recording::is_on() { op.direct() } else { None },
        what: if recording::is_on() { Some(op.what(count)) } else { None },
        ..Operation::new(op.name(), owned(&all), compute)
    };
    operation.run(&|output| match creation {
        Some(creation) => view::adopt(inputs[0], output, creation),
        None => given(output),
    })
}

fn kept(inputs: &[&Tensor]) -> Vec<Tensor> {
    inputs.iter().map(|&input| input.clone()).collect()
}

/// The operands that are tensors.
pub(crate) fn tensors(operands: &[Value]) -> SmallVec<[&Tensor; 3]> {
    operands.iter().filter_map(|operand| Operand::from(operand).tensor()).collect()
}

/// The operand, if there is one and it is a tensor.
pub(crate) fn only(operands: &[Value]) -> Result<&Tensor> {
    match operands {
        [Value::Tensor(only)] => Ok(only),
        _ => Err(damaged("an operation has another number of operands")),
    }
}

/// The first operand, which is a tensor.
pub(crate) fn first(operands: &[Value]) -> &Tensor {
    match operands.first() {
        Some(Value::Tensor(first)) => first,
        _ => unreachable!("operands are replaced by others of their kind"),
    }
}

fn values(operands: &[Operand<'_>]) -> SmallVec<[Value; 3]> {
    operands.iter().map(|operand| Value::from(*operand)).collect()
}

/// What a recorder keeps of an operation beside what computes it.
#[derive(Default)]
pub(crate) struct Beneath {
    /// What computes it into memory that is there.
    pub(crate) direct: Option<Arc<dyn Direct>>,
    /// It as a value of its own type.
    pub(crate) what: Option<What>,
}

/// The output of an elementwise operation, of which a recorder keeps what `beneath` gives.
#[cold]
pub(crate) fn elementwise(
    node: &'static str,
    attributes: Attributes,
    operands: &[Operand<'_>],
    forward: Forward,
    beneath: &dyn Fn() -> Beneath,
) -> Result<Tensor> {
    let compute = Arc::new(move |operands: &[Value]| Ok(smallvec![Tensor::from_array(forward(operands)?)]));
    let Beneath { direct, what } = if recording::is_on() { beneath() } else { Beneath::default() };
    let operation = Operation::new(node, values(operands), compute);
    Operation { attributes, direct, what, is_sure: true, ..operation }.run_one(&given)
}

/// The outputs, so many, of an operation that leaves no node and is known by torch's name of it. It holds
/// what is `beside` its operands.
#[cold]
pub(crate) fn several(
    name: &'static str,
    attributes: Attributes,
    operands: &[&Tensor],
    beside: SmallVec<[Tensor; 1]>,
    outputs: usize,
    compute: impl Fn(&[Value]) -> Result<Outputs> + Send + Sync + 'static,
) -> Result<Outputs> {
    let operation = Operation::new(name, owned(operands), Arc::new(compute));
    Operation { attributes, beside, outputs, ..operation }.run(&given)
}

/// `several` of what a recorder knows by its type.
#[cold]
pub(crate) fn several_of(
    name: &'static str,
    operands: &[&Tensor],
    outputs: usize,
    ready: Ready,
) -> Result<Outputs> {
    let Ready { what, compute, direct, .. } = ready;
    let operation = Operation::new(name, owned(operands), compute);
    Operation { outputs, direct, what: Some(what), ..operation }.run(&given)
}

/// What the dispatch subclass of an operand gives in the place of what is computed without a node of
/// its own, or what is recorded of it; `name` is torch's of the operator. `None` if there is no such class.
#[cold]
pub(crate) fn of_subclass(
    name: &'static str,
    operands: &[Operand<'_>],
    compute: impl Fn(&[Value]) -> Result<Tensor> + Send + Sync + 'static,
) -> Option<Result<Tensor>> {
    if !is_seen(operands) {
        return None;
    }
    let compute = Arc::new(move |operands: &[Value]| Ok(smallvec![compute(operands)?]));
    Some(Operation::new(name, values(operands), compute).run_one(&given))
}

/// Whether somebody wants to see an operation on these that leaves no node: a recorder, or the class of one of them.
fn is_seen(operands: &[Operand<'_>]) -> bool {
    let subclassed = |operand: &Operand<'_>| operand.tensor().is_some_and(Tensor::is_subclassed);
    recording::is_on() || is_dispatching_to_subclasses() && operands.iter().any(subclassed)
}

/// `of_subclass` of what is a value of its own type, so that it can be written down as plain data.
#[cold]
pub(crate) fn of_value<P: Portable>(
    name: &'static str,
    operands: &[Operand<'_>],
    own: P,
) -> Option<Result<Tensor>> {
    if !is_seen(operands) {
        return None;
    }
    let Ready { what, compute, direct, .. } = Ready::of(own);
    let operation = Operation::new(name, values(operands), compute);
    Some(Operation { direct, what: Some(what), ..operation }.run_one(&given))
}

/// What the dispatch subclass of `x` gives in the place of another tensor on its memory, or of one
/// that is made like it.
#[cold]
pub(crate) fn beside(
    node: &'static str,
    attributes: Attributes,
    x: &Tensor,
    make: impl Fn(&Tensor) -> Result<Tensor> + Send + Sync + 'static,
) -> Result<Tensor> {
    let compute = Arc::new(move |operands: &[Value]| Ok(smallvec![make(first(operands))?]));
    Operation { attributes, ..Operation::new(node, owned(&[x]), compute) }.run_one(&given)
}

/// A view of `x`.
#[cold]
pub(crate) fn shown(
    node: &'static str,
    attributes: Attributes,
    x: &Tensor,
    show: impl Fn(&Tensor) -> Tensor + Send + Sync + 'static,
) -> Result<Tensor> {
    let compute = Arc::new(move |operands: &[Value]| Ok(smallvec![show(first(operands))]));
    let adopt = &|output| view::adopt(x, output, Creation::Default);
    let operation = Operation::new(node, owned(&[x]), compute);
    Operation { attributes, again: Again::LyingAlike, ..operation }.run_one(adopt)
}

/// A write to the first operand. Whoever answers without going on leaves it as it is.
#[cold]
pub(crate) fn written(
    node: &'static str,
    operands: &[Operand<'_>],
    write: impl Fn(&[Value]) -> Result<()> + Send + Sync + 'static,
) -> Result<()> {
    written_as(node, operands, Attributes::new(), None, write)
}

/// `written` by an operation that has parameters, or is recorded as a value of its own type.
#[cold]
pub(crate) fn written_as(
    node: &'static str,
    operands: &[Operand<'_>],
    attributes: Attributes,
    what: Option<What>,
    write: impl Fn(&[Value]) -> Result<()> + Send + Sync + 'static,
) -> Result<()> {
    let compute = Arc::new(move |operands: &[Value]| write(operands).map(|()| Outputs::new()));
    let operation = Operation::new(node, values(operands), compute);
    Operation { attributes, what, is_sure: true, ..operation }.run_in_place()
}

/// `written` for an operation that changes part of its first input.
#[cold]
pub(crate) fn overwritten<O: Overwrite>(op: &O, inputs: &[&Tensor]) -> Result<()> {
    let (own, count, beside) = (op.clone(), inputs.len(), op.held());
    // What it holds beside is an operand like others where it is recorded.
    let held: &[Tensor] = if recording::is_on() { &beside } else { &[] };
    let all: SmallVec<[&Tensor; 4]> = inputs.iter().copied().chain(held).collect();
    let write = move |operands: &[Value]| {
        let tensors = tensors(operands);
        let (inputs, held) = tensors.split_at(count);
        let target = inputs[0].array();
        let apart = apart(&target, inputs)?;
        match held {
            [] => stored::overwrite(&own, &target, &apart)?,
            held => stored::overwrite(&own.with_held(&kept(held))?, &target, &apart)?,
        }
        Ok(Outputs::new())
    };
    let operation = Operation::new(op.name(), owned(&all), Arc::new(write));
    let attributes = AnyOp::dispatch_attributes(op, inputs);
    let what = if recording::is_on() { Some(apply::portable::written(op, count)) } else { None };
    Operation { attributes, what, held: held.len(), beside: beside.clone(), ..operation }.run_in_place()
}
