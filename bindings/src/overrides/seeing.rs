//! Who is shown the calls of a thread: its function modes, and classes, except where they are disabled.

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
    /// The mode that sees what is compiled when all others have seen it, and nothing else: see `beneath`.
    static BENEATH: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
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
#[inline]
pub(crate) fn in_mode() -> bool {
    IN_MODES.load(Ordering::Relaxed) > 0 && (has_modes() || BENEATH.with_borrow(Option::is_some))
}

/// Whether it is in one that sees calls of functions that are written in Python, too.
#[inline]
pub(super) fn in_any_mode() -> bool {
    IN_MODES.load(Ordering::Relaxed) > 0 && has_modes()
}

fn has_modes() -> bool {
    !MODES_HIDDEN.get() && !MODES.with_borrow(Vec::is_empty)
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
    enter();
    MODES.with_borrow_mut(|modes| modes.push(mode));
}

fn enter() {
    EVER.store(true, Ordering::Relaxed);
    IN_MODES.fetch_add(1, Ordering::Relaxed);
    COMMON.store(ptr::null_mut(), Ordering::Relaxed);
}

fn leave() {
    if IN_MODES.fetch_sub(1, Ordering::Relaxed) == 1 {
        COMMON.store(tensor_type(), Ordering::Relaxed);
    }
}

/// End what the last push began.
#[pyfunction]
#[pyo3(name = "_pop_torch_function_mode")]
pub(crate) fn pop_mode() -> Option<Py<PyAny>> {
    let mode = MODES.with_borrow_mut(Vec::pop);
    if mode.is_some() {
        leave();
    }
    mode
}

/// Return the mode beneath all others, which sees calls of compiled functions when these have seen them.
#[pyfunction]
#[pyo3(name = "_mode_beneath")]
pub(crate) fn beneath(py: Python<'_>) -> Option<Py<PyAny>> {
    BENEATH.with_borrow(|mode| mode.as_ref().map(|mode| mode.clone_ref(py)))
}

/// Put a mode beneath all others, or none; answer which was there.
#[pyfunction]
#[pyo3(name = "_exchange_mode_beneath", signature = (mode))]
pub(crate) fn exchange_beneath(mode: Option<Py<PyAny>>) -> Option<Py<PyAny>> {
    if mode.is_some() {
        enter();
    }
    let before = BENEATH.replace(mode);
    if before.is_some() {
        leave();
    }
    before
}

/// A mode that is left while it answers; it is entered again when this goes.
pub(super) struct Left {
    mode: Option<Py<PyAny>>,
    beneath: bool,
}

impl Left {
    /// Leaves the innermost mode: the one beneath all others if there is no other, unless only these are meant.
    pub(super) fn innermost(watching: Watching) -> Option<Left> {
        if in_any_mode() {
            return pop_mode().map(|mode| Left { mode: Some(mode), beneath: false });
        }
        let mode = if watching == Watching::Compiled { exchange_beneath(None) } else { None };
        mode.map(|mode| Left { mode: Some(mode), beneath: true })
    }

    /// The mode.
    pub(super) fn mode(&self) -> Option<&Py<PyAny>> {
        self.mode.as_ref()
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        match self.mode.take() {
            Some(mode) if self.beneath => drop(exchange_beneath(Some(mode))),
            Some(mode) => push_mode(mode),
            None => {}
        }
    }
}

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Watching {
    /// What is compiled: every mode sees it.
    Compiled,
    /// A function that is written in Python, which comes to others: the mode beneath sees these.
    Written,
}

/// Whether classes see calls of this thread.
pub(super) fn is_shown() -> bool {
    DISABLED.get() == 0
}

/// Whether this is the call that neither classes nor modes see.
pub(super) fn is_skipped() -> bool {
    SKIPPING.replace(false)
}

/// The innermost mode of this thread that sees such calls.
pub(super) fn innermost(py: Python<'_>, watching: Watching) -> Option<Py<PyAny>> {
    if in_any_mode() {
        return MODES.with_borrow(|modes| modes.last().map(|mode| mode.clone_ref(py)));
    }
    if watching == Watching::Compiled { beneath(py) } else { None }
}

/// Says whether the next call is one that neither classes nor modes see.
pub(super) fn skip(next: bool) {
    SKIPPING.set(next);
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
