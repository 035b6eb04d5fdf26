//! Who sees the calls of a thread: the modes that it is in, and classes but in blocks that say otherwise.

use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::tensor::object::tensor_type;

/// Whether there ever was a class or a mode that wants to see calls.
static EVER: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// How many blocks this thread is in that call functions as they are.
    static DISABLED: Cell<u32> = const { Cell::new(0) };
    /// Whether the next call is shown to neither classes nor modes; those inside of it are.
    static SKIPPING: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread calls functions without showing them to its modes.
    static MODES_HIDDEN: Cell<bool> = const { Cell::new(false) };
    /// The modes that this thread is in, the innermost last.
    static MODES: RefCell<Vec<Py<PyAny>>> = const { RefCell::new(Vec::new()) };
}

/// How many threads are in a mode, each as often as it is.
static IN_MODES: AtomicUsize = AtomicUsize::new(0);

/// The class of tensors that operators may take for what they are: none while any thread is in a mode.
static COMMON: AtomicPtr<ffi::PyTypeObject> = AtomicPtr::new(ptr::null_mut());

/// See `COMMON`.
#[inline]
pub(crate) fn common_type() -> *mut ffi::PyTypeObject {
    COMMON.load(Ordering::Relaxed)
}

/// The tensor class was made.
pub(crate) fn install(tensor: *mut ffi::PyTypeObject) {
    COMMON.store(tensor, Ordering::Relaxed);
}

/// Whether this thread is in a mode that sees calls.
pub(crate) fn in_mode() -> bool {
    IN_MODES.load(Ordering::Relaxed) > 0 && !MODES_HIDDEN.get() && !MODES.with_borrow(Vec::is_empty)
}

/// Whether a call has to be shown before it is made.
#[inline]
pub(crate) fn ever() -> bool {
    EVER.load(Ordering::Relaxed)
}

/// There is a class that wants to see calls.
pub(super) fn begin() {
    EVER.store(true, Ordering::Relaxed);
}

/// Calls functions as they are until it goes.
pub(super) struct AsTheyAre;

impl AsTheyAre {
    pub(super) fn enter() -> AsTheyAre {
        DISABLED.set(DISABLED.get() + 1);
        AsTheyAre
    }
}

impl Drop for AsTheyAre {
    fn drop(&mut self) {
        DISABLED.set(DISABLED.get().saturating_sub(1));
    }
}

/// A block in which functions are called as they are.
#[pyclass(name = "_DisableTorchFunctionSubclass", module = "rushlight._rushlight", frozen)]
pub(crate) struct Disabling;

#[pymethods]
impl Disabling {
    #[new]
    fn new() -> Disabling {
        Disabling
    }

    fn __enter__(&self) {
        DISABLED.set(DISABLED.get() + 1);
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        DISABLED.set(DISABLED.get().saturating_sub(1));
    }
}

/// Have classes not see calls as often as said, and modes not at all or again; answer how it was.
#[pyfunction]
#[pyo3(name = "_exchange_torch_function_state")]
pub(crate) fn exchange_state(disabled: u32, modes_hidden: bool) -> (u32, bool) {
    (DISABLED.replace(disabled), MODES_HIDDEN.replace(modes_hidden))
}

/// Return the modes that this thread is in, the innermost last.
#[pyfunction]
#[pyo3(name = "_torch_function_modes")]
pub(crate) fn modes(py: Python<'_>) -> Vec<Py<PyAny>> {
    MODES.with_borrow(|modes| modes.iter().map(|mode| mode.clone_ref(py)).collect())
}

/// Show every call to `mode` from now on, before others see it.
#[pyfunction]
#[pyo3(name = "_push_torch_function_mode")]
pub(crate) fn push_mode(mode: Py<PyAny>) {
    EVER.store(true, Ordering::Relaxed);
    IN_MODES.fetch_add(1, Ordering::Relaxed);
    COMMON.store(ptr::null_mut(), Ordering::Relaxed);
    MODES.with_borrow_mut(|modes| modes.push(mode));
}

/// End what the last push began.
#[pyfunction]
#[pyo3(name = "_pop_torch_function_mode")]
pub(crate) fn pop_mode() -> Option<Py<PyAny>> {
    let mode = MODES.with_borrow_mut(Vec::pop);
    if mode.is_some() && IN_MODES.fetch_sub(1, Ordering::Relaxed) == 1 {
        COMMON.store(tensor_type(), Ordering::Relaxed);
    }
    mode
}

/// Whether classes see calls of this thread.
pub(super) fn is_shown() -> bool {
    DISABLED.get() == 0
}

/// Whether this is the call that neither classes nor modes see.
pub(super) fn is_skipped() -> bool {
    SKIPPING.replace(false)
}

/// The innermost mode of this thread that sees calls.
pub(super) fn innermost(py: Python<'_>) -> Option<Py<PyAny>> {
    if !in_mode() {
        return None;
    }
    MODES.with_borrow(|modes| modes.last().map(|mode| mode.clone_ref(py)))
}

/// Call a function as it is, and show what it calls in turn.
#[pyfunction]
#[pyo3(name = "_redispatch")]
pub(crate) fn redispatch<'py>(
    func: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    SKIPPING.set(true);
    let answer = func.call(args, kwargs);
    SKIPPING.set(false);
    answer
}
