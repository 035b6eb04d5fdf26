//! Operations that consist of others: what is recorded of them, and what their derivatives are made of.

pub(crate) mod attribute_override;
pub mod checkpointed;
pub(crate) mod composite;
pub mod pointwise;
pub(crate) mod recomputed;
pub mod saved_inputs;
pub mod underived;
