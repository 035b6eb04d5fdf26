//! `rushlight.Size`: the tuple of a tensor's sizes, which stays one when it is cut or joined.
//! A type of raw slots, because PyO3 cannot derive from `tuple`.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple, PyType};

use crate::tensor::object::{guarded, name_in_messages, slot};

/// The type, for the whole life of the process once `install` has run.
static SIZE: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(ptr::null_mut());

/// A size as a new object of the type.
#[inline]
pub(crate) fn wrap_size<'py>(py: Python<'py>, sizes: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let class = SIZE.load(Ordering::Relaxed);
    // SAFETY: `install` has run, or no tensor could be asked. The new tuple has room for all sizes,
    // each of which gives it a new reference; an item that could not be made leaves a null, which
    // tuples allow while they are taken apart.
    unsafe {
        let made = room(py, class, sizes.len())?;
        for (index, &size) in sizes.iter().enumerate() {
            let item = ffi::PyLong_FromSize_t(size);
            if item.is_null() {
                return Err(PyErr::fetch(py));
            }
            ffi::PyTuple_SET_ITEM(made.as_ptr(), index as ffi::Py_ssize_t, item);
        }
        Ok(made)
    }
}

/// A size without its items yet.
///
/// # Safety
/// `class` is a class of tuples.
unsafe fn room(py: Python<'_>, class: *mut ffi::PyTypeObject, count: usize) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: by the caller's promise; the result is a new reference or null with an exception set.
    unsafe {
        let made = ffi::PyType_GenericAlloc(class, count as ffi::Py_ssize_t);
        let made = Bound::from_owned_ptr_or_err(py, made)?;
        // A tuple keeps its hash there; this says that it does not know it yet.
        #[cfg(Py_3_14)]
        {
            (*made.as_ptr().cast::<ffi::PyTupleObject>()).ob_hash = -1;
        }
        Ok(made)
    }
}

/// Whether an object is a size.
pub(crate) fn is_size(object: &Bound<'_, PyAny>) -> bool {
    object.get_type().as_type_ptr() == SIZE.load(Ordering::Relaxed)
}

/// Makes the type and adds it to the module.
pub(crate) fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let method = |name: &'static std::ffi::CStr, function, doc: &'static std::ffi::CStr| ffi::PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: function },
        ml_flags: ffi::METH_NOARGS,
        ml_doc: doc.as_ptr(),
    };
    // The interpreter keeps a pointer into the table: it lives as long as the process.
    let methods = Box::leak(Box::new([
        method(c"numel", numel, c"Return the product of the sizes."),
        method(c"__reduce__", reduce, c"Tell pickle to rebuild the size from a tuple."),
        ffi::PyMethodDef::zeroed(),
    ]));
    let mut slots = [
        slot(ffi::Py_tp_new, new as *mut c_void),
        slot(ffi::Py_tp_repr, repr as *mut c_void),
        slot(ffi::Py_nb_add, concatenate as *mut c_void),
        slot(ffi::Py_sq_concat, refuse_to_concatenate as *mut c_void),
        slot(ffi::Py_sq_repeat, repeat as *mut c_void),
        slot(ffi::Py_mp_subscript, subscript as *mut c_void),
        slot(ffi::Py_tp_methods, methods.as_mut_ptr().cast()),
        slot(ffi::Py_tp_doc, c"The size of every dimension of a tensor.".as_ptr().cast_mut().cast()),
        slot(0, ptr::null_mut()),
    ];
    let mut spec = ffi::PyType_Spec {
        name: c"rushlight.Size".as_ptr(),
        basicsize: 0,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE) as u32,
        slots: slots.as_mut_ptr(),
    };
    let base = py.get_type::<PyTuple>();
    // SAFETY: the specification is complete and ended by a zero slot; sizes are inherited from `tuple`.
    let class: Bound<'_, PyType> = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpecWithBases(&mut spec, base.as_ptr()))?
            .cast_into_unchecked()
    };
    name_in_messages(&class, c"torch.Size");
    module.add("Size", &class)?;
    SIZE.store(class.into_ptr().cast(), Ordering::Relaxed);
    Ok(())
}

/// A size of the items of a tuple, which must be integers.
fn from_tuple<'py>(tuple: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = tuple.py();
    let mut sizes = Vec::new();
    for (index, item) in tuple.cast::<PyTuple>()?.iter().enumerate() {
        let integer = if item.is_exact_instance_of::<PyInt>() { Ok(item.clone()) } else { index_of(&item) };
        let integer = integer.map_err(|_| {
            let name = item.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "torch.Size() takes an iterable of 'int' (item {index} is '{name}')"
            ))
        })?;
        if integer.extract::<i64>().is_err() {
            return Err(PyValueError::new_err("Overflow when unpacking long long"));
        }
        sizes.push(integer);
    }
    // SAFETY: as in `wrap_size`.
    unsafe {
        let class = SIZE.load(Ordering::Relaxed);
        let made = room(py, class, sizes.len())?;
        for (index, size) in sizes.into_iter().enumerate() {
            ffi::PyTuple_SET_ITEM(made.as_ptr(), index as ffi::Py_ssize_t, size.into_ptr());
        }
        Ok(made)
    }
}

