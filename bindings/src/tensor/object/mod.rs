//! The Python type `rushlight.Tensor`: its memory layout, and the rule that one engine tensor is
//! one Python object. How such an object is born and dies is in `life`, when it outlives Python's
//! interest in `custody`, what the collector sees in `collect`, the type itself in `kind`. What a
//! tensor can do is in the rooms beside this one, of which it knows what `others` says.

#![allow(unsafe_code)]

mod class;
mod collect;
mod custody;
mod kind;
mod life;
mod meeting;
mod others;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use rushlight::Tensor;
use rushlight::tensor::Subclass;

pub(crate) use class::{tensor_class, tensor_type};
pub(crate) use collect::{host, is_hosting, track};
pub(crate) use custody::{Reference, deposit, deposited, visit_deposit, visit_object, withdraw};
pub(crate) use kind::{install, name_in_messages, slot};
use others::others;
pub(crate) use others::{Others, Visit};

/// What every tensor object consists of. Methods and attributes are declared on this class;
/// `rushlight.Tensor`, which adds the slots and no field, is the type users see.
#[pyclass(name = "TensorBase", module = "rushlight._rushlight", subclass, frozen)]
#[repr(C)]
pub(crate) struct TensorBase {
    /// A handle of its own: as long as the object lives, the tensor does.
    tensor: Tensor,
    /// The instance's `__dict__`, made by the interpreter at the first attribute.
    dict: AtomicPtr<ffi::PyObject>,
    /// The head of the interpreter's list of weak references.
    weak_references: AtomicPtr<ffi::PyObject>,
    /// Whether `hash()` has been asked for: the answer must not change.
    hashed: AtomicBool,
    /// Whether the object dies because a handle of its tensor goes, which is still counted.
    bereft: AtomicBool,
}

/// An object of `rushlight.Tensor` or of a subclass as it lies in memory.
#[repr(C)]
struct Object {
    head: ffi::PyObject,
    body: TensorBase,
}

impl TensorBase {
    /// A body without any state.
    fn new(tensor: Tensor) -> Self {
        TensorBase {
            tensor,
            dict: AtomicPtr::new(ptr::null_mut()),
            weak_references: AtomicPtr::new(ptr::null_mut()),
            hashed: AtomicBool::new(false),
            bereft: AtomicBool::new(false),
        }
    }

    /// The engine's tensor; notes for this thread whether it is batched.
    #[inline]
    pub(crate) fn tensor(&self) -> &Tensor {
        self.tensor.note_batched();
        &self.tensor
    }

    /// Whether the object remembers something that a new one would not know.
    fn has_state(&self) -> bool {
        let is_set = |slot: &AtomicPtr<ffi::PyObject>| !slot.load(Ordering::Relaxed).is_null();
        self.hashed.load(Ordering::Relaxed) || is_set(&self.dict) || is_set(&self.weak_references)
    }
}

#[pymethods]
impl TensorBase {
    /// Takes over the end of life of every subclass, then lets the next class in line have its say.
    #[classmethod]
    #[pyo3(signature = (**arguments))]
    fn __init_subclass__(class: &Bound<'_, PyType>, arguments: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let py = class.py();
        kind::adopt(class);
        let above = py.get_type::<pyo3::types::PySuper>().call1((py.get_type::<TensorBase>(), class))?;
        above.call_method("__init_subclass__", (), arguments)?;
        (others().derived)(class)
    }
}

/// The Python object of `tensor`: the one that exists, or a new `rushlight.Tensor`.
#[inline]
pub(crate) fn wrap(py: Python<'_>, tensor: Tensor) -> PyResult<Bound<'_, PyAny>> {
    let object = wrap_raw(tensor);
    // SAFETY: `wrap_raw` returns a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, object) }
}

/// [`wrap`] for slots: a new reference, or null with an exception set. The caller holds the GIL.
#[inline]
pub(super) fn wrap_raw(tensor: Tensor) -> *mut ffi::PyObject {
    let existing = meeting::existing(&tensor);
    if existing.is_null() { life::create(tensor_type(), tensor) } else { existing }
}

/// A new object of the class `class` around `tensor`, which has none yet.
pub(crate) fn wrap_as<'py>(class: &Bound<'py, PyType>, tensor: Tensor) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    if !class.is_subclass(tensor_class(py).as_any())? {
        return Err(PyTypeError::new_err(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. \
             Make sure your class inherits from Tensor.",
        ));
    }
    kind::adopt(class);
    // SAFETY: the class is `rushlight.Tensor` or one below it, as just checked, so that its
    // instances begin like `Object`; the result is a new reference or null with an exception.
    let object = unsafe { Bound::from_owned_ptr_or_err(py, life::create(class.as_type_ptr(), tensor))? };
    if class.as_type_ptr() != tensor_type()
        && (others().is_dispatch_subclass)(class)?
        && let Some(tensor) = as_tensor(&object)
    {
        tensor.foreign().set_subclass(Subclass::WithData);
    }
    Ok(object)
}

/// The tensor in a Python object, if it is one. The exact type is recognised without a look at its bases.
///
/// # Safety
/// `object` is a live object, and stays one for `'a`. The caller holds the GIL.
#[inline]
pub(crate) unsafe fn borrow<'a>(object: *mut ffi::PyObject) -> Option<&'a Tensor> {
    // SAFETY: the object is live; when its type is the tensor type or below, it begins like `Object`.
    unsafe {
        let class = ffi::Py_TYPE(object);
        let ours = tensor_type();
        if class == ours || ffi::PyType_IsSubtype(class, ours) != 0 {
            Some((*object.cast::<Object>()).body.tensor())
        } else {
            None
        }
    }
}

/// The tensor in a Python object, if it is one.
#[inline]
pub(crate) fn as_tensor<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Tensor> {
    // SAFETY: the reference keeps the object alive for `'a`, and its token stands for the GIL.
    unsafe { borrow(object.as_ptr()) }
}

/// Runs the body of a slot that answers an object. An exception becomes the interpreter's, and so
/// does a panic, which must not leave through its frames.
#[inline]
pub(crate) fn guarded(body: impl FnOnce(Python<'_>) -> PyResult<*mut ffi::PyObject>) -> *mut ffi::PyObject {
    run(body).unwrap_or(ptr::null_mut())
}

/// [`guarded`] for slots that answer a number, and minus one with an exception.
#[inline]
pub(crate) fn guarded_status<T: From<i8>>(body: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
    run(body).unwrap_or_else(|| T::from(-1))
}

#[inline]
fn run<T>(body: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
    // SAFETY: slots are called by the interpreter, with the GIL held.
    let py = unsafe { Python::assume_attached() };
    let result = catch_unwind(AssertUnwindSafe(|| body(py)));
    match result {
        Ok(Ok(answer)) => Some(answer),
        Ok(Err(exception)) => {
            exception.restore(py);
            None
        }
        Err(payload) => {
            (others().exception)(payload).restore(py);
            None
        }
    }
}
