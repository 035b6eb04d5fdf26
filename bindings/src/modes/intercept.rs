//! Operations as interceptors that are written in Python see them (Note [Interceptors]).
//! `rushlight._operators.calls` names an operation as torch's dispatcher would, and knows what its arguments are
//! called; here are what the engine shows of it, and the call that led there.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use rushlight::dispatch::apply::Outputs;
use rushlight::dispatch::modes::intercept;
use rushlight::dispatch::modes::intercept::Interceptor;
use rushlight::dispatch::modes::subclass;
use rushlight::dispatch::operand::Value;
use rushlight::dtype::Scalar;
use rushlight::graph::Shown;
use rushlight::tensor::Subclass;
use rushlight::{Result, Tensor};

use crate::error::{carry, raise};
use crate::interpreter::declining::Declining;
use crate::modes::profile;
use crate::tensor::object::{Reference, as_tensor, wrap_as};
use crate::values::arguments::Arguments;
use crate::values::element_types::asked;
use crate::values::returns::ToPython;

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

    /// What it holds beside them, such as indices.
    #[getter]
    fn beside<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        listed(py, Ok(self.0.beside.iter().cloned().collect()))
    }

    /// How many of the operands, the last ones, are those.
    #[getter]
    fn held(&self) -> usize {
        self.0.held
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
                Shown::Type(dtype) => attributes.set_item(name, dtype.to_python(py)?)?,
                Shown::Saved(places) => attributes.set_item(name, places.clone())?,
                Shown::Nothing | Shown::NoTensor | Shown::Number(_) | Shown::Computed => {}
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
        listed(py, self.0.proceed())
    }

    /// Computes it of other operands, if they are of the same shapes and types: a list of tensors.
    fn of<'py>(
        &self,
        py: Python<'py>,
        operands: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        let own = self.0.operands.iter().zip(&operands);
        let value = |(own, other): (&Value, &Bound<'_, PyAny>)| {
            as_tensor(other).map_or_else(|| own.clone(), |tensor| Value::Tensor(tensor.clone()))
        };
        self.0.of(own.map(value).collect()).map(|outputs| listed(py, outputs)).transpose()
    }

    /// Computes it, whoever would like to see it: a list of tensors.
    fn compute<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        listed(py, self.0.compute())
    }
}

