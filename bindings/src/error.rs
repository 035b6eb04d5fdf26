//! Python exceptions of the engine's errors. The texts are in `rushlight._messages`, which is imported when the first
//! error is raised.

use std::any::Any;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyDict, PyList, PyTuple};
use rushlight::Error;
use rushlight::dispatch::long_work;
use rushlight::error::{Foreign, Value};

use crate::interpreter::origin;
use crate::values::dtype;

/// The Python exception of an error of the engine. An exception that came from Python is returned as it was.
#[cold]
#[allow(clippy::boxed_local, reason = "it is what the engine's results hold")]
pub(crate) fn raise(error: Box<Error>) -> PyErr {
    match *error {
        Error::Foreign(Foreign(payload)) => match payload.downcast::<PyErr>() {
            Ok(exception) => *exception,
            Err(_) => PyRuntimeError::new_err("a failure that is not an exception of Python"),
        },
        error => Python::attach(|py| match worded(py, &error) {
            Ok(exception) => PyErr::from_value(exception),
            // The words are missing or broken: better plain ones than another failure.
            Err(_) => PyRuntimeError::new_err(error.to_string()),
        }),
    }
}

/// A Python exception as an error of the engine, which hands it on to `raise`.
pub(crate) fn carry(exception: PyErr) -> Box<Error> {
    Box::new(Error::Foreign(Foreign(Box::new(exception))))
}

/// The exception of a panic: the error for which long work was given up, else a fault of the engine itself.
#[cold]
pub(crate) fn panicked(payload: Box<dyn Any + Send>) -> PyErr {
    let payload = match long_work::given_up(payload) {
        Ok(error) => return raise(error),
        Err(payload) => payload,
    };
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    PyRuntimeError::new_err(format!("INTERNAL ASSERT FAILED: {text}"))
}

fn worded<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    for (name, value) in error.fields() {
        fields.set_item(name, object(py, value)?)?;
    }
    py.import("rushlight._messages.table")?.call_method1("render", (error.kind(), fields))
}

fn object(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    Ok(match value {
        Value::Int(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => value.into_pyobject(py)?.into_any(),
        Value::Complex(value) => PyComplex::from_doubles(py, value.re, value.im).into_any(),
        Value::Text(value) => value.into_pyobject(py)?.into_any(),
        Value::Shape(value) => PyList::new(py, value)?.into_any(),
        Value::DType(value) => dtype::wrap_dtype(py, value)?,
        Value::Origin(value) => origin::describe(py, value)?,
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
    })
}

/// Every kind of failure that the engine has, with the names of its fields.
#[pyfunction]
pub(crate) fn error_kinds(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let kinds = PyDict::new(py);
    for (kind, fields) in Error::KINDS {
        kinds.set_item(kind, PyTuple::new(py, *fields)?)?;
    }
    Ok(kinds)
}
