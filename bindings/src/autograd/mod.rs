//! The graph and backward as Python sees them: nodes, hooks, saved tensors, functions of the user's own.

pub(crate) mod anomaly;
pub(crate) mod backward;
pub(crate) mod collector;
pub(crate) mod creation;
pub(crate) mod descent;
pub(crate) mod function;
pub(crate) mod hooks;
pub(crate) mod inspect;
pub(crate) mod node;
pub(crate) mod saved;
