//! Gradients that count as computed from an input that their operation has kept, or together with others,
//! although they do not move with it: those of operations whose backward is one operation, that takes all of these.

use smallvec::SmallVec;

use crate::dispatch::accumulate;
use crate::error::Result;
use crate::graph::{
    At, Edge, Form, Forms, Gradients, Node, NodeRef, Rule, Source, Traits, mode, tangents, transform_level,
};
use crate::tensor::{Mapping, Tensor};

/// The node of such a gradient.
struct Tie {
    inputs: usize,
    /// The input with respect to which the derivative is zeros. There is none for the others.
    flat: usize,
}

impl Rule for Tie {
    fn name(&self) -> &str {
        "FlatBackward0"
    }

    fn vjp(&self, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let mut results = Gradients::from_elem(None, self.inputs);
        if let Some(Some(gradient)) = gradients.first() {
            results[self.flat] = Some(accumulate::zeros_like(gradient)?);
        }
        Ok(results)
    }
}

/// Gives the gradients of a recorded run of `node` a history that have none although one operation computes them from
/// inputs that were kept, or with others that have one: such an operation looks at its input to say where it is
/// straight, and has a second derivative, of zeros. A gradient that is chosen by a comparison is of no function of what
/// was compared: zeros behind it would be multiplied by whatever stands there, which may be no number.
pub(super) fn tie(node: &NodeRef, results: &mut Gradients) {
    // What a transform made has its history at a level of its own.
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
        let rule = Tie { inputs: edges.len(), flat: index };
        let node = Node::record(rule, edges, Forms::one(form));
        *result = Some(Tensor::with_history(array, Some(Edge { node, output: 0 })));
    }
}
