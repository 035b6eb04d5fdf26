//! Whether a program does what the host's own program does: it is run on copies of all that it writes to, and
//! what came out is held against what the host's program leaves behind.

use std::borrow::Cow;

use super::backward::{Back, Held, by_edge, differentiate, example};
use super::{Gradient, Number, Program};
use crate::error::Result;
use crate::graph::mode;
use crate::ops::creation::copy;
use crate::ops::sampling::random::Generator;
use crate::tensor::Tensor;

/// What a program has come to without anybody having noticed.
pub struct Apart {
    outputs: Vec<Tensor>,
    gradients: Vec<Option<Tensor>>,
    /// What known tensors are given, and how often writes are counted there.
    moved: Vec<(Tensor, u32)>,
    /// What is written to: the memory, and how often writes were counted there.
    written: Vec<(Tensor, u32)>,
    /// Where the numbers that are drawn had come to.
    drawn: Tensor,
}

impl Program {
    /// Runs it on copies of what it writes to. The numbers that are drawn are drawn again afterwards.
    pub fn run_apart(&self, known: &[Tensor], numbers: &[Number]) -> Result<Apart> {
        let _off = mode::GradModeGuard::off();
        let original = |place: usize| self.known_at(place, known);
        let mut written = Vec::new();
        for &(place, count) in &self.written {
            if let Some(tensor) = original(place) {
                let copied = Tensor::from_array(copy::whole(&tensor.memory())?);
                written.push((place, copied, tensor.version().wrapping_add(count)));
            }
        }
        let mut frame = self.frame()?;
        frame.take_numbers(numbers);
        self.bind(&mut frame, &|place| {
            let copied = written.iter().find(|(other, ..)| *other == place);
            copied.map_or_else(|| original(place), |(_, copied, _)| Some(Cow::Borrowed(copied)))
        })?;
        let generator = Generator::process_wide();
        let before = generator.state()?;
        let outcome = self.compute(&mut frame);
        let drawn = generator.state()?;
        generator.set_state(&before)?;
        outcome?;
        self.undone.drew(!has_bits_of(&before, &drawn)?);
        let gradients = self.gradients.iter().map(|(_, gradient)| match gradient {
            Gradient::None => Ok(None),
            Gradient::Is(left) => self.hand_out(left, &frame).map(Some),
        });
        let gradients = gradients.collect::<Result<_>>()?;
        let moved = self
            .moved
            .iter()
            .map(|(index, left)| Ok((self.hand_out(left, &frame)?, known[*index].version())));
        let moved = moved.collect::<Result<_>>()?;
        let outputs = self.hand_all_out(&frame, known)?;
        let written = written.into_iter().map(|(_, copied, version)| (copied, version)).collect();
        Ok(Apart { outputs, gradients, moved, written, drawn })
    }

    /// Whether the host's program, which was run since and gave `outputs`, has left the same bits.
    pub fn is_same(&self, apart: &Apart, known: &[Tensor], outputs: &[Tensor]) -> Result<bool> {
        let mut same = outputs.len() == self.shown;
        for ((own, other), left) in apart.outputs.iter().zip(outputs).zip(&self.outputs) {
            left.count(other.version());
            let requires_grad = own.requires_grad() || left.leads;
            same &= is_alike(own, other)? && requires_grad == other.requires_grad();
            same &= left.leads || own.is_view() == other.is_view();
        }
        for ((index, gradient), own) in self.gradients.iter().zip(&apart.gradients) {
            same &= match (own, known[*index].grad(), gradient) {
                (None, None, _) => true,
                (Some(own), Some(other), Gradient::Is(left)) => {
                    left.count(other.version());
                    is_alike(own, &other)?
                }
                _ => false,
            };
        }
        for ((index, _), (own, version)) in self.moved.iter().zip(&apart.moved) {
            same &= is_alike(own, &known[*index].detach())? && known[*index].version() == *version;
        }
        for (&(place, _), (own, version)) in self.written.iter().zip(&apart.written) {
            same &= match self.known_at(place, known) {
                Some(other) => has_bits_of(own, &other)? && other.version() == *version,
                None => false,
            };
        }
        same = same && has_bits_of(&apart.drawn, &Generator::process_wide().state()?)?;
        match &self.back {
            Some(back) if same => self.leads_back_alike(back, apart, known, outputs),
            _ => Ok(same),
        }
    }

    /// Whether backward gives the same gradients, of numbers that are nothing special.
    fn leads_back_alike(
        &self,
        back: &Back,
        apart: &Apart,
        known: &[Tensor],
        outputs: &[Tensor],
    ) -> Result<bool> {
        let roots: Vec<&Tensor> = back.leading.iter().map(|&index| &outputs[index]).collect();
        let leaves: Vec<Tensor> = back.leaves.iter().map(|&(index, _)| known[index].clone()).collect();
        for turn in &back.turns {
            let given = turn.given.iter().map(|form| form.as_ref().map(example).transpose());
            let given = given.collect::<Result<Vec<_>>>()?;
            let expected = differentiate(&roots, &given, &leaves, false).ok();
            let Some(expected) = expected.and_then(|arrived| by_edge(&arrived, &back.leaves)) else {
                return Ok(false);
            };
            let held = back.held.iter().map(|held| {
                Ok(match held {
                    Held::Known(index) => Tensor::from_array(known[*index].memory()),
                    Held::Kept(index) => apart.outputs[self.shown + index].clone(),
                })
            });
            for (own, other) in back.take(turn, &given, held)?.iter().zip(&expected) {
                match (own, other) {
                    (None, None) => {}
                    (Some(own), Some(other)) if is_alike(own, other)? => {}
                    _ => return Ok(false),
                }
            }
        }
        Ok(true)
    }
}

/// Whether two tensors are the same in memory.
fn is_alike(a: &Tensor, b: &Tensor) -> Result<bool> {
    Ok(*a.layout() == *b.layout() && has_bits_of(a, b)?)
}

/// Whether two tensors are of one type and shape, and of the same bits.
fn has_bits_of(a: &Tensor, b: &Tensor) -> Result<bool> {
    copy::has_bits_of(&a.memory(), &b.memory())
}
