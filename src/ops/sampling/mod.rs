//! Random numbers: where they come from, what they are drawn from, and tensors of them.

pub mod choose;
pub mod counts;
pub(crate) mod distribution;
pub(crate) mod generator;
pub mod random;
