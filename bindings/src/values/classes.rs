//! The classes of what Python hands over: whether it is a device, a generator or the like, and what its class
//! is called in a message. Arguments are matched in `signature`.
use crate::signature::Kind;
use crate::tensor::object::as_tensor;
use crate::values::device::{Device, Layout, MemoryFormat};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Whether the object is of the class that a kind of parameter is named after.
pub(crate) fn is_a(kind: Kind, object: &Bound<'_, PyAny>) -> bool {
    match kind {
        Kind::Device => object.is_instance_of::<Device>(),
        Kind::Layout => object.is_exact_instance_of::<Layout>(),
        Kind::MemoryFormat => object.is_instance_of::<MemoryFormat>(),
        Kind::Generator => {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            is_of(object, CLASS.import(object.py(), "rushlight._rushlight", "Generator"))
        }
        Kind::Storage => {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            // A tensor, which is what is mostly given, is none; the module is not loaded for it.
            as_tensor(object).is_none()
                && is_of(object, CLASS.import(object.py(), "rushlight.storage", "_Storage"))
        }
        _ => false,
    }
}

/// Whether the object is of the class, if there is one.
fn is_of(object: &Bound<'_, PyAny>, class: PyResult<&Bound<'_, PyType>>) -> bool {
    class.is_ok_and(|class| object.is_instance(class).unwrap_or(false))
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
