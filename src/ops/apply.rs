//! The one door through which structured operations pass: run the forward, record the rule.
//! Elementwise operations have doors of their own (`unary`, `binary`) that share `record`.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::batch::{self, Answer, Call};
use super::in_place::Write;
use super::{copy, intercept, tangents};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::cut::{Cut, Reason, Standing};
use crate::graph::node::{RuleBox, boxed};
use crate::graph::{
    At, Attributes, Edge, Form, Forms, Gradients, Inputs, Node, NodeRef, Rule, SavedTensor, Shown, Source,
    check_kept, mode,
};
use crate::shape::Layout;
use crate::tensor::{Array, Creation, Tensor};

/// What an operation gives; nearly always one tensor.
pub type Outputs = SmallVec<[Tensor; 1]>;

/// An operation: its parameters are the fields, its inputs come as tensors. One block says all.
pub trait Op: Clone + Send + Sync + 'static {
    /// What backward needs, taken by `save`.
    type Saved: Keepsake;
    /// torch's names of what is saved, in order.
    const SAVED: &'static [&'static str] = &[];
    /// Whether the output shows the memory of the first input.
    const VIEW: bool = false;

    /// torch's name of the node.
    fn name(&self) -> &'static str;

    /// `SAVED`, where it depends on the parameters. An empty name stands for what torch does not save.
    fn saved_names(&self) -> &'static [&'static str] {
        Self::SAVED
    }

    /// How many tensors it gives for these inputs.
    fn outputs(&self, _inputs: &[&Tensor]) -> usize {
        1
    }

    /// The numbers. A forward works on arrays: tensor operations in it would be recorded.
    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs>;

    /// Keeps what `vjp` will need for the inputs that require grad.
    fn save(&self, keep: &Keep<'_>) -> Self::Saved;

    /// Gradients with respect to the inputs. At least one of `gradients` is there.
    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients>;

    /// Tangents of the outputs. At least one of `tangents` is there.
    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients>;

    /// The parameters as the node shows them, under torch's names.
    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        Attributes::new()
    }

    /// Estimated nanoseconds of `vjp`, when they do not follow from the size of the output.
    fn work(&self, _saved: &Self::Saved) -> Option<u64> {
        None
    }

    /// The operation for many samples at once, by operations on the values. Without a rule it is run
    /// for each sample.
    fn batch(&self, _call: &Call<'_>) -> Result<Option<Answer>> {
        Ok(None)
    }

    /// The inputs as torch counts them, if it counts others; see `Rule::inputs`.
    fn inputs(&self) -> Option<Inputs> {
        None
    }

    /// How its outputs came to be, if they are views of the first input.
    fn shows(&self) -> Option<Creation> {
        None
    }

    /// Tensors that the operation holds beside its inputs, such as indices: they may be batched too.
    fn held(&self) -> SmallVec<[Tensor; 1]> {
        SmallVec::new()
    }

    /// The operation with other tensors in the place of those that it holds.
    fn holding(&self, _held: &[Tensor]) -> Result<Self> {
        Ok(self.clone())
    }
}

/// What `save` may take from.
pub struct Keep<'a> {
    inputs: &'a [&'a Tensor],
    outputs: &'a [Tensor],
    needed: u64,
}

impl<'a> Keep<'a> {
    pub(super) fn new(inputs: &'a [&'a Tensor], outputs: &'a [Tensor], needed: u64) -> Keep<'a> {
        Keep { inputs, outputs, needed }
    }

    /// Whether input `index` requires grad.
    pub fn needs(&self, index: usize) -> bool {
        index >= 64 || self.needed >> index & 1 == 1
    }

    /// Keeps an input.
    pub fn input(&self, index: usize) -> SavedTensor {
        SavedTensor::new(self.inputs[index].array(), Source::Input(index as u8))
    }

    /// Keeps an input if `condition`.
    pub fn input_if(&self, condition: bool, index: usize) -> Option<SavedTensor> {
        condition.then(|| self.input(index))
    }

