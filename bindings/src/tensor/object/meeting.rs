//! How threads meet at the one object of a tensor.
//!
//! Where threads of Python run at once, one may look for the object of a tensor while another lets its
//! last reference go. So the pointer is read and written under a lock, one of some that tensors share,
//! and a reference is only taken if there still is one. Nothing of Python happens under such a lock. A
//! dying object takes itself out before its memory goes. One that has state may live on instead, and
//! whoever looks for it waits until that is decided: the tensor would lose its attributes otherwise, and come
//! to own an object that is not the one that was kept. The wait is short, since the thread that decides runs
//! no program meanwhile: that another thread has a handle of the tensor is why the object stays. With the
//! interpreter's lock nothing of this is needed.

use std::ptr;

use pyo3::ffi;
use rushlight::Tensor;

use super::{Object, tensor_type};

#[cfg(threads_at_once)]
mod locks {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use rushlight::Tensor;

    const COUNT: usize = 64;
    static LOCKS: [Mutex<()>; COUNT] = [const { Mutex::new(()) }; COUNT];

    /// The lock of a tensor's pointer.
    pub(super) fn of(tensor: &Tensor) -> MutexGuard<'static, ()> {
        let place = (std::ptr::from_ref(tensor.foreign()).addr() >> 6) % COUNT;
        LOCKS[place].lock().unwrap_or_else(PoisonError::into_inner)
    }

    unsafe extern "C" {
        pub(super) fn PyUnstable_TryIncRef(object: *mut pyo3::ffi::PyObject) -> std::ffi::c_int;
        pub(super) fn PyUnstable_EnableTryIncRef(object: *mut pyo3::ffi::PyObject);
    }
}

/// A new reference to the object of a tensor, or null. The caller is attached to the interpreter.
#[inline]
pub(super) fn existing(tensor: &Tensor) -> *mut ffi::PyObject {
    meet(tensor, ptr::null_mut())
}

/// `existing`; where that is null, `successor` becomes the tensor's object, if it is one.
#[inline]
fn meet(tensor: &Tensor, successor: *mut Object) -> *mut ffi::PyObject {
    loop {
        if let Some(found) = try_to_meet(tensor, successor) {
            return found;
        }
        std::thread::yield_now();
    }
}

/// `meet`, unless another thread has yet to decide whether the object stays.
#[inline]
fn try_to_meet(tensor: &Tensor, successor: *mut Object) -> Option<*mut ffi::PyObject> {
    #[cfg(threads_at_once)]
    let _lock = locks::of(tensor);
    let object = tensor.foreign().get().cast::<ffi::PyObject>();
    if !object.is_null() {
        #[cfg(not(threads_at_once))]
        // SAFETY: a foreign pointer is that of a live object: `life` clears it before the object dies.
        unsafe {
            ffi::Py_INCREF(object);
            return Some(object);
        }
        #[cfg(threads_at_once)]
        // SAFETY: the memory is there as long as the pointer is: see `part`.
        unsafe {
            if locks::PyUnstable_TryIncRef(object) != 0 {
                return Some(object);
            }
            if !is_plain(object.cast()) {
                return None;
            }
        }
    }
    if !successor.is_null() {
        tensor.foreign().set(successor.cast());
    }
    Some(ptr::null_mut())
}

/// Whether a new object would be as good as this one.
///
/// # Safety
/// The object's memory is there, and its body is whole.
#[inline]
pub(super) unsafe fn is_plain(object: *mut Object) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { ffi::Py_TYPE(object.cast()) == tensor_type() && !(*object).body.has_state() }
}

/// Makes a new object that of its tensor, unless somebody was first: then answers a new reference to
/// that one.
///
/// # Safety
/// The object is new and has a body.
#[inline]
pub(super) unsafe fn introduce(object: *mut Object, tensor: &Tensor) -> *mut ffi::PyObject {
    #[cfg(threads_at_once)]
    // SAFETY: by the caller's promise.
    unsafe {
        locks::PyUnstable_EnableTryIncRef(object.cast());
    }
    meet(tensor, object)
}

/// Makes a tensor forget its dying object, unless it has another one already.
#[inline]
pub(super) fn part(tensor: &Tensor, object: *mut Object) {
    #[cfg(threads_at_once)]
    let _lock = locks::of(tensor);
    if ptr::eq(tensor.foreign().get(), object.cast()) {
        tensor.foreign().set(ptr::null_mut());
    }
}
