//! Functions written in Python that are overridable: an object around each, which passes for the function. A call
//! looks at the classes of its arguments, and goes on to the function if these are ordinary. Functions that torch
//! has compiled refuse arguments as compiled ones do, by their annotations.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::mem::{offset_of, size_of};
use std::ptr;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::{PyFunction, PyString, PyTuple, PyType};

use super::bound::{self, Asked};
use super::takes::Takes;
use super::{Watching, handler, in_any_mode, offer_as_given, places};
use crate::signature::Form;
use crate::signature::matching::Call;
use crate::tensor::object::{guarded, guarded_status, tensor_type};
use crate::values::dtype::ElementType;
use crate::values::received::seen;

/// Its memory, as the interpreter knows it. It takes no part in the collection of circles: functions of
/// modules live as long as these.
#[repr(C)]
struct Showing {
    head: ffi::PyObject,
    call: Option<ffi::vectorcallfunc>,
    weak_references: *mut ffi::PyObject,
    /// What is called.
    function: Py<PyAny>,
    /// What it passes for, whose parameters a call has: the function itself, or one that is written for this.
    face: Py<PyAny>,
    asked: Asked,
    /// The forms in which it takes its arguments, where annotations do not say it, and whether it is a method.
    forms: Vec<String>,
    form: Form,
    /// What it takes, if it is to refuse the rest: read at the first call.
    takes: PyOnceLock<Option<Takes>>,
}

/// # Safety
/// `object` is a live instance of the class.
unsafe fn inside<'a>(object: *mut ffi::PyObject) -> &'a Showing {
    // SAFETY: see above; `_shown` has written the fields.
    unsafe { &*object.cast::<Showing>() }
}

impl Showing {
    /// Refuses a call as torch's compiled functions do, and returns names in place of those of numpy, if it has such.
    fn check<'py>(&self, py: Python<'py>, call: &Call<'_, 'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        if self.asked != Asked::Anything {
            return Ok(None);
        }
        let read = || Takes::new(self.function.bind(py), &self.forms, self.form);
        self.takes.get_or_try_init(py, read)?.as_ref().map_or(Ok(None), |takes| takes.check(call))
    }
}

/// Whether nobody sees a call because of this argument. What a list has in it may count, too.
fn is_ordinary(object: &Bound<'_, PyAny>, looks_inside: bool) -> bool {
    let pointer = object.as_ptr();
    // SAFETY: the object is alive; types of the interpreter and of this module always are.
    unsafe {
        let class = ffi::Py_TYPE(pointer);
        if class == tensor_type()
            || pointer == ffi::Py_None()
            || class == &raw mut ffi::PyLong_Type
            || class == &raw mut ffi::PyFloat_Type
            || class == &raw mut ffi::PyBool_Type
            || class == &raw mut ffi::PyUnicode_Type
            || class == ElementType::type_object_raw(object.py())
        {
            return true;
        }
        if class == &raw mut ffi::PyTuple_Type || class == &raw mut ffi::PyList_Type {
            let is_ordinary = |element: PyResult<Bound<'_, PyAny>>| {
                element.is_ok_and(|element| is_ordinary(&element, false))
            };
            return !looks_inside || object.try_iter().is_ok_and(|mut elements| elements.all(is_ordinary));
        }
    }
    matches!(handler(&object.get_type()), Ok(None))
}

/// `tp_vectorcall`.
unsafe extern "C" fn call(
    object: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    flagged: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls a live object with live arguments: as many as it says, and behind them
    // a value for each name.
    let (py, this, seen) = unsafe {
        let py = Python::assume_attached();
        (py, inside(object), seen(py, arguments, ffi::PyVectorcall_NARGS(flagged), &names))
    };
    let go_on = || {
        let mut own = None;
        let checked = |_: Python<'_>| {
            own = this.check(py, &seen)?.map(Bound::unbind);
            Ok(0)
        };
        if guarded_status(checked) != 0 {
            return ptr::null_mut();
        }
        let names = own.as_ref().map_or(names, Py::as_ptr);
        // SAFETY: as above; the arguments are handed on as they came, and as many names as there were.
        unsafe { ffi::PyObject_Vectorcall(this.function.as_ptr(), arguments, flagged, names) }
    };
    let looks_inside = this.asked == Asked::Anything;
    let mut all = seen.positional.iter().chain(seen.values);
    if !in_any_mode() && all.all(|argument| is_ordinary(argument, looks_inside)) {
        return go_on();
    }
    guarded(|py| {
        // SAFETY: as above.
        let itself: Bound<'_, PyAny> = unsafe { Bound::from_borrowed_ptr(py, object) };
        let face = this.face.bind(py);
        let answer = match &this.asked {
            Asked::Anything => offer_as_given(
                py,
                Watching::Written,
                || Ok((itself.clone(), places::of_given(face)?)),
                None,
                &seen,
            )?,
            asked => bound::offer(&itself, face.cast()?, !face.is(&this.function), asked, &seen)?
                .map(Bound::unbind),
        };
        match answer {
            Some(answer) => Ok(answer.into_ptr()),
            // SAFETY: a new reference, or none and an exception.
            None => unsafe { Bound::from_owned_ptr_or_err(py, go_on()).map(Bound::into_ptr) },
        }
    })
}

