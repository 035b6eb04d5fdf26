//! Elements by their order.

pub mod distinct;
pub(crate) mod merge;
pub mod sort;
