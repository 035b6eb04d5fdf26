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
