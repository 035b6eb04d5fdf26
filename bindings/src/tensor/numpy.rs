//! The way to numpy and back without copying. numpy is imported only when an array is made; whether
//! an object is one of its arrays is asked of the module only if somebody else has imported it.

#![allow(unsafe_code)]

mod interface;

use std::ptr::NonNull;
use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use rushlight::Tensor;
use rushlight::dtype::DType;
use rushlight::graph::observe::detach_site::Cut;
use rushlight::graph::{following, mode};
use rushlight::ops::conjugate;
use rushlight::shape::{Dims, Layout, SharedLayout};
use rushlight::storage::Storage;
use rushlight::tensor::Array;

use self::interface::{Elements, Seen, seen, shown};
use super::memory_checks::{check_allocated, check_memory};
use super::object::{TensorBase, wrap};
use crate::error::raise;
use crate::interpreter::warnings::Once;
use crate::modes::intercept::check_readable;

const UNWRITABLE: &std::ffi::CStr = c"The given NumPy array is not writable, and PyTorch does not support \
    non-writable tensors. This means writing to this tensor will result in undefined behavior. You may want to \
    copy the array to protect its data or make it writable before converting it to a tensor. This type of \
    warning will be suppressed for the rest of this program.";
const NEGATIVE_STRIDE: &str = "At least one stride in the given numpy array is negative, and tensors with \
    negative strides are not currently supported. (You can probably work around this by making a copy of your \
    array  with array.copy().) ";
const ODD_STRIDE: &str = "given numpy array strides not a multiple of the element byte size. Copy the numpy \
    array to reallocate the memory.";
const BYTE_ORDER: &str = "given numpy array has byte order different from the native byte order. Conversion \
    between byte orders is currently not supported.";
const DTYPES: &str = "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, \
    uint32, uint16, uint8, and bool.";
const REQUIRES_GRAD: &str =
    "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.";

/// The classes of numpy that are looked for, once numpy is there.
struct Classes {
    array: Py<PyType>,
    scalar: Py<PyType>,
    /// The attribute by which arrays show their memory.
    shown: Py<PyAny>,
}

/// numpy's classes, if it has been imported.
fn classes(py: Python<'_>) -> Option<&'static Classes> {
    static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();
    if let Some(known) = CLASSES.get(py) {
        return Some(known);
    }
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let find = || py.import("sys")?.getattr("modules")?.cast_into().map(Bound::unbind).map_err(PyErr::from);
    let modules = MODULES.get_or_try_init(py, find).ok()?.bind(py);
    let numpy = modules.get_item(pyo3::intern!(py, "numpy")).ok()??;
    let class = |name| numpy.getattr(name).ok()?.cast_into::<PyType>().ok().map(Bound::unbind);
    let array = class("ndarray")?;
    let shown = array.bind(py).getattr("__array_struct__").ok()?.unbind();
    let found = Classes { array, scalar: class("generic")?, shown };
    Some(CLASSES.get_or_init(py, || found))
}

/// Whether the object is a numpy array.
pub(crate) fn is_array(object: &Bound<'_, PyAny>) -> bool {
    classes(object.py())
        .is_some_and(|classes| object.is_instance(classes.array.bind(object.py())).unwrap_or(false))
}

/// Whether the object is a numpy scalar.
pub(crate) fn is_scalar(object: &Bound<'_, PyAny>) -> bool {
    classes(object.py())
        .is_some_and(|classes| object.is_instance(classes.scalar.bind(object.py())).unwrap_or(false))
}

/// The element type of a numpy array or scalar; `None` for anything else.
pub(crate) fn dtype_of(object: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    if !is_array(object) && !is_scalar(object) {
        return Ok(None);
    }
    let dtype = object.getattr("dtype")?;
    let kind: char = dtype.getattr("kind")?.extract()?;
    let (size, native) = (dtype.getattr("itemsize")?.extract()?, dtype.getattr("isnative")?.extract()?);
    element_type(object, Elements { kind: kind as u8, size, native }).map(Some)
}

/// A tensor of a numpy array's memory, or of a numpy scalar's value; `None` for anything else.
pub(crate) fn shared(object: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    tensor_of(object, true)
}

/// The same for who only copies it: nobody has to be told that it may not be written to.
pub(crate) fn read(object: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    tensor_of(object, false)
}

fn tensor_of(object: &Bound<'_, PyAny>, shared: bool) -> PyResult<Option<Tensor>> {
    if is_array(object) {
        return view_of(object, shared).map(Some);
    }
    if is_scalar(object) {
        return view_of(&object.call_method0("__array__")?, shared).map(Some);
    }
    Ok(None)
}

/// What `torch.from_numpy` makes.
pub(crate) fn from_numpy(object: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    if !is_array(object) {
        let class = object.get_type();
        let name = class.name()?;
        let module = class.module()?;
        let prefix = if module == "numpy" { "numpy." } else { "" };
        return Err(PyTypeError::new_err(format!("expected np.ndarray (got {prefix}{name})")));
    }
    view_of(object, true)
}

/// The element type of such elements, which are those of `array`.
fn element_type(array: &Bound<'_, PyAny>, elements: Elements) -> PyResult<DType> {
    let Some(dtype) = elements.dtype() else {
        let name: String = array.getattr("dtype")?.getattr("type")?.getattr("__name__")?.extract()?;
        return Err(PyTypeError::new_err(format!(
            "can't convert np.ndarray of type numpy.{name}. The only supported types are: {DTYPES}"
        )));
    };
    if elements.native { Ok(dtype) } else { Err(PyValueError::new_err(BYTE_ORDER)) }
}

/// A tensor on the memory of an array, which lives as long as the memory is used.
fn view_of(array: &Bound<'_, PyAny>, shared: bool) -> PyResult<Tensor> {
    let py = array.py();
    let Some(classes) = classes(py) else { unreachable!("an array is of one of them") };
    let Seen { elements, sizes, byte_strides, data, read_only } = seen(array, classes.shown.bind(py))?;
    let dtype = element_type(array, elements)?;
    let item = dtype.size() as isize;
    let mut strides = Dims::new();
    for &stride in &byte_strides {
        if stride < 0 {
            return Err(PyValueError::new_err(NEGATIVE_STRIDE));
        }
        if stride % item != 0 {
            return Err(PyValueError::new_err(ODD_STRIDE));
        }
        strides.push((stride / item) as usize);
    }
    if read_only && shared {
        warn_unwritable(py)?;
    }
    let layout = Layout::strided(sizes, strides, 0).map_err(raise)?;
    let data = match NonNull::new(data) {
        Some(data) if layout.numel() > 0 => data,
        // Nobody reads there, whatever the array says.
        _ => NonNull::<u128>::dangling().cast(),
    };
    if !data.addr().get().is_multiple_of(dtype.size()) {
        // Elements that are not aligned cannot be read in place.
        return view_of(&array.call_method0("copy")?, shared);
    }
    let owner: Arc<Py<PyAny>> = Arc::new(array.clone().unbind());
    // SAFETY: the array says that its elements, if there are any, lie at these strides from the
    // address, which is aligned; it keeps them for as long as it lives, and the owner keeps it.
    let storage = unsafe { Storage::external(data, layout.end() * dtype.size(), owner) }.map_err(raise)?;
    let array = Array::on(storage, SharedLayout::new(layout), dtype).map_err(raise)?;
    let tensor = Tensor::from_array(array);
    tensor.set_cut(Cut::import());
    Ok(tensor)
}

fn warn_unwritable(py: Python<'_>) -> PyResult<()> {
    static TOLD: Once = Once::new();
    TOLD.warn(py, UNWRITABLE)
}

/// Shows a tensor's memory to numpy, and keeps it for the array that is made of it.
#[pyclass(module = "rushlight._rushlight", frozen)]
struct Memory {
    tensor: Tensor,
}

#[pymethods]
impl Memory {
    #[getter]
    fn __array_struct__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &self.tensor.array())
    }
}