/// What Python would index with.
fn index_of<'py>(item: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: a live object; the result is a new reference or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(item.py(), ffi::PyNumber_Index(item.as_ptr())) }
}

unsafe extern "C" fn new(
    class: *mut ffi::PyTypeObject,
    arguments: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: the interpreter passes live objects.
        let (class, arguments) =
            unsafe { (Bound::from_borrowed_ptr(py, class.cast()), Bound::from_borrowed_ptr(py, arguments)) };
        if !keywords.is_null() || class.as_ptr() != SIZE.load(Ordering::Relaxed).cast() {
            return Err(PyTypeError::new_err(
                "torch.Size() takes no keyword arguments and has no subclasses",
            ));
        }
        let tuple = py.get_type::<PyTuple>().call1(arguments.cast_into::<PyTuple>()?)?;
        from_tuple(&tuple).map(Bound::into_ptr)
    })
}

unsafe extern "C" fn repr(size: *mut ffi::PyObject) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: the interpreter passes a live size.
        let size = unsafe { Bound::from_borrowed_ptr(py, size) };
        let sizes: Vec<String> = size
            .cast::<PyTuple>()?
            .iter()
            .map(|item| item.str().map(|text| text.to_string()))
            .collect::<PyResult<_>>()?;
        Ok(format!("torch.Size([{}])", sizes.join(", ")).into_pyobject(py)?.into_ptr())
    })
}

/// `size + tuple` and `tuple + size`.
unsafe extern "C" fn concatenate(left: *mut ffi::PyObject, right: *mut ffi::PyObject) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: the interpreter passes live objects.
        let (left, right) =
            unsafe { (Bound::from_borrowed_ptr(py, left), Bound::from_borrowed_ptr(py, right)) };
        let (Ok(first), Ok(second)) = (left.cast::<PyTuple>(), right.cast::<PyTuple>()) else {
            return Ok(py.NotImplemented().into_ptr());
        };
        let joined = PyTuple::new(py, first.iter().chain(second.iter()).collect::<Vec<_>>())?;
        from_tuple(&joined).map(Bound::into_ptr)
    })
}

/// What is said of something that is no tuple and cannot add itself to one either.
unsafe extern "C" fn refuse_to_concatenate(
    _size: *mut ffi::PyObject,
    other: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: the interpreter passes live objects.
        let name = unsafe { Bound::from_borrowed_ptr(py, other) }.get_type().name()?;
        Err(PyTypeError::new_err(format!("can only concatenate tuple (not {name}) to torch.Size")))
    })
}

unsafe extern "C" fn repeat(size: *mut ffi::PyObject, times: ffi::Py_ssize_t) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: the interpreter passes a live size; `tuple` has this slot.
        let plain = unsafe { as_tuple(py, size)? };
        let repeated = plain.mul(times)?;
        from_tuple(&repeated).map(Bound::into_ptr)
    })
}

/// `size[index]`, or a size when cut by a slice.
unsafe extern "C" fn subscript(size: *mut ffi::PyObject, key: *mut ffi::PyObject) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: the interpreter passes live objects.
        let key = unsafe { Bound::from_borrowed_ptr(py, key) };
        // SAFETY: as above, and it is a size.
        let item = unsafe { as_tuple(py, size)? }.get_item(&key)?;
        let item = if key.is_instance_of::<pyo3::types::PySlice>() { from_tuple(&item)? } else { item };
        Ok(item.into_ptr())
    })
}

unsafe extern "C" fn numel(size: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: the interpreter passes a live size.
        let size = unsafe { Bound::from_borrowed_ptr(py, size) };
        let mut product: i64 = 1;
        for item in size.cast::<PyTuple>()?.iter() {
            product = product.wrapping_mul(item.extract()?);
        }
        Ok(product.into_pyobject(py)?.into_ptr())
    })
}

unsafe extern "C" fn reduce(size: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: the interpreter passes a live size.
        let tuple = unsafe { as_tuple(py, size)? };
        // SAFETY: the type lives as long as the process.
        let class = unsafe { Bound::from_borrowed_ptr(py, SIZE.load(Ordering::Relaxed).cast()) };
        Ok((class, (tuple,)).into_pyobject(py)?.into_ptr())
    })
}

/// The items of a size in a plain tuple.
///
/// # Safety
/// `size` is a live size.
unsafe fn as_tuple<'py>(py: Python<'py>, size: *mut ffi::PyObject) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: by the caller's promise; the slice of a tuple's subclass is a plain tuple.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyTuple_GetSlice(size, 0, ffi::PyTuple_GET_SIZE(size))) }
}
