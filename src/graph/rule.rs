//! What an operation leaves in the graph for backward: the `Rule` trait, and `At`, the node and the run that a rule
//! is called for.

use std::any::Any;

use smallvec::SmallVec;

use super::node::{Edge, NodeRef};
use super::saved::SavedTensor;
use super::shown::Attributes;
use crate::error::{Error, Result};
use crate::origin::Origin;
use crate::tensor::{Array, Tensor};

/// torch's name of the node of an operation that has no formula.
pub const UNDERIVED: &str = "torch::autograd::NotImplemented";

/// Gradients or tangents, one a tensor; `None` stands for zeros.
pub type Gradients = SmallVec<[Option<Tensor>; 2]>;

/// The inputs of an operation as torch counts them, by their own numbers; `None` stands for one that
/// was left out.
pub type Inputs = SmallVec<[Option<usize>; 3]>;

/// The node and the run that a rule is called for.
pub struct At<'a> {
    /// The node that carries the rule.
    pub node: &'a NodeRef,
    /// Which inputs' gradients are wanted, a bit each; inputs beyond the bits always are.
    pub needed: u64,
    /// Whether the rule's own operations are recorded (`create_graph`).
    pub tracking: bool,
    /// Whether the host may see the gradients: its hooks run on the way, or a gradient is returned to it.
    pub seen: bool,
}

impl At<'_> {
    /// Whether the gradient with respect to input `index` is wanted.
    pub fn needs(&self, index: usize) -> bool {
        index >= 64 || self.needed >> index & 1 == 1
    }

    /// A tensor as that output of the node.
    pub fn output(&self, tensor: &Tensor, output: u32) -> Tensor {
        Tensor::with_history(tensor.array(), Some(Edge { node: self.node.clone(), output }))
    }

    /// A saved tensor, with its history if this run is recorded.
    pub fn load(&self, saved: &SavedTensor) -> Result<Tensor> {
        saved.load(self.node, self.tracking)
    }

    /// Refuses saved tensors that were written to since, where their numbers are not needed.
    pub fn check<'s>(&self, saved: impl IntoIterator<Item = &'s SavedTensor>) -> Result<()> {
        saved.into_iter().try_for_each(|saved| self.load(saved).map(drop))
    }
}

/// Facts of a rule that never change, kept in its node, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits(u8);

impl Traits {
    /// Nothing unusual.
    pub const NONE: Traits = Traits(0);
    /// Only the thread that called backward may run the rule.
    pub const CALLER_ONLY: Traits = Traits(1);
    /// `Rule::work` has an estimate.
    pub const WEIGHED: Traits = Traits(2);
    /// Nothing large stays when its saved tensors are freed.
    pub const LIGHT: Traits = Traits(4);
    /// One operation computes all gradients: when an input that it has kept has a history, or one of them, all have.
    pub const TOGETHER: Traits = Traits(8);

    /// These, and others if that is so.
    #[must_use]
    pub const fn with(self, others: Traits, is_so: bool) -> Traits {
        if is_so { Traits(self.0 | others.0) } else { self }
    }

    /// Whether these are among them.
    #[inline]
    pub const fn has(self, wanted: Traits) -> bool {
        self.0 & wanted.0 == wanted.0
    }
}

/// The derivative of one recorded operation: torch's `Node::apply`. Rules are written in tensor operations, so that
/// running one under recording gives derivatives of the next order.
pub trait Rule: Send + Sync {
    /// Facts that never change.
    fn traits(&self) -> Traits {
        Traits::NONE
    }

    /// torch's name of the node, such as `MulBackward0`.
    fn name(&self) -> &str;

    /// Reverse mode: gradients with respect to the inputs from those with respect to the outputs.
    fn vjp(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients>;

    /// Forward mode: tangents of the outputs from those of the inputs.
    fn jvp(&self, _at: &At<'_>, _tangents: &[Option<Tensor>]) -> Result<Gradients> {
        Err(Error::NoDerivative { operation: "jvp" }.into())
    }

    /// The saved tensors, under torch's names. A rule without any survives any number of runs.
    fn saved(&self) -> SmallVec<[(&'static str, &SavedTensor); 2]> {
        SmallVec::new()
    }

    /// The saved tensors, to add tangents or samples to them.
    fn saved_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        SmallVec::new()
    }

    /// What `grad_fn._saved_…` shows besides: the parameters of the operation, under torch's names. A tensor that could
    /// have been saved and was not is `Nothing`.
    fn shown(&self) -> Attributes {
        Attributes::new()
    }

    /// Computes a tensor that `shown` lists as `Shown::Computed`, from the saved ones.
    fn compute(&self, _name: &str, _at: &At<'_>) -> Result<Tensor> {
        unreachable!("a rule calculates what it shows as such")
    }

    /// Whether there are saved tensors that backward frees.
    fn keeps(&self) -> bool {
        !self.saved().is_empty()
    }

    /// Estimated nanoseconds of `vjp`, if they do not follow from the size of the output.
    fn work(&self) -> Option<u64> {
        None
    }

    /// The leaf, if the rule is to accumulate into one. Such a rule keeps nothing, so that nobody ever
    /// changes it.
    fn leaf(&self) -> Option<&Tensor> {
        None
    }

    /// Visits the memory of the saved tensors, under torch's names.
    fn visit_memory(&self, visit: &mut dyn FnMut(&'static str, Array)) {
        visit_held(&self.saved(), visit);
    }

    /// The inputs as torch counts them, if it counts others.
    fn inputs(&self) -> Option<Inputs> {
        None
    }

    /// Whether the output is a view of the input.
    fn is_view(&self) -> bool {
        false
    }

    /// Others than the leaf hold the node from now on: see Note [Leaves and their nodes].
    fn wake(&self) {}

    /// Only the leaf holds the node from now on. May drop both.
    fn rest(&self) {}

    /// Frees what it keeps by itself, and goes on to say that it was freed. Else the node does both.
    fn release(&self, _run: Origin) -> bool {
        false
    }

    /// Whether it has freed something by itself.
    fn has_freed(&self) -> bool {
        false
    }

    /// The host's own part of the rule, if it has one. Such a rule is run even if no gradient came.
    fn host(&self) -> Option<&(dyn Any + Send + Sync)> {
        None
    }

    /// The function of the host's that the rule calls, if it calls one. Only the thread that called the
    /// engine may.
    fn function(&self) -> Option<&(dyn Any + Send + Sync)> {
        None
    }

    /// Shows the nodes that the rule holds besides the edges of its own.
    fn visit_nodes(&self, _visit: &mut dyn FnMut(&NodeRef)) {}

    /// The transform that goes on and of which this is the boundary, if it is one.
    fn transform(&self) -> Option<u64> {
        None
    }
}

/// Shows the memory that is kept. A function of its own: it is the same for all rules.
fn visit_held(saved: &[(&'static str, &SavedTensor)], visit: &mut dyn FnMut(&'static str, Array)) {
    for (name, saved) in saved {
        if let Some(array) = saved.held() {
            visit(name, array);
        }
    }
}
