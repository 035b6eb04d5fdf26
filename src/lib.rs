//! rushlight: a define-by-run autograd engine for the CPU, with PyTorch's semantics and without Python.
//!
//! The modules in reading order: `dtype` (element types and promotion), `origin` (places in the host's program, as
//! numbers), `error` (failures as data), `shape` (sizes and strides), `threads` (atomics and locks), `sharing` (reference counts and
//! locks that know when one thread is alone),
//! `storage` (memory with a version counter), `tensor` (the handle: array, history, view), `graph` (nodes, edges,
//! saved tensors, hooks, modes), `kernels` (loops over numbers), `dispatch` (what a call passes on its way to a
//! kernel: vmap, forward mode, modes, recording), `schema` (how an operator is called), `ops` (the operators), `program` (recorded programs that run
//! again) and `engine` (backward). `ARCHITECTURE.md` says which of them may use which.
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
pub mod schema;
pub mod shape;
pub mod sharing;
pub mod storage;
pub mod tensor;
pub mod threads;

pub use error::{Error, Result};
pub use tensor::Tensor;
