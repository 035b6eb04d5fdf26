//! The classes of the Python side as the border sees them: what is a tensor, an element type, a
//! device, and what a type is called in a message. Arguments are matched in `signature`.
use crate::device::{Device, Layout, MemoryFormat};
pub(crate) use crate::dtype::{as_dtype, wrap_dtype};
pub(crate) use crate::error::raise;
use crate::signature::Kind;
pub(crate) use crate::tensor::object::{as_tensor, wrap};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Whether the object is of the class that a kind of parameter is named after.
pub(crate) fn is_a(kind: Kind, object: &Bound<'_, PyAny>) -> bool {
    match kind {
        Kind::Device => object.is_instance_of::<Device>(),
        Kind::Layout => object.is_instance_of::<Layout>(),
        Kind::MemoryFormat => object.is_instance_of::<MemoryFormat>(),
        Kind::Generator => {
            generator(object.py()).is_some_and(|class| object.is_instance(class).unwrap_or(false))
        }
        _ => false,
    }
}

/// `rushlight.Generator`, if there is one.
fn generator(py: Python<'_>) -> Option<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let find = || {
        py.import("rushlight._rushlight")?
            .getattr("Generator")?
            .cast_into()
            .map(Bound::unbind)
            .map_err(PyErr::from)
    };
    CLASS.get_or_try_init(py, find).ok().map(|class| class.bind(py))
}

/// The flag of `type.__flags__` that a class made at run time has.
const HEAP_TYPE: u64 = 1 << 9;

/// The name of an object's type in a message: as torch calls it if it is one of ours, with its module
/// if it is a static type of an extension, else its bare name.
#[cold]
pub(crate) fn type_name(object: &Bound<'_, PyAny>) -> String {
    let class = object.get_type();
    let bare = class.name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    let module = class.module().map_or_else(|_| String::new(), |name| name.to_string());
    let ours = module == "rushlight" || module.starts_with("rushlight._rushlight");
    if ours && matches!(bare.as_str(), "dtype" | "device" | "layout" | "memory_format" | "Generator" | "Size")
    {
        return format!("torch.{bare}");
    }
    let flags = class.getattr("__flags__").and_then(|flags| flags.extract::<u64>()).unwrap_or(HEAP_TYPE);
    if flags & HEAP_TYPE != 0 || matches!(module.as_str(), "" | "builtins") {
        bare
    } else {
        format!("{module}.{bare}")
    }
}
