//! Many elements as one, and running results.

pub(crate) mod along;
pub mod logarithms;
pub mod reduce;
pub mod scan;
