//! What the classes of objects are called in messages.

use pyo3::prelude::*;

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
