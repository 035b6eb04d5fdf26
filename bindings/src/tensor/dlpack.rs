//! The memory of tensors as libraries hand it to each other (`__dlpack__`): a capsule with a record in it that says
//! where elements lie, and a function that gives the memory back. Who may take what is decided in
//! `python/rushlight/utils/dlpack.py`.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use pyo3::exceptions::{PyBufferError, PyRuntimeError};
use pyo3::ffi;
use pyo3::prelude::*;
use rushlight::dtype::DType;
use rushlight::graph::following;
use rushlight::graph::observe::detach_site::Cut;
use rushlight::shape::{self, Dims, Layout, SharedLayout};
use rushlight::storage::Storage;
use rushlight::tensor::Array;
use rushlight::{Tensor, dispatch};

use super::memory_checks::{check_allocated, check_memory};
use super::object::{TensorBase, wrap};
use crate::error::raise;

/// Names of capsules: with a record of the first kind or of the later one, and those that somebody has taken it from.
const PLAIN: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const PLAIN_USED: &CStr = c"used_dltensor";
const VERSIONED_USED: &CStr = c"used_dltensor_versioned";

/// Memory of the processor, and such of it as other devices see too.
const CPU: i32 = 1;
const CPU_SHARED: [i32; 2] = [3, 11];
/// No library has tensors of more: a record that says so is none.
const MOST_DIMS: usize = 64;
/// The memory is a copy.
const COPIED: u64 = 2;

const INVALID: &str = "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, \
    so you might have already constructed a tensor from it once.";

#[repr(C)]
#[derive(Clone, Copy)]
struct Device {
    kind: i32,
    index: i32,
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
struct ElementType {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// `DLTensor`
#[repr(C)]
struct Described {
    data: *mut c_void,
    device: Device,
    dims: i32,
    element: ElementType,
    sizes: *mut i64,
    strides: *mut i64,
    offset: u64,
}

/// `DLManagedTensor`
#[repr(C)]
struct Plain {
    tensor: Described,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Plain)>,
}

/// `DLManagedTensorVersioned`
#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: Described,
}

/// What either record has.
trait Record: Sized {
    const NAME: &'static CStr;
    const USED: &'static CStr;

    fn of(tensor: Described, context: *mut c_void, flags: u64) -> Self;
    fn context(&self) -> *mut c_void;
    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)>;
    fn tensor(&self) -> &Described;
    /// The record is of a kind that is known.
    fn check(&self) -> PyResult<()>;
}

impl Record for Plain {
    const NAME: &'static CStr = PLAIN;
    const USED: &'static CStr = PLAIN_USED;

    fn of(tensor: Described, context: *mut c_void, _flags: u64) -> Self {
        Plain { tensor, context, deleter: Some(give_back::<Plain>) }
    }
    fn context(&self) -> *mut c_void {
        self.context
    }
    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.deleter
    }
    fn tensor(&self) -> &Described {
        &self.tensor
    }
    fn check(&self) -> PyResult<()> {
        Ok(())
    }
}

impl Record for Versioned {
    const NAME: &'static CStr = VERSIONED;
    const USED: &'static CStr = VERSIONED_USED;

    fn of(tensor: Described, context: *mut c_void, flags: u64) -> Self {
        Versioned { version: [1, 0], context, deleter: Some(give_back::<Versioned>), flags, tensor }
    }
    fn context(&self) -> *mut c_void {
        self.context
    }
    fn deleter(&self) -> Option<unsafe extern "C" fn(*mut Self)> {
        self.deleter
    }
    fn tensor(&self) -> &Described {
        &self.tensor
    }
    fn check(&self) -> PyResult<()> {
        let [major, minor] = self.version;
        match major {
            1 => Ok(()),
            _ => Err(PyBufferError::new_err(format!("Unsupported DLPack version: {major}.{minor}"))),
        }
    }
}

/// What lies behind a record that was handed out: it, and what it points at.
struct Given<R> {
    record: R,
    /// Sizes, then strides.
    _geometry: Vec<i64>,
    _tensor: Tensor,
}

