//! Tensors from Python data: numbers, nested sequences, numpy arrays, other tensors.
//!
//! Sequences are walked twice or three times, as their errors come in that order: for the shape
//! along the first elements, for the element type if none is given, then for the elements.

#![allow(unsafe_code)]

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyComplexMethods, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple,
};
use rushlight::dispatch::default_dtype;
use rushlight::dispatch::modes::recording;
use rushlight::dispatch::operand::promoted;
use rushlight::dtype::{Bool, Complex, DType, Element, Scalar};
use rushlight::ops::creation::cast;
use rushlight::ops::creation::create;
use rushlight::ops::geometry::reshape;
use rushlight::storage;
use rushlight::tensor::Array;
use rushlight::{Tensor, dispatch};

use super::object::as_tensor;
use super::{numpy, values};
use crate::error::raise;
use crate::interpreter::signals::Listening;
use crate::signature::Kind;
use crate::signature::accept::{is_a, is_index};
use crate::values::classes::type_name;
use crate::values::convert;
use crate::values::device::Device;
use crate::values::memory::elements_of;
use crate::values::size::is_size;

/// The most dimensions that a nested sequence may have.
const MAX_DIMS: usize = 128;

const COPY_CONSTRUCT: &std::ffi::CStr = c"To copy construct from a tensor, it is recommended to use \
    sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True), rather than \
    torch.tensor(sourceTensor).";
const SLOW_ARRAYS: &std::ffi::CStr = c"Creating a tensor from a list of numpy.ndarrays is extremely slow. \
    Please consider converting the list to a single numpy.ndarray with numpy.array() before converting to a \
    tensor.";

/// What `torch.tensor` makes: a copy of the data, without history.
pub(crate) fn tensor(data: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    let py = data.py();
    if let Some(source) = as_tensor(data) {
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), COPY_CONSTRUCT, 1)?;
        return copied(&source.detach(), dtype);
    }
    match numpy::read(data)? {
        Some(source) => copied(&source, dtype),
        None => from_sequence(data, dtype),
    }
}

/// What `torch.as_tensor` makes: the data itself where it is a tensor or an array of that type.
pub(crate) fn as_is(data: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    let source = match as_tensor(data) {
        Some(tensor) => Some(tensor.clone()),
        None => numpy::shared(data)?,
    };
    match source {
        Some(source) => match dtype {
            Some(dtype) if dtype != source.dtype() => cast::to_dtype(&source, dtype).map_err(raise),
            _ => Ok(source),
        },
        None => from_sequence(data, dtype),
    }
}

/// What a call of the type of tensors makes, for a device that is there.
pub(crate) fn called(
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Tensor> {
    if let Some(keywords) = keywords
        && let Some(device) = keywords.get_item("device")?
    {
        Device::of(&device)?.usable()?;
    }
    legacy(arguments)
}

/// What `torch.Tensor(...)` makes: sizes give memory, a sequence gives elements of the default type.
fn legacy(arguments: &Bound<'_, PyTuple>) -> PyResult<Tensor> {
    let default = default_dtype::get();
    let first = match arguments.len() {
        0 => return create::empty(&[0], default).map_err(raise),
        _ => arguments.get_item(0)?,
    };
    if arguments.len() == 1 {
        if let Some(source) = as_tensor(&first) {
            return reshape::alias(source).map_err(raise);
        }
        if is_size(&first) {
            return create::empty(&first.extract::<Vec<i64>>()?, default).map_err(raise);
        }
        if !is_index(&first) {
            if !first.is_instance_of::<PyList>() && is_a(Kind::Storage, &first) {
                return elements_of(&first, default);
            }
            if !is_sequence(&first) && !numpy::is_array(&first) {
                let found = type_name(&first);
                return Err(PyTypeError::new_err(format!("new(): data must be a sequence (got {found})")));
            }
            return tensor(&first, Some(default));
        }
    }
    create::empty(&convert::ints("new", "size", arguments.iter())?, default).map_err(raise)
}

fn copied(source: &Tensor, dtype: Option<DType>) -> PyResult<Tensor> {
    match dtype {
        Some(dtype) if dtype != source.dtype() => cast::to_dtype(source, dtype),
        _ => cast::clone(source),
    }
    .map_err(raise)
}

/// A tensor of a number or of nested sequences of numbers.
pub(super) fn from_sequence(data: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    if is_text(data) {
        return Err(not_data(data));
    }
    let shape = shape_of(data)?;
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => infer(data, 0, &mut Listening::default())?,
    };
    if let Some(first) = first_item(data)
        && numpy::is_array(&first)
    {
        let py = data.py();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), SLOW_ARRAYS, 1)?;
    }
    // Integers are looked at as what they are to be; other numbers are rounded afterwards.
    let read_as = if dtype.is_wide_unsigned() { dtype } else { dtype.wide() };
    let array = dispatch!(stored read_as, T => {
        let mut elements: Vec<T> = Vec::new();
        collect(data, &shape, 0, &mut elements, &mut Listening::default())?;
        Array::from_slice(&shape, &elements)
    });
    let tensor = Tensor::from_array(array.map_err(raise)?);
    recording::fixed(&tensor).map_err(raise)?;
    cast::to_dtype(&tensor, dtype).map_err(raise)
}

