//! Whether a program does what the host's own program does: it is run on copies of all that it writes to, and
//! what came out is held against what the host's program leaves behind.

use std::sync::atomic::Ordering;

use super::{Gradient, Program};
use crate::error::Result;
use crate::graph::mode;
use crate::ops::creation::copy;
use crate::ops::sampling::random::Generator;
use crate::tensor::{Array, Tensor};

/// What a program has come to without anybody having noticed.
pub struct Apart {
    outputs: Vec<Tensor>,
    gradients: Vec<Option<Tensor>>,
    /// What is written to: the memory, and how often writes were counted there.
    written: Vec<(Tensor, u32)>,
    /// Where the numbers that are drawn had come to.
    drawn: Tensor,
}

impl Program {
    /// Runs it on copies of what it writes to. The numbers that are drawn are drawn again afterwards.
    pub fn run_apart(&self, known: &[Tensor]) -> Result<Apart> {
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
        self.bind(&mut frame, &|place| {
            let copied = written.iter().find(|(other, ..)| *other == place);
            copied.map_or_else(|| original(place), |(_, copied, _)| Some(copied.clone()))
        })?;
        let generator = Generator::process_wide();
        let before = generator.state()?;
        let outcome = self.compute(&mut frame);
        let drawn = generator.state()?;
        generator.set_state(&before)?;
        outcome?;
        let gradients = self.gradients.iter().map(|(_, gradient)| match gradient {
            Gradient::None => None,
            Gradient::Is(left) => Some(self.hand_out(left, &frame)),
        });
        let gradients = gradients.collect();
        let outputs = self.outputs.iter().map(|left| self.hand_out(left, &frame)).collect();
        let written = written.into_iter().map(|(_, copied, version)| (copied, version)).collect();
        Ok(Apart { outputs, gradients, written, drawn })
    }

    /// Whether the host's program, which was run since and gave `outputs`, has left the same bits.
    pub fn is_same(&self, apart: &Apart, known: &[Tensor], outputs: &[Tensor]) -> Result<bool> {
        let mut same = outputs.len() == apart.outputs.len();
        for ((own, other), left) in apart.outputs.iter().zip(outputs).zip(&self.outputs) {
            left.version.store(other.version(), Ordering::Relaxed);
            same &= is_alike(own, other)? && own.requires_grad() == other.requires_grad();
        }
        for ((index, gradient), own) in self.gradients.iter().zip(&apart.gradients) {
            same &= match (own, known[*index].grad(), gradient) {
                (None, None, _) => true,
                (Some(own), Some(other), Gradient::Is(left)) => {
                    left.version.store(other.version(), Ordering::Relaxed);
                    is_alike(own, &other)?
                }
                _ => false,
            };
        }
        for (&(place, _), (own, version)) in self.written.iter().zip(&apart.written) {
            same &= match self.known_at(place, known) {
                Some(other) => has_bits_of(own, &other)? && other.version() == *version,
                None => false,
            };
        }
        Ok(same && has_bits_of(&apart.drawn, &Generator::process_wide().state()?)?)
    }
}

/// Whether two tensors are the same in memory.
fn is_alike(a: &Tensor, b: &Tensor) -> Result<bool> {
    Ok(*a.layout() == *b.layout() && has_bits_of(a, b)?)
}

/// Whether two tensors are of one type and shape, and of the same bits.
fn has_bits_of(a: &Tensor, b: &Tensor) -> Result<bool> {
    let (a, b) = (a.memory(), b.memory());
    if a.dtype != b.dtype || a.layout.shape() != b.layout.shape() {
        return Ok(false);
    }
    let bits = |array: &Array| copy::dense(array);
    let (a, b) = (bits(&a)?, bits(&b)?);
    Ok(dispatch!(bits a.dtype, T => a.slice::<T>() == b.slice::<T>()))
}
