//! The node of a leaf tensor (torch's `AccumulateGrad`).
//!
//! Note [Leaves and their nodes]
//! ----
//! A leaf holds its node, and a graph has to keep the leaf alive through that node: a reference cycle. It is broken as
//! follows. While only the leaf holds the node, the node holds no counted handle to the leaf. When a graph takes a
//! handle to the node (`wake`), the node takes a handle to the leaf, and drops it when the last graph is gone.

#![allow(unsafe_code)]

use std::mem::ManuallyDrop;

use super::node::{Form, Node, NodeRef};
use super::rule::{At, Gradients, Rule};
use crate::error::Result;
use crate::tensor::Tensor;

/// Stands for a leaf. What accumulation does is the engine's business.
struct Accumulate {
    /// Counted only while others than the leaf hold the node.
    variable: ManuallyDrop<Tensor>,
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

    fn wake(&self) {
        std::mem::forget(Tensor::clone(&self.variable));
    }

    fn rest(&self) {
        // SAFETY: this is the handle that `wake` took; the two are called in turns.
        drop(unsafe { std::ptr::read(&*self.variable) });
    }
}

/// The node of `variable`, which is to keep it until it goes itself.
pub(crate) fn accumulator(variable: &Tensor) -> NodeRef {
    let array = variable.array();
    let dtype = variable.grad_dtype().unwrap_or(array.dtype);
    let form = Form { layout: array.layout, dtype };
    // SAFETY: a bitwise copy that is never dropped. The leaf outlives it: it keeps the node until it
    // goes, and while others hold the node there is a handle that `wake` took.
    let uncounted = ManuallyDrop::new(unsafe { std::ptr::read(variable) });
    Node::leaf_node(Accumulate { variable: uncounted }, form)
}
