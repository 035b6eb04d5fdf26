//! Forward mode: what carries tangents, and how they pass an operation.

pub(crate) mod passing;
pub mod tangents;
