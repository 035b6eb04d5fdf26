//! Forward mode: what carries tangents, and how they pass an operation.

pub(crate) mod propagate;
pub mod tangents;
