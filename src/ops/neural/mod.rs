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

use crate::dispatch::composites::checkpointed::AtOnce;
use crate::graph::Attributes;

/// What calculates at once what the host says in other operations, by the name of its node and its parameters.
pub fn at_once(node: &str, parameters: &Attributes) -> Option<Arc<dyn AtOnce>> {
    loss::alignment::at_once(node, parameters).or_else(|| images::grid::at_once(node, parameters))
}
