//! Custom functions of the host (`autograd.Function`): what becomes of the tensors that a forward of the host
//! returned. The forward itself, and the rule that calls its backward, are the host's.

use smallvec::SmallVec;

use crate::dispatch::forward_mode::propagate::{Propagation, Role};
use crate::dispatch::record::{form, record};
use crate::dispatch::{in_place, view};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::mode::{self, GradModeGuard};
use crate::graph::transform_level;
use crate::graph::{At, Edge, Form, Forms, Gradients, Node, NodeRef, Rule};
use crate::shape::{Layout, SharedLayout};
use crate::tensor::{Creation, Tensor};

/// What a function of the host did.
pub struct FunctionCall<'a> {
    /// The tensors that it was given.
    pub inputs: &'a [Tensor],
    /// What it returned; `None` stands for what is not a tensor.
    pub outputs: &'a [Option<Tensor>],
    /// What it says to have written to.
    pub dirty: &'a [Tensor],
    /// What it says to be constant with respect to the inputs.
    pub constant: &'a [Tensor],
    /// What it keeps, and must not be an input that it returns.
    pub kept_apart: &'a [Tensor],
}

/// The outcome: the node, unless nothing was recorded, and the outputs in their new roles.
pub struct Outcome {
    /// The node whose outputs they are.
    pub node: Option<NodeRef>,
    /// What the caller of the function is to get.
    pub outputs: SmallVec<[Option<Tensor>; 2]>,
    /// Whether something was said to be written to that was no input.
    pub stray: bool,
    propagation: Option<Propagation>,
}

fn among(tensors: &[Tensor], tensor: &Tensor) -> bool {
    tensors.iter().any(|other| other.is(tensor))
}

/// Makes what the function returned the outputs of a node with the rule that `rule` makes, if the call
/// is recorded or tangents pass it. The latter is left for `Outcome::pass_tangents`.
pub fn adopt<R: Rule + 'static>(
    call: &FunctionCall<'_>,
    edges: Option<SmallVec<[Option<Edge>; 2]>>,
    rule: impl FnOnce() -> R,
) -> Result<Outcome> {
    let is_recorded = edges.is_some();
    let allowed = match is_recorded && call.outputs.len() == 1 {
        true => call.check_written(),
        false => Ok(()),
    };
    // Written to they are, allowed or not.
    call.dirty.iter().try_for_each(Tensor::bump_version)?;
    allowed?;
    let propagation = match mode::special() {
        true => Propagation::of(&call.inputs.iter().map(Some).collect::<SmallVec<[_; 4]>>())?,
        false => None,
    };
    let node = (is_recorded || propagation.is_some()).then(|| {
        let edges = edges.unwrap_or_else(|| SmallVec::from_elem(None, call.inputs.len()));
        Node::record(rule(), edges, forms(call.outputs))
    });
    let mut outcome = Outcome { node, outputs: SmallVec::new(), stray: false, propagation };
    let mut differentiable = 0;
    for (number, output) in (0..).zip(call.outputs) {
        let Some(output) = output else {
            outcome.outputs.push(None);
            continue;
        };
        let node = outcome.node.as_ref().filter(|_| is_recorded && call.depends(output));
        differentiable += usize::from(node.is_some());
        let edge = node.map(|node| Edge { node: node.clone(), output: number });
        let (output, stray) = call.adopt_one(output, edge)?;
        outcome.stray |= stray && is_recorded;
        outcome.outputs.push(Some(output));
    }
    if differentiable > 1 {
        let views = outcome.outputs.iter().flatten().filter(|output| output.is_view());
        views.for_each(|view| view.set_creation(Creation::MultiOutput));
    }
    if !call.dirty.iter().all(|dirty| call.outputs.iter().flatten().any(|output| output.is(dirty))) {
        return Err(Error::DirtyNotReturned {}.into());
    }
    Ok(outcome)
}

impl Outcome {
    /// Gives the outputs their tangents, by the rule of the node.
    pub fn pass_tangents(&mut self, call: &FunctionCall<'_>) -> Result<()> {
        let (Some(propagation), Some(node)) = (self.propagation.take(), &self.node) else { return Ok(()) };
        let astray = |output: &Tensor| among(call.dirty, output) && !among(call.inputs, output);
        if call.outputs.iter().flatten().any(|output| call.depends(output) && astray(output)) {
            return Err(Error::DirtyNoInput {}.into());
        }
        let roles = call.outputs.iter().zip(&self.outputs).map(|(before, after)| {
            let (before, after) = (before.as_ref()?, after.as_ref()?);
            let role = match call.shown(before) {
                _ if !call.depends(before) => Role::Constant,
                _ if among(call.dirty, before) => Role::Written,
                // Within a transform it stands for itself, and so does its tangent.
                Some(_) if transform_level::depth() > 0 && !before.is_batched() => Role::New,
                Some(input) => Role::Shown(input),
                None => Role::New,
            };
            Some((after, role))
        });
        propagation.into_roles(node, &roles.collect::<SmallVec<[_; 2]>>())
    }
}

