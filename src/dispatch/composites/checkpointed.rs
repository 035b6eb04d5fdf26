//! Operations that are written in other operations and recorded as one node, like a checkpoint: the node keeps the
//! inputs, and a derivative runs the parts again under recording (`recomputed`) and differentiates those.
//! Operations of that kind with derivatives of their own stand in `composite`.

use std::any::Any;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::dispatch::apply;
use crate::dispatch::apply::{Keep, Keepsake, Op};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::on_tensors;
use crate::dispatch::composites::recomputed::Subgraph;
use crate::dispatch::long_work;
use crate::dispatch::modes::recording;
use crate::dispatch::record::refuse_gradients;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::mode::{Flags, FlagsGuard};
use crate::graph::{At, Attributes, Gradients, Inputs, SavedTensor, mode};
use crate::ops::creation::create;
use crate::shape::{SharedLayout, signed};
use crate::tensor::{Array, Arrays, Outputs, Tensor};

/// The parts of an operation: what it computes of its inputs.
pub type Parts = Arc<dyn Fn(&[&Tensor]) -> Result<Outputs> + Send + Sync>;

/// An operation that is recorded as one node, whose derivatives are those of its parts.
#[derive(Clone)]
pub struct CheckpointedOp {
    /// torch's name of the operation.
    pub operation: &'static str,
    /// torch's name of the node.
    pub name: &'static str,
    /// torch's names of the inputs, then of the outputs; an output with an empty one is not kept, an input
    /// with an empty one not shown.
    pub names: &'static [&'static str],
    /// How many inputs torch counts. The others have no derivatives.
    pub counted: usize,
    /// The inputs that need not be kept, since the function is linear in them, a bit each.
    pub linear: u64,
    /// The outputs that have no derivatives, a bit each.
    pub constant: u64,
    /// The parameters, under torch's names.
    pub shown: Attributes,
    /// The host's function, if the parts are one.
    pub function: Option<Arc<dyn Any + Send + Sync>>,
    /// The operations that it consists of.
    pub parts: Parts,
    /// What calculates numbers without them.
    pub at_once: Option<Arc<dyn AtOnce>>,
}

/// What an operation and its gradients come to, calculated without the parts, where nobody sees those.
pub trait AtOnce: Send + Sync {
    /// Whether there is a way for inputs of these types and sizes.
    fn fits(&self, inputs: &[&Tensor]) -> bool;

    /// The outputs.
    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs>;

    /// The gradients of the inputs that are wanted, from what is kept of inputs and outputs and the gradient of the
    /// first output. The others have none.
    fn backward(&self, kept: &[&Tensor], gradient: &Tensor, wanted: &[bool]) -> Result<Outputs>;
}

/// A calculation that stands in for operations that the host composes: for which nodes, and how it is made of the
/// parameters that those show, if it serves them.
pub struct HostCalculation {
    /// torch's names of the nodes.
    pub nodes: &'static [&'static str],
    /// The calculation for these parameters.
    pub of: fn(&Attributes) -> Option<Arc<dyn AtOnce>>,
}

/// What the node keeps.
pub struct SavedInputs {
    /// The inputs, then the outputs.
    saved: Vec<Option<SavedTensor>>,
    /// What the inputs look like that are not kept.
    forms: Vec<Option<(SharedLayout, DType)>>,
}

impl Keepsake for SavedInputs {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        self.saved.iter().map(Option::as_ref).collect()
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.saved.iter_mut().flatten().collect()
    }
}

impl SavedInputs {
    /// The inputs as they were; zeros stand for those that are not kept.
    fn load(&self, at: &At<'_>) -> Result<Vec<Tensor>> {
        // The outputs are looked at too: whether they were written to since.
        let mut loaded: Vec<Option<Tensor>> = self
            .saved
            .iter()
            .map(|saved| saved.as_ref().map(|saved| at.load(saved)).transpose())
            .collect::<Result<_>>()?;
        loaded.truncate(self.forms.len());
        let inputs = loaded.into_iter().zip(&self.forms);
        inputs
            .map(|(input, form)| match (input, form) {
                (Some(input), _) => Ok(input),
                (None, Some((layout, dtype))) => create::full(&signed(layout.shape()), 0.0.into(), *dtype),
                (None, None) => unreachable!("what is not kept has a form"),
            })
            .collect()
    }
}

