//! What is shown operations before they compute: modes, and classes that answer for their tensors.

pub mod intercept;
pub mod subclass;
