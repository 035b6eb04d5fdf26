//! Functions of elements: loops over slices, and the functions that are more than one instruction.

pub(crate) mod apply;
pub mod bessel;
pub mod chain;
pub mod complex;
pub mod half;
pub mod incomplete;
pub mod jets;
pub mod map;
pub mod math;
pub mod polynomials;
pub mod special;
pub mod zip;
