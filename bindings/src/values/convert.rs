//! From Python values of the right type to Rust ones, with torch's words where one does not fit.
//! Whether the type is right has been settled by `signature`.
use crate::error::raise;
use crate::signature::accept::is_index_tensor;
use crate::tensor::object::as_tensor;
use crate::values::classes::type_name;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyComplexMethods, PyFloat, PyInt, PyList, PyString, PyTuple};
use rushlight::dtype::{Complex, Scalar};
use rushlight::{Error, Tensor};

pub(crate) use rushlight::schema::Ints;

const OVERFLOW: &str = "Overflow when unpacking long long";

/// A Python, numpy or tensor integer.
pub(crate) fn int(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    if let Some(tensor) = as_tensor(object) {
        return item(tensor).map(Scalar::to::<i64>);
    }
    object.extract().map_err(|_| PyValueError::new_err(OVERFLOW))
}

/// A Python, numpy or tensor number, of the category it has.
pub(crate) fn number(object: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if object.is_instance_of::<PyFloat>() {
        return object.extract().map(Scalar::Float);
    }
    if let Ok(value) = object.cast::<PyComplex>() {
        return Ok(Scalar::Complex(Complex::new(value.real(), value.imag())));
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(Scalar::Bool(value.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return match object.extract::<i64>() {
            Ok(value) => Ok(Scalar::Int(value)),
            Err(_) => object.extract::<u64>().map(Scalar::Unsigned),
        };
    }
    match as_tensor(object) {
        Some(tensor) => item(tensor),
        None => number(&object.call_method0(pyo3::intern!(object.py(), "item"))?),
    }
}

/// A Python, numpy or tensor number as a real one.
pub(crate) fn float(object: &Bound<'_, PyAny>) -> PyResult<f64> {
    match as_tensor(object) {
        Some(tensor) => match item(tensor)? {
            Scalar::Complex(number) if number.im != 0.0 => {
                Err(raise(Error::ValueOverflow { name: "double" }.into()))
            }
            number => Ok(number.to_f64()),
        },
        None => object.extract(),
    }
}

/// A string, or bytes that hold one.
pub(crate) fn text(object: &Bound<'_, PyAny>) -> PyResult<String> {
    match (object.cast::<PyString>(), object.cast::<PyBytes>()) {
        (Ok(text), _) => Ok(text.to_str()?.to_owned()),
        (_, Ok(bytes)) => Ok(String::from_utf8_lossy(bytes.as_bytes()).into_owned()),
        _ => Err(PyTypeError::new_err(format!("expected str, not {}", type_name(object)))),
    }
}

/// A tuple or list of integers, or a single one `size` times.
pub(crate) fn int_list(
    function: &str,
    argument: &str,
    object: &Bound<'_, PyAny>,
    size: usize,
) -> PyResult<Ints> {
    if let Ok(tuple) = object.cast::<PyTuple>() {
        ints(function, argument, tuple.iter())
    } else if let Ok(list) = object.cast::<PyList>() {
        ints(function, argument, list.iter())
    } else {
        int(object).map(|value| Ints::from_elem(value, size))
    }
}

/// The integers of a list, each of which may be anything that Python indexes with.
pub(crate) fn ints<'py>(
    function: &str,
    argument: &str,
    elements: impl Iterator<Item = Bound<'py, PyAny>>,
) -> PyResult<Ints> {
    let convert = |at: usize, element: Bound<'py, PyAny>| {
        if element.is_exact_instance_of::<PyInt>()
            && let Ok(value) = element.extract()
        {
            return Ok(value);
        }
        let other_type = || format!("type must be tuple of ints,but got {}", type_name(&element));
        let why = match as_tensor(&element) {
            Some(tensor) if is_index_tensor(tensor) => return item(tensor).map(Scalar::to::<i64>),
            Some(_) => other_type(),
            None => match element.extract::<i64>() {
                Ok(value) => return Ok(value),
                Err(error) if error.is_instance_of::<PyTypeError>(element.py()) => other_type(),
                Err(_) => OVERFLOW.to_owned(),
            },
        };
        let place = at + 1;
        Err(PyTypeError::new_err(format!(
            "{function}(): argument '{argument}' failed to unpack the object at pos {place} with error \"{why}\""
        )))
    };
    let mut all = Ints::new();
    for (at, element) in elements.enumerate() {
        all.push(convert(at, element)?);
    }
    Ok(all)
}

fn item(tensor: &Tensor) -> PyResult<Scalar> {
    tensor.item().map_err(raise)
}
