//! Calls of `nn.Module`. Most modules have no hooks, and for these a call is one of `forward`: classes that are given the
//! way of this file look into the tables of hooks natively, and no frame and no dictionary stand between the two. Where
//! there is a hook, Python's `__call__` is called, which knows what to do with it.

#![allow(unsafe_code)]

use std::ptr;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::ffi::compat::PyDict_GetItemRef;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

/// The tables of the hooks that every module has.
static EVERY: PyOnceLock<Vec<Py<PyDict>>> = PyOnceLock::new();

/// Keeps the tables of hooks that every module has, which are never replaced.
#[pyfunction]
#[pyo3(name = "_look_for_hooks_in")]
pub(crate) fn look_for_hooks_in(py: Python<'_>, tables: Vec<Py<PyDict>>) {
    // Whoever comes second brings the same.
    let _ = EVERY.set(py, tables);
}

/// Has instances of a class called here: a class with the `__call__` of `nn.Module`. When another one is assigned later,
/// to the class or to one of its bases, Python itself puts its own way back.
#[pyfunction]
#[pyo3(name = "_call_forward_natively")]
pub(crate) fn call_forward_natively(cls: &Bound<'_, PyType>) -> PyResult<()> {
    let class = cls.as_type_ptr();
    // SAFETY: the pointer is that of a class that the caller holds.
    if unsafe { ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) } == 0 {
        return Err(PyTypeError::new_err("only instances of classes written in Python have hooks"));
    }
    // SAFETY: the class can be changed, as was just looked at, the interpreter's lock is held, and the function keeps the
    // promises of the slot: it answers a new reference, or null with an exception.
    unsafe { (*class).tp_call = Some(call) };
    Ok(())
}

unsafe extern "C" fn call(
    object: *mut ffi::PyObject,
    arguments: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter hands objects over that live for as long as the call, the second a tuple and the third a
    // dictionary or null, and holds its lock. What is looked up is given back after its call.
    unsafe {
        let py = Python::assume_attached();
        if !is_plain(py, object) {
            return between_hooks(py, object, arguments, keywords);
        }
        let forward = ffi::PyObject_GetAttr(object, intern!(py, "forward").as_ptr());
        if forward.is_null() {
            return ptr::null_mut();
        }
        let answer = ffi::PyObject_Call(forward, arguments, keywords);
        ffi::Py_DECREF(forward);
        answer
    }
}

/// Whether neither the module nor all of them together have hooks that are called with it.
///
/// # Safety
/// The object lives, and the interpreter's lock is held.
unsafe fn is_plain(py: Python<'_>, object: *mut ffi::PyObject) -> bool {
    // SAFETY: as the caller promises. The dictionary is held while it is looked into, and tables are asked for their
    // number only if they are dictionaries, subclasses included, whose numbers are those of the dictionaries.
    let has_none = unsafe {
        let own = ffi::PyObject_GenericGetDict(object, ptr::null_mut());
        if own.is_null() {
            ffi::PyErr_Clear();
            return false;
        }
        let tables = [
            intern!(py, "_forward_pre_hooks"),
            intern!(py, "_forward_hooks"),
            intern!(py, "_backward_hooks"),
            intern!(py, "_backward_pre_hooks"),
        ];
        let has_none = tables.iter().all(|name| {
            let mut table = ptr::null_mut();
            if PyDict_GetItemRef(own, name.as_ptr(), &raw mut table) < 0 {
                ffi::PyErr_Clear();
            }
            let is_empty = !table.is_null() && ffi::PyDict_Check(table) != 0 && ffi::PyDict_Size(table) == 0;
            ffi::Py_XDECREF(table);
            is_empty
        });
        ffi::Py_DECREF(own);
        has_none
    };
    has_none && EVERY.get(py).is_some_and(|every| every.iter().all(|table| table.bind(py).is_empty()))
}

/// What `__call__` says, as Python knows it.
///
/// # Safety
/// As for `is_plain`; the arguments are a tuple, the keywords a dictionary or null.
#[cold]
unsafe fn between_hooks(
    py: Python<'_>,
    object: *mut ffi::PyObject,
    arguments: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises.
    let (object, arguments, keywords) = unsafe {
        (
            Bound::from_borrowed_ptr(py, object),
            Bound::from_borrowed_ptr(py, arguments),
            Bound::from_borrowed_ptr_or_opt(py, keywords),
        )
    };
    let said = || {
        let given = arguments.cast::<PyTuple>()?.iter();
        let all = PyTuple::new(py, std::iter::once(object.clone()).chain(given).collect::<Vec<_>>())?;
        let keywords = keywords.as_ref().map(|keywords| keywords.cast::<PyDict>()).transpose()?;
        object.get_type().getattr(intern!(py, "__call__"))?.call(all, keywords)
    };
    match said() {
        Ok(answer) => answer.into_ptr(),
        Err(error) => {
            let error: PyErr = error;
            error.restore(py);
            ptr::null_mut()
        }
    }
}
