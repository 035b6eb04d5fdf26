//! Sorting, and what rests on it: ranks, distinct elements.

pub mod distinct;
pub mod picked;
