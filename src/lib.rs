//! rushlight: a define-by-run autograd engine for the CPU.
//!
//! The rooms, in reading order: what an element is, where something happened, what can go wrong, what
//! a shape is, how threads share things, where bytes lie, what a tensor is, what backward runs over, how
//! numbers are computed, how a call goes, what the operations are, how backward runs.
#![deny(unsafe_code)]

#[macro_use]
pub mod dtype;
pub mod dispatch;
pub mod engine;
pub mod error;
pub mod graph;
pub mod kernels;
pub mod ops;
pub mod origin;
pub mod program;
pub mod shape;
pub mod sharing;
pub mod storage;
pub mod tensor;

pub use error::{Error, Result};
pub use tensor::Tensor;
