//! Objects that outlive their last Python reference, because the engine keeps them.
//!
//! An object holds a handle of its tensor, and the tensor points back at its object without
//! counting. When the last Python reference goes while the engine still has the tensor, an object
//! that carries state (attributes, weak references, a hash that was taken, a class of its own)
//! stays: the tensor then *owns* it, which is one counted reference and a mark. When a handle of
//! such a tensor goes, `handle_goes` gives the reference back if only the object's own handle is
//! left. Every other object dies at once, and is made anew when its tensor is next shown to Python.

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use rushlight::Tensor;
use rushlight::tensor::{Foreign, register_release, register_watch};

use super::Object;
use super::collect::{host, track_raw};

/// Hands an object without references over to its tensor, if somebody else holds that.
///
/// # Safety
/// The caller holds the GIL; the object is whole and its count is zero.
pub(super) unsafe fn survives(object: *mut Object) -> bool {
    // SAFETY: by the caller's promise. The new reference is the one that the mark stands for.
    unsafe {
        let body = &(*object).body;
        if body.tensor.handles() == 1 + usize::from(body.bereft.load(Ordering::Relaxed)) {
            return false;
        }
        ffi::Py_INCREF(object.cast());
        track_raw(object.cast());
        host();
        body.bereft.store(false, Ordering::Relaxed);
        body.tensor.foreign().set_owned(true);
        true
    }
}

/// Handles of owned tensors that went on threads without the GIL: for one with it to look at.
static WAITING: Mutex<Vec<Tensor>> = Mutex::new(Vec::new());

/// Whether there are any: asked whenever an object is made, since the interpreter may take its
/// time with pending calls that another thread than the main one has added.
static ARE_WAITING: AtomicBool = AtomicBool::new(false);

/// Asks the engine to tell of handles of owned tensors that go, and of deposits.
pub(super) fn listen() {
    register_watch(handle_goes);
    register_release(release);
}

/// A handle of a tensor that owns its object is about to go. Never waits for the GIL.
fn handle_goes(tensor: &Tensor) {
    // SAFETY: both may be asked from any thread, at any time.
    let (running, attached) = unsafe { (ffi::Py_IsInitialized() != 0, ffi::PyGILState_Check() != 0) };
    if !running {
        // The interpreter is gone, and its objects with it.
    } else if attached {
        give_back(tensor);
    } else {
        WAITING.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(tensor.clone());
        ARE_WAITING.store(true, Ordering::Release);
        // SAFETY: may be called from any thread. If its queue is full, the next new object sees to it.
        unsafe { ffi::Py_AddPendingCall(Some(pending), ptr::null_mut()) };
    }
}

/// Drops the handles that came without the GIL, now with it: `handle_goes` is asked again.
#[inline]
pub(super) fn look_at_waiting() {
    if ARE_WAITING.load(Ordering::Relaxed) {
        ARE_WAITING.store(false, Ordering::Relaxed);
        drop(std::mem::take(&mut *WAITING.lock().unwrap_or_else(|poisoned| poisoned.into_inner())));
    }
}

/// The same, as the interpreter calls what was left for it to do.
extern "C" fn pending(_: *mut c_void) -> c_int {
    look_at_waiting();
    0
}

/// Ends the ownership if the handle that goes leaves only the object's own. The caller holds the GIL.
fn give_back(tensor: &Tensor) {
    if tensor.handles() != 2 || !tensor.foreign().set_owned(false) {
        return;
    }
    let object = tensor.foreign().get().cast::<ffi::PyObject>();
    // SAFETY: the mark stood for a reference, so that the object is alive until this one goes.
    unsafe {
        if ffi::Py_REFCNT(object) == 1 {
            (*object.cast::<Object>()).body.bereft.store(true, Ordering::Relaxed);
        }
        ffi::Py_DECREF(object);
    }
}

/// A reference that an engine object holds to a Python object. It is given back at once by a thread
/// that has the GIL, also where the binding's library does not know that it has: in the slots.
pub(crate) struct Reference<T>(Option<Py<T>>);

impl<T> Reference<T> {
    pub(crate) fn new(object: Py<T>) -> Self {
        Reference(Some(object))
    }

    /// The object.
    pub(crate) fn get(&self) -> &Py<T> {
        self.0.as_ref().unwrap_or_else(|| unreachable!("it is taken only when this goes"))
    }
}

impl<T> Drop for Reference<T> {
    fn drop(&mut self) {
        let object = self.0.take();
        // SAFETY: both may be asked from any thread, at any time.
        if unsafe { ffi::Py_IsInitialized() != 0 && ffi::PyGILState_Check() != 0 } {
            Python::attach(|_| drop(object));
        }
    }
}

/// Gives a Python object into the keeping of an engine object's slot, which must be empty. It goes
/// when the engine object goes, on whatever thread that is.
pub(crate) fn deposit(slot: &Foreign, object: Py<PyAny>) {
    debug_assert!(slot.get().is_null());
    slot.set(Box::into_raw(Box::new(Reference::new(object))).cast());
    slot.set_owned(true);
}

/// What was deposited in a slot. To be asked of slots that take deposits only, with the GIL held.
pub(crate) fn deposited<'a>(slot: &'a Foreign, _: Python<'_>) -> Option<&'a Py<PyAny>> {
    // SAFETY: the pointer is null or that of the box that `deposit` made, which nobody takes out
    // before the slot's owner goes, but `withdraw`, which needs the GIL as well.
    unsafe { slot.get().cast::<Reference<PyAny>>().as_ref() }.map(Reference::get)
}

/// Shows a deposit to the collector.
pub(crate) fn visit_deposit(slot: &Foreign, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
    // SAFETY: the collector runs with the GIL held.
    visit.call(deposited(slot, unsafe { Python::assume_attached() }))
}

/// Shows the collector the object that the tensor of a slot owns.
pub(crate) fn visit_object(slot: &Foreign, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
    // SAFETY: the collector runs with the GIL held, and an owned object is alive. The reference is the
    // slot's: it is not given back here.
    let object = unsafe { Bound::from_owned_ptr_or_opt(Python::assume_attached(), slot.get().cast()) };
    let object = ManuallyDrop::new(object.map(Bound::unbind));
    visit.call(object.as_ref())
}

/// Takes a deposit out again.
pub(crate) fn withdraw(slot: &Foreign, _: Python<'_>) {
    let object = slot.get();
    if slot.set_owned(false) && !object.is_null() {
        slot.set(ptr::null_mut());
        release(object);
    }
}

/// Lets a deposit go. Without the GIL the reference is given back by the next thread that has it.
fn release(object: *mut c_void) {
    // SAFETY: as in `deposited`; whoever calls has ended the slot's ownership.
    drop(unsafe { Box::from_raw(object.cast::<Reference<PyAny>>()) });
}
