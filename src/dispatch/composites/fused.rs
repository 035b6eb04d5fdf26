//! Operations that consist of others, and that are recorded as one, whose derivatives are those of what
//! they consist of: the parts are computed again, recorded aside, when gradients or tangents pass.
//! Operations of that kind with derivatives of their own stand in `composed`.

use std::any::Any;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::dispatch::apply::{Keep, Keepsake, Op, Outputs, apply};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::recomputed::Stretch;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::mode::{Flags, FlagsGuard};
use crate::graph::{At, Attributes, Gradients, Inputs, SavedTensor, mode};
use crate::ops::creation::create;
use crate::shape::{SharedLayout, signed};
use crate::tensor::Tensor;

/// The parts of an operation: what it computes of its inputs.
pub type Parts = Arc<dyn Fn(&[&Tensor]) -> Result<Outputs> + Send + Sync>;

/// An operation that is recorded as one.
#[derive(Clone)]
pub struct Whole {
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
    /// The function of the host's that the parts are, if they are one.
    pub function: Option<Arc<dyn Any + Send + Sync>>,
    /// What it consists of.
    pub parts: Parts,
}

/// What is kept of an operation.
pub struct Kept {
    /// The inputs, then the outputs.
    saved: Vec<Option<SavedTensor>>,
    /// What the inputs look like that are not kept.
    forms: Vec<Option<(SharedLayout, DType)>>,
}

impl Keepsake for Kept {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        self.saved.iter().map(Option::as_ref).collect()
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.saved.iter_mut().flatten().collect()
    }
}

impl Kept {
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

impl Whole {
    /// An operation that keeps all its inputs and has derivatives of all its outputs.
    pub fn new(
        operation: &'static str,
        name: &'static str,
        names: &'static [&'static str],
        counted: usize,
        parts: impl Fn(&[&Tensor]) -> Result<Outputs> + Send + Sync + 'static,
    ) -> Whole {
        let (shown, parts) = (Attributes::new(), Arc::new(parts));
        Whole { operation, name, names, counted, linear: 0, constant: 0, shown, function: None, parts }
    }

    /// All gradients, those of the parts.
    fn back(&self, kept: &Kept, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let edges = at.node.edges();
        let wanted = |index| at.needs(index) && edges.get(index).is_some_and(Option::is_some);
        let mut found = self.again(kept, at, &wanted)?.back(gradients)?;
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
    fn again(&self, kept: &Kept, at: &At<'_>, wanted: &dyn Fn(usize) -> bool) -> Result<Stretch> {
        // What is made in inference mode could not be recorded.
        let _counting = FlagsGuard::new(Flags { inference: false, ..mode::flags() });
        Stretch::record(&*self.parts, &kept.load(at)?, wanted, at.tracking)
    }
}

impl Op for Whole {
    type Saved = Kept;

    fn name(&self) -> &'static str {
        self.name
    }

    fn saved_names(&self) -> &'static [&'static str] {
        self.names
    }

    fn shown(&self, _saved: &Kept) -> Attributes {
        self.shown.clone()
    }

    fn told(&self) -> Attributes {
        self.shown.clone()
    }

    fn outputs(&self, inputs: &[&Tensor]) -> usize {
        self.names.len() - inputs.len()
    }

    fn inputs(&self) -> Option<Inputs> {
        Some((0..self.counted).map(Some).collect())
    }

    fn function(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.function.as_deref()
    }

    fn effort(&self, inputs: &[&Tensor]) -> u64 {
        // The host takes care of its own operations.
        if self.function.is_some() { 0 } else { inputs.iter().map(|input| input.numel() as u64).sum() }
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let _off = mode::GradModeGuard::off();
        let plain: Vec<Tensor> = inputs.iter().map(|input| input.detach()).collect();
        let outputs = (self.parts)(&plain.iter().collect::<Vec<_>>())?;
        Ok(outputs.iter().map(|y| Tensor::from_array(y.array())).collect())
    }

    fn save(&self, keep: &Keep<'_>) -> Kept {
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
        Kept { saved: inputs.chain(outputs).collect(), forms: (0..count).map(form).collect() }
    }

    fn vjp(&self, saved: &Kept, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        self.back(saved, at, gradients)
    }

    fn jvp(&self, saved: &Kept, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let wanted = |index| tangents.get(index).is_some_and(Option::is_some);
        self.again(saved, at, &wanted)?.forth(tangents)
    }

    fn batch(&self, _call: &Call<'_>) -> Result<Answer> {
        unreachable!("of batched tensors the operations are called that it consists of")
    }
}

fn is_in(bits: u64, index: usize) -> bool {
    index < 64 && bits >> index & 1 == 1
}

/// Refuses that anybody asks for the gradient of an input that has none.
fn check_constants(operation: &Whole, inputs: &[&Tensor]) -> Result<()> {
    let names = operation.names.iter().copied().zip(inputs).skip(operation.counted);
    for (argument, input) in names {
        if mode::is_grad_enabled() && input.requires_grad() {
            let operation = operation.operation;
            return Err(Error::ArgumentGradient { operation, argument }.into());
        }
    }
    Ok(())
}

/// The operation on these tensors. For many samples at once it is the operations that it consists of.
pub fn whole(operation: Whole, inputs: &[&Tensor]) -> Result<Outputs> {
    check_constants(&operation, inputs)?;
    let constant = operation.constant;
    match batch::highest(inputs.iter().copied()) {
        Some(_) => (operation.parts)(inputs),
        None => {
            let mut outputs = apply(operation, inputs)?;
            let constants = outputs.iter_mut().enumerate().filter(|(index, _)| is_in(constant, *index));
            constants.for_each(|(_, output)| *output = Tensor::from_array(output.array()));
            Ok(outputs)
        }
    }
}

/// `whole` of an operation with one output.
pub(crate) fn whole_one(operation: Whole, inputs: &[&Tensor]) -> Result<Tensor> {
    whole(operation, inputs)?.pop().ok_or_else(|| unreachable!("the operation has an output"))
}
