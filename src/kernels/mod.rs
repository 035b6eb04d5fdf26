//! Kernels: numbers only. Slices or `ndarray` views go in, buffers come out; arguments are checked
//! before a kernel is called, so a kernel never fails. No tensors, no graph and no errors here.
//!
//! Two conventions hold throughout. A fresh output is `&mut [MaybeUninit<U>]` in row-major order
//! and every element of it is written; an output in place is an `ArrayViewMutD`. And work is split,
//! and reductions are folded, at points that depend on shapes alone, so the number of threads
//! never shows in the bits of a result.

mod blocks;
pub mod fourier;
pub mod geometry;
pub mod indexing;
pub mod interrupt;
mod lanes;
pub mod linalg;
mod merge;
pub mod neural;
pub mod parallel;
mod place;
pub mod pointwise;
pub mod random;
pub mod reduction;
mod simd;
pub mod sorting;
#[cfg(test)]
mod testing;
mod turned;
pub mod vector;
pub mod wide;