    /// Keeps an output.
    pub fn output(&self, index: usize) -> SavedTensor {
        SavedTensor::new(self.outputs[index].array(), Source::Output(index as u8))
    }

    /// The element type of an input.
    pub fn dtype(&self, index: usize) -> DType {
        self.inputs[index].dtype()
    }

    /// The layout of an input, for rules that need no more than that.
    pub fn layout(&self, index: usize) -> Arc<Layout> {
        self.inputs[index].layout()
    }
}

/// What can be kept for backward: none, one or several tensors, or just a layout.
pub trait Keepsake: Send + Sync + 'static {
    /// The tensors, in the order of their names; `None` for one that was not needed.
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        SmallVec::new()
    }

    /// The tensors that there are.
    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        SmallVec::new()
    }
}

impl Keepsake for () {}
impl Keepsake for Arc<Layout> {}
impl Keepsake for Vec<Arc<Layout>> {}

impl Keepsake for SavedTensor {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        smallvec![Some(self)]
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        smallvec![self]
    }
}

impl Keepsake for Option<SavedTensor> {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        smallvec![self.as_ref()]
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.iter_mut().collect()
    }
}

impl<const N: usize> Keepsake for [Option<SavedTensor>; N] {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        self.iter().map(Option::as_ref).collect()
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.iter_mut().flatten().collect()
    }
}

impl<const N: usize> Keepsake for [SavedTensor; N] {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        self.iter().map(Some).collect()
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.iter_mut().collect()
    }
}

impl Keepsake for Vec<SavedTensor> {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        self.iter().map(Some).collect()
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.iter_mut().collect()
    }
}

impl<A: Keepsake, B: Send + Sync + 'static> Keepsake for (A, B) {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        self.0.tensors()
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.0.tensors_mut()
    }
}

/// An operation and what it kept: the rule of its node.
pub(super) struct Recorded<O: Op> {
    pub(super) op: O,
    pub(super) saved: O::Saved,
}

impl<O: Op> Rule for Recorded<O> {
    fn name(&self) -> &str {
        self.op.name()
    }

    fn vjp(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        self.op.vjp(&self.saved, at, gradients)
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        self.op.jvp(&self.saved, at, tangents)
    }

    fn saved(&self) -> SmallVec<[(&'static str, &SavedTensor); 2]> {
        let names = self.op.saved_names().iter().copied().chain(std::iter::repeat("tensor"));
        names.zip(self.saved.tensors()).filter_map(|(name, saved)| Some((name, saved?))).collect()
    }

    fn shown(&self) -> Attributes {
        let mut shown = self.op.shown(&self.saved);
        let missing = self
            .op
            .saved_names()
            .iter()
            .zip(self.saved.tensors())
            .filter(|(name, saved)| saved.is_none() && !name.is_empty());
        shown.extend(missing.map(|(name, _)| (*name, Shown::NoTensor)));
        shown
    }

    fn is_view(&self) -> bool {
        O::VIEW
    }

    fn inputs(&self) -> Option<Inputs> {
        self.op.inputs()
    }

    fn saved_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.saved.tensors_mut()
    }

    fn work(&self) -> Option<u64> {
        self.op.work(&self.saved)
    }
}

/// Runs an operation and records it if any input requires grad.
pub fn apply<O: Op>(op: O, inputs: &[&Tensor]) -> Result<Outputs> {
    if mode::special()
        && let Some(mapping) = batch::mapping(inputs.iter().copied().chain(&op.held()))
    {
        return batch::apply(op, inputs, &mapping);
    }
    let outputs = match intercept::is_active() {
        true => intercept::structured(&op, inputs)?,
        false => op.forward(inputs)?,
    };
    trace(inputs, &outputs, |needed| {
        let saved = op.save(&Keep { inputs, outputs: &outputs, needed });
        Recorded { op, saved }
    })?;
    Ok(outputs)
}

