//! The node of what a program gives: backward of it runs another program (Note [Turns of backward]).

use std::sync::Arc;

use smallvec::SmallVec;

use super::backward::{Back, Held, Turn, differentiate};
use super::{Program, is_same};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, Rule, SavedTensor, Source, Traits, mode};
use crate::ops::creation::copy;
use crate::ops::sampling::random::Generator;
use crate::tensor::Tensor;

/// The host's program, to be run once more.
pub trait Again: Send + Sync {
    /// What it gives for these known tensors, recorded for backward. An error if it would do something else than
    /// it did.
    fn again(&self, known: &[Tensor]) -> Result<Vec<Tensor>>;
}

/// A call, to have it again.
pub(super) struct Past {
    known: Vec<(Tensor, u32)>,
    /// Where random numbers had come to before it, if it drew any.
    drawn: Option<Tensor>,
    host: Option<Arc<dyn Again>>,
}

impl Past {
    /// What a call is about to be.
    pub(super) fn before(back: &Back, host: Option<Arc<dyn Again>>) -> Result<Past> {
        let drawn = if back.draws { Some(Generator::process_wide().state()?) } else { None };
        Ok(Past { known: Vec::new(), drawn, host })
    }
}

/// The rule of what a program gave.
pub(super) struct Recorded {
    back: Arc<Back>,
    saved: SmallVec<[SavedTensor; 4]>,
    past: Past,
    /// The known tensors that the call wrote to.
    written: Vec<usize>,
}

impl Recorded {
    /// The rule of a run that was called with these tensors and keeps those.
    pub(super) fn new(
        program: &Program,
        back: &Arc<Back>,
        known: &[Tensor],
        kept: &[Tensor],
        past: Past,
    ) -> Self {
        let saved = back.held.iter().map(|held| match held {
            Held::Known(index) => SavedTensor::new(known[*index].memory(), Source::Constant),
            Held::Kept(index) => SavedTensor::new(kept[*index].memory(), Source::Constant),
        });
        let known = known.iter().map(|tensor| (tensor.clone(), tensor.version())).collect();
        let written = program.written.iter().filter_map(|(place, _)| match program.places[*place] {
            super::Place::Known(index) => Some(index),
            _ => None,
        });
        Recorded {
            back: back.clone(),
            saved: saved.collect(),
            past: Past { known, ..past },
            written: written.collect(),
        }
    }

    /// The turn for gradients that come like this, if nobody has to see how it is taken.
    fn turn(&self, at: &At<'_>, gradients: &Gradients) -> Option<&Turn> {
        if at.tracking || mode::special() {
            return None;
        }
        self.back.turns.iter().find(|turn| {
            turn.given.iter().zip(gradients).all(|pair| match pair {
                (None, None) => true,
                (Some((layout, dtype)), Some(gradient)) => {
                    let gradient = gradient.memory();
                    is_same(layout, &gradient.layout) && gradient.dtype == *dtype
                }
                _ => false,
            })
        })
    }

    /// Has the host's program run once more, and differentiates that.
    fn again(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        self.saved.iter().try_for_each(|saved| saved.load(at.node, false).map(drop))?;
        let is_as_it_was = |(tensor, version): &(Tensor, u32)| tensor.version() == *version;
        let host = self.past.host.as_ref().filter(|_| self.past.known.iter().all(is_as_it_was));
        let Some(host) = host else { return Err(Error::CalledOtherwise {}.into()) };
        let known: Vec<Tensor> = self.past.known.iter().map(|(tensor, _)| tensor.clone()).collect();
        let outputs = {
            let _as_before = AsBefore::new(&known, &self.written, self.past.drawn.as_ref())?;
            let _on = mode::GradModeGuard::new(true);
            host.again(&known)?
        };
        let roots: Option<Vec<&Tensor>> = self.back.leading.iter().map(|&index| outputs.get(index)).collect();
        let Some(roots) = roots else { return Err(Error::CalledOtherwise {}.into()) };
        let leaves: Vec<Tensor> = self.back.leaves.iter().map(|&index| known[index].clone()).collect();
        Ok(differentiate(&roots, gradients, &leaves, at.tracking)?.into())
    }
}

/// Has tensors, and where random numbers had come to, as they were, when it is dropped.
struct AsBefore {
    copies: Vec<(Tensor, Tensor, u32)>,
    drawn: Option<Tensor>,
}

impl AsBefore {
    /// Begins with random numbers where they had come to before.
    fn new(known: &[Tensor], written: &[usize], before: Option<&Tensor>) -> Result<AsBefore> {
        let copies = written.iter().map(|&index| {
            let tensor = &known[index];
            Ok((tensor.clone(), Tensor::from_array(copy::whole(&tensor.memory())?), tensor.version()))
        });
        let copies = copies.collect::<Result<_>>()?;
        let generator = Generator::process_wide();
        let drawn = before.map(|_| generator.state()).transpose()?;
        before.map_or(Ok(()), |before| generator.set_state(before))?;
        Ok(AsBefore { copies, drawn })
    }
}

impl Drop for AsBefore {
    fn drop(&mut self) {
        // What was copied a moment ago can be copied back.
        for (tensor, copied, version) in &self.copies {
            let _ = copy::write(&tensor.memory(), &copied.memory());
            tensor.set_version(*version);
        }
        if let Some(drawn) = &self.drawn {
            let _ = Generator::process_wide().set_state(drawn);
        }
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
        let mut known: Vec<Tensor> =
            gradients.iter().map(|gradient| gradient.as_ref().unwrap_or(some).clone()).collect();
        for tensor in held {
            known.push(tensor?);
        }
        let made = turn.program.run(&known, &[], None)?;
        Ok(turn.gradients.iter().map(|at| at.map(|at| made[at].clone())).collect())
    }
}

impl Rule for Recorded {
    fn name(&self) -> &str {
        "CompiledFunctionBackward"
    }

    fn traits(&self) -> Traits {
        Traits::CALLER_ONLY
    }

    fn vjp(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        match self.turn(at, gradients) {
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