/// The code of an element type.
fn element_type(dtype: DType) -> ElementType {
    let code = match dtype {
        DType::Bool => 6,
        DType::UInt8 => 1,
        DType::BFloat16 => 4,
        DType::Float8E4M3Fn => 10,
        DType::Float8E4M3FnUz => 11,
        DType::Float8E5M2 => 12,
        DType::Float8E5M2FnUz => 13,
        DType::Float8E8M0FnU => 14,
        dtype if dtype.is_wide_unsigned() => 1,
        dtype if dtype.is_complex() => 5,
        dtype if dtype.is_float() => 2,
        _ => 0,
    };
    ElementType { code, bits: 8 * dtype.size() as u8, lanes: 1 }
}

/// A capsule that another library can take the memory of a tensor from, once.
fn exported<R: Record>(py: Python<'_>, tensor: Tensor, flags: u64) -> PyResult<Bound<'_, PyAny>> {
    let array = tensor.memory();
    let (layout, dtype) = (&array.layout, array.dtype);
    let numbers = layout.shape().iter().chain(layout.strides()).map(|&number| number as i64);
    let mut given = Box::new_uninit();
    let place: *mut Given<R> = given.as_mut_ptr();
    let mut geometry: Vec<i64> = numbers.collect();
    let described = Described {
        data: array.address().cast(),
        device: Device { kind: CPU, index: 0 },
        dims: layout.ndim() as i32,
        element: element_type(dtype),
        sizes: geometry.as_mut_ptr(),
        strides: geometry[layout.ndim()..].as_mut_ptr(),
        offset: 0,
    };
    given.write(Given {
        record: R::of(described, place.cast(), flags),
        _geometry: geometry,
        _tensor: tensor,
    });
    // From here on the record owns what it lies in: `give_back` frees it.
    // SAFETY: the box was just written; a record is the capsule's until somebody takes it.
    let capsule = unsafe {
        std::mem::forget(given);
        ffi::PyCapsule_New((&raw mut (*place).record).cast(), R::NAME.as_ptr(), Some(drop_capsule::<R>))
    };
    if capsule.is_null() {
        // SAFETY: nobody has taken the record.
        unsafe { give_back::<R>(&raw mut (*place).record) };
    }
    // SAFETY: a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, capsule) }
}

/// Frees a record that was handed out, and lets go of the tensor. Whoever had it may call from any thread.
unsafe extern "C" fn give_back<R: Record>(record: *mut R) {
    let free = || {
        // SAFETY: the record is one that `exported` made, whose context is the box that it lies in; it is given back once.
        drop(unsafe { Box::from_raw((*record).context().cast::<Given<R>>()) });
    };
    // Handles are counted under the interpreter's lock; where there is no interpreter any more, nobody needs the memory.
    let _ = Python::try_attach(|_| free());
}

/// Frees the record of a capsule that nobody has taken it from.
unsafe extern "C" fn drop_capsule<R: Record>(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this with a capsule that `exported` made; its name says whether the record is in it.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, R::NAME.as_ptr()) == 1 {
            give_back::<R>(ffi::PyCapsule_GetPointer(capsule, R::NAME.as_ptr()).cast());
        }
    }
}

/// A record that was taken from a capsule. It is given back when nobody uses its memory any more.
struct Taken<R: Record>(NonNull<R>);

// SAFETY: the record is only read, and given back by the last handle; whose function that is says that any thread may
// call it.
unsafe impl<R: Record> Send for Taken<R> {}
// SAFETY: as above.
unsafe impl<R: Record> Sync for Taken<R> {}

impl<R: Record> Drop for Taken<R> {
    fn drop(&mut self) {
        // SAFETY: the record is ours until this call, which is the last one.
        unsafe {
            if let Some(deleter) = self.0.as_ref().deleter() {
                deleter(self.0.as_ptr());
            }
        }
    }
}

/// The element type of a code.
fn dtype_of(element: ElementType) -> PyResult<DType> {
    let known = DType::ALL.into_iter().find(|&dtype| element_type(dtype) == element);
    known.ok_or_else(|| {
        let ElementType { code, bits, lanes } = element;
        PyBufferError::new_err(match lanes {
            1 => format!("Unsupported element type: code {code} of {bits} bits"),
            _ => format!("ATen does not support lanes != 1, got {lanes}"),
        })
    })
}