/// Whether the interpreter sees a sequence.
pub(super) fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyList>()
        || object.is_exact_instance_of::<PyTuple>()
        // SAFETY: a live object may be asked for its slots.
        || unsafe { ffi::PySequence_Check(object.as_ptr()) } != 0
}

fn is_text(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>()
}

fn not_data(object: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("new(): invalid data type '{}'", type_name(object)))
}

fn too_deep(object: &Bound<'_, PyAny>) -> PyErr {
    PyValueError::new_err(format!("too many dimensions '{}'", type_name(object)))
}

fn first_item<'py>(data: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    if !is_sequence(data) {
        return None;
    }
    data.get_item(0).ok()
}

/// The lengths along the first elements.
fn shape_of(data: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let mut shape = Vec::new();
    let mut level = data.clone();
    while is_sequence(&level) {
        shape.push(level.len()?);
        if shape.len() > MAX_DIMS {
            return Err(too_deep(&level));
        }
        if shape.ends_with(&[0]) {
            break;
        }
        level = level.get_item(0).map_err(|_| {
            PyValueError::new_err(format!(
                "could not determine the shape of object type '{}'",
                type_name(&level)
            ))
        })?;
    }
    Ok(shape)
}

/// The smallest type that holds all elements; the default one where there are none.
fn infer(object: &Bound<'_, PyAny>, depth: usize, listening: &mut Listening) -> PyResult<DType> {
    listening.object(object.py())?;
    if object.is_exact_instance_of::<PyFloat>() {
        return Ok(default_dtype::get());
    }
    if object.is_exact_instance_of::<PyInt>() {
        return Ok(DType::Int64);
    }
    if object.is_exact_instance_of::<PyBool>() {
        return Ok(DType::Bool);
    }
    if let Some(tensor) = as_tensor(object) {
        return Ok(tensor.dtype());
    }
    if let Some(dtype) = numpy::dtype_of(object)? {
        return Ok(dtype);
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(default_dtype::get());
    }
    if object.is_instance_of::<PyInt>() {
        return Ok(DType::Int64);
    }
    if object.is_instance_of::<PyComplex>() {
        return Ok(default_dtype::get().to_complex());
    }
    if is_text(object) {
        return Err(not_data(object));
    }
    if !is_sequence(object) {
        return Err(PyRuntimeError::new_err(format!("Could not infer dtype of {}", type_name(object))));
    }
    if depth > MAX_DIMS {
        return Err(too_deep(object));
    }
    let mut common: Option<DType> = None;
    for item in numbered(object)? {
        let dtype = infer(&item?, depth + 1, listening)?;
        common = Some(match common {
            Some(common) => promoted(common, dtype).map_err(raise)?,
            None => dtype,
        });
    }
    Ok(common.unwrap_or_else(default_dtype::get))
}

/// The items of a sequence, asked for by number: others of their types may come from an iteration.
fn numbered<'a, 'py>(
    sequence: &'a Bound<'py, PyAny>,
) -> PyResult<Box<dyn Iterator<Item = PyResult<Bound<'py, PyAny>>> + 'a>> {
    if sequence.is_instance_of::<PyList>() || sequence.is_instance_of::<PyTuple>() {
        return items(sequence);
    }
    Ok(Box::new((0..sequence.len()?).map(|number| sequence.get_item(number))))
}

/// The items of a sequence, by number: the sequence may change under way.
fn items<'a, 'py>(
    sequence: &'a Bound<'py, PyAny>,
) -> PyResult<Box<dyn Iterator<Item = PyResult<Bound<'py, PyAny>>> + 'a>> {
    if let Ok(list) = sequence.cast::<PyList>() {
        return Ok(Box::new(list.iter().map(Ok)));
    }
    if let Ok(tuple) = sequence.cast::<PyTuple>() {
        return Ok(Box::new(tuple.iter().map(Ok)));
    }
    let iterator = sequence.try_iter().map_err(|_| PyTypeError::new_err("not a sequence"))?;
    Ok(Box::new(iterator))
}

