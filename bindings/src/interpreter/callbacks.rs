//! What is called when a run backward is done: functions of Python that are queued while it is under way.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::engine;
use rushlight::graph::mode::GradModeGuard;

thread_local! {
    /// How many runs this thread is in, one inside of the other.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// What waits, and for the end of which run.
    static QUEUED: RefCell<Vec<Waiting>> = const { RefCell::new(Vec::new()) };
    /// The number of the run whose callbacks are called.
    static ENDING: Cell<Option<u64>> = const { Cell::new(None) };
}

/// A function that is called at the end of a run.
struct Waiting {
    depth: usize,
    /// The number of the run.
    run: Option<u64>,
    callback: Py<PyAny>,
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
        let depth = DEPTH.with(|depth| {
            depth.set(depth.get() + 1);
            depth.get()
        });
        Run { depth }
    }

    /// It has succeeded: calls what was queued, and what that queues in turn, in the mode of the run.
    pub(crate) fn finish(self, py: Python<'_>, records: bool) -> PyResult<()> {
        while let Some(Waiting { run, callback, .. }) = self.next() {
            let _mode = GradModeGuard::new(records);
            let outer = ENDING.replace(run);
            let answer = callback.call0(py);
            ENDING.set(outer);
            answer?;
        }
        Ok(())
    }

    fn next(&self) -> Option<Waiting> {
        if !EVER.load(Ordering::Relaxed) {
            return None;
        }
        QUEUED.with_borrow_mut(|queued| {
            let place = queued.iter().position(|waiting| waiting.depth == self.depth)?;
            Some(queued.remove(place))
        })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        DEPTH.set(self.depth - 1);
        // What is left waited for a run that failed.
        while let Some(waiting) = self.next() {
            drop(waiting);
        }
    }
}

/// The number of the run that this thread is in, or whose callbacks it calls.
pub(crate) fn current_run() -> Option<u64> {
    engine::current_run().or(ENDING.get())
}

/// Call `callback` when the run backward that is under way on this thread is done.
#[pyfunction]
#[pyo3(name = "_queue_callback")]
pub(crate) fn queue(callback: Py<PyAny>) -> PyResult<()> {
    match DEPTH.get() {
        0 => Err(PyRuntimeError::new_err("Final callbacks can only be installed during backward pass.")),
        depth => {
            EVER.store(true, Ordering::Relaxed);
            let waiting = Waiting { depth, run: current_run(), callback };
            QUEUED.with_borrow_mut(|queued| queued.push(waiting));
            Ok(())
        }
    }
}
