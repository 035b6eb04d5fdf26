//! Whether a tensor has memory that can be shown to the program.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::{Error, Tensor};

use crate::error::raise;

/// A tensor whose memory was made smaller than it cannot be shown to the program.
pub(crate) fn check_allocated(tensor: &Tensor, method: &str) -> PyResult<()> {
    let memory = tensor.memory();
    if memory.layout.numel() == 0 || memory.layout.end() * memory.dtype.size() <= memory.storage.bytes() {
        return Ok(());
    }
    let text = format!("{method}() shouldn't be called on a tensor with unallocated storage");
    Err(PyRuntimeError::new_err(text))
}

/// A tensor that stands for many samples, or that a transform follows, has no memory to show.
pub(crate) fn check_memory(tensor: &Tensor) -> PyResult<()> {
    if tensor.is_batched() || tensor.is_followed() {
        Err(raise(Error::MappedMemory {}.into()))
    } else {
        Ok(())
    }
}
