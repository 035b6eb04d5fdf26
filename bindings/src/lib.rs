//! The extension module `rushlight._rushlight`: converts and delegates.
use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _rushlight {}
