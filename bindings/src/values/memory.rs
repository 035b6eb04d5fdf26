//! The memory behind tensors, as a whole: which tensors share it, how to copy it with them, and
//! in which order they lie in it.

use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use rushlight::Tensor;
use rushlight::dtype::DType;
use rushlight::shape::{self, Layout, SharedLayout};
use rushlight::tensor::Array;

use crate::error::raise;
use crate::tensor::object::{TensorBase, as_tensor, wrap};

/// Return where a tensor's memory is: the same for all that share it.
#[pyfunction]
#[pyo3(name = "_memory_of")]
pub(crate) fn memory_of(tensor: &Bound<'_, PyAny>) -> usize {
    as_tensor(tensor).map_or(0, |tensor| tensor.memory().storage.data().addr().get())
}

/// Have so many bytes of memory, for all tensors that are on it.
#[pyfunction]
#[pyo3(name = "_resize_memory")]
pub(crate) fn resize_memory(tensor: &Bound<'_, TensorBase>, size: usize) -> PyResult<()> {
    tensor.get().tensor().memory().storage.resize(size).map_err(raise)
}

/// Return whether a tensor's memory could have another number of bytes.
#[pyfunction]
#[pyo3(name = "_is_memory_resizable")]
pub(crate) fn is_memory_resizable(tensor: &Bound<'_, TensorBase>) -> bool {
    tensor.get().tensor().memory().storage.is_resizable()
}

/// Return a copy of so many bytes of a tensor's memory, from one on, as they lie.
#[pyfunction]
#[pyo3(name = "_bytes_of")]
pub(crate) fn bytes_of<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, TensorBase>,
    start: usize,
    size: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let all = every_byte(tensor.get().tensor())?;
    let end = start.checked_add(size);
    match all.slice::<u8>().zip(end).and_then(|(all, end)| all.get(start..end)) {
        Some(bytes) => copied(py, bytes),
        None => Err(PyIndexError::new_err("there are not so many bytes")),
    }
}

/// The bytes, as Python has them: an exception where there is no memory for them, for which `PyBytes::new` panics.
pub(crate) fn copied<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |place| {
        place.copy_from_slice(bytes);
        Ok(())
    })
}

/// Write bytes to a tensor's memory, from one on.
#[pyfunction]
#[pyo3(name = "_write_bytes")]
pub(crate) fn write_bytes(tensor: &Bound<'_, TensorBase>, start: usize, bytes: &[u8]) -> PyResult<()> {
    match every_byte(tensor.get().tensor())?.write_bytes(start, bytes) {
        true => Ok(()),
        false => Err(PyIndexError::new_err("there are not so many bytes")),
    }
}

/// All of a tensor's memory as bytes.
fn every_byte(tensor: &Tensor) -> PyResult<Array> {
    let storage = tensor.memory().storage;
    let layout = SharedLayout::new(Layout::contiguous(&[storage.bytes()]).map_err(raise)?);
    Array::on(storage, layout, DType::UInt8).map_err(raise)
}

/// Return all of a tensor's memory as bytes; `None` if the tensor stands for many samples.
#[pyfunction]
#[pyo3(name = "_whole_memory")]
pub(crate) fn whole_memory<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, TensorBase>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let tensor = tensor.get().tensor();
    if tensor.is_batched() {
        return Ok(None);
    }
    wrap(py, Tensor::from_array(every_byte(tensor)?)).map(Some)
}

/// Return the dimensions in the order in which they lie in memory, the outermost first.
#[pyfunction]
#[pyo3(name = "_memory_order")]
pub(crate) fn memory_order<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, TensorBase>,
) -> PyResult<Bound<'py, PyTuple>> {
    let layout = tensor.get().tensor().layout();
    PyTuple::new(py, shape::memory_order(layout.shape(), &[layout.strides()]))
}

/// All elements of what Python has as a storage, in order: of its type if it has one, else of `dtype`.
pub(crate) fn elements_of(storage: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Tensor> {
    let shown = storage.getattr("_shown")?;
    let Some(shown) = as_tensor(&shown) else {
        return Err(PyTypeError::new_err("a storage shows its memory as a tensor"));
    };
    if storage.hasattr("dtype")? {
        return Ok(shown.clone());
    }
    let bytes = shown.array();
    let (count, offset) = (bytes.layout.numel() / dtype.size(), bytes.layout.offset() / dtype.size());
    let line = Layout::strided([count].into_iter().collect(), [1].into_iter().collect(), offset);
    let layout = SharedLayout::new(line.map_err(raise)?);
    Array::on(bytes.storage, layout, dtype).map(Tensor::from_array).map_err(raise)
}

/// Show other memory of the same size as a tensor shows its own.
#[pyfunction]
#[pyo3(name = "_on_memory")]
pub(crate) fn on_memory<'py>(
    py: Python<'py>,
    memory: &Bound<'py, TensorBase>,
    like: &Bound<'py, TensorBase>,
) -> PyResult<Bound<'py, PyAny>> {
    let (memory, like) = (memory.get().tensor().array(), like.get().tensor().array());
    if memory.storage.bytes() < like.layout.end() * like.dtype.size() {
        return Err(PyRuntimeError::new_err("the tensor does not fit into the memory"));
    }
    let shown = Array::on(memory.storage, like.layout, like.dtype).map_err(raise)?;
    wrap(py, Tensor::from_array(shown))
}
