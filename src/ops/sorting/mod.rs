//! Sorting, and what rests on it: ranks, distinct elements, how many there are of each.

pub mod distinct;
pub mod picked;
pub mod tally;
