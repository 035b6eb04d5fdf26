//! rushlight: a define-by-run autograd engine for the CPU.
#[macro_use]
pub mod dtype;
pub mod error;
pub mod graph;
pub mod shape;
pub mod storage;
pub mod tensor;

pub use error::{Error, Result};
pub use tensor::Tensor;
