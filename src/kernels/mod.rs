//! Kernels: numbers only.

pub mod random;
mod simd;
