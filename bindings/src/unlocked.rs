//! Work without the interpreter's lock, so that other threads of Python go on meanwhile.

use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;

/// How many threads are at such work.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// One more thread, until it is dropped.
struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        THREADS.fetch_sub(1, Ordering::Release);
    }
}

/// Runs `body` without the lock. What it panics with goes on from here.
pub(crate) fn run<T: Send>(py: Python<'_>, body: impl Send + FnOnce() -> T) -> T {
    THREADS.fetch_add(1, Ordering::Acquire);
    let _counted = Counted;
    py.detach(body)
}

/// Whether any thread may be changing the graph without the lock.
pub(crate) fn is_anyone() -> bool {
    THREADS.load(Ordering::Acquire) > 0
}
