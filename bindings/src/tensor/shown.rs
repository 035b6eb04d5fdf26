//! Attributes and methods of tensors under `__torch_function__`: reading an attribute is shown as a call of its
//! `__get__`, setting it as one of its `__set__`. Each is wrapped once; an ordinary access pays no more than a look
//! at a flag.

#![allow(unsafe_code)]

use std::collections::HashSet;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::exceptions::PySystemError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use smallvec::SmallVec;

use super::object::{guarded, guarded_status, tensor_type};
use crate::calls::callable;
use crate::calls::table::Callable;
use crate::overrides;
use crate::signature::Form;
use crate::signature::matching::Call;

/// What an attribute goes on to.
struct Attribute {
    get: Option<ffi::getter>,
    set: Option<ffi::setter>,
    closure: *mut c_void,
    /// The object that stands for it in the class, which lives as long as the process.
    object: AtomicPtr<ffi::PyObject>,
}

impl Attribute {
    /// Shows a call of one of its methods; `None` if nobody wants to see it.
    #[cold]
    fn offer<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        operands: &[*mut ffi::PyObject],
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        // SAFETY: the operands are those of a call that is being made, the object is never freed.
        let (object, operands) = unsafe {
            let operand = |&operand| Bound::from_borrowed_ptr(py, operand);
            let operands: Vec<Bound<'_, PyAny>> = operands.iter().map(operand).collect();
            (Bound::from_borrowed_ptr(py, self.object.load(Ordering::Relaxed)), operands)
        };
        let args = || PyTuple::new(py, &operands);
        overrides::offer_member(|| object.getattr(method), &operands[0], args, None)
    }
}

/// Whether somebody may want to see what happens to an object.
#[inline]
fn is_watched(object: *mut ffi::PyObject) -> bool {
    // SAFETY: attributes are read from live objects.
    overrides::ever() && (overrides::in_mode() || unsafe { ffi::Py_TYPE(object) } != tensor_type())
}

unsafe extern "C" fn read(object: *mut ffi::PyObject, closure: *mut c_void) -> *mut ffi::PyObject {
    // SAFETY: the closure is the attribute, which lives as long as the process.
    let attribute = unsafe { &*closure.cast::<Attribute>() };
    // SAFETY: the call is handed on as it came.
    let go_on = || attribute.get.map_or(ptr::null_mut(), |get| unsafe { get(object, attribute.closure) });
    if !is_watched(object) {
        return go_on();
    }
    guarded(|py| match attribute.offer(py, "__get__", &[object])? {
        Some(answer) => Ok(answer.into_ptr()),
        // SAFETY: a new reference, or none and an exception.
        None => unsafe { Bound::from_owned_ptr_or_err(py, go_on()).map(Bound::into_ptr) },
    })
}

unsafe extern "C" fn write(
    object: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
    closure: *mut c_void,
) -> c_int {
    // SAFETY: as in `read`.
    let attribute = unsafe { &*closure.cast::<Attribute>() };
    // SAFETY: as in `read`.
    let go_on = || attribute.set.map_or(-1, |set| unsafe { set(object, value, attribute.closure) });
    if !is_watched(object) {
        return go_on();
    }
    guarded_status(|py| {
        let answer = match value.is_null() {
            true => attribute.offer(py, "__delete__", &[object])?,
            false => attribute.offer(py, "__set__", &[object, value])?,
        };
        match answer {
            Some(_) => Ok(0),
            None => match go_on() {
                0 => Ok(0),
                _ => Err(PyErr::fetch(py)),
            },
        }
    })
}

