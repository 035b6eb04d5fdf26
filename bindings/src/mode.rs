//! How operations run: whether they record, which is a flag of the calling thread, and on how many
//! threads.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::graph::mode;
use rushlight::kernels::parallel;

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

/// Tell on how many threads a computation may run, the calling one included.
#[pyfunction]
pub(crate) fn get_num_threads() -> usize {
    parallel::num_threads()
}

/// Run computations on at most this many threads from now on. Results do not depend on the number.
#[pyfunction]
pub(crate) fn set_num_threads(count: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(number) = count.extract::<i64>() else {
        let class = count.get_type().name()?;
        return Err(PyRuntimeError::new_err(format!("set_num_threads expects an int, but got {class}")));
    };
    if number <= 0 {
        return Err(PyRuntimeError::new_err("set_num_threads expects a positive integer"));
    }
    parallel::set_num_threads(number as usize);
    Ok(())
}
