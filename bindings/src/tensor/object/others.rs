//! What others have to say in the life of tensor objects. It is handed over when the type is made: objects know none
//! of those who use them.

use std::any::Any;
use std::ffi::c_int;
use std::sync::OnceLock;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use rushlight::Tensor;

use super::TensorBase;

/// Shows an object to the interpreter's collector; answers what that says.
pub(crate) type Visit<'a> = dyn FnMut(*mut ffi::PyObject) -> c_int + 'a;

/// What others do, when their time comes.
pub(crate) struct Others {
    /// The slots of the language: operators, length, truth.
    pub(crate) slots: fn() -> Vec<ffi::PyType_Slot>,
    /// Adds attributes and methods to the class that all tensors are of.
    pub(crate) add_attributes: fn(&Bound<'_, PyType>) -> PyResult<()>,
    /// Learns of the type of tensors.
    pub(crate) made: fn(*mut ffi::PyTypeObject),
    /// The tensor that a call of the type asks for.
    pub(crate) construct: fn(&Bound<'_, PyTuple>, Option<&Bound<'_, PyDict>>) -> PyResult<Tensor>,
    /// Learns of a class that is derived from the type.
    pub(crate) derived: fn(&Bound<'_, PyType>) -> PyResult<()>,
    /// Whether a class is shown operations on its tensors.
    pub(crate) is_dispatch_subclass: fn(&Bound<'_, PyType>) -> PyResult<bool>,
    /// Shows the collector what leads from the tensor through the graph.
    pub(crate) visit: fn(&TensorBase, &mut Visit<'_>) -> c_int,
    /// The exception of a panic.
    pub(crate) exception: fn(Box<dyn Any + Send>) -> PyErr,
}

static OTHERS: OnceLock<Others> = OnceLock::new();

/// Takes over what others do. The module is initialised once.
pub(super) fn introduce(others: Others) {
    let _ = OTHERS.set(others);
}

/// What others do.
pub(super) fn others() -> &'static Others {
    OTHERS.get().unwrap_or_else(|| unreachable!("there is no object before its type is made"))
}