/// Has the attributes of a class shown. Called once, when nobody has read any.
pub(crate) fn install(class: &Bound<'_, PyType>) -> PyResult<()> {
    callable::answer_further(call);
    let py = class.py();
    let found = PyDict::new(py);
    found.call_method1("update", (class.getattr("__dict__")?,))?;
    for (name, object) in found.iter() {
        // SAFETY: a live object, whose type is compared before it is read as one of that type.
        let definition = unsafe {
            if ffi::Py_TYPE(object.as_ptr()) != &raw mut ffi::PyGetSetDescr_Type {
                continue;
            }
            &*(*object.as_ptr().cast::<ffi::PyGetSetDescrObject>()).d_getset
        };
        let attribute = Box::leak(Box::new(Attribute {
            get: definition.get,
            set: definition.set,
            closure: definition.closure,
            object: AtomicPtr::new(ptr::null_mut()),
        }));
        let shown = Box::leak(Box::new(ffi::PyGetSetDef {
            name: definition.name,
            get: definition.get.map(|_| read as ffi::getter),
            set: definition.set.map(|_| write as ffi::setter),
            doc: definition.doc,
            closure: ptr::from_mut(attribute).cast(),
        }));
        // SAFETY: the class is alive, and the definition is never freed.
        let made: Bound<'_, PyAny> =
            unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewGetSet(class.as_type_ptr(), shown))? };
        class.setattr(name.cast()?, &made)?;
        attribute.object.store(made.into_ptr(), Ordering::Relaxed);
        // What was there goes on being called: its definition must stay.
        std::mem::forget(object);
    }
    Ok(())
}

/// A method that is not in the table of operations.
struct Method {
    /// What it goes on to.
    original: Py<PyAny>,
    /// What stands in its place.
    object: OnceLock<Py<PyAny>>,
}

static METHODS: OnceLock<Vec<Method>> = OnceLock::new();

/// Has the methods of a class shown that are not in the table, where their names are public. Called once,
/// when those of the table are in place.
pub(crate) fn install_methods(class: &Bound<'_, PyType>) -> PyResult<()> {
    callable::answer_further(call);
    let py = class.py();
    let found = PyDict::new(py);
    found.call_method1("update", (class.getattr("__dict__")?,))?;
    let table = Callable::all().iter().filter(|callable| callable.form() == Form::Method);
    let table: HashSet<&str> = table.map(|callable| callable.function().name).collect();
    let is_public = |name: &str| !name.starts_with('_') || matches!(name, "_is_view" | "__array__");
    let mut names: Vec<String> = Vec::new();
    let mut methods = Vec::new();
    for (name, object) in found.iter() {
        // SAFETY: a live object, whose type is compared.
        let is_method = unsafe { ffi::Py_TYPE(object.as_ptr()) == &raw mut ffi::PyMethodDescr_Type };
        let name: String = name.extract()?;
        if is_method && is_public(&name) && !table.contains(name.as_str()) {
            names.push(name);
            methods.push(Method { original: object.unbind(), object: OnceLock::new() });
        }
    }
    for (number, (name, method)) in names.iter().zip(METHODS.get_or_init(|| methods)).enumerate() {
        let doc: Option<String> = method.original.bind(py).getattr("__doc__")?.extract()?;
        let object = callable::further(class, number, name, &doc.unwrap_or_default())?;
        class.setattr(name.as_str(), &object)?;
        // It is installed once.
        let _ = method.object.set(object.unbind());
    }
    Ok(())
}

fn missing() -> PyErr {
    PySystemError::new_err("a native function was called before it was installed")
}

/// Calls the method of that number.
fn call<'py>(
    py: Python<'py>,
    number: usize,
    receiver: Option<&Bound<'py, PyAny>>,
    call: &Call<'_, 'py>,
) -> PyResult<Py<PyAny>> {
    let method = METHODS.get().and_then(|methods| methods.get(number));
    let (Some(method), Some(receiver)) = (method, receiver) else {
        return Err(missing());
    };
    let (original, watched) = (method.original.bind(py), is_watched(receiver.as_ptr()));
    if call.positional.is_empty() && call.values.is_empty() && !watched {
        return original.call1((receiver,)).map(Bound::unbind);
    }
    let all = std::iter::once(receiver).chain(call.positional);
    let args = PyTuple::new(py, all.collect::<SmallVec<[&Bound<'py, PyAny>; 4]>>())?;
    let kwargs = PyDict::new(py);
    for (name, value) in call.names.iter().flat_map(|names| names.iter_borrowed()).zip(call.values) {
        kwargs.set_item(name, value)?;
    }
    if watched {
        let object = || method.object.get().map(|object| object.bind(py).clone()).ok_or_else(missing);
        let given = (!kwargs.is_empty()).then_some(&kwargs);
        if let Some(answer) = overrides::offer_member(object, receiver, || Ok(args.clone()), given)? {
            return Ok(answer.unbind());
        }
    }
    original.call(args, Some(&kwargs)).map(Bound::unbind)
}
