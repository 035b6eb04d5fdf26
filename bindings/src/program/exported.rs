//! Exported programs as `rushlight.compiler` loads and runs them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Instant;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use rushlight::Tensor;
use rushlight::dispatch::long_work;
use rushlight::dtype::DType;
use rushlight::program::portable::Session;

use crate::error::raise;
use crate::tensor::object::{as_tensor, wrap};
use crate::values::dtype::wrap_dtype;
use crate::values::memory::copied;

/// The name, the shape and the type of what a program is called with.
type Input<'py> = (String, Vec<usize>, Bound<'py, PyAny>);

/// A program that was read, with all that it works on.
#[pyclass(name = "_Exported", module = "rushlight._rushlight", frozen)]
pub(crate) struct Exported {
    session: Mutex<Session>,
    /// How long the last run took.
    nanoseconds: AtomicU64,
}

impl Exported {
    /// The program, unless somebody runs it: nobody waits here who may have what that one waits for.
    fn session(&self) -> PyResult<MutexGuard<'_, Session>> {
        match self.session.try_lock() {
            Ok(session) => Ok(session),
            Err(TryLockError::Poisoned(session)) => Ok(session.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(PyRuntimeError::new_err("the program is being run, which it is once at a time"))
            }
        }
    }
}

#[pymethods]
impl Exported {
    /// The program that these bytes are.
    #[new]
    fn new(bytes: &[u8]) -> PyResult<Exported> {
        let session = Mutex::new(Session::load(bytes).map_err(raise)?);
        Ok(Exported { session, nanoseconds: AtomicU64::new(0) })
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
        let (start, mut found) = (Instant::now(), Ok(Ok(Vec::new())));
        let run = || {
            found = self.session().map(|mut session| session.run(&given));
            Ok(())
        };
        long_work::to_the_end(self.nanoseconds.load(Ordering::Relaxed), run).map_err(raise)?;
        let found = found?.map_err(raise)?;
        self.nanoseconds.store(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        found.into_iter().map(|tensor| wrap(inputs.py(), tensor)).collect()
    }

    /// Names, shapes and types of what it is called with.
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Vec<Input<'py>>> {
        let inputs: Vec<(String, Vec<usize>, DType)> =
            self.session()?.inputs().map(|(name, shape, dtype)| (name.to_owned(), shape, dtype)).collect();
        inputs.into_iter().map(|(name, shape, dtype)| Ok((name, shape, wrap_dtype(py, dtype)?))).collect()
    }

    /// The tensors that it has, with their names.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let state: Vec<(String, Tensor)> =
            self.session()?.state().map(|(name, tensor)| (name.to_owned(), tensor.clone())).collect();
        state.into_iter().map(|(name, tensor)| Ok((name, wrap(py, tensor)?))).collect()
    }

    /// Have steps of optimisers go as far as this.
    fn set_rate(&self, rate: f64) -> PyResult<()> {
        self.session().map(|mut session| session.set_rate(rate))
    }

    /// The bytes of the program, and of what it has now.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        copied(py, &self.session()?.save().map_err(raise)?)
    }
}
