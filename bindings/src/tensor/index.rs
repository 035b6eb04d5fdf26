//! What stands between the brackets of `x[...]`: from Python objects to the engine's items. What
//! an item selects, and whether it can, is the engine's business.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyComplexMethods, PyEllipsis, PyFloat, PyInt, PySlice, PyTuple};
use rushlight::Tensor;
use rushlight::dispatch::in_place::first_refusal;
use rushlight::dtype::{Category, Complex, DType, Scalar};
use rushlight::ops::creation::cast::to_dtype;
use rushlight::ops::creation::create::check_value;
use rushlight::ops::indexing::index;
use rushlight::ops::indexing::index::Index;
use rushlight::ops::{Operand, Value};

use smallvec::SmallVec;

use super::construct::{from_sequence, is_sequence};
use super::numpy;
use super::object::as_tensor;
use crate::calls::writes;
use crate::error::raise;
use crate::values::classes::type_name;
use crate::values::dtype::tensor_type_name;
use crate::values::received::parts_of_slice;
use rushlight::schema::OtherArguments;
use rushlight::schema::warn_repeated;

const NOT_AN_INDEX: &str =
    "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices";
const NOT_INDICES: &str = "tensors used as indices must be long, int, byte or bool tensors";
const BYTE_MASK: &std::ffi::CStr =
    c"indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.";
const SEQUENCE_AS_TUPLE: &std::ffi::CStr = c"Using a non-tuple sequence for multidimensional indexing is \
    deprecated and will be changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this \
    will be interpreted as tensor index, x[torch.tensor(seq)], which will result either in an error or a \
    different result";
const OVERFLOW: &str = "Overflow when unpacking long long";

/// The items of most expressions stand where they are made.
type Items = SmallVec<[Index; 3]>;

/// From this length on a sequence is never taken for a tuple.
const SHORT: usize = 32;

/// `x[key]`.
pub(super) fn get(tensor: &Tensor, key: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    index::get(tensor, &parsed(tensor, key)?).map_err(raise)
}

/// `x[key] = value`.
pub(super) fn set(tensor: &Tensor, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let value = &assigned(tensor, value)?;
    let mut items = parsed(tensor, key)?;
    if matches!(items[..], [Index::Bool(_)]) && as_tensor(key).is_some() {
        // A tensor is an index also where it says no: that is a write, of nothing.
        items.push(Index::Ellipsis);
    }
    if tensor.is_captured() {
        let by_tensor = items.iter().any(|item| matches!(item, Index::Indices(_)));
        let fixed = items.iter().filter(|item| matches!(item, Index::Int(_))).count();
        let is_number = given_tensor(value).is_none_or(|value| value.ndim() == 0);
        let (method, given) = match by_tensor {
            true => ("index_put_", OtherArguments::default()),
            false if is_number && tensor.ndim() > fixed => ("fill_", OtherArguments::operand(Some(tensor))),
            false => ("copy_", OtherArguments::default()),
        };
        writes::check_in_place(tensor, method, &given)?;
    }
    let mut tensors = items.iter().filter_map(|item| match item {
        Index::Indices(index) => Some(index),
        _ => None,
    });
    if let Some(first) = tensors.next() {
        warn_repeated(tensor, "index_put_", "tensor[indices] = tensor").map_err(raise)?;
        if first.dtype() == DType::Bool && given_tensor(value).is_none_or(|value| value.numel() == 1) {
            warn_repeated(tensor, "masked_fill_", "tensor[mask] = scalar").map_err(raise)?;
        }
    }
    let written = index::put(tensor, &items, Operand::from(value));
    written.map_err(|error| {
        // Whether there may be another history is told first, unless a view was to be written to.
        let by_tensor = items.iter().any(|item| matches!(item, Index::Indices(_)));
        raise(if by_tensor { first_refusal(&[tensor], error) } else { error })
    })
}