/// Stands for what has no form.
pub fn no_form() -> Form {
    Form { layout: SharedLayout::new(Layout::number()), dtype: DType::Float32 }
}

/// What the outputs look like. One that is no tensor is never asked for.
fn forms(outputs: &[Option<Tensor>]) -> Forms {
    let mut forms = outputs.iter().map(|output| match output {
        Some(output) => form(output),
        None => no_form(),
    });
    let first = forms.next().unwrap_or_else(|| unreachable!("what returns nothing is not recorded"));
    Forms { first, further: forms.collect() }
}

impl FunctionCall<'_> {
    /// Refuses what was written to and must not have been.
    fn check_written(&self) -> Result<()> {
        let returned = |dirty: &&Tensor| self.outputs.iter().flatten().any(|output| output.is(dirty));
        let recorded = |dirty: &&Tensor| among(self.inputs, dirty) && self.depends(dirty);
        let mut written = self.dirty.iter().filter(recorded).filter(returned);
        written.try_for_each(|dirty| check_no_leaf(dirty).and_then(|()| in_place::check_view(dirty)))
    }

    /// Whether an output is one that a derivative exists for.
    fn depends(&self, output: &Tensor) -> bool {
        output.dtype().is_differentiable() && !among(self.constant, output)
    }

    /// The input that an output is a view of, or is.
    fn shown(&self, output: &Tensor) -> Option<usize> {
        let base = output.base();
        let base = base.as_ref().unwrap_or(output);
        let is_shown = |input: &Tensor| input.is(base) || input.base().is_some_and(|whole| whole.is(base));
        self.inputs
            .iter()
            .position(|input| input.is(output))
            .or_else(|| self.inputs.iter().position(|input| output.is_view() && is_shown(input)))
    }

    /// An input that is returned as it is, as a tensor of its own.
    fn returned(&self, input: &Tensor) -> Result<Tensor> {
        match among(self.kept_apart, input) {
            true => Err(Error::ReturnedInputKept {}.into()),
            false => Ok(alias(input)),
        }
    }

    /// One output in its new role: its history is `edge`, if it has one.
    fn adopt_one(&self, output: &Tensor, edge: Option<Edge>) -> Result<(Tensor, bool)> {
        let is_input = among(self.inputs, output);
        let is_dirty = among(self.dirty, output);
        let mut adopted = output.clone();
        match edge {
            None if !output.requires_grad() && is_input && !is_dirty => adopted = self.returned(output)?,
            None if !output.requires_grad() => {}
            // The input keeps its history; what is returned has none.
            None if is_input => adopted = output.detach(),
            None if !output.is_view() => output.detach_in_place()?,
            None => {}
            Some(edge) if is_dirty => {
                if output.is_view() && self.outputs.len() > 1 {
                    return Err(Error::DirtyViewOfMany {}.into());
                }
                check_no_leaf(output)?;
                if output.is_view() && !is_input {
                    return Err(Error::DirtyViewOfOther {}.into());
                }
                match output.is_view() {
                    true => in_place::rebase(output, edge.node)?,
                    false => output.set_edge(Some(edge)),
                }
            }
            Some(edge) => {
                if is_input {
                    adopted = self.returned(output)?;
                }
                adopted.set_edge(Some(edge));
            }
        }
        if !(is_input && is_dirty) && adopted.is_view() {
            if transform_level::depth() > 0 {
                // Within a transform it stands for itself, as torch's does: what is written to it is no
                // write to what it shows.
                let own = adopted.without_history();
                own.set_edge(adopted.edge()?);
                adopted = own;
            } else {
                adopted.set_creation(Creation::Custom);
            }
        }
        Ok((adopted, is_dirty && !is_input))
    }
}

/// Refuses a leaf that requires grad, which keeps its value for whoever differentiates by it.
fn check_no_leaf(written: &Tensor) -> Result<()> {
    match written.requires_grad() && written.is_known_as_leaf() {
        true => Err(Error::LeafOverwritten {}.into()),
        false => Ok(()),
    }
}

/// The tensor once more, as a view without history.
fn alias(x: &Tensor) -> Tensor {
    let _off = GradModeGuard::off();
    let shown = view::show(x, (*x.layout()).clone());
    match if mode::special() { x.batch() } else { None } {
        Some(batch) => Tensor::around(&batch, shown),
        None => shown,
    }
}

/// A rule that refuses: the tensors behind it cannot be differentiated once more.
struct Refusal;

impl Rule for Refusal {
    fn name(&self) -> &str {
        "torch::autograd::Error"
    }

    fn vjp(&self, _at: &At<'_>, _gradients: &Gradients) -> Result<Gradients> {
        Err(Error::OnceDifferentiable {}.into())
    }
}

/// The tensor once more, with a history that cannot be differentiated.
pub fn refuse(x: &Tensor) -> Result<Tensor> {
    let leaf = x.detach();
    if leaf.dtype().is_differentiable() {
        leaf.set_requires_grad(true)?;
        let y = leaf.detach();
        let edges = SmallVec::from_elem(leaf.gradient_edge()?, 1);
        record(Refusal, edges, std::slice::from_ref(&y))?;
        return Ok(y);
    }
    Ok(leaf)
}
