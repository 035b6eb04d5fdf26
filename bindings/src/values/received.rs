//! The arguments of a vectorcall and the parts of a slice, borrowed where the interpreter has them.

#![allow(unsafe_code)]

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};

use crate::signature::matching::Call;

/// Sees what the interpreter passes to a function as a call.
///
/// # Safety
/// There are `count` arguments, and behind them a value for each of `names`, which is a tuple of strings or
/// null; none of them is null, and all are kept alive as long as `names` stays where it is.
#[inline]
pub(crate) unsafe fn seen<'a, 'py>(
    py: Python<'py>,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: &'a *mut ffi::PyObject,
) -> Call<'a, 'py> {
    // SAFETY: see above.
    let names: Option<&Bound<'_, PyTuple>> = unsafe { place(py, names) };
    let given = count.cast_unsigned();
    let total = given + names.map_or(0, |names| names.len());
    let all: &[Bound<'_, PyAny>] = if total == 0 {
        &[]
    } else {
        // SAFETY: see above. For the type see `place`.
        unsafe { std::slice::from_raw_parts(arguments.cast(), total) }
    };
    let (positional, values) = all.split_at(given);
    Call { positional, names, values }
}

/// Sees the place of a pointer, if that is not null, as the place of a borrowed object.
///
/// # Safety
/// The pointer is null or that of an object of the Python type `T`, which outlives `'a`.
pub(crate) unsafe fn place<'a, 'py, T>(
    _py: Python<'py>,
    pointer: &'a *mut ffi::PyObject,
) -> Option<&'a Bound<'py, T>> {
    // SAFETY: `Bound` is a transparent wrapper of the pointer, which is not null.
    (!pointer.is_null()).then(|| unsafe { &*std::ptr::from_ref(pointer).cast() })
}

/// Start, stop and step of a slice, which never change: looking attributes up costs as much as the view that comes of it.
pub(crate) fn parts_of_slice<'a, 'py>(slice: &'a Bound<'py, PySlice>) -> [&'a Bound<'py, PyAny>; 3] {
    // SAFETY: it is a slice, which lies so as long as it is borrowed.
    let parts = unsafe { &*slice.as_ptr().cast::<ffi::PySliceObject>() };
    // SAFETY: the slice owns three objects, of any type, for as long as it lives.
    [&parts.start, &parts.stop, &parts.step].map(|part| unsafe { &*std::ptr::from_ref(part).cast() })
}

const _: () = assert!(size_of::<Bound<'static, PyAny>>() == size_of::<*mut ffi::PyObject>());
