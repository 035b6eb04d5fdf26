//! Work that releases the GIL, so that other threads of Python go on meanwhile: see Note [Long operations].

use pyo3::prelude::*;
use rushlight::sharing::{self, ConcurrencyGuard};

/// Runs `body` without the lock. What it panics with goes on from here.
pub(crate) fn run<T: Send>(py: Python<'_>, body: impl Send + FnOnce() -> T) -> T {
    let _threads = ConcurrencyGuard::new();
    py.detach(body)
}

/// Whether any thread may be changing the graph without the lock.
pub(crate) fn is_anyone() -> bool {
    sharing::is_concurrent()
}
