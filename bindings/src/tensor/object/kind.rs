//! The type object of `rushlight.Tensor`: made once, from a table of slots.

use std::ffi::{CStr, c_int, c_void};
use std::mem::{offset_of, size_of};
use std::ptr;

use pyo3::exceptions::PySystemError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::class::{set_tensor_type, tensor_type};
use super::others::{Others, introduce, others};
use super::{Object, TensorBase, collect, custody, guarded, life, wrap_as};

/// Where the interpreter finds the dictionary and the weak references of an instance.
fn members() -> [ffi::PyMemberDef; 3] {
    let member = |name: *const std::ffi::c_char, offset: usize| ffi::PyMemberDef {
        name,
        type_code: ffi::Py_T_PYSSIZET,
        offset: offset as ffi::Py_ssize_t,
        flags: ffi::Py_READONLY,
        doc: ptr::null(),
    };
    [
        member(c"__dictoffset__".as_ptr(), offset_of!(Object, body.dict)),
        member(c"__weaklistoffset__".as_ptr(), offset_of!(Object, body.weak_references)),
        ffi::PyMemberDef::default(),
    ]
}

/// `__dict__`, through which attributes can appear behind `__setattr__`'s back.
fn properties() -> [ffi::PyGetSetDef; 2] {
    [
        ffi::PyGetSetDef {
            name: c"__dict__".as_ptr(),
            get: Some(collect::get_dict),
            set: Some(collect::set_dict),
            ..Default::default()
        },
        ffi::PyGetSetDef::default(),
    ]
}

/// Makes the type, with what others have to say in it, and adds it to the module.
pub(crate) fn install(module: &Bound<'_, PyModule>, others_do: Others) -> PyResult<()> {
    introduce(others_do);
    let py = module.py();
    let base = py.get_type::<TensorBase>();
    // SAFETY: a type object that is alive may be read.
    let base_size = unsafe { (*base.as_type_ptr()).tp_basicsize };
    if base_size as usize != size_of::<Object>() {
        return Err(PySystemError::new_err("the layout of TensorBase is not the expected one"));
    }
    // The interpreter keeps pointers into both tables: they live as long as the process.
    let members = Box::leak(Box::new(members()));
    let properties = Box::leak(Box::new(properties()));
    let mut slots = vec![
        slot(ffi::Py_tp_new, new as *mut c_void),
        slot(ffi::Py_tp_dealloc, life::dealloc as *mut c_void),
        slot(ffi::Py_tp_traverse, collect::traverse as *mut c_void),
        slot(ffi::Py_tp_clear, collect::clear as *mut c_void),
        slot(ffi::Py_tp_setattro, collect::set_attribute as *mut c_void),
        slot(ffi::Py_tp_hash, collect::hash as *mut c_void),
        slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, properties.as_mut_ptr().cast()),
    ];
    slots.extend((others().slots)());
    slots.push(slot(0, ptr::null_mut()));
    let mut spec = ffi::PyType_Spec {
        name: c"rushlight.Tensor".as_ptr(),
        basicsize: size_of::<Object>() as c_int,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE | ffi::Py_TPFLAGS_HAVE_GC) as u32,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the specification is complete and ended by a zero slot; the base has the same layout.
    let class =
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpecWithBases(&mut spec, base.as_ptr()))? };
    let class: Bound<'_, PyType> = class.cast_into()?;
    (others().add_attributes)(&base)?;
    name_in_messages(&class, c"Tensor");
    name_in_messages(&base, c"torch._C.TensorBase");
    module.add("Tensor", &class)?;
    set_tensor_type(class);
    (others().made)(tensor_type());
    custody::listen();
    Ok(())
}

/// `tp_new`: torch's old constructor, for `rushlight.Tensor` and for the classes below it.
unsafe extern "C" fn new(
    class: *mut ffi::PyTypeObject,
    arguments: *mut ffi::PyObject,
    keywords: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: the interpreter passes a live class, a tuple, and a dictionary or null.
        let (class, arguments, keywords) = unsafe {
            (
                Bound::from_borrowed_ptr(py, class.cast()),
                Bound::from_borrowed_ptr(py, arguments),
                Bound::from_borrowed_ptr_or_opt(py, keywords),
            )
        };
        let keywords = keywords.as_ref().map(|keywords| keywords.cast()).transpose()?;
        let made = (others().construct)(arguments.cast()?, keywords)?;
        wrap_as(class.cast()?, made).map(Bound::into_ptr)
    })
}

/// Makes the instances of a class derived in Python die by `life::dealloc`: the interpreter's own
/// function would run the finaliser before it can be known whether the object stays.
pub(super) fn adopt(class: &Bound<'_, PyType>) {
    // SAFETY: the class is alive and derives from `rushlight.Tensor`, for whose instances and
    // those of every class below it `life::dealloc` is made; type objects are guarded by the GIL.
    unsafe { (*class.as_type_ptr()).tp_dealloc = Some(life::dealloc) };
}

/// Sets the name that the interpreter's own messages call a class by. `repr` takes the name and the
/// module from elsewhere.
pub(crate) fn name_in_messages(class: &Bound<'_, PyType>, name: &'static CStr) {
    // SAFETY: the class is alive and was made at run time, so that nobody else has its name; the
    // new name is static, and the interpreter frees its own copy of the old one.
    unsafe { (*class.as_type_ptr()).tp_name = name.as_ptr() };
}

/// One entry of a specification.
pub(crate) fn slot(id: c_int, pointer: *mut c_void) -> ffi::PyType_Slot {
    ffi::PyType_Slot { slot: id, pfunc: pointer }
}
