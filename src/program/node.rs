//! The node of what a program gives: backward of it runs another program (Note [Turns of backward]).

use std::sync::Arc;

use smallvec::SmallVec;

use super::backward::{Back, Held, Turn, by_edge, differentiate};
use super::is_same;
use super::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, Rule, SavedTensor, Source, Traits, mode};
use crate::ops::creation::copy;
use crate::shape::{Layout, SharedLayout};
use crate::tensor::{Array, Tensor};

/// The host's program, to be run once more.
pub trait Again: Send + Sync {
    /// What it gives for these known tensors, recorded for backward. An error if it would do something else than
    /// it did.
    fn again(&self, known: &[Tensor]) -> Result<Vec<Tensor>>;
}

/// A call, to have it again.
pub(super) struct Past {
    known: Vec<(Tensor, u32)>,
    /// What it wrote to and drew from, as that was before.
    before: Snapshot,
    host: Option<Arc<dyn Again>>,
}

impl Past {
    /// What the call was given, and what it gave, recorded for backward. What it wrote to is afterwards as it is now.
    fn again(&self, host: &dyn Again) -> Result<(Vec<Tensor>, Vec<Tensor>)> {
        let known: Vec<Tensor> = self.known.iter().map(|(tensor, _)| tensor.clone()).collect();
        let _now = Restored(self.before.again()?);
        self.before.restore()?;
        let _on = mode::GradModeGuard::new(true);
        let outputs = host.again(&known)?;
        Ok((known, outputs))
    }
}

/// The rule of what a program gave.
pub(super) struct Recorded {
    back: Arc<Back>,
    saved: SmallVec<[SavedTensor; 4]>,
    past: Past,
}

impl Recorded {
    /// The rule of a run that was called with these tensors and keeps those.
    pub(super) fn new(
        back: &Arc<Back>,
        known: &[Tensor],
        kept: &[Tensor],
        before: Snapshot,
        host: Option<Arc<dyn Again>>,
    ) -> Self {
        let saved = back.held.iter().map(|held| match held {
            Held::Known(index) => SavedTensor::new(known[*index].memory(), Source::Constant),
            Held::Kept(index) => SavedTensor::new(kept[*index].memory(), Source::Constant),
        });
        let known = known.iter().map(|tensor| (tensor.clone(), tensor.version())).collect();
        Recorded { back: back.clone(), saved: saved.collect(), past: Past { known, before, host } }
    }

    /// The turn for gradients of these forms that lie as is said.
    fn turn(&self, gradients: &Gradients, lie: impl Fn(&Layout, &Layout) -> bool) -> Option<&Turn> {
        self.back.turns.iter().find(|turn| {
            turn.given.iter().zip(gradients).all(|pair| match pair {
                (None, None) => true,
                (Some((layout, dtype)), Some(gradient)) => {
                    let gradient = gradient.memory();
                    let is_alike = layout.shape() == gradient.layout.shape() && gradient.dtype == *dtype;
                    is_alike && lie(layout, &gradient.layout)
                }
                _ => false,
            })
        })
    }

    /// Whether the host's program can be run once more of what it was run of.
    fn is_repeatable(&self) -> bool {
        let is_as_it_was = |(tensor, version): &(Tensor, u32)| tensor.version() == *version;
        self.past.host.is_some() && self.past.known.iter().all(is_as_it_was)
    }

    /// Has the host's program run once more, and differentiates that.
    fn again(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        self.saved.iter().try_for_each(|saved| saved.load(at.node, false).map(drop))?;
        let host = self.past.host.as_ref().filter(|_| self.is_repeatable());
        let Some(host) = host else { return Err(Error::CalledOtherwise {}.into()) };
        let (known, outputs) = self.past.again(&**host)?;
        let roots: Option<Vec<&Tensor>> = self.back.leading.iter().map(|&index| outputs.get(index)).collect();
        let Some(roots) = roots else { return Err(Error::CalledOtherwise {}.into()) };
        let leaves: Vec<Tensor> = self.back.leaves.iter().map(|&(index, _)| known[index].clone()).collect();
        let arrived = differentiate(&roots, gradients, &leaves, at.tracking)?;
        let gradients = by_edge(&arrived, &self.back.leaves).ok_or(Error::CalledOtherwise {})?;
        Ok(gradients.into())
    }
}

/// Has all be as it was when this was made, when it is dropped.
struct Restored(Snapshot);

impl Drop for Restored {
    fn drop(&mut self) {
        // What was copied a moment ago can be copied back.
        let _ = self.0.restore();
    }
}

impl Back {
    /// Takes a turn of these gradients, with what it holds of the first program.
    pub(super) fn take(
        &self,
        turn: &Turn,
        gradients: &[Option<Tensor>],
        held: impl Iterator<Item = Result<Tensor>>,
    ) -> Result<Gradients> {
        let Some(some) = gradients.iter().flatten().next() else { return Ok(Gradients::new()) };
        let mut known = Vec::new();
        for (gradient, form) in gradients.iter().zip(&turn.given) {
            known.push(match (gradient, form) {
                (Some(gradient), Some((layout, _))) => lying(gradient, layout)?,
                // Nobody reads it.
                _ => some.clone(),
            });
        }
        for tensor in held {
            known.push(tensor?);
        }
        let made = turn.program.run(&known, &[], None)?;
        Ok(turn.gradients.iter().map(|at| at.map(|at| made[at].clone())).collect())
    }
}

/// A gradient that lies so, from the first element of its memory on: a copy of its numbers if it does not.
fn lying(gradient: &Tensor, layout: &SharedLayout) -> Result<Tensor> {
    let array = gradient.memory();
    if is_same(layout, &array.layout) {
        return Ok(gradient.clone());
    }
    let first = Layout::strided(SmallVec::new(), SmallVec::new(), array.layout.offset())?;
    let is_one = array.layout.is_repeated_in_place() && !layout.is_contiguous();
    let numbers = copy::dense(&if is_one { array.with_layout(first) } else { array })?;
    Ok(Tensor::from_array(Array { layout: layout.clone(), ..numbers }))
}

impl Rule for Recorded {
    fn name(&self) -> &str {
        "CompiledFunctionBackward"
    }

    fn traits(&self) -> Traits {
        Traits::CALLER_ONLY
    }

    fn vjp(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let is_seen = at.tracking || mode::special();
        let turn = match is_seen {
            true => None,
            false => {
                let turn = self.turn(gradients, |layout, own| layout.strides() == own.strides());
                // Packed, if there is no other way: that may be rounded otherwise.
                turn.or_else(|| match self.is_repeatable() {
                    true => None,
                    false => self.turn(gradients, |layout, _| layout.is_contiguous()),
                })
            }
        };
        match turn {
            Some(turn) => {
                let held = self.saved.iter().map(|saved| saved.load(at.node, false));
                self.back.take(turn, gradients, held)
            }
            None => self.again(at, gradients),
        }
    }

    fn saved(&self) -> SmallVec<[(&'static str, &SavedTensor); 2]> {
        self.saved.iter().map(|saved| ("tensor", saved)).collect()
    }

    fn keeps(&self) -> bool {
        !self.saved.is_empty()
    }

    fn saved_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.saved.iter_mut().collect()
    }
}
