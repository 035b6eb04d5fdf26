//! Python numbers on their way into an operation: read directly where the type is exactly known.

use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyComplexMethods, PyFloat, PyInt};
use rushlight::dtype::{Complex, Scalar};

use super::numpy;

/// The number that an object is: a Python number, or a numpy scalar. Arrays and
/// tensors are none, even with a single element.
pub(crate) fn number(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    if let Ok(value) = object.cast::<PyFloat>() {
        return Ok(Some(Scalar::Float(value.value())));
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(Some(Scalar::Bool(value.is_true())));
    }
    if object.is_instance_of::<PyInt>() {
        return integer(object).map(Some);
    }
    if let Ok(value) = object.cast::<PyComplex>() {
        return Ok(Some(Scalar::Complex(Complex::new(value.real(), value.imag()))));
    }
    if !numpy::is_scalar(object) {
        return Ok(None);
    }
    match number(&object.call_method0(pyo3::intern!(object.py(), "item"))?) {
        Ok(Some(scalar)) => Ok(Some(scalar)),
        _ => Ok(None),
    }
}

/// An integer, up to where the unsigned ones end.
fn integer(object: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if let Ok(value) = object.extract::<i64>() {
        return Ok(Scalar::Int(value));
    }
    let value: u64 = object.extract().map_err(|_| PyOverflowError::new_err("int too big to convert"))?;
    Ok(Scalar::Unsigned(value))
}
