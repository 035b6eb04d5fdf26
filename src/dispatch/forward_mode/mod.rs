//! Forward mode: which tensors carry tangents, and how tangents pass an operation.

pub(crate) mod propagate;
pub mod tangents;
