//! The `Op` trait for structured operations and their entry point, `apply`: run the forward, have `record` record the
//! rule (Note [The layers of a call]). Elementwise operations have entry points of their own (`unary`, `binary`).

mod keep;
mod overwrite;
pub(crate) mod portable;

use std::any::Any;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::dispatch::batch::{self, Answer, Call};
use crate::dispatch::direct::Direct;
use crate::dispatch::erased::AnyOp;
use crate::dispatch::forward_mode::tangents;
use crate::dispatch::modes::{intercept, plain::What};
use crate::dispatch::record::{is_recorded, look, needed, record, record_numbers, stop, unrecorded};
use crate::dispatch::{long_work, stored, view};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::node::boxed;
use crate::graph::{At, Attributes, Gradients, Inputs, Rule, SavedTensor, Shown, Traits, mode};
use crate::tensor::{Array, Creation, Tensor};
pub use crate::tensor::{Arrays, Outputs};
pub use keep::{Keep, Keepsake};
pub(crate) use overwrite::apart;
pub use overwrite::{Overwrite, apply_in_place};
pub use stored::Unsigned;

/// A structured operation. Its parameters are the fields of the type; everything that is true of it stands in its
/// `impl`. Its inputs are arrays where numbers are computed, and tensors where derivatives are.
pub trait Op: Clone + Send + Sync + 'static {
    /// What the node keeps for `vjp` and `jvp`, made by `save`.
    type Saved: Keepsake;
    /// torch's names of the saved tensors, in order: `grad_fn._saved_self` is `"self"`.
    const SAVED: &'static [&'static str] = &[];
    /// Whether the output is a view of the first input.
    const VIEW: bool = false;
    /// Whether elements are copied and never computed with, so that any type will do: see Note [Stored types].
    const MOVES: bool = Self::VIEW;
    /// What is done with `UInt64`, for which there are no kernels.
    const UNSIGNED: Unsigned = Unsigned::Refused;

    /// torch's name of the node.
    fn name(&self) -> &'static str;

    /// `SAVED`, where it depends on the parameters. An empty name stands for a tensor that torch does not save.
    fn saved_names(&self) -> &'static [&'static str] {
        Self::SAVED
    }

    /// The number of outputs for these inputs.
    fn outputs(&self, _inputs: &[Array]) -> usize {
        1
    }

    /// The `dtype` argument of the call, if it has one. An operation that computes in a stored type gets a wider one
    /// instead.
    fn result(&self) -> Option<DType> {
        None
    }

    /// The type that outputs are rounded to if an input is of a stored type.
    fn rounding(&self, inputs: &[Array]) -> Option<DType> {
        let types = |least: usize, kind: fn(DType) -> bool| {
            let counted = inputs.iter().filter(move |input| input.layout.ndim() >= least);
            counted.map(|input| input.dtype).filter(|dtype| kind(*dtype)).reduce(DType::promote)
        };
        let fractions = |least| types(least, DType::is_differentiable);
        let integers = |least| types(least, DType::is_wide_unsigned);
        let found = self.result().or_else(|| fractions(1)).or_else(|| fractions(0));
        found.or_else(|| integers(1)).or_else(|| integers(0))
    }

    /// Computes the outputs. Arrays in and arrays out: nothing here can be recorded or seen by vmap. A view returns the
    /// memory of its input with another layout; its input may be a pending conjugate or negative (`Tensor::memory`),
    /// that of all others is resolved (`Tensor::array`). To compute another operation on arrays, call `numbers`,
    /// `unary::numbers` or `binary::numbers`.
    fn forward(&self, inputs: &[Array]) -> Result<Arrays>;

    /// Saves what `vjp` and `jvp` need for the inputs that require grad.
    fn save(&self, keep: &Keep<'_>) -> Self::Saved;

    /// Reverse mode: gradients with respect to the inputs. At least one of `gradients` is there.
    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients>;

    /// Forward mode: tangents of the outputs. At least one of `tangents` is there.
    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients>;

    /// The parameters as the node shows them, under torch's names.
    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        Attributes::new()
    }

    /// Computes a tensor that `shown` lists as `Shown::Computed`.
    fn compute(&self, _name: &str, _saved: &Self::Saved, _at: &At<'_>) -> Result<Tensor> {
        unreachable!("an operation calculates what it shows as such")
    }

    /// Estimated nanoseconds of `vjp`, if they do not follow from the size of the output.
    fn work(&self, _saved: &Self::Saved) -> Option<u64> {
        None
    }

    /// Whether torch computes all gradients in one operation: with `create_graph` all of them have a history then.
    fn is_together(&self) -> bool {
        false
    }

    /// Estimated nanoseconds of `forward`.
    fn effort(&self, inputs: &[Array]) -> u64 {
        inputs.iter().map(|input| input.layout.numel() as u64).sum()
    }

    /// The inputs as torch counts them, if it counts others; see `Rule::inputs`.
    fn inputs(&self) -> Option<Inputs> {
        None
    }

    /// The batching rule for `vmap`: all samples at once, by operations on the values.
    fn batch(&self, call: &Call<'_>) -> Result<Answer>;

    /// The name of torch's batching rule, which is in the message for tensors that escaped from vmap.
    fn plumbing(&self) -> &'static str {
        batch::plumbing::GENERATED
    }

    /// Further parameters that dispatch modes are shown, under torch's names.
    fn dispatch_attributes(&self) -> Attributes {
        Attributes::new()
    }

    /// What computes its only output into memory that is there, if that is possible; `held` comes behind the inputs.
    fn direct(&self) -> Option<Arc<dyn Direct>> {
        None
    }

    /// The host's function that computes it, if one does; see `Rule::function`.
    fn function(&self) -> Option<&(dyn Any + Send + Sync)> {
        None
    }

    /// How its outputs were made, if they are views of the first input.
    fn creation(&self) -> Option<Creation> {
        None
    }

    /// Tensors among the parameters, such as indices: they may be batched too.
    fn held(&self) -> SmallVec<[Tensor; 1]> {
        SmallVec::new()
    }

    /// It as a recorder keeps it, with so many inputs: Note [Plain data].
    fn what(&self, count: usize) -> What {
        portable::computed(self, count)
    }

    /// The operation with other tensors in the place of `held`.
    fn with_held(&self, _held: &[Tensor]) -> Result<Self> {
        Ok(self.clone())
    }
}

