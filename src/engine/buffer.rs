//! What has arrived at a node: one gradient an output, added up in the order of arrival.

use crate::error::Result;
use crate::graph::Gradients;
use crate::ops::accumulate;
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
        if self.gradients.len() <= output {
            self.gradients.resize(output, None);
            self.gradients.push(Some(gradient));
            return Ok(());
        }
        let sum = match self.gradients[output].take() {
            Some(sum) => accumulate::add_owned(sum, &gradient)?,
            None => gradient,
        };
        self.gradients[output] = Some(sum);
        Ok(())
    }

    /// Everything that arrived, as many as the node has outputs.
    pub(super) fn take(&mut self, outputs: usize) -> Gradients {
        if self.gradients.len() < outputs {
            self.gradients.resize(outputs, None);
        }
        std::mem::take(&mut self.gradients)
    }
}
