//! Operations that are recorded although torch has no derivative of them: whoever asks for one is
//! refused. Here is their rule, and which operations have no forward direction.

use super::record::trace;
use super::tangents::innermost;
use crate::error::{Error, Result};
use crate::graph::tangents::live;
use crate::graph::{At, Gradients, Rule};
use crate::tensor::Tensor;

/// The node of what torch's formulas do not know at all.
const UNKNOWN: &str = "torch::autograd::NotImplemented";

/// y depends on x, and there is no dy/dx
struct Underived {
    name: &'static str,
    operation: &'static str,
}

impl Rule for Underived {
    fn name(&self) -> &str {
        self.name
    }

    fn vjp(&self, _at: &At<'_>, _gradients: &Gradients) -> Result<Gradients> {
        Err(match self.name {
            UNKNOWN => Error::NoDerivative { operation: self.operation },
            _ => Error::NoDerivativeOf { function: self.operation },
        }
        .into())
    }

    fn jvp(&self, _at: &At<'_>, _tangents: &[Option<Tensor>]) -> Result<Gradients> {
        Err(Error::NoTangent { operation: self.operation }.into())
    }
}

/// Records outputs as those of an operation that torch's formulas do not know.
pub fn unknown(inputs: &[&Tensor], outputs: &[Tensor], operation: &'static str) -> Result<()> {
    underived(inputs, outputs, UNKNOWN, operation)
}

/// Records outputs under a node that refuses.
pub(super) fn underived(
    inputs: &[&Tensor],
    outputs: &[Tensor],
    name: &'static str,
    operation: &'static str,
) -> Result<()> {
    trace(inputs, outputs, |_| Underived { name, operation })
}

/// torch's names of the operations that it does not have in forward direction, behind their nodes.
const BACKWARD_ONLY: [(&str, &str); 27] = [
    ("AcoshBackward1", "acosh"),
    ("AsinhBackward1", "asinh"),
    ("AtanhBackward1", "atanh"),
    ("CdistBackward0", "_cdist_forward"),
    ("CholeskyBackward0", "cholesky"),
    ("CtcLossBackward0", "_ctc_loss"),
    ("EmbeddingBagBackward0", "_embedding_bag"),
    ("GeqrfBackward0", "geqrf"),
    ("GridSampler2DBackward0", "grid_sampler_2d"),
    ("GridSampler3DBackward0", "grid_sampler_3d"),
    ("IgammaBackward0", "igamma"),
    ("IgammacBackward0", "igammac"),
    ("IndexReduceBackward0", "index_reduce"),
    ("MkldnnRnnLayerBackward0", "mkldnn_rnn_layer"),
    ("MultiMarginLossBackward0", "multi_margin_loss"),
    ("MultilabelMarginLossBackward0", "multilabel_margin_loss_forward"),
    ("OrmqrBackward0", "ormqr"),
    ("PackPaddedSequenceBackward0", "_pack_padded_sequence"),
    ("PdistBackward0", "_pdist_forward"),
    ("ScaledDotProductFlashAttentionForCpuBackward0", "_scaled_dot_product_flash_attention_for_cpu"),
    ("SoftMarginLossBackwardBackward0", "soft_margin_loss_backward"),
    ("SpecialZetaBackward0", "special_zeta"),
    ("SpecialZetaBackward1", "special_zeta"),
    ("SpecialZetaBackward2", "special_zeta"),
    ("Unique2Backward0", "_unique2"),
    ("UniqueConsecutiveBackward0", "unique_consecutive"),
    ("UniqueDimBackward0", "unique_dim"),
];

/// Refuses tangents to the operation of a node that has no forward direction.
pub(super) fn check_forward(node: &str, in_place: bool) -> Result<()> {
    match BACKWARD_ONLY.binary_search_by_key(&node, |(name, _)| name) {
        Ok(found) => Err(Error::NoForward { operation: BACKWARD_ONLY[found].1, in_place }.into()),
        Err(_) => Ok(()),
    }
}

/// `check_forward` for an operation whose parts are called in its place: for tangents of its inputs, and of
/// the values of those that are batched.
pub fn check_parts(node: &str, inputs: &[&Tensor]) -> Result<()> {
    if live().is_empty() {
        return Ok(());
    }
    inputs.iter().try_for_each(|&input| {
        let mut value = input.clone();
        loop {
            if innermost(&value)?.is_some() {
                return check_forward(node, false);
            }
            let Some(batch) = value.batch() else { return Ok(()) };
            value = batch.value;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::BACKWARD_ONLY;

    #[test]
    fn nodes_are_in_order() {
        assert!(BACKWARD_ONLY.is_sorted());
    }
}
