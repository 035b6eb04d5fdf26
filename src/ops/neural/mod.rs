//! What layers of neural networks compute beside products of matrices: attention, convolutions, pooling,
//! normalisation, padding, resampling, embeddings, dropout, and the steps of optimisers.

pub mod activation;
pub mod attention;
pub mod convolution;
mod convolution_gradients;
mod correlation;
pub mod descent;
pub mod dropout;
pub mod embedding;
pub mod fold;
pub mod gated;
pub mod loss;
pub mod max_pool;
pub mod mean_pool;
pub mod normalise;
pub mod pad;
pub mod prelu;
pub mod rectifiers;
pub mod recurrent;
mod resample;
mod scratch;
pub mod shuffle;
pub mod smooth_units;
pub mod softmax;
pub mod upsample;
