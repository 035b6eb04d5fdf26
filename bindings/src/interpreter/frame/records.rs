//! The interpreter's records of running functions, read in place; see Note [Frames without objects].
//! Here are their layouts, by version.

use std::ffi::{c_int, c_void};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;

use super::{Running, objects};

/// How many pointers a thread's state begins with.
const LINKS: usize = if cfg!(Py_3_13) { 4 } else { 3 };
/// How many numbers follow them.
const COUNTERS: usize = match () {
    () if cfg!(Py_3_13) => 9,
    () if cfg!(Py_3_11) => 7,
    () => 0,
};

/// The beginning of a thread's state.
#[repr(C)]
struct State {
    links: [*mut c_void; LINKS],
    counters: [c_int; COUNTERS],
    #[cfg(all(Py_3_11, not(Py_3_13)))]
    call: *const Call,
    #[cfg(not(all(Py_3_11, not(Py_3_13))))]
    current: *const Record,
}

/// A call of the interpreter's loop.
#[cfg(all(Py_3_11, not(Py_3_13)))]
#[repr(C)]
struct Call {
    #[cfg(not(Py_3_12))]
    use_tracing: u8,
    current: *const Record,
}

impl State {
    /// The record of the innermost function, if any runs.
    ///
    /// # Safety
    /// The state is that of the thread that holds the lock.
    #[inline]
    unsafe fn innermost<'a>(&self) -> Option<&'a Record> {
        #[cfg(all(Py_3_11, not(Py_3_13)))]
        // SAFETY: a state has a call, which lives as long as it is the state's.
        let current = unsafe { self.call.as_ref()?.current };
        #[cfg(not(all(Py_3_11, not(Py_3_13))))]
        let current = self.current;
        // SAFETY: by the caller's promise, what runs goes on running.
        unsafe { current.as_ref() }
    }
}

/// A function that runs; then there is its frame object.
#[cfg(not(Py_3_11))]
#[repr(C)]
struct Record {
    head: ffi::PyVarObject,
    previous: *const Record,
    code: *mut ffi::PyObject,
    namespaces: [*mut c_void; 3],
    stack: *mut c_void,
    trace: *mut c_void,
    depth: c_int,
    traced: [u8; 2],
    generator: *mut c_void,
    instruction: c_int,
}

#[cfg(not(Py_3_11))]
impl Record {
    #[inline]
    fn running(&self) -> Option<Running> {
        Some(Running::new(self.code, self.instruction.saturating_mul(2)))
    }
}

/// A function that runs.
#[cfg(all(Py_3_11, not(Py_3_12)))]
#[repr(C)]
struct Record {
    namespaces: [*mut c_void; 4],
    code: *mut ffi::PyObject,
    object: *mut c_void,
    previous: *const Record,
    instruction: *const u16,
}

/// A code object, to its instructions.
#[cfg(all(Py_3_11, not(Py_3_12)))]
#[repr(C)]
struct Code {
    head: ffi::PyVarObject,
    constants: [*mut c_void; 3],
    flags: c_int,
    caching: [i16; 2],
    counts: [c_int; 10],
    names: [*mut c_void; 9],
    first_traceable: c_int,
    extra: *mut c_void,
    instructions: [u16; 0],
}

#[cfg(all(Py_3_11, not(Py_3_12)))]
impl Record {
    #[inline]
    fn running(&self) -> Option<Running> {
        let start = self.code.addr() + std::mem::offset_of!(Code, instructions);
        Some(Running::new(self.code, self.instruction.addr().wrapping_sub(start) as i32))
    }
}

/// A function that runs, or a place where the interpreter's loop was entered.
#[cfg(Py_3_12)]
#[repr(C)]
struct Record {
    /// A code object in the former case. Its lowest bits may say how it is counted.
    executable: *mut ffi::PyObject,
    previous: *const Record,
}

#[cfg(Py_3_12)]
impl Record {
    #[inline]
    fn running(&self) -> Option<Running> {
        let code = self.executable.map_addr(|address| address & !3);
        // SAFETY: a record has an object there, alive as long as itself, and the interpreter tells of any
        // record of a code where in it that is: threads may have copies of the instructions.
        unsafe {
            if ffi::PyCode_Check(code) == 0 {
                return None;
            }
            let record = std::ptr::from_ref(self).cast_mut();
            Some(Running::new(code, ffi::PyUnstable_InterpreterFrame_GetLasti(record.cast())))
        }
    }
}

/// Whether records are as described here.
static READABLE: AtomicBool = AtomicBool::new(false);

#[inline]
pub(super) fn are_readable() -> bool {
    READABLE.load(Ordering::Relaxed)
}

/// Compares the records of all running functions with what the interpreter says of them, and remembers
/// whether they can be read.
pub(super) fn compare(state: *mut ffi::PyThreadState) {
    let mut shown = Vec::new();
    objects::walk(|running| {
        shown.push(running);
        ControlFlow::Continue(())
    });
    let mut missing = shown.as_slice();
    // SAFETY: in the version of Python that this is compiled for.
    unsafe {
        walk(state, |running| {
            // Between those that are shown may lie some of the interpreter's own.
            if let Some((first, others)) = missing.split_first()
                && *first == running
            {
                missing = others;
            }
            if missing.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
    READABLE.store(!shown.is_empty() && missing.is_empty(), Ordering::Relaxed);
}

/// As `super::walk`.
///
/// # Safety
/// The state is that of the thread that holds the lock, and the layout is the interpreter's.
#[inline]
pub(super) unsafe fn walk(state: *mut ffi::PyThreadState, mut visit: impl FnMut(Running) -> ControlFlow<()>) {
    // SAFETY: by the caller's promise.
    let mut next = unsafe { (*state.cast::<State>()).innermost() };
    while let Some(record) = next {
        if record.running().is_some_and(|running| visit(running).is_break()) {
            return;
        }
        // SAFETY: the records of running functions are linked, the last one to nothing.
        next = unsafe { record.previous.as_ref() };
    }
}
