//! Activations: elementwise units, and those with parameters or gates.

pub mod activation;
pub mod gated;
pub mod prelu;
pub mod rectifiers;
pub mod smooth_units;
