//! Gradients that count as computed from an operation's inputs although that derivative is zero.
//!
//! Where an operation is made of straight pieces, how its gradient depends on the input is through
//! which piece that is on: a derivative of zero, or none. Under recording the gradient still has a
//! history, so that whoever differentiates it again need not know which operations these are.

use smallvec::SmallVec;

use crate::error::Result;
use crate::graph::{At, Edge, Form, Forms, Gradients, Node, NodeRef, Rule, boundary, mode, tangents};
use crate::ops::accumulate;
use crate::tensor::{Mapping, Tensor};

/// The node of such a gradient.
struct Tie {
    name: String,
    inputs: usize,
    /// The input with respect to which the derivative is zeros. There is none for the others.
    flat: Option<usize>,
}

impl Rule for Tie {
    fn name(&self) -> &str {
        &self.name
    }

    fn vjp(&self, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let mut results = Gradients::from_elem(None, self.inputs);
        if let (Some(index), Some(Some(gradient))) = (self.flat, gradients.first()) {
            results[index] = Some(accumulate::zeros_like(gradient)?);
        }
        Ok(results)
    }
}

/// Whether the derivative of the gradient is zeros, if nodes of this name tie it to the inputs.
fn flat(name: &str) -> Option<bool> {
    let name = name.strip_suffix("Backward0")?;
    match name.trim_end_matches("WithIndices").trim_end_matches(['1', '2', '3', 'D']) {
        "LeakyRelu" | "Threshold" | "Hardtanh" | "Hardshrink" | "Softshrink" | "RreluWithNoise"
        | "ReflectionPad" | "ReplicationPad" | "AvgPool" | "AdaptiveAvgPool" | "MaxPool"
        | "AdaptiveMaxPool" | "NllLoss" | "LinalgVectorNorm" => Some(true),
        "Convolution" | "NativeBatchNorm" | "NativeLayerNorm" => Some(false),
        _ => None,
    }
}

/// Gives the results of a recorded run of `node` that have no history the one that they are to have.
pub(super) fn tie(node: &NodeRef, results: &mut Gradients) {
    // What a transform made has its history at a level of its own.
    let within = || boundary::depth() > 0 || !tangents::live().is_empty() || Mapping::innermost().is_some();
    if mode::special() && within() {
        return;
    }
    let rule = node.rule();
    let name = rule.name();
    let Some(flat) = flat(name) else { return };
    for (index, result) in results.iter_mut().enumerate() {
        let Some(gradient) = result.as_ref().filter(|gradient| !gradient.requires_grad()) else { continue };
        let edges: SmallVec<[Option<Edge>; 2]> = node.edges().iter().cloned().collect();
        let name = match name {
            "LinalgVectorNormBackward0" => "MulBackward0".to_owned(),
            name => format!("{}Backward0", name.trim_end_matches('0')),
        };
        let array = gradient.array();
        let form = Form { layout: array.layout.clone(), dtype: array.dtype };
        let rule = Tie { name, inputs: edges.len(), flat: flat.then_some(index) };
        let node = Node::record(rule, edges, Forms::one(form));
        *result = Some(Tensor::with_history(array, Some(Edge { node, output: 0 })));
    }
}
