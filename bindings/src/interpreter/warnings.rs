//! Warnings that are given once in the life of a process, unless the program wants them every time.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// Whether they are given every time.
static ALWAYS: AtomicBool = AtomicBool::new(false);

/// Whether a warning was given. Each has a static one of its own.
pub(crate) struct Once(AtomicBool);

impl Once {
    pub(crate) const fn new() -> Once {
        Once(AtomicBool::new(false))
    }

    /// Whether it is to be given now; it counts as given.
    pub(crate) fn is_due(&self) -> bool {
        !self.0.swap(true, Ordering::Relaxed) || ALWAYS.load(Ordering::Relaxed)
    }

    /// Gives it if it is due.
    pub(crate) fn warn(&self, py: Python<'_>, text: &CStr) -> PyResult<()> {
        if self.is_due() { PyErr::warn(py, &py.get_type::<PyUserWarning>(), text, 1) } else { Ok(()) }
    }
}

/// Whether a warning of this kind is to be given now, if it is given once; it counts as given.
pub(crate) fn is_due(kind: &'static str) -> bool {
    static TOLD: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let first = TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(kind);
    first || ALWAYS.load(Ordering::Relaxed)
}

/// Have warnings that are given once in the life of a process given every time, or once again.
///
/// >>> import rushlight as torch
/// >>> torch.set_warn_always(True)
/// >>> torch.is_warn_always_enabled()
/// True
/// >>> torch.set_warn_always(False)
#[pyfunction]
#[pyo3(signature = (b, /))]
pub(crate) fn set_warn_always(b: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(always) = b.cast::<PyBool>() else {
        let class = b.get_type().name()?;
        return Err(PyRuntimeError::new_err(format!("setWarnOnlyOnce expects a bool, but got {class}")));
    };
    ALWAYS.store(always.is_true(), Ordering::Relaxed);
    Ok(())
}

/// Tell whether warnings that are given once in the life of a process are given every time.
#[pyfunction]
pub(crate) fn is_warn_always_enabled() -> bool {
    ALWAYS.load(Ordering::Relaxed)
}
