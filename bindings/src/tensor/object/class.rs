//! The class `rushlight.Tensor`, once it is there.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The type, for the whole life of the process once `kind::install` has run.
static TENSOR: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(ptr::null_mut());

/// The type object of `rushlight.Tensor`; null before `kind::install`.
#[inline]
pub(crate) fn tensor_type() -> *mut ffi::PyTypeObject {
    TENSOR.load(Ordering::Relaxed)
}

/// The class `rushlight.Tensor`.
pub(crate) fn tensor_class(py: Python<'_>) -> Bound<'_, PyType> {
    // SAFETY: no code of the module can run before `kind::install` has stored the type, which is never freed.
    unsafe { Bound::from_borrowed_ptr(py, tensor_type().cast()).cast_into_unchecked() }
}

/// Says which type it is, which is never freed then.
pub(super) fn set_tensor_type(class: Bound<'_, PyType>) {
    TENSOR.store(class.into_ptr().cast(), Ordering::Relaxed);
}
