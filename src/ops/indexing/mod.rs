//! Indexing: reading, writing and combining elements that indices or masks name.

pub mod along;
pub(in crate::ops) mod directly;
pub mod gather;
pub mod index;
pub mod indexed;
pub mod masked;
pub mod nonzero;
pub(crate) mod places;
pub mod scatter_reduce;
