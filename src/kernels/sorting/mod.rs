//! Elements by their order, and how many there are of each.

pub mod distinct;
pub(crate) mod merge;
mod short;
pub mod sort;
pub mod tally;
