//! Operations that consist of others: what is recorded of them, and what their derivatives are made of.

pub mod checkpointed;
pub(crate) mod composite;
pub mod pointwise;
pub(crate) mod recomputed;
pub mod underived;
