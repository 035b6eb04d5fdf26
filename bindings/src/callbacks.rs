//! What is called when a run backward is done: functions of Python that are queued while it is under way.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::graph::mode::GradModeGuard;

thread_local! {
    /// How many runs this thread is in, one inside of the other.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// What waits, and for the end of which run.
    static QUEUED: RefCell<Vec<(usize, Py<PyAny>)>> = const { RefCell::new(Vec::new()) };
}

/// Whether anything was ever queued.
static EVER: AtomicBool = AtomicBool::new(false);

/// A run of this thread, for as long as it lives.
pub(crate) struct Run {
    depth: usize,
}

impl Run {
    /// A run begins.
    pub(crate) fn begin() -> Run {
        let depth = DEPTH.get() + 1;
        DEPTH.set(depth);
        Run { depth }
    }

    /// It has succeeded: calls what was queued, and what that queues in turn, in the mode of the run.
    pub(crate) fn finish(self, py: Python<'_>, records: bool) -> PyResult<()> {
        while let Some(callback) = self.next() {
            let _mode = GradModeGuard::new(records);
            callback.call0(py)?;
        }
        Ok(())
    }

    fn next(&self) -> Option<Py<PyAny>> {
        if !EVER.load(Ordering::Relaxed) {
            return None;
        }
        QUEUED.with_borrow_mut(|queued| {
            let place = queued.iter().position(|(depth, _)| *depth == self.depth)?;
            Some(queued.remove(place).1)
        })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        DEPTH.set(self.depth - 1);
        // What is left waited for a run that failed.
        while let Some(callback) = self.next() {
            drop(callback);
        }
    }
}

/// Call `callback` when the run backward that is under way on this thread is done.
#[pyfunction]
#[pyo3(name = "_queue_callback")]
pub(crate) fn queue(callback: Py<PyAny>) -> PyResult<()> {
    match DEPTH.get() {
        0 => Err(PyRuntimeError::new_err("Final callbacks can only be installed during backward pass.")),
        depth => {
            EVER.store(true, Ordering::Relaxed);
            QUEUED.with_borrow_mut(|queued| queued.push((depth, callback)));
            Ok(())
        }
    }
}
