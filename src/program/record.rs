//! What is known before a program is recorded, and why nothing comes of a record. `maker` makes the program.

use std::collections::HashSet;

use super::Program;
use super::backward::Backward;
use super::maker::Maker;
use crate::dispatch::modes::recording::{Recording, Seen};
use crate::graph::NodeRef;
use crate::graph::following::Leak;
use crate::ops::sampling::random::Generator;
use crate::origin::Origin;
use crate::tensor::Tensor;

/// Why nothing can be made of what was written down.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// Numbers have left, by what is named: what came after may depend on them.
    Left {
        /// By what.
        what: &'static str,
        /// Where.
        origin: Origin,
    },
    /// An operation was given memory that nobody knows the origin of.
    Unknown {
        /// torch's name of its node.
        name: &'static str,
        /// Where.
        origin: Origin,
    },
    /// Something that is not written down has written to memory.
    Written,
    /// A known tensor got other memory, or another form.
    Moved,
    /// A tensor was left behind whose numbers nobody knows the origin of.
    Origin,
    /// A tensor was left behind that leads back in a way that is not written down.
    LeadsBack {
        /// In which way.
        how: &'static str,
    },
    /// A tensor was left behind that is a view of another one.
    View,
    /// A known tensor has hooks, or is not on its own.
    Unusual,
}

/// What a known tensor was before.
pub(super) struct Before {
    /// Whether it stands in the place of what has a history.
    pub(super) stands: bool,
    pub(super) seen: Seen,
    pub(super) version: u32,
    pub(super) requires_grad: bool,
    pub(super) gradient: Option<(Tensor, Seen, u32)>,
}

/// A record that is being made.
pub struct Begun {
    recording: Recording,
    known: Vec<Tensor>,
    before: Vec<Before>,
    /// Where random numbers had come to.
    drawn: Tensor,
    backward: Option<Backward>,
}

impl Begun {
    /// Begins one. The known tensors are those that the host's program is given, and all that it holds.
    ///
    /// Some of them stand in the place of tensors that have a history.
    pub fn new(known: Vec<Tensor>, stand: &[bool]) -> Result<Begun, Refusal> {
        let unusual = |x: &Tensor| {
            x.differs()
                || x.is_followed()
                || x.is_subclassed()
                || x.hooks_if_any().is_some_and(|hooks| !hooks.is_empty())
        };
        let is_leaf = |x: &Tensor| x.edge().is_ok_and(|edge| edge.is_none());
        if known.iter().any(|x| unusual(x) || !is_leaf(x)) {
            return Err(Refusal::Unusual);
        }
        let before = known.iter().enumerate().map(|(index, x)| Before {
            stands: stand.get(index).copied().unwrap_or(false),
            seen: Seen::of(&x.memory()),
            version: x.version(),
            requires_grad: x.requires_grad(),
            gradient: x.grad().map(|grad| (grad.clone(), Seen::of(&grad.memory()), grad.version())),
        });
        let before = before.collect();
        let drawn = Generator::process_wide().state().map_err(|_| Refusal::Unusual)?;
        Ok(Begun { recording: Recording::new(), known, before, drawn, backward: None })
    }

    /// Writes down what backward computes from those outputs that lead back. The recording goes on.
    pub fn lead_back(&mut self, outputs: &[Tensor]) -> Result<(), Refusal> {
        self.backward = Backward::record(&self.recording, &self.known, outputs, &self.drawn)?;
        Ok(())
    }

    /// Ends it. What was computed is a program that gives `outputs`.
    pub fn end(self, outputs: &[Tensor]) -> Result<Program, Refusal> {
        let Begun { recording, known, before, backward, .. } = self;
        let gradients: Vec<Tensor> = known.iter().filter_map(Tensor::grad).collect();
        for tensor in outputs.iter().chain(&gradients) {
            recording.leaves_behind(tensor).map_err(|_| Refusal::Origin)?;
        }
        let (events, leak) = recording.end();
        if let Some(Leak { what, origin }) = leak {
            return Err(Refusal::Left { what, origin });
        }
        let mut maker = Maker::default();
        maker.know(&before);
        events.into_iter().try_for_each(|event| maker.take(event))?;
        maker.finish(&known, &before, outputs, backward)
    }
}

/// Whether backward has been through the graph behind a node, so that it cannot go there again.
pub(super) fn is_spent(node: &NodeRef) -> bool {
    let (mut seen, mut next) = (HashSet::new(), vec![node.clone()]);
    while let Some(node) = next.pop() {
        if node.is_released() || node.rule().has_freed() {
            return true;
        }
        if seen.insert(node.id()) {
            next.extend(node.edges().iter().flatten().map(|edge| edge.node.clone()));
        }
    }
    false
}