/// A tensor on the memory that a capsule's record describes, if it is one of this kind.
fn imported<R: Record + 'static>(capsule: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    // SAFETY: a live object; the record of a valid capsule of this name is one of this kind, which is ours once the name
    // says that it was taken.
    let taken = unsafe {
        if ffi::PyCapsule_IsValid(capsule.as_ptr(), R::NAME.as_ptr()) != 1 {
            return Ok(None);
        }
        let Some(record) =
            NonNull::new(ffi::PyCapsule_GetPointer(capsule.as_ptr(), R::NAME.as_ptr()).cast::<R>())
        else {
            return Err(PyErr::fetch(capsule.py()));
        };
        record.as_ref().check()?;
        if ffi::PyCapsule_SetName(capsule.as_ptr(), R::USED.as_ptr()) != 0 {
            return Err(PyErr::fetch(capsule.py()));
        }
        Taken(record)
    };
    // SAFETY: the record is ours for as long as `taken` lives.
    let described = unsafe { taken.0.as_ref() }.tensor();
    if described.device.kind != CPU && !CPU_SHARED.contains(&described.device.kind) {
        let text = format!("Unsupported device_type: {}", described.device.kind);
        return Err(PyBufferError::new_err(text));
    }
    let dtype = dtype_of(described.element)?;
    let dims = usize::try_from(described.dims).ok().filter(|&dims| dims <= MOST_DIMS);
    let dims = dims.ok_or_else(|| PyRuntimeError::new_err(INVALID))?;
    let numbers = |start: *const i64| -> &[i64] {
        // SAFETY: a record has as many sizes as dimensions, and as many strides if it has any.
        if dims == 0 { &[] } else { unsafe { std::slice::from_raw_parts(start, dims) } }
    };
    if dims > 0 && described.sizes.is_null() {
        return Err(PyRuntimeError::new_err(INVALID));
    }
    let sizes = shape::checked_shape(numbers(described.sizes)).map_err(raise)?;
    let layout = if dims == 0 || described.strides.is_null() {
        Layout::contiguous(&sizes).map_err(raise)?
    } else {
        let strides: Option<Dims> =
            numbers(described.strides).iter().map(|&stride| usize::try_from(stride).ok()).collect();
        let strides = strides.ok_or_else(|| {
            PyBufferError::new_err("tensors with negative strides are not supported: copy the array first")
        })?;
        Layout::strided(sizes.as_slice().into(), strides, 0).map_err(raise)?
    };
    let bytes = layout.end().checked_mul(dtype.size());
    let bytes = bytes.ok_or_else(|| PyBufferError::new_err("the array is larger than the address space"))?;
    let start = described.data.cast::<u8>().wrapping_add(described.offset as usize);
    let data = match NonNull::new(start) {
        Some(data) if layout.numel() > 0 => data,
        // Nobody reads there, whatever the record says.
        _ => NonNull::<u128>::dangling().cast(),
    };
    if layout.numel() > 0 && described.data.is_null() {
        return Err(PyRuntimeError::new_err(INVALID));
    }
    if !data.addr().get().is_multiple_of(dispatch!(stored dtype, T => align_of::<T>())) {
        return Err(PyBufferError::new_err("the elements are not aligned: copy the array first"));
    }
    // SAFETY: the record says that its elements, if there are any, lie at these strides from the address, which is
    // aligned, for as long as it was not given back, and the owner gives it back.
    let storage = unsafe { Storage::external(data, bytes, Arc::new(taken)) }.map_err(raise)?;
    let tensor = Tensor::from_array(Array::on(storage, SharedLayout::new(layout), dtype).map_err(raise)?);
    tensor.set_cut(Cut::import());
    Ok(Some(tensor))
}

/// A capsule with the memory of a tensor, with a record that says its version if that is wanted.
#[pyfunction]
pub(crate) fn to_capsule<'py>(
    tensor: &Bound<'py, TensorBase>,
    versioned: bool,
    copied: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, tensor) = (tensor.py(), tensor.get().tensor());
    check_memory(tensor)?;
    check_allocated(tensor, "__dlpack__")?;
    tensor.cut().export();
    following::leaves("__dlpack__()");
    tensor.memory().storage.fix_size();
    match versioned {
        true => exported::<Versioned>(py, tensor.detach(), if copied { COPIED } else { 0 }),
        false => exported::<Plain>(py, tensor.detach(), 0),
    }
}

/// A tensor on the memory that a capsule holds.
#[pyfunction]
pub(crate) fn from_capsule<'py>(capsule: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let tensor = match imported::<Versioned>(capsule)? {
        Some(tensor) => Some(tensor),
        None => imported::<Plain>(capsule)?,
    };
    wrap(capsule.py(), tensor.ok_or_else(|| PyRuntimeError::new_err(INVALID))?)
}