/// A numpy array on the memory of a tensor.
fn array_of<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    check_memory(tensor)?;
    check_allocated(tensor, "numpy")?;
    let dtype = tensor.dtype();
    if matches!(dtype, DType::BFloat16 | DType::Complex32) || dtype.is_float8() {
        return Err(PyTypeError::new_err(format!("Got unsupported ScalarType {}", dtype.title())));
    }
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    tensor.cut().export();
    following::leaves("numpy()");
    tensor.memory().storage.fix_size();
    let as_array = AS_ARRAY.import(py, "numpy", "asarray")?;
    as_array.call1((Memory { tensor: tensor.clone() },))
}

/// What `x.numpy()` makes.
pub(crate) fn to_numpy<'py>(py: Python<'py>, tensor: &Tensor, force: bool) -> PyResult<Bound<'py, PyAny>> {
    check_readable(tensor, || ".numpy() is not supported for tensor subclasses.".to_owned())?;
    if tensor.claims_grad() && !force && mode::is_grad_enabled() {
        return Err(PyRuntimeError::new_err(REQUIRES_GRAD));
    }
    if tensor.is_pending() && !force {
        let (bit, name) =
            if tensor.dtype().is_complex() { ("conjugate", "conj") } else { ("negative", "neg") };
        return Err(PyRuntimeError::new_err(format!(
            "Can't call numpy() on Tensor that has {bit} bit set. Use tensor.resolve_{name}().numpy() instead."
        )));
    }
    array_of(py, &conjugate::resolve(&tensor.detach()).map_err(raise)?)
}

#[pymethods]
impl TensorBase {
    /// What numpy asks for to make an array of the tensor.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = to_numpy(py, self.tensor(), false)?;
        match (dtype, copy) {
            (Some(dtype), copy) => {
                let options = PyDict::new(py);
                options.set_item("copy", copy.unwrap_or(false))?;
                array.call_method("astype", (dtype,), Some(&options))
            }
            (None, Some(true)) => array.call_method0("copy"),
            (None, _) => Ok(array),
        }
    }

    /// What numpy makes of the array that one of its functions has computed from the tensor.
    #[pyo3(signature = (array, _context = None, _return_scalar = false))]
    fn __array_wrap__<'py>(
        &self,
        array: &Bound<'py, PyAny>,
        _context: Option<&Bound<'py, PyAny>>,
        _return_scalar: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        wrap(array.py(), from_numpy(array)?)
    }

    /// Makes numpy's operators leave the work to the tensor's.
    #[classattr]
    fn __array_priority__() -> i32 {
        1000
    }
}
