//! Whether a value is of a parameter's kind. Exact types are looked at first; numpy's scalars,
//! recognised without importing numpy, last.
use super::Kind;
use crate::tensor::object::as_tensor;
use crate::values::classes::type_name;
use crate::values::device::{Device, Layout, MemoryFormat};
use crate::values::dtype::element_type;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use rushlight::Tensor;
use rushlight::dtype::Category;

/// The answer.
pub(crate) enum Verdict {
    /// It is.
    Yes,
    /// It is not; for a list, because of the element here.
    No(Option<usize>),
    /// It must have been, and no other overload will be tried.
    Raised(PyErr),
}

impl From<bool> for Verdict {
    fn from(yes: bool) -> Self {
        if yes { Verdict::Yes } else { Verdict::No(None) }
    }
}

/// Whether `object`, the argument for the parameter with this index, is of the kind.
#[inline]
pub(crate) fn accepts(kind: Kind, object: &Bound<'_, PyAny>, index: usize) -> Verdict {
    match kind {
        Kind::Tensor => as_tensor(object).is_some().into(),
        Kind::Operand => (as_tensor(object).is_some() || is_number(object)).into(),
        Kind::Int => is_int(object).into(),
        Kind::Index => is_integer_index(object).into(),
        Kind::Bool => object.is_exact_instance_of::<PyBool>().into(),
        Kind::Ints(size) => ints(object, size),
        kind => rare(kind, object, index),
    }
}

fn rare(kind: Kind, object: &Bound<'_, PyAny>, index: usize) -> Verdict {
    match kind {
        Kind::Tensors => tensors(object, index),
        Kind::Number => number_or_scalar(object).into(),
        Kind::Float => (number_or_scalar(object) && !is_complex(object)).into(),
        Kind::Text => (object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>()).into(),
        Kind::DType => element_type(object).is_some().into(),
        Kind::Device => (is_a(kind, object) || object.is_instance_of::<PyString>() || is_int(object)).into(),
        Kind::Layout | Kind::MemoryFormat | Kind::Generator | Kind::Storage => is_a(kind, object).into(),
        Kind::Floats(size) => {
            let first = first(object).map(|first| first.is_none_or(|first| is_number(&first)));
            first.unwrap_or(size > 0 && is_number(object)).into()
        }
        Kind::Numbers => {
            first(object).is_some_and(|first| first.is_none_or(|first| is_number(&first))).into()
        }
        _ => Verdict::Yes,
    }
}

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

/// An integer that is not a truth value; an integer tensor without dimensions counts.
fn is_int(object: &Bound<'_, PyAny>) -> bool {
    if object.is_exact_instance_of::<PyInt>() {
        return true;
    }
    if let Some(tensor) = as_tensor(object) {
        return tensor.dtype().category() == Category::Integer && is_plain_scalar(object);
    }
    if object.is_instance_of::<PyInt>() {
        return !object.is_exact_instance_of::<PyBool>();
    }
    numpy(object) == Some(Category::Integer)
}

/// A Python or numpy number, truth values included.
pub(crate) fn is_number(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyComplex>()
        || numpy(object).is_some()
}

/// A complex number of Python's or numpy's.
fn is_complex(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyComplex>() || numpy(object) == Some(Category::Complex)
}

/// A number, or a tensor that can be read as one.
fn number_or_scalar(object: &Bound<'_, PyAny>) -> bool {
    if as_tensor(object).is_some() { is_plain_scalar(object) } else { is_number(object) }
}

/// A tensor that can be read as a number: without dimensions and outside the graph.
fn is_plain_scalar(object: &Bound<'_, PyAny>) -> bool {
    as_tensor(object).is_some_and(|tensor| tensor.ndim() == 0 && !tensor.requires_grad())
}

/// Something that can stand at the front of a list of integers: whatever Python indexes with, but `bool`.
pub(crate) fn is_index(object: &Bound<'_, PyAny>) -> bool {
    if object.is_exact_instance_of::<PyInt>() {
        return true;
    }
    if object.is_exact_instance_of::<PyBool>() {
        return false;
    }
    match as_tensor(object) {
        Some(tensor) => is_index_tensor(tensor),
        None => object.call_method0(pyo3::intern!(object.py(), "__index__")).is_ok(),
    }
}

/// An integer, or what Python makes one of to index with, but truth values.
fn is_integer_index(object: &Bound<'_, PyAny>) -> bool {
    let is_truth = as_tensor(object).is_some_and(|tensor| tensor.dtype().category() == Category::Bool);
    is_index(object) && !is_truth
}

/// Whether Python may index with a tensor: with one integer or truth value, however many dimensions it has.
pub(crate) fn is_index_tensor(tensor: &Tensor) -> bool {
    tensor.numel() == 1 && matches!(tensor.dtype().category(), Category::Integer | Category::Bool)
}

/// Only the first element is looked at; the others are when they are converted.
fn ints(object: &Bound<'_, PyAny>, size: u8) -> Verdict {
    match first(object) {
        Some(None) => Verdict::Yes,
        Some(Some(first)) if is_index(&first) => Verdict::Yes,
        Some(_) => Verdict::No(Some(0)),
        None => (size > 0 && (is_int(object) || as_tensor(object).is_some_and(is_index_tensor))).into(),
    }
}

/// The first element of a tuple or list, and `None` for anything else.
fn first<'py>(object: &Bound<'py, PyAny>) -> Option<Option<Bound<'py, PyAny>>> {
    if let Ok(tuple) = object.cast::<PyTuple>() {
        Some(tuple.get_item(0).ok())
    } else {
        object.cast::<PyList>().ok().map(|list| list.get_item(0).ok())
    }
}

fn tensors(object: &Bound<'_, PyAny>, index: usize) -> Verdict {
    if first(object).is_none() {
        return Verdict::No(None);
    }
    let Ok(elements) = object.try_iter() else { return Verdict::No(None) };
    for (at, element) in elements.enumerate() {
        match element {
            Ok(element) if as_tensor(&element).is_some() => {}
            Ok(element) => {
                let name = type_name(&element);
                let text = format!("expected Tensor as element {at} in argument {index}, but got {name}");
                return Verdict::Raised(PyTypeError::new_err(text));
            }
            Err(error) => return Verdict::Raised(error),
        }
    }
    Verdict::Yes
}

/// The category of a numpy scalar.
fn numpy(object: &Bound<'_, PyAny>) -> Option<Category> {
    let class = object.get_type();
    if class.module().ok()? != "numpy" {
        return None;
    }
    let name = class.name().ok()?;
    let name = name.to_str().ok()?;
    let starts = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    if starts(&["bool"]) {
        Some(Category::Bool)
    } else if starts(&["int", "uint", "long", "ulong"]) && name != "longdouble" {
        Some(Category::Integer)
    } else {
        let real = starts(&["float", "longdouble"]).then_some(Category::Float);
        real.or_else(|| starts(&["complex"]).then_some(Category::Complex))
    }
}
