//! Tensors from Python data and from numpy: `tensor` and its kin. How data is read is in
//! `tensor::construct` and `tensor::numpy`.
use super::entries::function;
use crate::calls::table::{Function, Seen};
use crate::error::raise;
use crate::values::arguments::Arguments;
use crate::values::device::Device;
use crate::values::returns::ToPython;
use rushlight::ops::creation::cast;

use crate::interpreter::warnings::Once;
use crate::tensor::{construct, dlpack, numpy, object};
use crate::values::dtype::wrap_dtype;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PyTuple};
use rushlight::Tensor;
use rushlight::dispatch::default_dtype;
use rushlight::dtype::DType;

/// The entries.
pub(super) const TABLE: &[Function] = &[
    function(
        "tensor",
        &[
            "(object data, *, dtype? dtype=None, device? device=None, bool pin_memory=False, bool requires_grad=False)",
        ],
        "Builds a tensor by copying data; it is a leaf without history.",
        tensor,
    )
    .seen(Seen::InModes),
    function(
        "as_tensor",
        &["(object data, dtype? dtype=None, device? device=None)"],
        "Converts data to a tensor, sharing memory and keeping history where possible.",
        as_tensor,
    )
    .seen(Seen::InModes),
    function(
        "asarray",
        &[
            "(object obj, *, dtype? dtype=None, device? device=None, bool? copy=None, bool? requires_grad=None)",
        ],
        "Converts an object to a tensor, sharing memory unless a copy is asked for or needed.",
        asarray,
    )
    .seen(Seen::InModes),
    function(
        "from_numpy",
        &["(object ndarray)"],
        "A tensor that shares the memory of a numpy array.",
        from_numpy,
    )
    .seen(Seen::ByNobody),
];

/// The object at a position where the signature requires one.
fn object<'a, 'py>(arguments: &Arguments<'a, 'py>, index: usize) -> PyResult<&'a Bound<'py, PyAny>> {
    arguments.object(index).ok_or_else(|| PyRuntimeError::new_err("an argument is missing"))
}

/// Refuses a device other than the CPU.
fn check_device(arguments: &Arguments<'_, '_>, index: usize) -> PyResult<()> {
    arguments.object(index).map_or(Ok(()), |device| Device::of(device)?.usable())
}

/// The tensor, made to require grad if it was asked for.
fn finished(arguments: &Arguments<'_, '_>, tensor: Tensor, requires_grad: bool) -> PyResult<Py<PyAny>> {
    if requires_grad {
        if !tensor.dtype().is_differentiable() {
            return Err(PyRuntimeError::new_err(
                "Only Tensors of floating point and complex dtype can require gradients",
            ));
        }
        tensor.set_requires_grad(true).map_err(raise)?;
    }
    tensor.to_python(arguments.py()).map(Bound::unbind)
}

fn tensor(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    check_device(arguments, 2)?;
    let made = construct::tensor(object(arguments, 0)?, arguments.dtype(1))?;
    finished(arguments, made, arguments.boolean(4))
}

fn as_tensor(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    check_device(arguments, 2)?;
    let made = construct::as_is(object(arguments, 0)?, arguments.dtype(1))?;
    finished(arguments, made, false)
}

fn asarray(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    check_device(arguments, 2)?;
    let (data, dtype) = (&lent(object(arguments, 0)?, arguments.dtype(1))?, arguments.dtype(1));
    let (copy, requires_grad) = (arguments.optional_boolean(3), arguments.optional_boolean(4));
    let mut made = match copy {
        Some(false) => shared(data, dtype)?,
        _ => construct::as_is(data, dtype)?,
    };
    if copy == Some(true) {
        made = cast::clone(&made).map_err(raise)?;
    }
    match requires_grad {
        None if made.requires_grad() => warn_of_gradient(arguments.py())?,
        Some(false) if made.requires_grad() => made = made.detach(),
        _ => {}
    }
    finished(arguments, made, requires_grad == Some(true))
}

/// A tensor on the memory that the object lends, if it is a capsule or a buffer; else the object.
fn lent<'py>(data: &Bound<'py, PyAny>, dtype: Option<DType>) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    if data.is_instance_of::<PyCapsule>() {
        return dlpack::from_capsule(data);
    }
    let is_known = object::as_tensor(data).is_some() || numpy::is_array(data) || numpy::is_scalar(data);
    if is_known || data.is_instance_of::<PyList>() || data.is_instance_of::<PyTuple>() {
        return Ok(data.clone());
    }
    let read_as = wrap_dtype(py, dtype.unwrap_or_else(default_dtype::get))?;
    let made = py.import("rushlight._tensors.sharing")?.call_method1("lent", (data, read_as))?;
    Ok(if made.is_none() { data.clone() } else { made })
}

/// The tensor that shows the memory of the object; refused where that takes a copy.
fn shared(data: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    if numpy::is_scalar(data) {
        return Err(PyRuntimeError::new_err(
            "can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ",
        ));
    }
    if object::as_tensor(data).is_none() && !numpy::is_array(data) {
        return Err(PyValueError::new_err("can't alias arbitrary sequence into a tensor."));
    }
    let shown = construct::as_is(data, None)?;
    match dtype.filter(|&to| to != shown.dtype()) {
        Some(to) => Err(PyValueError::new_err(format!(
            "can't alias tensor with dtype '{}' into dtype '{}'.",
            shown.dtype().title(),
            to.title()
        ))),
        None => Ok(shown),
    }
}

/// Says once that a gradient may be required because the object does.
fn warn_of_gradient(py: Python<'_>) -> PyResult<()> {
    static TOLD: Once = Once::new();
    let text = c"torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass requires_grad=False explicitly to get the old behavior and silence this warning.";
    TOLD.warn(py, text)
}

fn from_numpy(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    numpy::from_numpy(object(arguments, 0)?)?.to_python(arguments.py()).map(Bound::unbind)
}
