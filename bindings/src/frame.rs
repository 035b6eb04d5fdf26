//! The running Python frames, innermost first: the code object of each and the instruction in it.
//!
//! Note [Frames without objects]
//! ----
//! Since Python 3.11 a function that runs has no frame object: the interpreter keeps a record, and
//! makes the object when somebody asks for it, which takes longer than all that rushlight needs of it.
//! Where the layout of the records is known they are read in place. The layout is part of the binary
//! interface of a minor version; that it is the expected one is found out when the module is loaded,
//! by comparing what the records say with what the interpreter says of the same frames. Everywhere else the
//! interpreter is asked for objects.

use std::ops::ControlFlow;

use pyo3::ffi;

/// A code object that is running, and the instruction at which it is (before Python 3.11, the line).
pub(crate) struct Running {
    /// Borrowed: alive while the frame runs.
    pub(crate) code: *mut ffi::PyObject,
    pub(crate) position: u32,
}

/// Shows the frames of this thread until the visitor breaks off. Shows none without the interpreter's
/// lock, which this does not wait for.
#[inline]
pub(crate) fn walk(visit: impl FnMut(Running) -> ControlFlow<()>) {
    // SAFETY: both may be asked on any thread at any time.
    let (own, running) =
        unsafe { (ffi::PyGILState_GetThisThreadState(), ffi::compat::PyThreadState_GetUnchecked()) };
    // They are equal on the thread that holds the lock, and only there.
    if own.is_null() || own != running {
        return;
    }
    #[cfg(all(Py_3_11, not(Py_3_12)))]
    if let Some(code_start) = records::code_start() {
        // SAFETY: the state is the running thread's, and the layout was compared.
        return unsafe { records::walk(own, code_start, visit) };
    }
    objects::walk(visit);
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
        // SAFETY: as above.
        #[cfg(Py_3_11)]
        let position = unsafe { ffi::PyFrame_GetLasti(frame.0) };
        // SAFETY: as above.
        #[cfg(not(Py_3_11))]
        let position = unsafe { ffi::PyFrame_GetLineNumber(frame.0) };
        Running { code, position: position.max(0).cast_unsigned() }
    }
}

/// The interpreter's records of running functions; see Note [Frames without objects].
#[cfg(all(Py_3_11, not(Py_3_12)))]
mod records {
    use std::ffi::{c_int, c_void};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{ControlFlow, Running, ffi, objects};

    /// The beginning of a thread's state.
    #[repr(C)]
    struct State {
        links: [*mut c_void; 3],
        counters: [c_int; 7],
        call: *const Call,
    }

    /// A call of the interpreter's loop.
    #[repr(C)]
    struct Call {
        use_tracing: u8,
        current: *const Record,
    }

    /// A function that runs.
    #[repr(C)]
    struct Record {
        namespaces: [*mut c_void; 4],
        code: *mut ffi::PyObject,
        object: *mut c_void,
        previous: *const Record,
        instruction: *const u16,
    }

    impl Record {
        /// The bytes from the beginning of the code object to the instruction.
        fn offset(&self) -> usize {
            self.instruction.addr().wrapping_sub(self.code.addr())
        }
    }

    /// Where in a code object its instructions begin; zero as long as records cannot be read.
    static CODE_START: AtomicUsize = AtomicUsize::new(0);

    /// Further than this no code object's instructions begin.
    const FARTHEST: usize = 1024;

    #[inline]
    pub(super) fn code_start() -> Option<usize> {
        let start = CODE_START.load(Ordering::Relaxed);
        (start != 0).then_some(start)
    }

    /// Compares the records of all running frames with what the interpreter says of them.
    pub(super) fn learn(state: *mut ffi::PyThreadState) {
        let mut shown = Vec::new();
        objects::walk(|running| {
            shown.push((running.code, running.position as usize));
            ControlFlow::Continue(())
        });
        // SAFETY: in the version of Python that this is compiled for; a record that is not there is
        // not followed, and as many are read as there are frames.
        let read = unsafe { innermost(state).map(|record| read(record, shown.len())) };
        CODE_START.store(start(&shown, &read.unwrap_or_default()).unwrap_or(0), Ordering::Relaxed);
    }

    /// The codes of so many records and their instructions' offsets.
    ///
    /// # Safety
    /// The record is the innermost of the thread that holds the lock.
    unsafe fn read(mut record: &Record, count: usize) -> Vec<(*mut ffi::PyObject, usize)> {
        let mut read = Vec::new();
        while read.len() < count {
            read.push((record.code, record.offset()));
            // SAFETY: the records of running functions are linked, the last one to nothing.
            let Some(previous) = (unsafe { record.previous.as_ref() }) else { break };
            record = previous;
        }
        read
    }

    /// The start of instructions on which all frames agree.
    fn start(shown: &[(*mut ffi::PyObject, usize)], read: &[(*mut ffi::PyObject, usize)]) -> Option<usize> {
        let start = read.first()?.1.checked_sub(shown.first()?.1)?;
        let agree = shown.iter().map(|&(code, position)| (code, position + start)).eq(read.iter().copied());
        (agree && (1..FARTHEST).contains(&start)).then_some(start)
    }

    /// # Safety
    /// The state is that of the thread that holds the lock.
    #[inline]
    unsafe fn innermost<'a>(state: *mut ffi::PyThreadState) -> Option<&'a Record> {
        // SAFETY: by the caller's promise; the state of a thread has a call, which has a record while
        // a function runs.
        unsafe { (*state.cast::<State>()).call.as_ref()?.current.as_ref() }
    }

    /// As `super::walk`.
    ///
    /// # Safety
    /// The state is that of the thread that holds the lock, and `code_start` was learnt.
    #[inline]
    pub(super) unsafe fn walk(
        state: *mut ffi::PyThreadState,
        code_start: usize,
        mut visit: impl FnMut(Running) -> ControlFlow<()>,
    ) {
        // SAFETY: by the caller's promise.
        let mut next = unsafe { innermost(state) };
        while let Some(record) = next {
            // A function that is being entered is before its first instruction.
            let position = record.offset().checked_sub(code_start).map_or(0, |position| position as u32);
            if visit(Running { code: record.code, position }).is_break() {
                return;
            }
            // SAFETY: the records of running functions are linked, the last one to nothing.
            next = unsafe { record.previous.as_ref() };
        }
    }
}

/// Finds out how frames can be read. Called when the module is loaded, by Python code.
pub(crate) fn learn() {
    #[cfg(all(Py_3_11, not(Py_3_12)))]
    // SAFETY: the lock is held, so this is the running thread's.
    records::learn(unsafe { ffi::PyThreadState_Get() });
}
