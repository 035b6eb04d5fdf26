//! Tensor creation, copies and conversions.

pub mod cast;
pub(crate) mod copy;
pub mod create;
pub mod ranges;
