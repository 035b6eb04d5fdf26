//! Operations that consist of others: what is recorded of them, and what their derivatives are made of.

pub(crate) mod attribute_override;
pub mod checkpointed;
pub(crate) mod composite;
pub mod pointwise;
pub(crate) mod recomputed;
pub mod saved_inputs;
pub mod underived;

use smallvec::SmallVec;

use crate::error::Result;
use crate::graph::mode::GradModeGuard;
use crate::tensor::{Array, Arrays, Outputs, Tensor};

/// What a function that is written in operations makes of arrays. The tensors that it is given are its own: they have
/// no history, are mapped over nothing, and nothing that it does is recorded.
pub(crate) fn on_tensors(
    inputs: &[Array],
    function: impl FnOnce(&[&Tensor]) -> Result<Outputs>,
) -> Result<Arrays> {
    let _off = GradModeGuard::off();
    let tensors: SmallVec<[Tensor; 3]> = inputs.iter().cloned().map(Tensor::from_array).collect();
    let outputs = function(&tensors.iter().collect::<SmallVec<[&Tensor; 3]>>())?;
    Ok(outputs.iter().map(Tensor::array).collect())
}
