//! Operations that are recorded although torch has no derivative of them: whoever asks for one is
//! refused. Here is their rule, which gradients cannot be differentiated in turn, and which operations
//! have no forward direction.

use super::in_place::Write;
use super::record::trace;
use super::tangents::innermost;
use crate::error::{Error, Result};
use crate::graph::tangents::live;
use crate::graph::{At, Gradients, Rule, mode};
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

/// Records what such an operation has written to `x`, which may be a view.
pub fn written(x: &Tensor, inputs: &[&Tensor], operation: &'static str) -> Result<()> {
    if !x.is_view() {
        let mut inputs = inputs.to_vec();
        inputs.push(x);
        return unknown(&inputs, std::slice::from_ref(x), operation);
    }
    let mut all = vec![x];
    all.extend(inputs);
    Write::begin(&all)?.finish(|_| Underived { name: UNKNOWN, operation })
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
const BACKWARD_ONLY: [(&str, &str); 33] = [
    ("AcoshBackward1", "acosh"),
    ("AsinhBackward1", "asinh"),
    ("AtanhBackward1", "atanh"),
    ("CdistBackward0", "_cdist_forward"),
    ("CdistBackwardBackward0", "_cdist_backward"),
    ("CholeskyBackward0", "cholesky"),
    ("ConvTbcBackward0", "conv_tbc"),
    ("CtcLossBackward0", "_ctc_loss"),
    ("EmbeddingBagBackward0", "_embedding_bag"),
    ("EuclideanDistBackward0", "_euclidean_dist"),
    ("GeqrfBackward0", "geqrf"),
    ("GridSampler2DBackward0", "grid_sampler_2d"),
    ("GridSampler3DBackward0", "grid_sampler_3d"),
    ("HuberLossBackwardBackward0", "huber_loss_backward"),
    ("IgammaBackward0", "igamma"),
    ("IgammacBackward0", "igammac"),
    ("IndexReduceBackward0", "index_reduce"),
    ("MkldnnRnnLayerBackward0", "mkldnn_rnn_layer"),
    ("MultiMarginLossBackward0", "multi_margin_loss"),
    ("MultilabelMarginLossBackward0", "multilabel_margin_loss_forward"),
    ("OrmqrBackward0", "ormqr"),
    ("PackPaddedSequenceBackward0", "_pack_padded_sequence"),
    ("PdistBackward0", "_pdist_forward"),
    ("PdistBackwardBackward0", "_pdist_backward"),
    ("ScaledDotProductFlashAttentionForCpuBackward0", "_scaled_dot_product_flash_attention_for_cpu"),
    ("SoftMarginLossBackwardBackward0", "soft_margin_loss_backward"),
    ("SpecialZetaBackward0", "special_zeta"),
    ("SpecialZetaBackward1", "special_zeta"),
    ("SpecialZetaBackward2", "special_zeta"),
    ("StandardGammaBackward0", "_standard_gamma"),
    ("Unique2Backward0", "_unique2"),
    ("UniqueConsecutiveBackward0", "unique_consecutive"),
    ("UniqueDimBackward0", "unique_dim"),
];

/// Of these, what mappings take apart: tangents pass its parts.
const PARTED: &str = "HuberLossBackwardBackward0";

/// Gradients that torch cannot differentiate in turn: the node of the operation, or that of the recorded
/// gradient, the node that is left behind in their place, and torch's name of their operation.
const ONCE_ONLY: [(&str, &str, &str); 7] = [
    ("CdistBackwardBackward0", "CdistBackwardBackward0", "_cdist_backward"),
    ("CtcLossBackward0", UNKNOWN, "_ctc_loss_backward"),
    ("HardsigmoidBackwardBackward0", UNKNOWN, "hardsigmoid_backward"),
    ("MultiMarginLossBackward0", UNKNOWN, "multi_margin_loss_backward"),
    ("MultilabelMarginLossBackward0", UNKNOWN, "multilabel_margin_loss_backward"),
    ("PdistBackward0", "PdistBackwardBackward0", "_pdist_backward"),
    ("ScaledDotProductFlashAttentionForCpuBackward0", UNKNOWN, ATTENTION_BACKWARD),
];

/// torch's name of the operation that gives attention's gradients.
pub(super) const ATTENTION_BACKWARD: &str = "_scaled_dot_product_flash_attention_for_cpu_backward";

/// What stands in the place of gradients that torch cannot differentiate in turn.
pub(super) struct OnceOnly {
    node: &'static str,
    operation: &'static str,
}

impl OnceOnly {
    /// Whether the gradients of a node are such, where they are recorded or may have tangents.
    pub(super) fn of(node: &str, recording: bool) -> Option<OnceOnly> {
        if !recording && !mode::special() {
            return None;
        }
        let found = ONCE_ONLY.binary_search_by_key(&node, |(name, ..)| name).ok()?;
        let (_, node, operation) = ONCE_ONLY[found];
        Some(OnceOnly { node, operation })
    }

    /// The gradients that are computed of these tensors, recorded so that their derivatives are refused.
    pub(super) fn gradients(
        &self,
        inputs: &[&Tensor],
        compute: impl FnOnce() -> Result<Gradients>,
    ) -> Result<Gradients> {
        let found: Gradients = {
            let _off = mode::GradModeGuard::off();
            compute()?.into_iter().map(|found| found.map(|found| found.detach())).collect()
        };
        let outputs: Vec<Tensor> = found.iter().flatten().cloned().collect();
        underived(inputs, &outputs, self.node, self.operation)?;
        Ok(found)
    }
}

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
    let levels = live();
    let is_mapped_within = |input: &&Tensor| {
        input.mapping().is_some_and(|mapping| levels.iter().all(|&level| level < mapping.id()))
    };
    if levels.is_empty() || (node == PARTED && inputs.iter().any(is_mapped_within)) {
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
    use super::{BACKWARD_ONLY, ONCE_ONLY};

    #[test]
    fn nodes_are_in_order() {
        assert!(BACKWARD_ONLY.is_sorted());
        assert!(ONCE_ONLY.is_sorted());
    }
}
