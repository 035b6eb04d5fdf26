//! Layers, activations, pooling and losses.

pub(in crate::functions) mod images;
pub(in crate::functions) mod neural;
pub(in crate::functions) mod pooling;
