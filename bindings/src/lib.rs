//! The extension module `rushlight._rushlight`: converts and delegates.
mod arguments;
mod border;
mod callable;
mod convert;
mod inventory;
mod returns;
mod signature;
mod trial;
mod trial_table;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _rushlight {
    use super::*;
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::trial_table::install(module)
    }
}
