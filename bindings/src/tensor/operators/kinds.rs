//! Kinds of slots: of two operands, in place, of one tensor, to an object of Python. Tensors of the exact type,
//! floats and integers are recognised by their type pointers; everything else takes the way of `uncommon`.

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use rushlight::dtype::Scalar;
use rushlight::graph::mode;
use rushlight::ops::Operand;
use rushlight::tensor::any_subclassed;
use rushlight::{Error, Result, Tensor};

use super::seen::{Operator, may_see, offered, offered_alone, unseen};
use crate::calls::writes;
use crate::error::raise;
use crate::overrides;
use crate::tensor::number::number;
use crate::tensor::object::{borrow, guarded, wrap_raw};
use rushlight::schema::OtherArguments;

/// The tensor in an object of the exact type of tensors.
///
/// # Safety
/// `object` is a live object and stays one for `'a`.
#[inline]
unsafe fn common<'a>(object: *mut ffi::PyObject) -> Option<&'a Tensor> {
    // SAFETY: by the caller's promise.
    unsafe { if ffi::Py_TYPE(object) == overrides::common_type() { borrow(object) } else { None } }
}

/// An object as an operand, if it can be one.
///
/// # Safety
/// `object` is a live object and stays one for `'a`.
#[inline]
pub(super) unsafe fn operand<'a>(
    py: Python<'_>,
    object: *mut ffi::PyObject,
) -> PyResult<Option<Operand<'a>>> {
    // SAFETY: by the caller's promise; what is read fits the type that was looked at.
    unsafe {
        if let Some(tensor) = common(object) {
            return Ok(Some(Operand::Tensor(tensor)));
        }
        if ffi::PyFloat_CheckExact(object) != 0 {
            return Ok(Some(Operand::Scalar(Scalar::Float(ffi::PyFloat_AS_DOUBLE(object)))));
        }
        if ffi::PyLong_CheckExact(object) != 0 {
            let mut overflow = 0;
            let value = ffi::PyLong_AsLongLongAndOverflow(object, &raw mut overflow);
            if overflow == 0 {
                return Ok(Some(Operand::Scalar(Scalar::Int(value))));
            }
        }
        uncommon(py, object)
    }
}

/// An object of any other type as an operand: subclasses of tensors, truth values, numpy's numbers.
///
/// # Safety
/// As for `operand`.
#[cold]
unsafe fn uncommon<'a>(py: Python<'_>, object: *mut ffi::PyObject) -> PyResult<Option<Operand<'a>>> {
    // SAFETY: by the caller's promise.
    unsafe {
        match borrow(object) {
            // Its class may want to see the call: see `overridden`.
            Some(_) if overrides::ever() => Ok(None),
            Some(tensor) => Ok(Some(Operand::Tensor(tensor))),
            None => Ok(number(&Bound::from_borrowed_ptr(py, object))?.map(Operand::Scalar)),
        }
    }
}

/// An operator of which an operand is of no common type.
///
/// # Safety
/// As for `offered`.
#[cold]
unsafe fn uncommonly(
    py: Python<'_>,
    operator: &'static Operator,
    operands: [*mut ffi::PyObject; 2],
    operation: impl for<'a> FnOnce(Operand<'a>, Operand<'a>) -> Result<Tensor>,
) -> PyResult<*mut ffi::PyObject> {
    // SAFETY: by the caller's promise.
    if let Some(answer) = unsafe { offered(py, operator, operands[0], operands[1])? } {
        return Ok(answer);
    }
    // SAFETY: by the caller's promise.
    let [left, right] = unsafe { operands.map(|operand| Bound::from_borrowed_ptr(py, operand)) };
    match (unseen(&left)?, unseen(&right)?) {
        (Some(left), Some(right)) => answered(py, operation(left, right)),
        _ => Ok(declined(py)),
    }
}

/// What an operator answers. Where all dispatch subclasses have declined, it is left to the other.
#[inline]
fn answered(py: Python<'_>, result: Result<Tensor>) -> PyResult<*mut ffi::PyObject> {
    match result {
        Ok(y) => Ok(wrap_raw(y)),
        Err(error) => failed(py, error),
    }
}

