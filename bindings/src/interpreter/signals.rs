//! Ctrl-C during loops over many Python objects, which hold the GIL all the time.

use pyo3::prelude::*;

/// Counts the objects of a loop, and has Python handle signals once every few thousand of them.
#[derive(Default)]
pub(crate) struct Listening(usize);

impl Listening {
    /// Counts one more object. Fails if a signal handler raises.
    #[inline]
    pub(crate) fn object(&mut self, py: Python<'_>) -> PyResult<()> {
        self.objects(py, 1)
    }

    /// Counts so many more objects.
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
