//! Attributes of `nn.Module`. Python asks `__getattr__` for parameters, buffers and children only after it has raised an
//! AttributeError for what the instance's dictionary does not have: half a microsecond for each parameter, two of them
//! in every call of a linear layer. Classes that are given the lookup of this file look into the same places in the same
//! order, and no exception is made on the way.

#![allow(unsafe_code)]

use std::ptr;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::ffi::compat::PyDict_GetItemRef;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

unsafe extern "C" {
    /// What `object.__getattribute__` does; with `suppress`, it answers null without an exception where there is no such
    /// attribute.
    fn _PyObject_GenericGetAttrWithDict(
        object: *mut ffi::PyObject,
        name: *mut ffi::PyObject,
        dict: *mut ffi::PyObject,
        suppress: i32,
    ) -> *mut ffi::PyObject;
}

/// Has the attributes of a class's instances looked up here: a class with the `__getattr__` of `nn.Module`, and no
/// `__getattribute__` of its own. When one of these is assigned later, Python itself puts its own lookup back.
#[pyfunction]
#[pyo3(name = "_look_into_tables")]
pub(crate) fn look_into_tables(cls: &Bound<'_, PyType>) -> PyResult<()> {
    let class = cls.as_type_ptr();
    // SAFETY: the pointer is that of a class that the caller holds.
    if unsafe { ffi::PyType_HasFeature(class, ffi::Py_TPFLAGS_HEAPTYPE) } == 0 {
        return Err(PyTypeError::new_err("only classes written in Python have tables of attributes"));
    }
    // SAFETY: the class can be changed, as was just looked at, the interpreter's lock is held, and the function keeps the
    // promises of the slot: it answers a new reference, or null with an exception.
    unsafe { (*class).tp_getattro = Some(get_attribute) };
    Ok(())
}

unsafe extern "C" fn get_attribute(
    object: *mut ffi::PyObject,
    name: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter hands two objects over that live for as long as the call, and holds its lock.
    unsafe {
        let found = plainly(object, name);
        if !found.is_null() || !ffi::PyErr_Occurred().is_null() {
            return found;
        }
        let py = Python::assume_attached();
        for table in [intern!(py, "_parameters"), intern!(py, "_buffers"), intern!(py, "_modules")] {
            let found = in_table(object, table, name);
            if !found.is_null() || !ffi::PyErr_Occurred().is_null() {
                return found;
            }
        }
        missing(py, object, name)
    }
}

/// The attribute as any object has it, or null: without an exception if it has none.
///
/// # Safety
/// Both are objects that live, and the interpreter's lock is held.
unsafe fn plainly(object: *mut ffi::PyObject, name: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises; without a dictionary the one of the object is used.
    unsafe { _PyObject_GenericGetAttrWithDict(object, name, ptr::null_mut(), 1) }
}

/// What a table of the object has under the name, or null: without an exception if it has nothing. Tables of other
/// classes than `dict` are left to `__getattr__`, since they may be read in a way of their own.
///
/// # Safety
/// As for `plainly`.
unsafe fn in_table(
    object: *mut ffi::PyObject,
    table: &Bound<'_, PyString>,
    name: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    let mut found = ptr::null_mut();
    // SAFETY: as the caller promises. The table is held while it is looked into, and is a dictionary.
    unsafe {
        let table = plainly(object, table.as_ptr());
        if !table.is_null() && ffi::PyDict_CheckExact(table) != 0 {
            PyDict_GetItemRef(table, name, &raw mut found);
        }
        ffi::Py_XDECREF(table);
    }
    found
}

/// What the class's `__getattr__` says of an attribute that is nowhere.
///
/// # Safety
/// As for `plainly`.
#[cold]
unsafe fn missing(
    py: Python<'_>,
    object: *mut ffi::PyObject,
    name: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises.
    let [object, name] = unsafe { [object, name].map(|pointer| Bound::from_borrowed_ptr(py, pointer)) };
    let said =
        object.get_type().getattr(intern!(py, "__getattr__")).and_then(|get| get.call1((object, name)));
    match said {
        Ok(found) => found.into_ptr(),
        Err(error) => {
            error.restore(py);
            ptr::null_mut()
        }
    }
}
