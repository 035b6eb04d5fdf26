//! Elements by their order.

pub mod distinct;
pub mod picked;
