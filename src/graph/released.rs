//! What stays of a rule when what it kept is freed: what it shows besides that.

use smallvec::SmallVec;

use super::node::{RuleBox, boxed};
use super::rule::{At, Gradients, Inputs, Rule, Traits};
use super::saved::SavedTensor;
use super::shown::Attributes;
use crate::error::Result;
use crate::tensor::Tensor;

/// What was freed, for the caller to drop.
pub(super) struct Freed {
    _tensors: SmallVec<[SavedTensor; 2]>,
    _rule: Option<RuleBox>,
}

/// Frees what a rule keeps: its tensors where they lie if the rule is light, else the whole rule, in whose
/// place comes what it showed.
pub(super) fn free(rule: &mut RuleBox) -> Freed {
    if rule.traits().has(Traits::LIGHT) {
        let mut tensors = SmallVec::new();
        for saved in rule.saved_mut() {
            tensors.push(saved.free());
        }
        return Freed { _tensors: tensors, _rule: None };
    }
    let snapshot = Snapshot {
        name: rule.name().into(),
        saved: rule.saved().into_iter().map(|(name, saved)| (name, saved.freed())).collect(),
        shown: rule.shown(),
        inputs: rule.inputs(),
    };
    Freed { _tensors: SmallVec::new(), _rule: Some(std::mem::replace(rule, boxed(snapshot))) }
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
