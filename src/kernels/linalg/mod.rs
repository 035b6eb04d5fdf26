//! Products and factors of matrices.

pub mod distance;
pub mod factor;
pub mod gemm;
pub mod sparse;
