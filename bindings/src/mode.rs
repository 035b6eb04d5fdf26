//! Whether operations record: the flag of the calling thread.

use pyo3::prelude::*;
use rushlight::graph::mode;

/// Tell whether operations on this thread are recorded.
#[pyfunction]
pub(crate) fn is_grad_enabled() -> bool {
    mode::is_grad_enabled()
}

/// Record operations on this thread from now on, or not.
#[pyfunction]
#[pyo3(name = "_set_grad_enabled")]
pub(crate) fn set_grad_enabled(enabled: bool) {
    mode::set_grad_enabled(enabled);
}