/// The saved tensors with their names; an unnamed one is called `tensor`.
fn named<'a>(
    names: &[&'static str],
    saved: SmallVec<[Option<&'a SavedTensor>; 2]>,
) -> SmallVec<[(&'static str, &'a SavedTensor); 2]> {
    let names = names.iter().copied().chain(std::iter::repeat("tensor"));
    names.zip(saved).filter_map(|(name, saved)| Some((name, saved?))).collect()
}

/// What a node shows, with `None` for tensors that were not needed.
fn with_missing(
    mut shown: Attributes,
    names: &[&'static str],
    saved: SmallVec<[Option<&SavedTensor>; 2]>,
) -> Attributes {
    for (&name, saved) in names.iter().zip(saved) {
        if saved.is_none() && !name.is_empty() && shown.iter().all(|(other, _)| *other != name) {
            shown.push((name, Shown::NoTensor));
        }
    }
    shown
}

/// The rule of a recorded operation: the operation, and what it saved.
pub(crate) struct OpRule<O: Op> {
    pub(crate) op: O,
    pub(crate) saved: O::Saved,
}

impl<O: Op> Rule for OpRule<O> {
    fn traits(&self) -> Traits {
        // What holds tensors by itself, such as indices, has to be dropped as a whole.
        Traits::NONE
            .with(Traits::LIGHT, !std::mem::needs_drop::<O>())
            .with(Traits::WEIGHED, self.work().is_some())
            .with(Traits::TOGETHER, self.op.is_together())
            .with(Traits::CALLER_ONLY, self.op.function().is_some())
    }

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
        named(self.op.saved_names(), self.saved.tensors())
    }

    fn shown(&self) -> Attributes {
        with_missing(self.op.shown(&self.saved), self.op.saved_names(), self.saved.tensors())
    }

    fn compute(&self, name: &str, at: &At<'_>) -> Result<Tensor> {
        self.op.compute(name, &self.saved, at)
    }

    fn is_view(&self) -> bool {
        O::VIEW
    }

    fn inputs(&self) -> Option<Inputs> {
        self.op.inputs()
    }

    fn function(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.op.function()
    }

    fn keeps(&self) -> bool {
        self.saved.tensors().iter().any(Option::is_some)
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
    if mode::special() {
        return apply_traced(&op, inputs);
    }
    let mut looked = look(inputs);
    if !O::VIEW && long_work::is_long(op.effort(&looked.arrays)) {
        return long_work::at_length(false, || apply(op, inputs));
    }
    if op.creation().is_some() {
        let views = compute(&op, inputs, &mut looked.arrays)?;
        if !is_recorded(inputs, looked.standing) {
            stop(looked.standing, &views);
            return Ok(views);
        }
        let edges = looked.edges(inputs)?;
        let saved = op.save(&Keep::new(inputs, &views, needed(&edges)));
        record(OpRule { op, saved }, edges, &views)?;
        return Ok(views);
    }
    let numbers = compute_numbers(&op, &mut looked.arrays)?;
    if !is_recorded(inputs, looked.standing) {
        return Ok(unrecorded(numbers, looked.standing));
    }
    let edges = looked.edges(inputs)?;
    let saved = op.save(&Keep::numbers(inputs, &numbers, needed(&edges)));
    record_numbers(boxed(OpRule { op, saved }), edges, numbers)
}

/// The memory of tensors, as they show it.
#[inline]
pub(crate) fn memory(tensors: &[&Tensor]) -> SmallVec<[Array; 3]> {
    let mut arrays = SmallVec::with_capacity(tensors.len());
    for tensor in tensors {
        arrays.push(tensor.memory());
    }
    arrays
}

/// What an operation makes of tensors whose memory this is, without a history.
#[inline]
pub(crate) fn compute<O: Op>(op: &O, inputs: &[&Tensor], arrays: &mut [Array]) -> Result<Outputs> {
    if let Some(creation) = op.creation() {
        let views = op.forward(arrays)?.into_iter();
        return Ok(views.map(|memory| view::show_memory(inputs[0], memory, creation)).collect());
    }
    Ok(compute_numbers(op, arrays)?.into_iter().map(Tensor::from_array).collect())
}

/// What an operation whose outputs are no views makes of such memory.
#[inline]
fn compute_numbers<O: Op>(op: &O, arrays: &mut [Array]) -> Result<Arrays> {
    for array in arrays.iter_mut().filter(|array| array.dtype.is_pending()) {
        *array = array.resolved();
    }
    let numbers = numbers(op, arrays)?;
    debug_assert_eq!(numbers.len(), op.outputs(arrays), "{} makes as many as it says", op.name());
    Ok(numbers)
}

/// What an operation computes of arrays of any type, half types included.
#[inline]
pub(crate) fn numbers<O: Op>(op: &O, inputs: &[Array]) -> Result<Arrays> {
    stored::forward(op, inputs)
}

/// `numbers` of an operation with one output.
pub(crate) fn number_one<O: Op>(op: &O, inputs: &[Array]) -> Result<Array> {
    numbers(op, inputs)?.pop().map_or_else(|| unreachable!("the operation has one output"), Ok)
}

/// `apply` on a special thread: Note [The layers of a call].
#[cold]
fn apply_traced(op: &dyn AnyOp, inputs: &[&Tensor]) -> Result<Outputs> {
    if let Some(mapping) = batch::mapping(inputs.iter().copied().chain(&op.held())) {
        return batch::apply(op, inputs, &mapping);
    }
    let given: SmallVec<[Option<&Tensor>; 3]> = inputs.iter().copied().map(Some).collect();
    let forward = &mut || match intercept::is_active() {
        true => intercept::structured(op, inputs),
        false => op.compute(inputs),
    };
    tangents::run(&given, forward, &mut |needed, outputs| op.rule(&Keep::new(inputs, outputs, needed)))
}

/// `apply` for an operation with one output.
pub fn apply_one<O: Op>(op: O, inputs: &[&Tensor]) -> Result<Tensor> {
    apply(op, inputs)?.pop().map_or_else(|| unreachable!("the operation has one output"), Ok)
}

/// The gradients of an operation with one input.
pub fn one(gradient: Tensor) -> Result<Gradients> {
    Ok(Gradients::from_buf_and_len([Some(gradient), None], 1))
}

/// The outputs of an operation with two.
pub fn two(mut outputs: Outputs) -> (Tensor, Tensor) {
    match (outputs.pop(), outputs.pop()) {
        (Some(second), Some(first)) => (first, second),
        _ => unreachable!("the operation has two outputs"),
    }
}

/// The single gradient of an operation with one output.
pub fn single(gradients: &Gradients) -> &Tensor {
    gradients.first().and_then(Option::as_ref).unwrap_or_else(|| unreachable!("rules run with a gradient"))
}

/// The single tangent of an operation with one input.
pub fn tangent(tangents: &[Option<Tensor>]) -> &Tensor {
    tangents.first().and_then(Option::as_ref).unwrap_or_else(|| unreachable!("rules run with a tangent"))
}
