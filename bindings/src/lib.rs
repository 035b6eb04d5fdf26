//! The extension module `rushlight._rushlight`: converts and delegates.
//!
//! `tensor` is the object and what it can do.

use pyo3::prelude::*;

mod tensor;

// Free-threaded interpreters are untested: importing the module switches their lock back on.
#[pymodule(gil_used = true)]
mod _rushlight {
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        tensor::object::install(module)
    }
}
