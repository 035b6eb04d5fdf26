//! Operations that consist of others: what is recorded of them, and what their derivatives are made of.

pub(crate) mod composed;
pub mod pointwise;
pub(crate) mod stretch;
pub mod underived;
pub mod whole;
