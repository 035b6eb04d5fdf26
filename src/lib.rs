//! rushlight: a define-by-run autograd engine for the CPU.
#[macro_use]
pub mod dtype;
pub mod kernels;
pub mod tensor;