unsafe extern "C" fn get_attribute(
    object: *mut ffi::PyObject,
    name: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: the interpreter passes a live object and a string; answers are new references or null.
        unsafe {
            let text: Bound<'_, PyString> = Bound::from_borrowed_ptr(py, name).cast_into()?;
            let found = match text.to_str()? {
                "__reduce_ex__" | "__get__" => ffi::PyObject_GenericGetAttr(object, name),
                _ => ffi::PyObject_GetAttr(inside(object).face.as_ptr(), name),
            };
            Bound::from_owned_ptr_or_err(py, found).map(Bound::into_ptr)
        }
    })
}

unsafe extern "C" fn set_attribute(
    object: *mut ffi::PyObject,
    name: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> c_int {
    // SAFETY: the interpreter passes live objects, or no value to delete the attribute.
    unsafe { ffi::PyObject_SetAttr(inside(object).face.as_ptr(), name, value) }
}

unsafe extern "C" fn represent(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the interpreter passes a live object.
    unsafe { ffi::PyObject_Repr(inside(object).face.as_ptr()) }
}

/// Pickle, and who copies, find it by its name.
unsafe extern "C" fn reduce(object: *mut ffi::PyObject, _protocol: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: as in `represent`.
    unsafe { ffi::PyObject_GetAttrString(inside(object).face.as_ptr(), c"__qualname__".as_ptr()) }
}

/// `tp_descr_get`: in a class it is a method.
unsafe extern "C" fn bind(
    object: *mut ffi::PyObject,
    receiver: *mut ffi::PyObject,
    _class: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter passes a live object, and a live receiver or none.
    unsafe {
        if receiver.is_null() || receiver == ffi::Py_None() {
            return ffi::Py_NewRef(object);
        }
    }
    guarded(|py| {
        // SAFETY: as above.
        let both: [Bound<'_, PyAny>; 2] =
            unsafe { [object, receiver].map(|pointer| Bound::from_borrowed_ptr(py, pointer)) };
        static METHOD: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let method = METHOD.import(py, "types", "MethodType")?;
        method.call1(<(_, _)>::from(both)).map(Bound::into_ptr)
    })
}

unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    let _: c_int = guarded_status(|_| {
        // SAFETY: the interpreter passes an object that nobody knows any longer; its fields are dropped once.
        unsafe {
            let this = object.cast::<Showing>();
            if !(*this).weak_references.is_null() {
                ffi::PyObject_ClearWeakRefs(object);
            }
            let class = ffi::Py_TYPE(object);
            ptr::drop_in_place(&raw mut (*this).function);
            ptr::drop_in_place(&raw mut (*this).face);
            ptr::drop_in_place(&raw mut (*this).asked);
            ptr::drop_in_place(&raw mut (*this).forms);
            ptr::drop_in_place(&raw mut (*this).takes);
            ffi::PyObject_Free(object.cast());
            ffi::Py_DECREF(class.cast());
        }
        Ok(0)
    });
}

/// The class of these objects, made with the first of them.
fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.get_or_try_init(py, || make_class(py)).map(|class| class.bind(py))
}

