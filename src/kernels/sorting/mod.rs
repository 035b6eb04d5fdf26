//! Elements by their order, and how many there are of each.

pub mod distinct;
mod few_kinds;
mod keys;
pub(crate) mod merge;
mod network;
mod short;
pub mod sort;
pub mod tally;
