//! What layers of neural networks compute beside products of matrices: attention, convolutions, pooling,
//! normalisation, padding, resampling, embeddings, dropout.

pub mod attention;
pub mod convolution;
mod convolution_gradients;
mod correlation;
pub mod dropout;
pub mod embedding;
pub mod fold;
pub mod max_pool;
pub mod mean_pool;
pub mod normalise;
pub mod pad;
mod resample;
pub mod shuffle;
pub mod upsample;