fn make_class(py: Python<'_>) -> PyResult<Py<PyType>> {
    let member = |name: &'static std::ffi::CStr, offset: usize| ffi::PyMemberDef {
        name: name.as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset: offset as ffi::Py_ssize_t,
        flags: ffi::Py_READONLY,
        doc: ptr::null(),
    };
    // The interpreter keeps pointers into both tables: they live as long as the process.
    let members = Box::leak(Box::new([
        member(c"__vectorcalloffset__", offset_of!(Showing, call)),
        member(c"__weaklistoffset__", offset_of!(Showing, weak_references)),
        ffi::PyMemberDef::default(),
    ]));
    let methods = Box::leak(Box::new([
        ffi::PyMethodDef {
            ml_name: c"__reduce_ex__".as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunction: reduce },
            ml_flags: ffi::METH_O,
            ml_doc: ptr::null(),
        },
        ffi::PyMethodDef::zeroed(),
    ]));
    let slot = |slot, pfunc| ffi::PyType_Slot { slot, pfunc };
    let mut slots = [
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_call, ffi::PyVectorcall_Call as *mut c_void),
        slot(ffi::Py_tp_getattro, get_attribute as *mut c_void),
        slot(ffi::Py_tp_setattro, set_attribute as *mut c_void),
        slot(ffi::Py_tp_repr, represent as *mut c_void),
        slot(ffi::Py_tp_descr_get, bind as *mut c_void),
        slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        slot(ffi::Py_tp_methods, methods.as_mut_ptr().cast()),
        slot(0, ptr::null_mut()),
    ];
    let flags = ffi::Py_TPFLAGS_DEFAULT
        | ffi::Py_TPFLAGS_HAVE_VECTORCALL
        | ffi::Py_TPFLAGS_METHOD_DESCRIPTOR
        | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION;
    let mut spec = ffi::PyType_Spec {
        name: c"rushlight.function".as_ptr(),
        basicsize: size_of::<Showing>() as c_int,
        itemsize: 0,
        flags: flags as u32,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the specification is complete and ended by a zero slot.
    let class: Bound<'_, PyAny> =
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec))? };
    Ok(class.cast_into()?.unbind())
}

/// Make a function show its calls: to the arguments that `asked` names, else to those that are annotated as
/// tensors. They are handed on as functions of the package do, or, if `as_given`, as they came. A function that
/// is not written in Python passes for the one that it is `like`; `forms` are signatures of one that takes its
/// arguments in several.
#[pyfunction]
#[pyo3(name = "_shown", signature = (function, asked = None, as_given = false, like = None, forms = Vec::new()))]
pub(crate) fn shown<'py>(
    function: &Bound<'py, PyAny>,
    asked: Option<String>,
    as_given: bool,
    like: Option<&Bound<'py, PyAny>>,
    forms: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let face = like.unwrap_or(function);
    if !as_given && !face.is_instance_of::<PyFunction>() || !function.is_callable() {
        return Err(PyTypeError::new_err("expected a function"));
    }
    let asked = match asked {
        _ if as_given => Asked::Anything,
        Some(names) => Asked::Named(names),
        None => Asked::Annotated,
    };
    made(function, face, asked, forms, Form::Function)
}

/// Make a method of a function: where one refuses arguments, the first of them, the receiver, does not count.
#[pyfunction]
#[pyo3(name = "_shown_as_method")]
pub(crate) fn shown_as_method<'py>(function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    if !function.is_exact_instance(class(py)?) {
        return Err(PyTypeError::new_err("expected a function that shows its calls"));
    }
    // SAFETY: it is an instance.
    let this = unsafe { inside(function.as_ptr()) };
    if this.asked != Asked::Anything {
        return Ok(function.clone());
    }
    made(this.function.bind(py), this.face.bind(py), Asked::Anything, this.forms.clone(), Form::Method)
}

fn made<'py>(
    function: &Bound<'py, PyAny>,
    face: &Bound<'py, PyAny>,
    asked: Asked,
    forms: Vec<String>,
    form: Form,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    // SAFETY: the class is alive; the fields behind the head, which are zero, are written before anybody sees
    // the object.
    unsafe {
        let made = ffi::PyType_GenericAlloc(class(py)?.as_type_ptr(), 0);
        let made: Bound<'_, PyAny> = Bound::from_owned_ptr_or_err(py, made)?;
        let this = made.as_ptr().cast::<Showing>();
        (&raw mut (*this).call).write(Some(call));
        (&raw mut (*this).function).write(function.clone().unbind());
        (&raw mut (*this).face).write(face.clone().unbind());
        (&raw mut (*this).asked).write(asked);
        (&raw mut (*this).forms).write(forms);
        (&raw mut (*this).form).write(form);
        (&raw mut (*this).takes).write(PyOnceLock::new());
        Ok(made)
    }
}
