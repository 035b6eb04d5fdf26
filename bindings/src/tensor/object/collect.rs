//! What the interpreter's collector sees of a tensor object, and the slots through which the object
//! comes to refer to other objects. One that refers to none is not tracked.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;
use rushlight::Tensor;

use super::others::others;
use super::{Object, TensorBase};

/// Whether anything of the engine may hold anything of Python.
static HOSTED: AtomicBool = AtomicBool::new(false);

/// To be called when something of the engine begins to hold something of Python.
#[inline]
pub(crate) fn host() {
    HOSTED.store(true, Ordering::Relaxed);
}

/// Whether anything of the engine may hold anything of Python, so that new objects of tensors that
/// have a history are to be under the collector's eyes.
#[inline]
pub(crate) fn is_hosting() -> bool {
    HOSTED.load(Ordering::Relaxed)
}

/// Puts an object under the collector's eyes. To be called when it begins to refer to Python
/// objects, be it through its dictionary or through the tensor's hooks.
pub(crate) fn track(object: &pyo3::Bound<'_, TensorBase>) {
    // SAFETY: the object is live, and its token stands for the GIL.
    unsafe { track_raw(object.as_ptr()) }
}

/// Whether a new object is to be under the collector's eyes.
#[inline]
pub(super) fn is_hosted(tensor: &Tensor) -> bool {
    is_hosting() && tensor.requires_grad()
}

/// # Safety
/// `object` is a live tensor object; the caller holds the GIL.
pub(super) unsafe fn track_raw(object: *mut ffi::PyObject) {
    // SAFETY: the tensor types have collector headers.
    unsafe {
        // Where threads run at once, objects are tracked from the beginning.
        if !cfg!(threads_at_once) && ffi::PyObject_GC_IsTracked(object) == 0 {
            ffi::PyObject_GC_Track(object.cast());
        }
    }
}

/// `tp_traverse`: what the collector may follow from the object.
pub(super) unsafe extern "C" fn traverse(
    object: *mut ffi::PyObject,
    visit: ffi::visitproc,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the collector passes a live object and its own function, and stops the world meanwhile.
    unsafe {
        let body = &(*object.cast::<Object>()).body;
        let stop = visit(ffi::Py_TYPE(object).cast(), context);
        if stop != 0 {
            return stop;
        }
        let dict = body.dict.load(Ordering::Relaxed);
        if !dict.is_null() {
            let stop = visit(dict, context);
            if stop != 0 {
                return stop;
            }
        }
        let stop = (others().visit)(body, &mut |stand_in| visit(stand_in, context));
        if stop != 0 {
            return stop;
        }
        // A tensor that nobody else has and that owns its object is a circle of two.
        if is_circle(body) { visit(object, context) } else { 0 }
    }
}

/// `tp_clear`: lets go of what `traverse` follows. The tensor stays: the object is usable to the end.
pub(super) unsafe extern "C" fn clear(object: *mut ffi::PyObject) -> c_int {
    // SAFETY: the collector passes a live object.
    unsafe {
        let body = &(*object.cast::<Object>()).body;
        ffi::Py_XDECREF(body.dict.swap(ptr::null_mut(), Ordering::Relaxed));
        if is_circle(body) {
            body.tensor.foreign().set_owned(false);
            // Not the last reference: the collector has one.
            ffi::Py_DECREF(object);
        }
    }
    0
}

/// Whether the object is owned by a tensor that only the object has. It lasts only where a handle
/// went on another thread in the very moment in which ownership turned round.
fn is_circle(body: &TensorBase) -> bool {
    body.tensor.handles() == 1 && body.tensor.foreign().is_owned()
}

/// `tp_setattro`: the usual one; an object with attributes is one that the collector must know.
pub(super) unsafe extern "C" fn set_attribute(
    object: *mut ffi::PyObject,
    name: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> c_int {
    // SAFETY: the interpreter passes live objects and holds the GIL.
    unsafe {
        let status = ffi::PyObject_GenericSetAttr(object, name, value);
        if !(*object.cast::<Object>()).body.dict.load(Ordering::Relaxed).is_null() {
            track_raw(object);
        }
        status
    }
}

/// The getter of `__dict__`.
pub(super) unsafe extern "C" fn get_dict(object: *mut ffi::PyObject, _: *mut c_void) -> *mut ffi::PyObject {
    // SAFETY: as for `set_attribute`.
    unsafe {
        track_raw(object);
        ffi::PyObject_GenericGetDict(object, ptr::null_mut())
    }
}

/// The setter of `__dict__`.
pub(super) unsafe extern "C" fn set_dict(
    object: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
    _: *mut c_void,
) -> c_int {
    // SAFETY: as for `set_attribute`.
    unsafe {
        track_raw(object);
        ffi::PyObject_GenericSetDict(object, value, ptr::null_mut())
    }
}

/// `tp_hash`: the identity, which from now on must last as long as the tensor.
pub(super) unsafe extern "C" fn hash(object: *mut ffi::PyObject) -> ffi::Py_hash_t {
    // SAFETY: as for `set_attribute`.
    unsafe { (*object.cast::<Object>()).body.hashed.store(true, Ordering::Relaxed) };
    object as ffi::Py_hash_t
}