/// A value that is a tensor.
fn given_tensor(value: &Value) -> Option<&Tensor> {
    match value {
        Value::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

/// The items of an index expression of this tensor.
fn parsed(tensor: &Tensor, key: &Bound<'_, PyAny>) -> PyResult<Items> {
    parse(key).map_err(|error| first_mistake(tensor, key, error))
}

/// Of several mistakes the one that is told: that there are too many items, or that of the first, which is looked for
/// in what the items before it leave.
#[cold]
fn first_mistake(tensor: &Tensor, key: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let Ok(tuple) = key.cast::<PyTuple>() else { return error };
    let count: usize = tuple.iter().map(|object| dimensions_of(&object)).sum();
    if count > tensor.ndim() {
        let words = format!("too many indices for tensor of dimension {}", tensor.ndim());
        return PyIndexError::new_err(words);
    }
    let all = || Index::Slice { start: None, stop: None, step: None };
    let (mut before, mut taken) = (Items::new(), 0);
    for object in tuple.iter() {
        let dimensions = dimensions_of(&object);
        match item(&object) {
            Ok(Index::Indices(_)) => before.extend((0..dimensions).map(|_| all())),
            Ok(item) => before.push(item),
            Err(_) => break,
        }
        taken += dimensions;
    }
    before.extend((taken..count).map(|_| all()));
    index::get(tensor, &before).map_or_else(raise, |_| error)
}

/// How many dimensions an item is for.
fn dimensions_of(object: &Bound<'_, PyAny>) -> usize {
    match as_tensor(object) {
        Some(tensor) if matches!(tensor.dtype(), DType::Bool | DType::UInt8) => tensor.ndim(),
        None if object.is_none()
            || object.is_instance_of::<PyEllipsis>()
            || object.is_instance_of::<PyBool>() =>
        {
            0
        }
        _ => 1,
    }
}

/// The items of an index expression.
fn parse(key: &Bound<'_, PyAny>) -> PyResult<Items> {
    let mut items = Items::new();
    if let Ok(tuple) = key.cast::<PyTuple>() {
        for object in tuple.iter_borrowed() {
            items.push(item(&object)?);
        }
        return Ok(items);
    }
    if stands_for_tuple(key) {
        let py = key.py();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), SEQUENCE_AS_TUPLE, 1)?;
        return (0..key.len()?).map(|place| item(&key.get_item(place)?)).collect();
    }
    items.push(item(key)?);
    Ok(items)
}

/// Whether a sequence means its items, as numpy's ancestors had it: one of them is no number.
fn stands_for_tuple(key: &Bound<'_, PyAny>) -> bool {
    if key.is_exact_instance_of::<PyInt>()
        || as_tensor(key).is_some()
        || numpy::is_array(key)
        || !is_sequence(key)
        || !key.len().is_ok_and(|length| length < SHORT)
    {
        return false;
    }
    let tells = |object: Bound<'_, PyAny>| {
        object.is_none()
            || object.is_instance_of::<PySlice>()
            || object.is_instance_of::<PyEllipsis>()
            || as_tensor(&object).is_some()
            || is_sequence(&object)
    };
    (0..key.len().unwrap_or(0)).map_while(|place| key.get_item(place).ok()).any(tells)
}

fn item(object: &Bound<'_, PyAny>) -> PyResult<Index> {
    if object.is_exact_instance_of::<PyInt>() {
        return integer(object);
    }
    if let Ok(slice) = object.cast::<PySlice>() {
        return range(slice);
    }
    if object.is_none() {
        return Ok(Index::NewAxis);
    }
    if object.is_instance_of::<PyEllipsis>() {
        return Ok(Index::Ellipsis);
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(Index::Bool(value.is_true()));
    }
    if let Some(tensor) = as_tensor(object) {
        return indices(object.py(), tensor.clone());
    }
    if numpy::is_array(object)
        && let Some(tensor) = numpy::shared(object)?
    {
        return indices(object.py(), tensor);
    }
    if is_sequence(object) {
        return indices(object.py(), positions(object)?);
    }
    if object.hasattr(pyo3::intern!(object.py(), "__index__"))? {
        return integer(&object.call_method0(pyo3::intern!(object.py(), "__index__"))?);
    }
    Err(PyIndexError::new_err(format!("{NOT_AN_INDEX} (got {})", type_name(object))))
}

