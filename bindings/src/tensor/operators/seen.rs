//! Operators as calls of methods: whoever wants to see calls (`overrides`) is shown the method that an
//! operator stands for, before the operator computes.

use pyo3::ffi;
use pyo3::prelude::*;
use rushlight::ops::Operand;

use crate::overrides::{self, Method};
use crate::tensor::number::number;
use crate::tensor::object::{as_tensor, tensor_type};

/// The methods that an operator counts as when classes or modes are shown it.
pub(super) struct Operator {
    /// With a tensor on the left.
    pub(super) left: Method,
    /// With anything else there.
    right: Method,
}

impl Operator {
    /// One that counts as different methods.
    pub(super) const fn new(left: Method, right: Method) -> Operator {
        Operator { left, right }
    }

    /// One that counts as the same compiled method from both sides.
    pub(super) const fn of(name: &'static str) -> Operator {
        Operator::new(Method::compiled(name), Method::compiled(name))
    }
}

/// Shows an operator of two operands to those of them that want to see it.
///
/// # Safety
/// The operands are live objects and stay so during the call.
#[cold]
pub(super) unsafe fn offered(
    py: Python<'_>,
    operator: &Operator,
    left: *mut ffi::PyObject,
    right: *mut ffi::PyObject,
) -> PyResult<Option<*mut ffi::PyObject>> {
    // SAFETY: by the caller's promise.
    let operands = unsafe { [left, right].map(|operand| Bound::from_borrowed_ptr(py, operand)) };
    let from_left = as_tensor(&operands[0]).is_some();
    let order = if from_left { [&operands[0], &operands[1]] } else { [&operands[1], &operands[0]] };
    let answer = overrides::offer_method(py, if from_left { operator.left } else { operator.right }, &order)?;
    Ok(answer.map(Bound::into_ptr))
}

/// Shows an operator of a tensor to its class, and to those of what comes with it, if they want to see it.
///
/// # Safety
/// All are live objects and stay so during the call.
#[inline]
pub(super) unsafe fn offered_alone(
    py: Python<'_>,
    method: Method,
    object: *mut ffi::PyObject,
    with: &[*mut ffi::PyObject],
) -> PyResult<Option<*mut ffi::PyObject>> {
    // SAFETY: by the caller's promise.
    if !overrides::ever() || !unsafe { may_see(object) || with.iter().any(|&object| may_see(object)) } {
        return Ok(None);
    }
    // SAFETY: by the caller's promise.
    let all: Vec<_> = std::iter::once(&object)
        .chain(with)
        .map(|&object| unsafe { Bound::from_borrowed_ptr(py, object) })
        .collect();
    let answer = overrides::offer_method(py, method, &all.iter().collect::<Vec<_>>())?;
    Ok(answer.map(Bound::into_ptr))
}

/// Whether the class of an object, which is not the tensor class itself, or a mode may want to see a call.
///
/// # Safety
/// `object` is a live object.
#[inline]
pub(super) unsafe fn may_see(object: *mut ffi::PyObject) -> bool {
    // SAFETY: by the caller's promise.
    overrides::ever() && (unsafe { ffi::Py_TYPE(object) != tensor_type() } || overrides::in_mode())
}

/// An object that nobody wanted to see as an operand, if it can be one.
pub(super) fn unseen<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<Option<Operand<'a>>> {
    match as_tensor(object) {
        Some(tensor) => Ok(Some(Operand::Tensor(tensor))),
        None => Ok(number(object)?.map(Operand::Scalar)),
    }
}
