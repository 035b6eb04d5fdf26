//! Lists of many objects, whose length is known before they are there.

#![allow(unsafe_code)]

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::interpreter::signals::Listening;

/// Objects that are made before anybody listens to signals: a handler must not meet a list with empty places.
const TOGETHER: usize = 1 << 12;

/// A list of so many objects, one after the other as `next` makes them, which must not run any program.
pub(crate) fn list_of<'py>(
    py: Python<'py>,
    count: usize,
    listening: &mut Listening,
    next: &mut impl FnMut() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    listening.objects(py, count.min(TOGETHER))?;
    let list = full(py, count.min(TOGETHER), next)?;
    while list.len() < count {
        let more = TOGETHER.min(count - list.len());
        listening.objects(py, more)?;
        list.set_slice(list.len(), list.len(), full(py, more, next)?.as_any())?;
    }
    Ok(list)
}

/// The same without looking up.
fn full<'py>(
    py: Python<'py>,
    count: usize,
    next: &mut impl FnMut() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    // SAFETY: the result is a new list or null with an exception set. Each of its places is filled once, with a
    // reference that it then owns; what is empty when an object could not be made, lists allow while they are taken
    // apart.
    unsafe {
        let made = Bound::from_owned_ptr_or_err(py, ffi::PyList_New(count as ffi::Py_ssize_t))?;
        for place in 0..count {
            ffi::PyList_SET_ITEM(made.as_ptr(), place as ffi::Py_ssize_t, next()?.into_ptr());
        }
        Ok(made.cast_into_unchecked())
    }
}
