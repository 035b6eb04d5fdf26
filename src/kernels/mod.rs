//! Kernels: numbers only. Slices or `ndarray` views go in, buffers come out; arguments are checked
//! before a kernel is called, so a kernel never fails. No tensors, no graph and no errors here.
//!
//! Two conventions hold throughout. A fresh output is `&mut [MaybeUninit<U>]` in row-major order
//! and every element of it is written; an output in place is an `ArrayViewMutD`. And work is split,
//! and reductions are folded, at points that depend on shapes alone, so the number of threads
//! never shows in the bits of a result.

mod along;
mod apply;
pub mod bessel;
mod blocks;
pub mod choice;
mod dense;
pub mod distinct;
pub mod factor;
pub mod fourier;
pub mod gather;
pub mod gemm;
pub mod half;
pub mod incomplete;
pub mod interrupt;
pub mod jets;
mod lanes;
pub mod map;
pub mod math;
mod merge;
pub mod moves;
pub mod normalise;
pub mod parallel;
pub mod polynomials;
pub mod random;
pub mod reduce;
pub mod scan;
mod simd;
pub mod softmax;
pub mod sort;
pub mod special;
pub mod taps;
#[cfg(test)]
mod testing;
pub mod vector;
pub mod windows;
pub mod zip;
