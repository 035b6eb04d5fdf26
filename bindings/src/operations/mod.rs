//! The table of native functions and methods: one entry an operation, one file a family.
use crate::callable::{self, Function};
use crate::tensor::object::TensorBase;
use pyo3::prelude::*;

mod create;
mod elementwise;
mod reduce;

/// Makes all of them: attributes of the module, of its room for `nn`, and of the tensor class.
pub(crate) fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let neural = PyModule::new(py, "rushlight._rushlight._nn")?;
    module.add("_nn", &neural)?;
    py.import("sys")?.getattr("modules")?.set_item(neural.name()?, &neural)?;
    callable::install(all(), module, &neural, &py.get_type::<TensorBase>())
}

fn all() -> impl Iterator<Item = Function> {
    let listed = [elementwise::TABLE, reduce::TABLE, create::TABLE];
    elementwise::from_engine().chain(listed.into_iter().flatten().copied())
}