/// Appends the elements in row-major order, checking every length against the shape.
fn collect<T: Element>(
    object: &Bound<'_, PyAny>,
    shape: &[usize],
    dim: usize,
    elements: &mut Vec<T>,
    listening: &mut Listening,
) -> PyResult<()> {
    listening.object(object.py())?;
    let Some(&expected) = shape.get(dim) else {
        return storage::push(elements, element(object)?).map_err(raise);
    };
    if !is_sequence(object) {
        return Err(PyTypeError::new_err("not a sequence"));
    }
    let length = object.len()?;
    let wrong = |length: usize| {
        PyValueError::new_err(format!("expected sequence of length {expected} at dim {dim} (got {length})"))
    };
    if length != expected {
        return Err(wrong(length));
    }
    let before = elements.len();
    let mut count = 0;
    for item in items(object)? {
        collect(&item?, shape, dim + 1, elements, listening)?;
        count += 1;
        if count > expected {
            break;
        }
    }
    // An item's conversion may run Python code that changes the sequence.
    if count != expected || elements.len() - before != shape[dim..].iter().product::<usize>() {
        return Err(wrong(count));
    }
    Ok(())
}

/// One element.
#[inline]
fn element<T: Element>(object: &Bound<'_, PyAny>) -> PyResult<T> {
    if T::DTYPE == DType::Bool {
        return Ok(Bool::new(object.is_truthy()?).convert());
    }
    if T::DTYPE.is_complex() {
        if let Some(item) = of_tensor(object)? {
            return Ok(item.to());
        }
        let value = complex(object)?;
        return Ok(T::from_complex(value));
    }
    if T::DTYPE.is_float() {
        if let Some(item) = of_tensor(object)? {
            return Ok(item.to());
        }
        return Ok(T::from_f64(object.extract()?));
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        return fitted_float(number.value());
    }
    if let Some(tensor) = as_tensor(object)
        && tensor.dtype().is_float()
        && let Ok(item) = tensor.item()
    {
        return fitted_float(item.to_f64());
    }
    // SAFETY: a live object; the result is a new reference or null with an exception set.
    let index = unsafe { Bound::from_owned_ptr_or_err(object.py(), ffi::PyNumber_Index(object.as_ptr()))? };
    if T::DTYPE == DType::UInt64 {
        return index.extract::<u64>().map(u64::convert);
    }
    let value: i64 =
        index.extract().map_err(|_| PyValueError::new_err("Overflow when unpacking long long"))?;
    fitted(value)
}

/// The only element, if the object is a tensor.
fn of_tensor(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    let Some(tensor) = as_tensor(object) else { return Ok(None) };
    let item = match tensor.numel() {
        1 => tensor.item().map_err(raise)?,
        _ => return Err(PyValueError::new_err(values::ONE_ELEMENT)),
    };
    values::tell_of_history(object.py(), tensor)?;
    Ok(Some(item))
}

/// Anything that Python takes for a complex number.
fn complex(object: &Bound<'_, PyAny>) -> PyResult<Complex<f64>> {
    if let Ok(value) = object.cast::<PyComplex>() {
        return Ok(Complex::new(value.real(), value.imag()));
    }
    // SAFETY: a live object; a failure is minus one with an exception set.
    let value = unsafe { ffi::PyComplex_AsCComplex(object.as_ptr()) };
    match PyErr::take(object.py()) {
        Some(error) => Err(error),
        None => Ok(Complex::new(value.real, value.imag)),
    }
}

/// An integer as an element. Unsigned types wrap negative numbers around, as in C.
fn fitted<T: Element>(value: i64) -> PyResult<T> {
    match create::check_value(Scalar::Int(value), T::DTYPE) {
        Ok(()) => Ok(T::from_i64(value)),
        Err(_) => Err(overflow::<T>()),
    }
}

/// A real number, truncated, as an integer element.
fn fitted_float<T: Element>(value: f64) -> PyResult<T> {
    let limit = 9_223_372_036_854_775_808.0;
    if value.is_nan() || value < -limit || value >= limit {
        return Err(overflow::<T>());
    }
    fitted(value as i64)
}

#[cold]
fn overflow<T: Element>() -> PyErr {
    let name = T::DTYPE.name();
    PyRuntimeError::new_err(format!("value cannot be converted to type {name} without overflow"))
}
