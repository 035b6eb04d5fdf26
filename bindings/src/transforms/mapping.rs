//! vmap: the levels that `func.vmap` opens and closes, and the tensors that enter and leave them. The names are
//! torch's.

use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rushlight::Tensor;
use rushlight::dispatch::batch;
use rushlight::tensor::{Mapping, Randomness};

use crate::error::raise;
use crate::tensor::object::{TensorBase, as_tensor, wrap};

/// Open a level for as many samples; return its number.
#[pyfunction]
#[pyo3(name = "_vmap_increment_nesting")]
pub(crate) fn open(batch_size: usize, randomness: &str) -> PyResult<usize> {
    let randomness = match randomness {
        "different" => Randomness::Different,
        "same" => Randomness::Same,
        "error" => Randomness::Error,
        "unasked" => Randomness::Unasked,
        _ => {
            let text = "randomness argument must be error, same, or different.";
            return Err(PyRuntimeError::new_err(text));
        }
    };
    Ok(Mapping::open(batch_size, randomness).level())
}

/// Close the innermost level.
#[pyfunction]
#[pyo3(name = "_vmap_decrement_nesting")]
pub(crate) fn close() {
    Mapping::close();
}

/// Return the number of the innermost level that counts on this thread; 0 if there is none.
#[pyfunction]
#[pyo3(name = "_vmap_nesting")]
pub(crate) fn nesting() -> usize {
    Mapping::innermost().map_or(0, |mapping| mapping.level())
}

/// Tell whether no transform of derivatives is open within the innermost mapping: they take apart what torch
/// does not know as an operation.
#[pyfunction]
#[pyo3(name = "_vmap_is_innermost")]
pub(crate) fn is_innermost() -> bool {
    batch::is_innermost()
}

/// Tell what random operations do in a level.
#[pyfunction]
#[pyo3(name = "_vmap_randomness")]
pub(crate) fn randomness(number: usize) -> PyResult<&'static str> {
    Ok(name(level(number)?.randomness()))
}

/// What random operations do, in a word.
pub(crate) fn name(randomness: Randomness) -> &'static str {
    match randomness {
        Randomness::Error | Randomness::Unasked => "error",
        Randomness::Different => "different",
        Randomness::Same => "same",
    }
}

fn level(number: usize) -> PyResult<Arc<Mapping>> {
    Mapping::numbered(number).ok_or_else(|| PyRuntimeError::new_err(format!("there is no level {number}")))
}

/// Return a tensor that stands for each sample of `tensor`, which lie along a dimension.
#[pyfunction]
#[pyo3(name = "_add_batch_dim")]
pub(crate) fn enter<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, TensorBase>,
    dim: usize,
    number: usize,
) -> PyResult<Bound<'py, PyAny>> {
    wrap(py, batch::enter(tensor.get().tensor(), dim, &level(number)?).map_err(raise)?)
}

/// Return all samples of a tensor along a dimension.
#[pyfunction]
#[pyo3(name = "_remove_batch_dim")]
pub(crate) fn leave<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, TensorBase>,
    number: usize,
    dim: i64,
) -> PyResult<Bound<'py, PyAny>> {
    wrap(py, batch::leave(tensor.get().tensor(), dim, &level(number)?).map_err(raise)?)
}

/// Return what a tensor is around at a level, and along which dimension the samples lie.
#[pyfunction]
#[pyo3(name = "_unwrap_batched")]
pub(crate) fn unwrap<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, TensorBase>,
    number: usize,
) -> PyResult<(Bound<'py, PyAny>, Option<usize>)> {
    let batch = tensor.get().tensor().batch_at(&level(number)?);
    Ok((wrap(py, batch.value)?, batch.dim))
}

/// Call a function as if a level and those within it had not been opened.
#[pyfunction]
#[pyo3(name = "_below")]
pub(crate) fn below<'py>(
    number: usize,
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    level(number)?.below_this(|| function.call1(args))
}

fn batched<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Tensor> {
    as_tensor(object).filter(|tensor| tensor.is_batched())
}

/// Tell whether a tensor stands for many samples.
#[pyfunction]
#[pyo3(name = "_is_batchedtensor")]
pub(crate) fn is_batchedtensor(tensor: &Bound<'_, PyAny>) -> bool {
    batched(tensor).is_some()
}

/// Return what a batched tensor is around.
#[pyfunction]
#[pyo3(name = "_get_unwrapped")]
pub(crate) fn get_unwrapped<'py>(py: Python<'py>, tensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match batched(tensor).and_then(Tensor::batch) {
        Some(batch) => wrap(py, batch.value),
        None => Err(PyRuntimeError::new_err("No wrappers present!")),
    }
}

/// Return what a tensor is around if that is the same for all samples, else the tensor.
#[pyfunction]
#[pyo3(name = "_alike_in_all")]
pub(crate) fn alike_in_all<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, TensorBase>,
) -> PyResult<Bound<'py, PyAny>> {
    wrap(py, batch::alike_in_all(tensor.get().tensor()))
}

/// Return the level that a batched tensor belongs to, -1 for none.
#[pyfunction]
#[pyo3(name = "_maybe_get_level")]
pub(crate) fn maybe_get_level(tensor: &Bound<'_, PyAny>) -> i64 {
    batched(tensor).and_then(Tensor::mapping).map_or(-1, |mapping| mapping.level() as i64)
}

/// Return the tensor as one of the innermost level: what is differentiated within it has to be.
#[pyfunction]
#[pyo3(name = "_wrap_for_level")]
pub(crate) fn within<'py>(py: Python<'py>, tensor: &Bound<'py, TensorBase>) -> PyResult<Bound<'py, PyAny>> {
    wrap(py, batch::within(tensor.get().tensor()).map_err(raise)?)
}
