//! The input buffer of a node: one gradient an output, summed in the order of arrival of a sequential run, which
//! runs on several threads keep to as well: see Note [Same bits].

use crate::dispatch::accumulate;
use crate::error::Result;
use crate::graph::Gradients;
use crate::tensor::Tensor;

/// The gradients with respect to the outputs of one node.
#[derive(Default)]
pub(super) struct Buffer {
    gradients: Gradients,
}

impl Buffer {
    /// Adds a gradient. A sum that nobody else holds is added to in place, unless it is recorded.
    pub(super) fn add(&mut self, output: u32, gradient: Tensor) -> Result<()> {
        let output = output as usize;
        if let Some(slot) = self.gradients.get_mut(output) {
            *slot = Some(match slot.take() {
                Some(sum) => accumulate::add_owned(sum, &gradient)?,
                None => gradient,
            });
            return Ok(());
        }
        while self.gradients.len() < output {
            self.gradients.push(None);
        }
        self.gradients.push(Some(gradient));
        Ok(())
    }

    /// Everything that arrived, as many as the node has outputs.
    pub(super) fn take(&mut self, outputs: usize) -> Gradients {
        while self.gradients.len() < outputs {
            self.gradients.push(None);
        }
        std::mem::take(&mut self.gradients)
    }
}
