//! Operations that consist of others, and that are recorded as one, whose derivatives are those of what
//! they consist of: the parts are computed again, recorded aside, when gradients or tangents pass.
//! Operations of that kind with derivatives of their own stand in `composed`.

use std::any::Any;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::apply::{Keep, Keepsake, Op, Outputs, apply};
use super::batch::{self, Answer, Call};
use super::create;
use super::record::records;
use super::stretch::Stretch;
use super::underived::{OnceOnly, check_parts};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::mode::{Flags, FlagsGuard};
use crate::graph::{At, Attributes, Gradients, Inputs, SavedTensor, mode};
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

/// Of which operations torch records gradients as one operation too: the name of the node, and the names of
/// the gradient, of the inputs and of what comes out.
const TWICE: &[(&str, &[&str])] = &[
    ("SoftMarginLossBackwardBackward0", &["grad_output", "self", "target", ""]),
    ("RreluWithNoiseBackwardBackward0", &["", "self", "noise", ""]),
    ("GridSampler2DBackwardBackward0", &["grad_output", "input", "grid", "", ""]),
    ("GridSampler3DBackwardBackward0", &["grad_output", "input", "grid", "", ""]),
    ("FractionalMaxPool2DBackwardBackward0", &["", "", ""]),
    ("FractionalMaxPool3DBackwardBackward0", &["", "", ""]),
];

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

    /// All gradients, recorded as one operation where torch does so.
    fn twice(&self, kept: &Kept, at: &At<'_>, gradients: &Gradients) -> Result<Option<Gradients>> {
        let stem = self.name.trim_end_matches(|it: char| it.is_ascii_digit());
        let of_this = |name: &str| name.strip_prefix(stem) == Some("Backward0");
        let Some((name, names)) = TWICE.iter().find(|(name, _)| of_this(name)) else { return Ok(None) };
        let Some(g) = &gradients[0] else { return Ok(None) };
        if !at.tracking && !mode::special() {
            return Ok(None);
        }
        let (own, loaded) = (self.clone(), kept.load(at)?);
        let mut inputs: Vec<&Tensor> = vec![g];
        inputs.extend(&loaded);
        if !at.tracking {
            check_parts(name, &inputs)?;
            return Ok(None);
        }
        let parts = move |inputs: &[&Tensor]| {
            let inputs: Vec<Tensor> = inputs.iter().map(|&input| input.clone()).collect();
            let tracking = mode::is_grad_enabled();
            let counted = own.counted;
            let stretch = Stretch::record(&*own.parts, &inputs[1..], &|index| index < counted, tracking)?;
            let found = stretch.back(&smallvec![Some(inputs[0].clone())])?;
            let zeros = |input: &Tensor| create::zeros_like(&input.detach());
            let found = found.into_iter().zip(&inputs[1..]).take(counted);
            found.map(|(found, input)| found.map_or_else(|| zeros(input), Ok)).collect()
        };
        let twice = Whole {
            linear: u64::from(names[0].is_empty()),
            shown: self.shown.clone(),
            function: self.function.clone(),
            ..Whole::new(name, name, names, 1 + self.counted, parts)
        };
        Ok(Some(whole(twice, &inputs)?.into_iter().map(Some).collect()))
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
        if let Some(once) = OnceOnly::of(self.name, at.tracking) {
            let mut loaded = saved.load(at)?;
            let outputs = saved.saved.iter().skip(loaded.len()).enumerate();
            let counted = outputs.filter(|(index, _)| !is_in(self.constant, *index));
            let outputs: Result<Vec<Tensor>> =
                counted.filter_map(|(_, y)| Some(at.load(y.as_ref()?))).collect();
            loaded.extend(outputs?);
            let inputs: Vec<&Tensor> = gradients.iter().flatten().chain(&loaded).collect();
            let aside = At { tracking: false, ..*at };
            return once.gradients(&inputs, || self.back(saved, &aside, gradients));
        }
        match self.twice(saved, at, gradients)? {
            Some(found) => Ok(found),
            None => self.back(saved, at, gradients),
        }
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
        Some(_) => {
            check_parts(operation.name, inputs)?;
            (operation.parts)(inputs)
        }
        None => {
            let mut outputs = apply(operation, inputs)?;
            let constants = outputs.iter_mut().enumerate().filter(|(index, _)| is_in(constant, *index));
            constants.for_each(|(_, output)| *output = Tensor::from_array(output.array()));
            Ok(outputs)
        }
    }
}

/// What a rule computes, recorded as one operation if it is recorded at all: torch's name of its node, the
/// names of what it is computed from and of what that shows. Inputs beyond `counted` are constants; those
/// of which `linear` has a bit are not kept.
pub(super) fn backward(
    at: &At<'_>,
    names: Names,
    told: Told,
    inputs: &[&Tensor],
    parts: impl Fn(&[&Tensor]) -> Result<Tensor> + Send + Sync + 'static,
) -> Result<Tensor> {
    recorded_if(at.tracking && records(inputs), names, told, inputs, parts)
}

/// torch's name of the node, and the names of what it is computed from and of what that shows.
type Names = (&'static str, &'static [&'static str]);

/// How many inputs are counted, in which it is linear, and the parameters.
type Told = (usize, u64, Attributes);

/// `backward` of a rule that runs as it is recorded, and is not asked otherwise.
pub(super) fn recorded(
    names: Names,
    told: Told,
    inputs: &[&Tensor],
    parts: impl Fn(&[&Tensor]) -> Result<Tensor> + Send + Sync + 'static,
) -> Result<Tensor> {
    recorded_if(records(inputs), names, told, inputs, parts)
}

fn recorded_if(
    recording: bool,
    (name, names): Names,
    (counted, linear, shown): Told,
    inputs: &[&Tensor],
    parts: impl Fn(&[&Tensor]) -> Result<Tensor> + Send + Sync + 'static,
) -> Result<Tensor> {
    if let Some(once) = OnceOnly::of(name, recording) {
        let found = once.gradients(inputs, || Ok(smallvec![Some(parts(inputs)?)]))?;
        return found.into_iter().flatten().next().map_or_else(|| unreachable!("there is a gradient"), Ok);
    }
    if !recording {
        check_parts(name, inputs)?;
        return parts(inputs);
    }
    let parts = move |inputs: &[&Tensor]| parts(inputs).map(|found| smallvec![found]);
    whole_one(Whole { linear, shown, ..Whole::new(name, name, names, counted, parts) }, inputs)
}

/// `whole` of an operation with one output.
pub(super) fn whole_one(operation: Whole, inputs: &[&Tensor]) -> Result<Tensor> {
    whole(operation, inputs)?.pop().ok_or_else(|| unreachable!("the operation has an output"))
}