/// What follows the forward of every operation: what it did is recorded if any input requires grad,
/// and tangents of the inputs pass it. `rule` is asked for only then, and told which inputs matter.
pub(super) fn trace<R: Rule + 'static>(
    inputs: &[&Tensor],
    outputs: &[Tensor],
    rule: impl FnOnce(u64) -> R,
) -> Result<()> {
    if mode::special() {
        let inputs: SmallVec<[Option<&Tensor>; 3]> = inputs.iter().copied().map(Some).collect();
        return tangents::trace(&inputs, outputs, rule);
    }
    tangents::once(rule, &mut |rule| trace_history(inputs, outputs, rule))
}

fn trace_history(inputs: &[&Tensor], outputs: &[Tensor], rule: tangents::MakeRule<'_>) -> Result<()> {
    let standing = inputs.iter().map(|input| input.standing()).fold(Standing::default(), Standing::and);
    if standing.requires_grad && mode::is_grad_enabled() {
        let edges = gradient_edges(inputs)?;
        let rule = rule(needed(&edges));
        record_boxed(rule, edges, outputs)?;
    } else {
        stop(standing, outputs);
    }
    Ok(())
}

/// What has no history from now on remembers where it was lost, if the inputs had one.
pub(super) fn stop(standing: Standing, outputs: &[Tensor]) {
    if standing == Standing::default() {
        return;
    }
    for output in outputs {
        let reason = if output.dtype().is_float() { Reason::NoGrad } else { Reason::Integer };
        output.set_cut(standing.cut(reason));
    }
}

/// `apply` for an operation with one output.
pub fn apply_one<O: Op>(op: O, inputs: &[&Tensor]) -> Result<Tensor> {
    apply(op, inputs)?.pop().map_or_else(|| unreachable!("the operation has one output"), Ok)
}

/// An operation that changes part of its first input and keeps none of its old values: it has an
/// in-place form that touches no more than that part.
pub trait Overwrite: Op {
    /// Writes the new elements into memory that holds the first input. The target shows none of the
    /// memory of the other inputs.
    fn overwrite(&self, target: &Array, inputs: &[&Tensor]) -> Result<()>;

    /// torch's name of the in-place form in messages.
    fn in_place_name(&self) -> &'static str {
        "inplace arithmetic"
    }

    /// The first input with the new elements, in memory of its own: the forward of such operations.
    fn overwritten(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let copy = copy::dense(&inputs[0].array())?;
        self.overwrite(&copy, inputs)?;
        Ok(smallvec![Tensor::from_array(copy)])
    }
}

/// `apply` in place of the first input.
pub fn apply_in_place<O: Overwrite>(op: O, inputs: &[&Tensor]) -> Result<()> {
    if mode::special() && batch::mapping(inputs.iter().copied().chain(&op.held())).is_some() {
        let held = op.held();
        let others: SmallVec<[&Tensor; 3]> = inputs.iter().skip(1).copied().chain(&held).collect();
        return batch::through(inputs[0], &others, op.in_place_name(), |before| {
            let mut inputs: SmallVec<[&Tensor; 3]> = inputs.into();
            inputs[0] = before;
            apply_one(op, &inputs)
        });
    }
    let write = Write::begin(inputs)?;
    let target = inputs[0].array();
    let apart: SmallVec<[Tensor; 3]> = inputs
        .iter()
        .enumerate()
        .map(|(index, &input)| match index > 0 && target.overlaps(&input.array()) {
            true => copy::dense(&input.array()).map(Tensor::from_array),
            false => Ok(input.clone()),
        })
        .collect::<Result<_>>()?;
    let apart: SmallVec<[&Tensor; 3]> = apart.iter().collect();
    match intercept::is_active() {
        true => intercept::overwritten(&op, inputs, &apart)?,
        false => op.overwrite(&target, &apart)?,
    }
    write.finish(|needed| {
        let saved = op.save(&Keep { inputs: &apart, outputs: &[], needed });
        Recorded { op, saved }
    })
}

