//! Calls that name what the engine's tensors do not have: the `meta` device, sparse layouts, quantised types. Such
//! a call matches no signature, or is refused; before that is raised, `rushlight._devices.fallback` is asked, where
//! tensors of these kinds are written in Python.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::signature::matching::Call;
use crate::values::device::{Device, Layout};
use crate::values::dtype::ElementType;

/// What Python answers to a call that has failed, or would; `None` if it is none of those.
#[cold]
pub(crate) fn answer<'py>(
    py: Python<'py>,
    function: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    receiver: Option<&Bound<'py, PyAny>>,
    call: &Call<'_, 'py>,
) -> PyResult<Option<Py<PyAny>>> {
    if !call.positional.iter().chain(call.values).any(names_it) {
        return Ok(None);
    }
    let positional: Vec<_> = receiver.into_iter().chain(call.positional).collect();
    let positional = PyTuple::new(py, positional)?;
    let keywords = PyDict::new(py);
    for (name, value) in call.names.into_iter().flatten().zip(call.values) {
        keywords.set_item(name, value)?;
    }
    let given = (function()?, positional, keywords);
    let answer = py.import("rushlight._devices.fallback")?.call_method1("answer", given)?;
    Ok((!answer.is(py.NotImplemented())).then(|| answer.unbind()))
}

/// Whether an argument is, or may be, what only tensors of other kinds have.
fn names_it(object: &Bound<'_, PyAny>) -> bool {
    if let Ok(device) = object.cast::<Device>() {
        return device.get().is_meta();
    }
    if let Ok(text) = object.cast::<PyString>() {
        return text.to_str().is_ok_and(|text| text.starts_with("meta") || text.starts_with("torch."));
    }
    let is_other = object.is_instance_of::<Layout>() && !object.is_exact_instance_of::<Layout>()
        || object.is_instance_of::<ElementType>() && !object.is_exact_instance_of::<ElementType>();
    is_other || object.get_type().name().is_ok_and(|name| name == "ndarray")
}
