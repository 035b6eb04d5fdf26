//! Operations that consist of others: what is recorded of them, and what their derivatives are made of.

pub(crate) mod composite;
pub mod fused;
pub mod pointwise;
pub(crate) mod recomputed;
pub mod underived;
