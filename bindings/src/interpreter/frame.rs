//! The running Python frames, innermost first: the code object of each and the instruction in it.
//!
//! Note [Frames without objects]
//! ----
//! Since Python 3.11 a function that runs has no frame object: the interpreter keeps a record, and
//! makes the object when somebody asks for it, which takes longer than all that rushlight needs of it.
//! Before, the object is the record, but the interpreter counts lines when it is asked for its place. Where the
//! layout of the records is known they are read in place. The layout is part of the binary interface of a minor
//! version; that it is the expected one is found out when the module is loaded, by comparing what the records
//! say with what the interpreter says of the same frames. Everywhere else the interpreter is asked for objects.

#![allow(unsafe_code)]

#[cfg(not(Py_3_15))]
mod records;

use std::ops::ControlFlow;
use std::ptr::NonNull;

use pyo3::ffi;
use rushlight::sharing;

/// A code object that is running, and the instruction at which it is, in bytes from the first.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Running {
    /// Borrowed: alive while the frame runs.
    pub(crate) code: *mut ffi::PyObject,
    pub(crate) position: u32,
}

impl Running {
    /// A function that is being entered is before its first instruction.
    fn new(code: *mut ffi::PyObject, position: i32) -> Running {
        Running { code, position: position.max(0).cast_unsigned() }
    }
}

/// Shows the frames of this thread until the visitor breaks off. Shows none without the interpreter's
/// lock, which this does not wait for. Among them may be code that the interpreter runs for its own ends.
#[inline]
pub(crate) fn walk(visit: impl FnMut(Running) -> ControlFlow<()>) {
    let Some(state) = attached() else { return };
    #[cfg(not(Py_3_15))]
    if records::are_readable() {
        // SAFETY: the state is the running thread's, and the layout was compared.
        return unsafe { records::walk(state.as_ptr(), visit) };
    }
    objects::walk(visit);
}

/// The state of this thread, if it holds the lock.
#[inline]
fn attached() -> Option<NonNull<ffi::PyThreadState>> {
    // SAFETY: may be asked on any thread at any time.
    let running = NonNull::new(unsafe { ffi::compat::PyThreadState_GetUnchecked() });
    // Before, it is that of the thread that holds the lock, which may be another one.
    if cfg!(Py_3_12) || sharing::is_alone() {
        return running;
    }
    // SAFETY: as above.
    running.filter(|running| running.as_ptr() == unsafe { ffi::PyGILState_GetThisThreadState() })
}

/// Finds out how frames can be read. Called when the module is loaded, by Python code.
pub(crate) fn learn() {
    #[cfg(not(Py_3_15))]
    // SAFETY: the lock is held, so this is the running thread's.
    records::compare(unsafe { ffi::PyThreadState_Get() });
}

/// Frames as Python shows them.
mod objects {
    use super::{ControlFlow, Running, ffi};

    /// A frame object of the running thread, counted.
    struct Frame(*mut ffi::PyFrameObject);

    impl Drop for Frame {
        fn drop(&mut self) {
            // SAFETY: the reference is ours and the lock is held: frames do not leave `walk`.
            unsafe { ffi::Py_DECREF(self.0.cast()) }
        }
    }

    /// As `super::walk`, on the thread that holds the lock.
    pub(super) fn walk(mut visit: impl FnMut(Running) -> ControlFlow<()>) {
        // SAFETY: the lock is held; a running frame is alive, so that its count may be raised.
        let mut next = unsafe {
            let frame = ffi::PyEval_GetFrame();
            ffi::Py_XINCREF(frame.cast());
            frame
        };
        while !next.is_null() {
            let frame = Frame(next);
            if visit(running(&frame)).is_break() {
                return;
            }
            // SAFETY: the frame is alive and belongs to this thread.
            next = unsafe { ffi::PyFrame_GetBack(frame.0) };
        }
    }

    fn running(frame: &Frame) -> Running {
        // SAFETY: the frame is alive. It has a code, which lives as long as it does.
        let code = unsafe {
            let code = ffi::PyFrame_GetCode(frame.0).cast::<ffi::PyObject>();
            ffi::Py_DECREF(code);
            code
        };
        Running::new(code, instruction(frame))
    }

    #[cfg(Py_3_11)]
    fn instruction(frame: &Frame) -> i32 {
        // SAFETY: the frame is alive.
        unsafe { ffi::PyFrame_GetLasti(frame.0) }
    }

    /// As above, of the attribute.
    #[cfg(not(Py_3_11))]
    fn instruction(frame: &Frame) -> i32 {
        use pyo3::prelude::*;
        // SAFETY: the frame is alive, and the lock is held.
        let frame = unsafe { Bound::from_borrowed_ptr(Python::assume_attached(), frame.0.cast()) };
        frame.getattr("f_lasti").and_then(|position| position.extract()).unwrap_or(0)
    }
}