#[cold]
fn failed(py: Python<'_>, error: Box<Error>) -> PyResult<*mut ffi::PyObject> {
    let error = raise(error);
    if any_subclassed() && error.is_instance_of::<PyTypeError>(py) { Ok(declined(py)) } else { Err(error) }
}

/// `NotImplemented`: the interpreter asks the other operand, then words the `TypeError`.
pub(super) fn declined(py: Python<'_>) -> *mut ffi::PyObject {
    py.NotImplemented().into_ptr()
}

/// A slot of two operands; the tensor may be either.
#[inline]
pub(super) fn binary(
    left: *mut ffi::PyObject,
    right: *mut ffi::PyObject,
    operator: &'static Operator,
    operation: impl for<'a> FnOnce(Operand<'a>, Operand<'a>) -> Result<Tensor>,
) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: slots are called with live objects, which the caller keeps during the call.
        if let (Some(left), Some(right)) = unsafe { (common(left), common(right)) } {
            return answered(py, operation(left.into(), right.into()));
        }
        // SAFETY: as above.
        match unsafe { (operand(py, left)?, operand(py, right)?) } {
            (Some(left), Some(right)) => answered(py, operation(left, right)),
            // SAFETY: as above.
            _ => unsafe { uncommonly(py, operator, [left, right], operation) },
        }
    })
}

/// A slot that changes its first operand, which is a tensor, and answers it.
#[inline]
pub(super) fn in_place(
    target: *mut ffi::PyObject,
    other: *mut ffi::PyObject,
    operator: &'static Operator,
    operation: impl for<'a> FnOnce(&'a Tensor, Operand<'a>) -> Result<()>,
) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: as in `binary`.
        let (seen, common) = unsafe { (may_see(target), operand(py, other)?) };
        if seen || common.is_none() {
            // SAFETY: as in `binary`.
            if let Some(answer) = unsafe { offered(py, operator, target, other)? } {
                return Ok(answer);
            }
        }
        // SAFETY: as in `binary`.
        let other = unsafe { Bound::from_borrowed_ptr(py, other) };
        let other = if common.is_none() { unseen(&other)? } else { common };
        // SAFETY: as in `binary`.
        let (Some(tensor), Some(other)) = (unsafe { borrow(target) }, other) else {
            return Ok(declined(py));
        };
        if mode::special() || tensor.is_captured() {
            writes::check_in_place(tensor, operator.left.name, &OtherArguments::operand(other.tensor()))?;
        }
        operation(tensor, other).map_err(raise)?;
        // SAFETY: a live object.
        unsafe { ffi::Py_INCREF(target) };
        Ok(target)
    })
}

/// A slot of one tensor.
#[inline]
pub(super) fn unary(
    object: *mut ffi::PyObject,
    operator: &'static Operator,
    operation: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> *mut ffi::PyObject {
    alone(object, operator, |_, tensor| Ok(wrap_raw(operation(tensor).map_err(raise)?)))
}

/// A slot that makes a plain Python object of a tensor.
#[inline]
pub(super) fn plain(
    object: *mut ffi::PyObject,
    operator: &'static Operator,
    convert: impl for<'py> FnOnce(Python<'py>, &Tensor) -> PyResult<Bound<'py, PyAny>>,
) -> *mut ffi::PyObject {
    alone(object, operator, |py, tensor| convert(py, tensor).map(Bound::into_ptr))
}

#[inline]
fn alone(
    object: *mut ffi::PyObject,
    operator: &'static Operator,
    answer: impl FnOnce(Python<'_>, &Tensor) -> PyResult<*mut ffi::PyObject>,
) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: as in `binary`.
        if let Some(answer) = unsafe { offered_alone(py, operator.left, object, &[])? } {
            return Ok(answer);
        }
        // SAFETY: as in `binary`.
        let Some(tensor) = (unsafe { borrow(object) }) else { return Ok(declined(py)) };
        answer(py, tensor)
    })
}