fn listed(py: Python<'_>, outputs: Result<Outputs>) -> PyResult<Bound<'_, PyList>> {
    let outputs = outputs.map_err(raise)?;
    PyList::new(py, outputs.into_iter().map(|y| y.to_python(py)).collect::<PyResult<Vec<_>>>()?)
}

/// A mode of Python's.
struct PythonInterceptor(Reference<PyAny>);

impl Interceptor for PythonInterceptor {
    fn intercept(&self, operation: &Arc<intercept::Operation>) -> Result<Outputs> {
        Python::attach(|py| answer(py, Some(self.0.get()), operation)).map_err(carry)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The dispatch subclasses among the operands.
struct Classes;

impl Interceptor for Classes {
    fn intercept(&self, operation: &Arc<intercept::Operation>) -> Result<Outputs> {
        Python::attach(|py| answer(py, None, operation)).map_err(carry)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Has the engine show operations to dispatch subclasses.
pub(crate) fn listen() {
    intercept::register_subclass_handler(Box::new(Classes));
    subclass::prepare();
}

/// What `mode`, or the classes of the operands, answer in the place of an operation.
fn answer(
    py: Python<'_>,
    mode: Option<&Py<PyAny>>,
    operation: &Arc<intercept::Operation>,
) -> PyResult<Outputs> {
    let call = innermost_call(py);
    let shown = Operation(operation.clone());
    let answer = py.import("rushlight._operators.calls")?.call_method1("intercept", (mode, shown, call))?;
    let tensor = |object: PyResult<Bound<'_, PyAny>>| {
        let object = object?;
        let found = || Ok(PyRuntimeError::new_err(not_a_tensor(&object)?));
        as_tensor(&object).cloned().map_or_else(|| Err(found().unwrap_or_else(|error| error)), Ok)
    };
    answer.try_iter()?.map(tensor).collect()
}

fn not_a_tensor(object: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(format!("Unable to cast {} to Tensor", object.str()?))
}

static DECLINING: Declining = Declining::named("_disabled_torch_dispatch_impl");

/// Whether instances of a class are shown operations: it has a `__torch_dispatch__` that does not decline.
pub(crate) fn is_dispatch_subclass(class: &Bound<'_, PyType>) -> PyResult<bool> {
    Ok(DECLINING.unless_declined(class, intern!(class.py(), "__torch_dispatch__"))?.is_some())
}

/// Call `func` with no class shown what it does: the `__torch_dispatch__` of classes that do not want to see it.
#[pyfunction]
#[pyo3(name = "_disabled_torch_dispatch_impl", signature = (func, _types, args = None, kwargs = None))]
pub(crate) fn declining<'py>(
    func: &Bound<'py, PyAny>,
    _types: &Bound<'py, PyAny>,
    args: Option<&Bound<'py, PyTuple>>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let _off = DispatchOffGuard::enter();
    func.call(args.unwrap_or(&PyTuple::empty(func.py())), kwargs)
}

/// Shows operations of this thread to no class until it goes.
struct DispatchOffGuard;

impl DispatchOffGuard {
    fn enter() -> DispatchOffGuard {
        intercept::set_dispatching_to_subclasses(false);
        DispatchOffGuard
    }
}

impl Drop for DispatchOffGuard {
    fn drop(&mut self) {
        intercept::set_dispatching_to_subclasses(true);
    }
}

/// Show operations of this thread to no class, or to classes again: as often as it was said.
#[pyfunction]
#[pyo3(name = "_set_dispatching_to_subclasses")]
pub(crate) fn set_dispatching_to_subclasses(dispatching: bool) {
    intercept::set_dispatching_to_subclasses(dispatching);
}

/// Whether classes of this thread are shown operations, if there are any.
#[pyfunction]
#[pyo3(name = "_is_dispatching_to_subclasses")]
pub(crate) fn is_dispatching_to_subclasses() -> bool {
    intercept::is_dispatching_to_subclasses()
}

/// A tensor of a dispatch subclass, without numbers.
#[pyfunction]
#[pyo3(name = "_make_without_data")]
pub(crate) fn make_without_data<'py>(
    class_: &Bound<'py, PyType>,
    sizes: Vec<i64>,
    strides: Option<Vec<i64>>,
    offset: usize,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let dtype = asked("_make_wrapper_subclass", "dtype", 6, dtype)?;
    let made = subclass::without_data(&sizes, strides.as_deref(), offset, dtype).map_err(raise)?;
    let object = wrap_as(class_, made)?;
    if let Some(tensor) = as_tensor(&object) {
        tensor.foreign().set_subclass(Subclass::WithoutData);
    }
    Ok(object)
}

/// Whether a tensor has no numbers.
#[pyfunction]
#[pyo3(name = "_has_no_data")]
pub(crate) fn has_no_data(tensor: &Bound<'_, PyAny>) -> bool {
    as_tensor(tensor).is_some_and(Tensor::has_no_data)
}

/// Refuses what would show the memory of a tensor of a dispatch subclass.
pub(crate) fn check_readable(tensor: &Tensor, told: impl FnOnce() -> String) -> PyResult<()> {
    if tensor.is_subclassed() && intercept::is_dispatching_to_subclasses() {
        Err(PyRuntimeError::new_err(told()))
    } else {
        Ok(())
    }
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
    let py = arguments.py();
    if !(intercept::is_intercepting()
        || intercept::is_dispatching_to_subclasses() && is_subclassed(arguments)?)
    {
        return run();
    }
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

/// Whether an argument, or an element of one, is of a dispatch subclass.
fn is_subclassed(arguments: &Arguments<'_, '_>) -> PyResult<bool> {
    let subclassed = |object: &Bound<'_, PyAny>| as_tensor(object).is_some_and(Tensor::is_subclassed);
    for (_, object) in arguments.named()? {
        if subclassed(&object) {
            return Ok(true);
        }
        if object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>() {
            for element in object.try_iter()? {
                if subclassed(&element?) {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// Shows a call that came to no operation of the engine, with what it answered; answers what is to be.
fn settle<'py>(
    name: &str,
    values: &Bound<'py, PyDict>,
    result: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    values.py().import("rushlight._operators.calls")?.call_method1("settle", (name, values, result))
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
