//! The node at the end of every path: it stands for a leaf and holds it.

use super::node::{Form, Node, NodeRef};
use super::rule::{At, Gradients, Rule};
use crate::error::Result;
use crate::tensor::Tensor;

/// Stands for a leaf. What accumulation does is the engine's business.
struct Accumulate {
    variable: Tensor,
}

impl Rule for Accumulate {
    fn name(&self) -> &str {
        "torch::autograd::AccumulateGrad"
    }

    fn vjp(&self, _at: &At<'_>, _gradients: &Gradients) -> Result<Gradients> {
        Ok(Gradients::new())
    }

    fn leaf(&self) -> Option<&Tensor> {
        Some(&self.variable)
    }
}

/// A node for `variable`.
pub(crate) fn accumulator(variable: Tensor) -> NodeRef {
    let array = variable.array();
    let dtype = variable.grad_dtype().unwrap_or(array.dtype);
    let form = Form { layout: array.layout, dtype };
    Node::leaf_node(Accumulate { variable }, form)
}