/// Whether an operation on these inputs is recorded.
pub fn records(inputs: &[&Tensor]) -> bool {
    mode::is_grad_enabled() && inputs.iter().any(|input| input.requires_grad())
}

/// Where gradients with respect to the inputs go.
pub fn gradient_edges(inputs: &[&Tensor]) -> Result<SmallVec<[Option<Edge>; 2]>> {
    inputs.iter().map(|input| input.gradient_edge()).collect()
}

/// A bit for each edge that leads somewhere.
pub fn needed(edges: &[Option<Edge>]) -> u64 {
    edges.iter().take(64).enumerate().fold(0, |bits, (index, edge)| bits | u64::from(edge.is_some()) << index)
}

/// What a node remembers of its output.
pub(super) fn form(tensor: &Tensor) -> Form {
    let array = tensor.array();
    Form { layout: array.layout, dtype: array.dtype }
}

/// Records a rule with one output that is not a tensor yet, and makes it one: the short way for
/// elementwise operations.
pub(super) fn record_new(
    rule: impl Rule + 'static,
    edges: SmallVec<[Option<Edge>; 2]>,
    y: Array,
) -> Result<Tensor> {
    record_new_boxed(boxed(rule), edges, y)
}

fn record_new_boxed(rule: RuleBox, edges: SmallVec<[Option<Edge>; 2]>, y: Array) -> Result<Tensor> {
    check_kept(&*rule)?;
    let form = Form { layout: y.layout.clone(), dtype: y.dtype };
    let differentiable = y.dtype.is_float();
    let node = Node::record_boxed(rule, edges, Forms::one(form));
    Ok(match differentiable {
        true => Tensor::with_history(y, Some(Edge { node, output: 0 })),
        false => Tensor::unrecorded(y, Standing { requires_grad: true, cut: Cut::NONE }),
    })
}

/// Records a rule and makes the floating-point outputs its outputs.
pub fn record(
    rule: impl Rule + 'static,
    edges: SmallVec<[Option<Edge>; 2]>,
    outputs: &[Tensor],
) -> Result<()> {
    record_boxed(boxed(rule), edges, outputs)
}

fn record_boxed(rule: RuleBox, edges: SmallVec<[Option<Edge>; 2]>, outputs: &[Tensor]) -> Result<()> {
    if let Some(forms) = forms(outputs) {
        check_kept(&*rule)?;
        attach(&Node::record_boxed(rule, edges, forms), outputs);
    }
    Ok(())
}

/// What a node remembers of its outputs, if it has any.
pub(super) fn forms(outputs: &[Tensor]) -> Option<Forms> {
    let (first, further) = outputs.split_first()?;
    Some(Forms { first: form(first), further: further.iter().map(form).collect() })
}

/// Makes the floating-point outputs those of a node.
pub(super) fn attach(node: &NodeRef, outputs: &[Tensor]) {
    for (number, output) in (0..).zip(outputs) {
        if output.dtype().is_float() {
            output.set_edge(Some(Edge { node: node.clone(), output: number }));
        } else {
            output.set_cut(Cut::here(Reason::Integer));
        }
    }
}

/// The gradients of an operation with one input.
pub fn one(gradient: Tensor) -> Result<Gradients> {
    Ok(smallvec![Some(gradient)])
}

/// The single gradient of an operation with one output.
pub fn single(gradients: &Gradients) -> &Tensor {
    gradients.first().and_then(Option::as_ref).unwrap_or_else(|| unreachable!("rules run with a gradient"))
}

/// The single tangent of an operation with one input.
pub fn tangent(tangents: &[Option<Tensor>]) -> &Tensor {
    tangents.first().and_then(Option::as_ref).unwrap_or_else(|| unreachable!("rules run with a tangent"))
}
