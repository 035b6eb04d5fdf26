//! What a node still shows of its rule when backward has freed the saved tensors.

use smallvec::SmallVec;

use super::node::{RuleBox, boxed};
use super::rule::{At, Gradients, Inputs, Rule};
use super::saved::SavedTensor;
use super::shown::Attributes;
use crate::error::Result;
use crate::graph::observe::detach_site::{Cut, Reason};
use crate::origin::Origin;
use crate::tensor::Tensor;

/// A run of backward, as the nodes remember it that it frees.
#[derive(Clone, Copy)]
pub struct Freeing {
    pub(super) run: Origin,
    /// The number of a cut.
    pub(super) number: u16,
}

/// A run that there was no room for among the cuts.
const UNKNOWN_RUN: u16 = u16::MAX;

impl Freeing {
    /// By the run that was started there.
    pub fn by(run: Origin) -> Freeing {
        let number = match Cut::at(Reason::Backward, run).number() {
            0 => UNKNOWN_RUN,
            number => number,
        };
        Freeing { run, number }
    }
}

/// Frees the tensors of a light rule where they lie. The caller drops them.
pub(super) fn free_light(rule: &mut RuleBox) -> SmallVec<[SavedTensor; 2]> {
    let mut freed = SmallVec::new();
    for saved in rule.saved_mut().iter_mut() {
        freed.push(saved.free());
    }
    freed
}

/// Frees a whole rule: in its place comes what it showed. The caller drops the rule.
pub(super) fn free_whole(rule: &mut RuleBox) -> RuleBox {
    let snapshot = Snapshot {
        name: rule.name().into(),
        saved: rule.saved().into_iter().map(|(name, saved)| (name, saved.freed())).collect(),
        shown: rule.shown(),
        inputs: rule.inputs(),
    };
    std::mem::replace(rule, boxed(snapshot))
}

/// What a rule that holds more than its saved tensors has shown.
struct Snapshot {
    name: Box<str>,
    saved: Vec<(&'static str, SavedTensor)>,
    shown: Attributes,
    inputs: Option<Inputs>,
}

impl Rule for Snapshot {
    fn name(&self) -> &str {
        &self.name
    }

    fn vjp(&self, at: &At<'_>, _gradients: &Gradients) -> Result<Gradients> {
        Err(at.node.freed())
    }

    fn jvp(&self, at: &At<'_>, _tangents: &[Option<Tensor>]) -> Result<Gradients> {
        Err(at.node.freed())
    }

    fn saved(&self) -> SmallVec<[(&'static str, &SavedTensor); 2]> {
        self.saved.iter().map(|(name, saved)| (*name, saved)).collect()
    }

    fn shown(&self) -> Attributes {
        self.shown.clone()
    }

    fn inputs(&self) -> Option<Inputs> {
        self.inputs.clone()
    }
}
