//! Tangents of products of which some factors have none: torch multiplies zeros in their place, so that what comes
//! of it leads to the other factors, with gradients that are zero. Here nothing is multiplied: only the history is
//! that of a sum with such zeros.

use smallvec::{SmallVec, smallvec};

use super::apply::single;
use super::create;
use super::record::form;
use crate::error::Result;
use crate::graph::{At, Edge, Forms, Gradients, Inputs, Node, NodeRef, Rule};
use crate::shape;
use crate::tensor::Tensor;

/// Operations that multiply, and which of their inputs are factors: a bit each.
const PRODUCTS: [(&str, u8); 19] = [
    ("MulBackward0", 0b11),
    ("DivBackward0", 0b11),
    ("MmBackward0", 0b11),
    ("MvBackward0", 0b11),
    ("BmmBackward0", 0b11),
    ("DotBackward0", 0b11),
    ("VdotBackward0", 0b11),
    ("LinalgCrossBackward0", 0b11),
    ("PreluKernelBackward0", 0b11),
    ("ConvolutionBackward0", 0b11),
    ("AddmmBackward0", 0b110),
    ("AddmvBackward0", 0b110),
    ("AddrBackward0", 0b110),
    ("AddbmmBackward0", 0b110),
    ("BaddbmmBackward0", 0b110),
    ("AddcmulBackward0", 0b110),
    ("AddcdivBackward0", 0b110),
    ("LerpBackward1", 0b111),
    ("TrilinearBackward0", 0b111),
];

/// A tangent plus zeros times factors: the first edge is that of the tangent, if it has a history.
struct WithZeros {
    inputs: usize,
}

impl Rule for WithZeros {
    fn name(&self) -> &str {
        "AddBackward0"
    }

    fn inputs(&self) -> Option<Inputs> {
        Some((0..self.inputs).map(Some).collect())
    }

    fn vjp(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let zeros = |(index, edge): (usize, &Option<Edge>)| {
            let Some(edge) = edge.as_ref().filter(|_| at.needs(index)) else { return Ok(None) };
            if index == 0 {
                return Ok(single(gradients).clone().into());
            }
            let form = edge.node.form(edge.output);
            create::zeros(&shape::signed(form.layout.shape()), form.dtype).map(Some)
        };
        at.node.edges().iter().enumerate().map(zeros).collect()
    }
}

/// Has the tangent of the output of `node` lead to the factors too that are multiplied with one that has none among
/// the `tangents` of the inputs.
pub(super) fn lead_to_factors(node: &NodeRef, tangents: &Gradients, tangent: &Tensor) -> Result<()> {
    let rule = node.rule();
    let Some((_, factors)) = PRODUCTS.iter().find(|(name, _)| *name == rule.name()) else { return Ok(()) };
    // Whether the histories of samples are those of one or of all is not known here.
    if tangent.is_batched() {
        return Ok(());
    }
    let is_factor = |index: usize| factors >> index & 1 == 1;
    let has_none = |index: usize| is_factor(index) && tangents.get(index).is_none_or(Option::is_none);
    let lacks_another = |index: usize| (0..8).any(|other| other != index && has_none(other));
    let mut edges: SmallVec<[Option<Edge>; 2]> = smallvec![tangent.gradient_edge()?];
    let numbered = node.edges().iter().enumerate();
    edges.extend(
        numbered.map(|(index, edge)| edge.clone().filter(|_| is_factor(index) && lacks_another(index))),
    );
    if edges[1..].iter().all(Option::is_none) {
        return Ok(());
    }
    let node = Node::record(WithZeros { inputs: edges.len() }, edges, Forms::one(form(tangent)));
    tangent.set_edge(Some(Edge { node, output: 0 }));
    Ok(())
}
