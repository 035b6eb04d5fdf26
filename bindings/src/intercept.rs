//! Operations as interceptors written in Python see them. `rushlight._operators` names an operation as
//! torch's dispatcher would, and knows what its arguments are called; here are what the engine shows
//! of it, and the call that led there.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use rushlight::Result;
use rushlight::dtype::Scalar;
use rushlight::graph::Shown;
use rushlight::ops::apply::Outputs;
use rushlight::ops::intercept::{self, Interceptor};
use rushlight::ops::operand::Value;

use crate::arguments::Arguments;
use crate::error::{carry, raise};
use crate::profile;
use crate::returns::ToPython;
use crate::tensor::object::{Reference, as_tensor};

/// An operation that is about to run.
#[pyclass(name = "_Operation", module = "rushlight._rushlight", frozen)]
pub(crate) struct Operation(Arc<intercept::Operation>);

#[pymethods]
impl Operation {
    /// torch's name of the node that it would record.
    #[getter]
    fn node(&self) -> &'static str {
        self.0.node
    }

    /// Whether it overwrites its first operand.
    #[getter]
    fn in_place(&self) -> bool {
        self.0.in_place
    }

    /// The tensors and numbers that it is given.
    #[getter]
    fn operands<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let object = |operand: &Value| match operand {
            Value::Tensor(tensor) => tensor.clone().to_python(py),
            Value::Scalar(number) => number.to_python(py),
        };
        PyTuple::new(py, self.0.operands.iter().map(object).collect::<PyResult<Vec<_>>>()?)
    }

    /// What else it is known by, under torch's names.
    #[getter]
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let attributes = PyDict::new(py);
        for (name, value) in &self.0.attributes {
            match value {
                Shown::Bool(value) => attributes.set_item(name, value)?,
                Shown::Int(value) | Shown::Whole(value) => attributes.set_item(name, value)?,
                Shown::Float(value) => attributes.set_item(name, value)?,
                Shown::Complex(value) => attributes.set_item(name, Scalar::Complex(*value).to_python(py)?)?,
                Shown::Ints(values) => attributes.set_item(name, PyList::new(py, values)?)?,
                Shown::Text(text) => attributes.set_item(name, text)?,
                Shown::Nothing | Shown::NoTensor | Shown::Number(_) | Shown::Computed | Shown::Saved(_) => {}
            }
        }
        Ok(attributes)
    }

    /// How many tensors it gives.
    #[getter]
    fn outputs(&self) -> usize {
        self.0.outputs
    }

    /// Hands it on to the next interceptor, or computes it: a list of tensors.
    fn proceed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let outputs = self.0.proceed().map_err(raise)?;
        PyList::new(py, outputs.into_iter().map(|y| y.to_python(py)).collect::<PyResult<Vec<_>>>()?)
    }
}

/// A mode of Python's.
struct PythonInterceptor(Reference<PyAny>);

impl Interceptor for PythonInterceptor {
    fn intercept(&self, operation: &Arc<intercept::Operation>) -> Result<Outputs> {
        let answered = |py: Python<'_>| {
            let call = innermost_call(py);
            let shown = Operation(operation.clone());
            let answer =
                py.import("rushlight._operators")?.call_method1("intercept", (self.0.get(), shown, call))?;
            let tensor = |object: PyResult<Bound<'_, PyAny>>| {
                let object = object?;
                let found = || Ok(PyTypeError::new_err(not_a_tensor(&object)?));
                as_tensor(&object).cloned().map_or_else(|| Err(found().unwrap_or_else(|error| error)), Ok)
            };
            answer.try_iter()?.map(tensor).collect::<PyResult<Outputs>>()
        };
        Python::attach(answered).map_err(carry)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn not_a_tensor(object: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(format!("Unable to cast {} to Tensor", object.repr()?))
}

/// Show operations of this thread to `mode` from now on, until it is popped.
#[pyfunction]
#[pyo3(name = "_push_interceptor")]
pub(crate) fn push_interceptor(mode: Bound<'_, PyAny>) {
    intercept::push(Arc::new(PythonInterceptor(Reference::new(mode.unbind()))));
}

/// End what the last push began.
#[pyfunction]
#[pyo3(name = "_pop_interceptor")]
pub(crate) fn pop_interceptor() {
    intercept::pop();
}

fn mode<'py>(py: Python<'py>, interceptor: &dyn Interceptor) -> Bound<'py, PyAny> {
    let python = interceptor.as_any().downcast_ref::<PythonInterceptor>();
    python.map_or_else(|| py.None().into_bound(py), |python| python.0.get().bind(py).clone())
}

/// The modes that operations of this thread are shown to, the innermost last.
#[pyfunction]
#[pyo3(name = "_interceptors")]
pub(crate) fn interceptors(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    PyList::new(py, intercept::all().iter().map(|interceptor| mode(py, &**interceptor)))
}

/// Call `function` with the innermost mode, which is shown nothing meanwhile.
#[pyfunction]
#[pyo3(name = "_beneath_interceptor")]
pub(crate) fn beneath_interceptor<'py>(function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    intercept::beneath(|innermost| function.call1((mode(py, &**innermost),)))
        .unwrap_or_else(|| Ok(py.None().into_bound(py)))
}

/// A call of a native function that is under way.
struct Call {
    name: &'static str,
    /// What was passed, by the names of the parameters; `self` is the first tensor.
    values: Py<PyDict>,
    /// Whether an operation was seen since.
    seen: bool,
}

thread_local!(static CALL: RefCell<Option<Call>> = const { RefCell::new(None) });

/// What is known of the call that led to an operation: the function's name, and what it was passed.
fn innermost_call(py: Python<'_>) -> Option<(&'static str, Py<PyDict>)> {
    CALL.with_borrow_mut(|call| {
        let call = call.as_mut()?;
        call.seen = true;
        Some((call.name, call.values.clone_ref(py)))
    })
}

/// Runs a native function while operations are intercepted or profiled. One that has come to no operation of the
/// engine's is shown afterwards, with what it answered.
#[cold]
pub(crate) fn call(
    arguments: &Arguments<'_, '_>,
    run: impl FnOnce() -> PyResult<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let _profiled = profile::called(arguments);
    if !intercept::is_intercepting() {
        return run();
    }
    let py = arguments.py();
    let values = PyDict::new(py);
    for (name, object) in arguments.named()? {
        values.set_item(if name == "input" { "self" } else { name }, object)?;
    }
    let call = Call { name: arguments.name, values: values.clone().unbind(), seen: false };
    let outer = CALL.replace(Some(call));
    let result = run();
    let seen = CALL.replace(outer).is_some_and(|call| call.seen);
    match result {
        Ok(result) if !seen => Ok(settle(arguments.name, &values, result.into_bound(py))?.unbind()),
        result => result,
    }
}

/// Shows a call that came to no operation of the engine, with what it answered; answers what is to be.
fn settle<'py>(
    name: &str,
    values: &Bound<'py, PyDict>,
    result: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    values.py().import("rushlight._operators")?.call_method1("settle", (name, values, result))
}

/// `settle` for a method without further arguments.
#[cold]
pub(crate) fn settle_method<'py>(
    name: &str,
    receiver: &Bound<'py, PyAny>,
    result: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let values = PyDict::new(receiver.py());
    values.set_item("self", receiver)?;
    settle(name, &values, result)
}
