//! Products and factors of matrices.

pub(in crate::functions) mod factors;
pub(in crate::functions) mod linalg;
pub(in crate::functions) mod products;
