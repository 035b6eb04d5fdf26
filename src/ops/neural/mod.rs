//! What layers of neural networks compute beside products of matrices: attention, convolutions, pooling,
//! normalisation, padding, resampling, embeddings, dropout, and the steps of optimisers.

pub mod attention;
pub mod convolution;
pub(in crate::ops) mod convolution_gradients;
mod correlation;
pub mod descent;
pub mod dropout;
pub mod embedding;
pub mod images;
pub mod labelling;
pub mod loss;
pub mod normalise;
pub mod pooling;
pub mod recurrent;
mod scratch;
pub mod softmax;
pub mod units;

use std::sync::Arc;

use crate::dispatch::composites::checkpointed::{AtOnce, HostCalculation};
use crate::graph::Attributes;

/// Calculations that stand in for operations that the host composes of others.
const HOST_CALCULATIONS: &[HostCalculation] = &[images::grid::CALCULATION, loss::alignment::CALCULATION];

/// The calculation that stands in for the host's operation with this node and these parameters, if there is one.
pub fn at_once(node: &str, parameters: &Attributes) -> Option<Arc<dyn AtOnce>> {
    let found = HOST_CALCULATIONS.iter().find(|calculation| calculation.nodes.contains(&node))?;
    (found.of)(parameters)
}
