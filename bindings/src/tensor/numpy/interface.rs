//! The C structure in which numpy shows the memory of its arrays, and looks for that of others: `PyArrayInterface`,
//! in a capsule without a name. No text is made or read on the way.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::slice;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rushlight::dtype::DType;
use rushlight::shape::Dims;
use rushlight::tensor::Array;
use smallvec::SmallVec;

/// What tells the structure from others.
const TWO: c_int = 2;
/// Elements begin where such elements may.
const ALIGNED: c_int = 0x100;
/// Bytes are in the order of the machine.
const NATIVE: c_int = 0x200;
const WRITABLE: c_int = 0x400;

/// `PyArrayInterface`, field by field.
#[repr(C)]
struct ArrayInterface {
    two: c_int,
    dimensions: c_int,
    kind: c_char,
    item: c_int,
    flags: c_int,
    sizes: *mut isize,
    strides: *mut isize,
    data: *mut c_void,
    description: *mut ffi::PyObject,
}

/// Elements as numpy calls them: a letter for their kind, and their size.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Elements {
    pub(super) kind: u8,
    pub(super) size: usize,
    /// Whether their bytes are in the order of the machine.
    pub(super) native: bool,
}

impl Elements {
    /// How numpy calls those of a tensor.
    fn of(dtype: DType) -> Elements {
        let kind = match dtype {
            DType::Bool => b'b',
            dtype if dtype == DType::UInt8 || dtype.is_wide_unsigned() => b'u',
            _ if dtype.is_float() => b'f',
            _ if dtype.is_complex() => b'c',
            _ => b'i',
        };
        Elements { kind, size: dtype.size(), native: true }
    }

    /// The element type that they are, if there is such.
    pub(super) fn dtype(self) -> Option<DType> {
        Some(match (self.kind, self.size) {
            (b'b', 1) => DType::Bool,
            (b'u', 1) => DType::UInt8,
            (b'u', 2) => DType::UInt16,
            (b'u', 4) => DType::UInt32,
            (b'u', 8) => DType::UInt64,
            (b'i', 1) => DType::Int8,
            (b'i', 2) => DType::Int16,
            (b'i', 4) => DType::Int32,
            (b'i', 8) => DType::Int64,
            (b'f', 2) => DType::Float16,
            (b'f', 4) => DType::Float32,
            (b'f', 8) => DType::Float64,
            (b'c', 8) => DType::Complex64,
            (b'c', 16) => DType::Complex128,
            _ => return None,
        })
    }
}

/// What an array of numpy shows of its memory.
pub(super) struct Seen {
    pub(super) elements: Elements,
    pub(super) sizes: Dims,
    pub(super) byte_strides: SmallVec<[isize; 4]>,
    pub(super) data: *mut u8,
    pub(super) read_only: bool,
}

/// What an array shows, by the class's own attribute `getter`: one that a class below has in its place could show
/// memory that the array does not keep.
pub(super) fn seen(array: &Bound<'_, PyAny>, getter: &Bound<'_, PyAny>) -> PyResult<Seen> {
    let py = array.py();
    let capsule = getter.call_method1(pyo3::intern!(py, "__get__"), (array,))?.cast_into::<PyCapsule>()?;
    // SAFETY: numpy gives capsules without a name here.
    let structure = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), null()) };
    if structure.is_null() {
        return Err(PyErr::fetch(py));
    }
    // SAFETY: they hold this structure for as long as they live.
    let ArrayInterface { two, dimensions, kind, item, flags, sizes, strides, data, .. } =
        unsafe { &*structure.cast::<ArrayInterface>() };
    let (TWO, Ok(count), Ok(size)) = (*two, usize::try_from(*dimensions), usize::try_from(*item)) else {
        return Err(PyTypeError::new_err("numpy shows an array in an unknown form"));
    };
    let places = |start: *mut isize| match count {
        0 => &[],
        // SAFETY: there is one for each dimension, and they live as long as the capsule.
        count => unsafe { slice::from_raw_parts(start, count) },
    };
    Ok(Seen {
        elements: Elements { kind: *kind as u8, size, native: flags & NATIVE != 0 },
        sizes: places(*sizes).iter().map(|&size| size.unsigned_abs()).collect(),
        byte_strides: SmallVec::from_slice(places(*strides)),
        data: data.cast(),
        read_only: flags & WRITABLE == 0,
    })
}

/// What a capsule holds: the structure, and what it points to.
#[repr(C)]
struct Shown {
    interface: ArrayInterface,
    sizes: Box<[isize]>,
    strides: Box<[isize]>,
}

/// The capsule that shows the memory of an array, which whoever shows it keeps.
pub(super) fn shown<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    let Elements { kind, size, .. } = Elements::of(array.dtype);
    let layout = &array.layout;
    let mut sizes: Box<[isize]> = layout.shape().iter().map(|&size| size as isize).collect();
    let mut strides: Box<[isize]> = layout.strides().iter().map(|&stride| (stride * size) as isize).collect();
    let interface = ArrayInterface {
        two: TWO,
        dimensions: layout.ndim() as c_int,
        kind: kind as c_char,
        item: size as c_int,
        flags: ALIGNED | NATIVE | WRITABLE,
        sizes: sizes.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        data: array.address().cast(),
        description: null_mut(),
    };
    let shown = Box::into_raw(Box::new(Shown { interface, sizes, strides }));
    // SAFETY: the pointer is not null, and the capsule owns it from here on: `free` takes it back.
    let capsule = unsafe { ffi::PyCapsule_New(shown.cast(), null(), Some(free)) };
    if capsule.is_null() {
        // SAFETY: nobody has taken the box over.
        drop(unsafe { Box::from_raw(shown) });
        return Err(PyErr::fetch(py));
    }
    // SAFETY: a new reference.
    Ok(unsafe { Bound::from_owned_ptr(py, capsule) })
}

/// # Safety
/// Called by the interpreter, with a capsule that `shown` has made.
unsafe extern "C" fn free(capsule: *mut ffi::PyObject) {
    // SAFETY: its pointer is that of a box, which nobody else has.
    drop(unsafe { Box::from_raw(ffi::PyCapsule_GetPointer(capsule, null()).cast::<Shown>()) });
}
