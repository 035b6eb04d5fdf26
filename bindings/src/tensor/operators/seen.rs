//! Operators as calls of methods: whoever wants to see calls (`overrides`) is shown the method that an
//! operator stands for, before the operator computes.

use pyo3::ffi;
use pyo3::prelude::*;
use rushlight::ops::Operand;

use crate::overrides;
use crate::tensor::number::number;
use crate::tensor::object::{as_tensor, tensor_type};

/// The method that an operator counts as when its operands want to see it: from which side depends on
/// whether the left one is a tensor.
pub(super) fn seen_as(slot: &str, from_left: bool) -> &'static str {
    let (left, right) = match slot {
        "Py_nb_add" => ("add", "add"),
        "Py_nb_subtract" => ("sub", "__rsub__"),
        "Py_nb_multiply" => ("mul", "mul"),
        "Py_nb_true_divide" => ("div", "__rtruediv__"),
        "Py_nb_floor_divide" => ("__floordiv__", "__rfloordiv__"),
        "Py_nb_remainder" => ("remainder", "__rmod__"),
        "Py_nb_and" => ("__and__", "bitwise_and"),
        "Py_nb_or" => ("__or__", "bitwise_or"),
        "Py_nb_xor" => ("__xor__", "bitwise_xor"),
        "Py_nb_lshift" => ("__lshift__", "__rlshift__"),
        "Py_nb_rshift" => ("__rshift__", "__rrshift__"),
        "Py_nb_power" => ("pow", "__rpow__"),
        "Py_nb_matrix_multiply" => ("matmul", "__rmatmul__"),
        "Py_nb_negative" => ("neg", "neg"),
        "Py_nb_absolute" => ("abs", "abs"),
        "Py_nb_positive" => ("positive", "positive"),
        "Py_nb_invert" => ("__invert__", "__invert__"),
        "Py_nb_int" => ("__int__", "__int__"),
        "Py_nb_float" => ("__float__", "__float__"),
        "Py_nb_index" => ("__index__", "__index__"),
        "<" => ("lt", "lt"),
        "<=" => ("le", "le"),
        "==" => ("eq", "eq"),
        "!=" => ("ne", "ne"),
        ">" => ("gt", "gt"),
        ">=" => ("ge", "ge"),
        in_place => (method(in_place), method(in_place)),
    };
    if from_left { left } else { right }
}

/// Shows an operator of two operands to those of them that want to see it.
///
/// # Safety
/// The operands are live objects and stay so during the call.
#[cold]
pub(super) unsafe fn offered(
    py: Python<'_>,
    slot: &str,
    left: *mut ffi::PyObject,
    right: *mut ffi::PyObject,
) -> PyResult<Option<*mut ffi::PyObject>> {
    // SAFETY: by the caller's promise.
    let operands = unsafe { [left, right].map(|operand| Bound::from_borrowed_ptr(py, operand)) };
    let from_left = as_tensor(&operands[0]).is_some();
    let order = if from_left { [&operands[0], &operands[1]] } else { [&operands[1], &operands[0]] };
    let answer = overrides::offer_operator(py, seen_as(slot, from_left), &order)?;
    Ok(answer.map(Bound::into_ptr))
}

/// Shows an operator of a tensor to its class, and to those of what comes with it, if they want to see it.
///
/// # Safety
/// All are live objects and stay so during the call.
#[inline]
pub(super) unsafe fn offered_alone(
    py: Python<'_>,
    name: &str,
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
    let answer = overrides::offer_operator(py, name, &all.iter().collect::<Vec<_>>())?;
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

/// The method that a slot such as `Py_nb_inplace_add` stands for.
pub(super) fn method(slot: &str) -> &'static str {
    match slot {
        "Py_nb_inplace_add" => "add_",
        "Py_nb_inplace_subtract" => "sub_",
        "Py_nb_inplace_multiply" => "mul_",
        "Py_nb_inplace_true_divide" => "div_",
        "Py_nb_inplace_floor_divide" => "floor_divide_",
        "Py_nb_inplace_remainder" => "remainder_",
        "Py_nb_inplace_and" => "__iand__",
        "Py_nb_inplace_or" => "__ior__",
        "Py_nb_inplace_xor" => "__ixor__",
        "Py_nb_inplace_lshift" => "__ilshift__",
        "Py_nb_inplace_power" => "pow_",
        _ => "__irshift__",
    }
}
