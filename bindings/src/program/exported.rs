//! Exported programs as `rushlight.compiler` loads and runs them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use rushlight::Tensor;
use rushlight::dtype::DType;
use rushlight::program::portable::Session;

use crate::error::raise;
use crate::tensor::object::{as_tensor, wrap};
use crate::values::dtype::wrap_dtype;

/// A program that was read, with all that it works on.
#[pyclass(name = "_Exported", module = "rushlight._rushlight", frozen)]
pub(crate) struct Exported(Mutex<Session>);

impl Exported {
    fn session(&self) -> MutexGuard<'_, Session> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Exported {
    /// The program that these bytes are.
    #[new]
    fn new(bytes: &[u8]) -> PyResult<Exported> {
        Session::load(bytes).map(|session| Exported(Mutex::new(session))).map_err(raise)
    }

    /// Run it; return the tensors of its answer, one after the other.
    #[pyo3(signature = (*inputs))]
    fn run<'py>(&self, inputs: &Bound<'py, PyTuple>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let tensor = |object: Bound<'_, PyAny>| {
            as_tensor(&object)
                .cloned()
                .ok_or_else(|| PyTypeError::new_err("a program is called with tensors"))
        };
        let given = inputs.iter().map(tensor).collect::<PyResult<Vec<Tensor>>>()?;
        let found = self.session().run(&given).map_err(raise)?;
        found.into_iter().map(|tensor| wrap(inputs.py(), tensor)).collect()
    }

    /// Names, shapes and types of what it is called with.
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Vec<usize>, Bound<'py, PyAny>)>> {
        let inputs: Vec<(String, Vec<usize>, DType)> =
            self.session().inputs().map(|(name, shape, dtype)| (name.to_owned(), shape, dtype)).collect();
        inputs.into_iter().map(|(name, shape, dtype)| Ok((name, shape, wrap_dtype(py, dtype)?))).collect()
    }

    /// The tensors that it has, with their names.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let state: Vec<(String, Tensor)> =
            self.session().state().map(|(name, tensor)| (name.to_owned(), tensor.clone())).collect();
        state.into_iter().map(|(name, tensor)| Ok((name, wrap(py, tensor)?))).collect()
    }

    /// Have steps of optimisers go as far as this.
    fn set_rate(&self, rate: f64) {
        self.session().set_rate(rate);
    }

    /// The bytes of the program, and of what it has now.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.session().save().map_err(raise)?))
    }
}
