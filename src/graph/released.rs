//! What stays of a rule when its tensors are freed: what it shows besides them, and the refusal to run.

use smallvec::SmallVec;

use super::node::{RuleBox, boxed};
use super::rule::{At, Gradients, Inputs, Rule};
use super::saved::SavedTensor;
use super::shown::Attributes;
use crate::error::{Error, Result};
use crate::origin::Origin;
use crate::tensor::Tensor;

/// What was freed, for the caller to drop.
pub(super) struct Freed {
    _tensors: SmallVec<[SavedTensor; 2]>,
    _rule: Option<RuleBox>,
}

/// The rule without its tensors, and these.
pub(super) fn released(mut rule: RuleBox, run: Origin) -> (RuleBox, Freed) {
    if rule.traits().is_light {
        let mut tensors = SmallVec::new();
        for saved in rule.saved_mut() {
            tensors.push(saved.free());
        }
        return (boxed(Released { rule, run }), Freed { _tensors: tensors, _rule: None });
    }
    let snapshot = Snapshot {
        name: rule.name().into(),
        saved: rule.saved().into_iter().map(|(name, saved)| (name, saved.freed())).collect(),
        shown: rule.shown(),
        inputs: rule.inputs(),
    };
    let released = boxed(Released { rule: boxed(snapshot), run });
    (released, Freed { _tensors: SmallVec::new(), _rule: Some(rule) })
}

/// A rule whose tensors are freed.
struct Released {
    rule: RuleBox,
    run: Origin,
}

impl Released {
    fn refuse(&self, at: &At<'_>) -> Result<Gradients> {
        let node = self.name().to_owned();
        Err(Error::BackwardTwice { node, recorded: at.node.origin(), run: self.run }.into())
    }
}

impl Rule for Released {
    fn released(&self) -> Option<Origin> {
        Some(self.run)
    }

    fn name(&self) -> &str {
        self.rule.name()
    }

    fn vjp(&self, at: &At<'_>, _gradients: &Gradients) -> Result<Gradients> {
        self.refuse(at)
    }

    fn jvp(&self, at: &At<'_>, _tangents: &[Option<Tensor>]) -> Result<Gradients> {
        self.refuse(at)
    }

    fn saved(&self) -> SmallVec<[(&'static str, &SavedTensor); 2]> {
        self.rule.saved()
    }

    fn shown(&self) -> Attributes {
        self.rule.shown()
    }

    fn keeps(&self) -> bool {
        false
    }

    fn inputs(&self) -> Option<Inputs> {
        self.rule.inputs()
    }
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

    fn vjp(&self, _at: &At<'_>, _gradients: &Gradients) -> Result<Gradients> {
        unreachable!("what is released around it refuses")
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
