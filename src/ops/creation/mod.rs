//! Tensors out of nothing, and copies and conversions of others.

pub mod cast;
pub(crate) mod copy;
pub mod create;
pub mod ranges;