impl CheckpointedOp {
    /// An operation that keeps all its inputs and has derivatives of all its outputs.
    pub fn new(
        operation: &'static str,
        name: &'static str,
        names: &'static [&'static str],
        counted: usize,
        parts: impl Fn(&[&Tensor]) -> Result<Outputs> + Send + Sync + 'static,
    ) -> CheckpointedOp {
        let (shown, parts) = (Attributes::new(), Arc::new(parts));
        CheckpointedOp {
            operation,
            name,
            names,
            counted,
            linear: 0,
            constant: 0,
            shown,
            function: None,
            parts,
            at_once: None,
        }
    }

    /// The gradients without the parts, if there is a way and nobody sees it.
    fn gradients_at_once(
        &self,
        kept: &SavedInputs,
        at: &At<'_>,
        gradients: &Gradients,
    ) -> Result<Option<Gradients>> {
        let Some(at_once) = self.at_once.clone().filter(|_| !at.tracking) else { return Ok(None) };
        let kept: Vec<Tensor> =
            kept.saved.iter().flatten().map(|saved| at.load(saved)).collect::<Result<_>>()?;
        let given: Vec<&Tensor> = kept.iter().chain(gradients[0].as_ref()).collect();
        if gradients[0].is_none() || !recording::is_undivided(&given) || !at_once.fits(&given) {
            return Ok(None);
        }
        let wanted: Vec<bool> = (0..self.counted).map(|index| at.needs(index)).collect();
        let count = wanted.iter().filter(|wanted| **wanted).count();
        let (own, are_wanted) = (self.name, wanted.clone());
        let mut found = recording::as_one(own, &given, count, move |given| {
            let Some((gradient, kept)) = given.split_last() else { unreachable!("there is a gradient") };
            at_once.backward(kept, gradient, &are_wanted)
        })?
        .into_iter();
        Ok(Some(wanted.into_iter().map(|wanted| if wanted { found.next() } else { None }).collect()))
    }

    /// All gradients, those of the parts.
    fn gradients(&self, kept: &SavedInputs, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        if let Some(found) = self.gradients_at_once(kept, at, gradients)? {
            return Ok(found);
        }
        let edges = at.node.edges();
        let wanted = |index| at.needs(index) && edges.get(index).is_some_and(Option::is_some);
        let mut found = self.recompute(kept, at, &wanted)?.vjp(gradients)?;
        // What it does not depend on has a gradient too.
        for (index, (found, form)) in found.iter_mut().zip(edges).enumerate() {
            if let (None, true, Some(edge)) = (&found, wanted(index), form) {
                let form = edge.node.form(edge.output);
                *found = Some(create::full(&signed(form.layout.shape()), 0.0.into(), form.dtype)?);
            }
        }
        Ok(found)
    }

    /// The parts, recorded as far as they lead to the inputs that are `wanted`.
    fn recompute(&self, kept: &SavedInputs, at: &At<'_>, wanted: &dyn Fn(usize) -> bool) -> Result<Subgraph> {
        // What is made in inference mode could not be recorded.
        let _counting = FlagsGuard::new(Flags { inference: false, ..mode::flags() });
        Subgraph::record(&*self.parts, &kept.load(at)?, wanted, at.tracking)
    }
}

impl Op for CheckpointedOp {
    type Saved = SavedInputs;

    fn name(&self) -> &'static str {
        self.name
    }

    fn saved_names(&self) -> &'static [&'static str] {
        self.names
    }

    fn shown(&self, _saved: &SavedInputs) -> Attributes {
        self.shown.clone()
    }

    fn dispatch_attributes(&self) -> Attributes {
        self.shown.clone()
    }

    fn outputs(&self, inputs: &[Array]) -> usize {
        self.names.len() - inputs.len()
    }

    fn inputs(&self) -> Option<Inputs> {
        Some((0..self.counted).map(Some).collect())
    }

    fn is_together(&self) -> bool {
        true
    }

    fn function(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.function.as_deref()
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        // The host takes care of its own operations.
        if self.function.is_some() { 0 } else { inputs.iter().map(|input| input.layout.numel() as u64).sum() }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        on_tensors(inputs, |inputs| match self.at_once.as_ref().filter(|at_once| at_once.fits(inputs)) {
            Some(at_once) => {
                let work = inputs.iter().map(|input| input.numel() as u64).sum();
                long_work::patiently(work, || at_once.forward(inputs))
            }
            None => (self.parts)(inputs),
        })
    }

    fn save(&self, keep: &Keep<'_>) -> SavedInputs {
        let linear = |index| is_in(self.linear, index);
        let count = keep.count();
        let outputs = self.names.iter().skip(count).enumerate();
        let output = |index: usize| match is_in(self.constant, index) {
            true => keep.constant(index),
            false => keep.output(index),
        };
        let outputs = outputs.map(|(index, name)| (!name.is_empty()).then(|| output(index)));
        let inputs = (0..count).map(|index| keep.input_if(!linear(index), index));
        let form = |index| linear(index).then(|| (keep.layout(index), keep.dtype(index)));
        SavedInputs { saved: inputs.chain(outputs).collect(), forms: (0..count).map(form).collect() }
    }

    fn vjp(&self, saved: &SavedInputs, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        self.gradients(saved, at, gradients)
    }

    fn jvp(&self, saved: &SavedInputs, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let wanted = |index| tangents.get(index).is_some_and(Option::is_some);
        self.recompute(saved, at, &wanted)?.jvp(tangents)
    }

    fn batch(&self, _call: &Call<'_>) -> Result<Answer> {
        unreachable!("of batched tensors the operations are called that it consists of")
    }
}

fn is_in(bits: u64, index: usize) -> bool {
    index < 64 && bits >> index & 1 == 1
}

/// The operation on these tensors. For many samples at once it is the operations that it consists of.
pub fn apply(operation: CheckpointedOp, inputs: &[&Tensor]) -> Result<Outputs> {
    let constants = operation.names.iter().copied().zip(inputs.iter().copied().map(Some));
    refuse_gradients(operation.operation, constants.skip(operation.counted))?;
    let constant = operation.constant;
    match batch::highest(inputs.iter().copied()) {
        Some(_) => (operation.parts)(inputs),
        None => {
            let mut outputs = apply::apply(operation, inputs)?;
            let constants = outputs.iter_mut().enumerate().filter(|(index, _)| is_in(constant, *index));
            constants.for_each(|(_, output)| *output = Tensor::from_array(output.array()));
            Ok(outputs)
        }
    }
}

/// `apply` for an operation with one output.
pub(crate) fn apply_one(operation: CheckpointedOp, inputs: &[&Tensor]) -> Result<Tensor> {
    apply(operation, inputs)?.pop().ok_or_else(|| unreachable!("the operation has an output"))
}