fn integer(object: &Bound<'_, PyAny>) -> PyResult<Index> {
    object.extract().map(Index::Int).map_err(|_| PyValueError::new_err(OVERFLOW))
}

/// A tensor of a sequence: masks stay masks, all else counts.
fn positions(sequence: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let made = from_sequence(sequence, None)?;
    if matches!(made.dtype(), DType::Bool | DType::UInt8) || made.dtype() == DType::Int64 {
        return Ok(made);
    }
    to_dtype(&made, DType::Int64).map_err(raise)
}

/// A tensor between the brackets. One integer alone is an integer.
fn indices(py: Python<'_>, tensor: Tensor) -> PyResult<Index> {
    match (tensor.dtype(), tensor.ndim()) {
        // What it names differs between samples.
        (DType::Int64 | DType::Int32 | DType::Bool, 0) if tensor.is_batched() => Ok(Index::Indices(tensor)),
        (DType::Int64 | DType::Int32 | DType::Int16 | DType::Int8, 0) => {
            Ok(Index::Int(tensor.item().map_err(raise)?.to()))
        }
        (DType::Bool, 0) => Ok(Index::Bool(tensor.item().map_err(raise)? == Scalar::Bool(true))),
        (DType::UInt8, _) => {
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), BYTE_MASK, 1)?;
            Ok(Index::Indices(tensor))
        }
        (DType::Int64 | DType::Int32 | DType::Bool, _) => Ok(Index::Indices(tensor)),
        _ => Err(PyIndexError::new_err(NOT_INDICES)),
    }
}

fn range(slice: &Bound<'_, PySlice>) -> PyResult<Index> {
    let [start, stop, step] = parts_of_slice(slice);
    let (start, stop, step) = (bound(start)?, bound(stop)?, bound(step)?);
    match step {
        Some(0) => Err(PyValueError::new_err("slice step cannot be zero")),
        Some(step) if step < 0 => Err(PyValueError::new_err("step must be greater than zero")),
        _ => Ok(Index::Slice { start, stop, step }),
    }
}

/// One of the three parts of a slice. What is beyond all sizes is as good as the end.
fn bound(object: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    if object.is_none() {
        return Ok(None);
    }
    if let Ok(value) = object.extract::<i64>() {
        return Ok(Some(value));
    }
    let unfit = || PyTypeError::new_err("slice indices must be integers or None or have an __index__ method");
    if !object.hasattr(pyo3::intern!(object.py(), "__index__"))? {
        return Err(unfit());
    }
    let index = object.call_method0(pyo3::intern!(object.py(), "__index__"))?;
    match index.extract::<i64>() {
        Ok(value) => Ok(Some(value)),
        Err(_) => Ok(Some(if index.lt(0)? { i64::MIN } else { i64::MAX })),
    }
}

/// What is assigned to `target[...]`: a tensor or a number.
fn assigned(target: &Tensor, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Some(tensor) = as_tensor(value) {
        return Ok(Value::Tensor(tensor.clone()));
    }
    if let Ok(value) = value.cast::<PyFloat>() {
        return Ok(Value::Scalar(Scalar::Float(value.value())));
    }
    if let Ok(value) = value.cast::<PyComplex>() {
        let value = Scalar::Complex(Complex::new(value.real(), value.imag()));
        check_value(value, target.dtype()).map_err(raise)?;
        return Ok(Value::Scalar(value));
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Value::Scalar(Scalar::Bool(value.is_true())));
    }
    let whole = value.is_instance_of::<PyInt>()
        || numpy::is_scalar(value)
            && numpy::dtype_of(value)?.is_some_and(|it| it.category() == Category::Integer);
    if whole {
        return value
            .extract()
            .map(|it| Value::Scalar(Scalar::Int(it)))
            .map_err(|_| PyValueError::new_err(OVERFLOW));
    }
    let (found, wanted) = (type_name(value), tensor_type_name(target.dtype()));
    Err(PyTypeError::new_err(format!("can't assign a {found} to a {wanted}")))
}
