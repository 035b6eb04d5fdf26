//! Ctrl-C in what goes through many objects of the interpreter one by one, with its lock.

use pyo3::prelude::*;

/// Listens to signals from time to time.
#[derive(Default)]
pub(crate) struct Listening(usize);

impl Listening {
    /// One more object. Fails if a handler does.
    #[inline]
    pub(crate) fn object(&mut self, py: Python<'_>) -> PyResult<()> {
        self.objects(py, 1)
    }

    /// So many more objects.
    #[inline]
    pub(crate) fn objects(&mut self, py: Python<'_>, count: usize) -> PyResult<()> {
        self.0 += count;
        if self.0 < 1 << 14 {
            return Ok(());
        }
        self.0 = 0;
        py.check_signals()
    }
}
