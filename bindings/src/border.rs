//! The classes of the Python side as the border sees them: what is a tensor, an element type, a
//! device, and what a type is called in a message. Arguments are matched in `signature`.
pub(crate) use crate::trial::{as_dtype, as_tensor, raise, wrap, wrap_dtype};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Classes that are told to the border when the module is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// `rushlight.device`.
    Device,
    /// `rushlight.layout`.
    Layout,
    /// `rushlight.memory_format`.
    MemoryFormat,
    /// `rushlight.Generator`.
    Generator,
}

const CLASSES: usize = 4;
static KNOWN: [PyOnceLock<Py<PyType>>; CLASSES] = [const { PyOnceLock::new() }; CLASSES];

/// Tells which Python class this is. The first answer stays.
pub(crate) fn register(class: Class, python: &Bound<'_, PyType>) {
    let py = python.py();
    KNOWN[class as usize].get_or_init(py, || python.clone().unbind());
}

/// Whether the object is an instance of that class.
pub(crate) fn is_a(class: Class, object: &Bound<'_, PyAny>) -> bool {
    let known = KNOWN[class as usize].get(object.py());
    known.is_some_and(|known| object.is_instance(known.bind(object.py())).unwrap_or(false))
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
