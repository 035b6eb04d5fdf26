//! Ctrl-C in what goes through many objects of the interpreter one by one, with its lock.

use pyo3::prelude::*;

/// Listens to signals from time to time.
#[derive(Default)]
pub(crate) struct Listening(u32);

impl Listening {
    /// One more object. Fails if a handler does.
    #[inline]
    pub(crate) fn object(&mut self, py: Python<'_>) -> PyResult<()> {
        self.0 = self.0.wrapping_add(1);
        if self.0.is_multiple_of(1 << 14) { py.check_signals() } else { Ok(()) }
    }
}
