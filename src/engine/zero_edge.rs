//! Edges along which a gradient of a gradient is zero. Some operations compute all their gradients in one step, from
//! the gradient and what they saved. With `create_graph` torch then gives each of these a history, also those whose
//! derivative is zero everywhere; programs ask for second derivatives along such edges and expect zeros, not an error.

use smallvec::SmallVec;

use crate::dispatch::accumulate;
use crate::error::Result;
use crate::graph::{
    At, Edge, Form, Forms, Gradients, Node, NodeRef, Rule, Source, Traits, mode, tangents, transform_level,
};
use crate::tensor::{Mapping, Tensor};

/// The node of a gradient whose derivative is zero.
struct ZeroEdge {
    /// How many inputs the operation has.
    inputs: usize,
    /// The input that receives the zeros. The others receive no gradient.
    zeroed: usize,
}

impl Rule for ZeroEdge {
    fn name(&self) -> &str {
        "FlatBackward0"
    }

    fn vjp(&self, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let mut results = Gradients::from_elem(None, self.inputs);
        if let Some(Some(gradient)) = gradients.first() {
            results[self.zeroed] = Some(accumulate::zeros_like(gradient)?);
        }
        Ok(results)
    }
}

/// Gives a history to gradients of `node` that have none, if a single step computed them (`Traits::TOGETHER`), either
/// from an input that was saved or together with a gradient that has a history. The derivative along it is zero.
///
/// Other operations get none: where a rule selects a gradient by a comparison, the result does not depend on what was
/// compared, and a zero behind it could be multiplied with an infinity there.
pub(super) fn attach(node: &NodeRef, results: &mut Gradients) {
    // Inside function transforms each level has histories of its own.
    let within =
        || transform_level::depth() > 0 || !tangents::live().is_empty() || Mapping::innermost().is_some();
    if mode::special() && within() {
        return;
    }
    let rule = node.rule();
    if !rule.traits().has(Traits::TOGETHER) {
        return;
    }
    let saved = rule.saved();
    let is_kept = |index: usize| saved.iter().any(|(_, saved)| saved.source() == Source::Input(index as u8));
    let has_one = results.iter().flatten().any(Tensor::requires_grad);
    for (index, result) in results.iter_mut().enumerate() {
        let Some(gradient) = result.as_ref().filter(|gradient| !gradient.requires_grad()) else { continue };
        if !has_one && !is_kept(index) {
            continue;
        }
        let edges: SmallVec<[Option<Edge>; 2]> = node.edges().iter().cloned().collect();
        let array = gradient.array();
        let form = Form { layout: array.layout.clone(), dtype: array.dtype };
        let rule = ZeroEdge { inputs: edges.len(), zeroed: index };
        let node = Node::record(rule, edges, Forms::one(form));
        *result = Some(Tensor::with_history(array, Some(Edge { node, output: 0 })));
    }
}
