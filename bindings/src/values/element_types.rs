//! Functions about element types: the default one, promotion, and an argument that has to be one.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rushlight::dispatch::default_dtype;
use rushlight::dispatch::operand::promoted;
use rushlight::dtype::DType;

use crate::error::raise;
use crate::values::classes::type_name;
use crate::values::dtype::{as_dtype, element_type, wrap_dtype};

/// Return the element type of tensors that are made of real numbers without naming a type.
#[pyfunction]
pub(crate) fn get_default_dtype(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    wrap_dtype(py, default_dtype::get())
}

/// Set the element type of tensors that are made of real numbers without naming a type.
#[pyfunction]
#[pyo3(signature = (d, /))]
pub(crate) fn set_default_dtype(d: &Bound<'_, PyAny>) -> PyResult<()> {
    let only = "only floating-point types are supported as the default type";
    match as_dtype(d) {
        Some(dtype) if dtype.is_float8() => {
            Err(PyTypeError::new_err(format!("couldn't find storage object {}Storage", dtype.title())))
        }
        Some(dtype) if dtype.is_float() => default_dtype::set(dtype).map_err(raise),
        Some(_) => Err(PyTypeError::new_err(only)),
        None => Err(PyTypeError::new_err(format!("invalid dtype object: {only}"))),
    }
}

/// Return the smallest element type that holds both.
#[pyfunction]
pub(crate) fn promote_types<'py>(
    type1: &Bound<'py, PyAny>,
    type2: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (first, second) =
        (asked("promote_types", "type1", 1, type1)?, asked("promote_types", "type2", 2, type2)?);
    wrap_dtype(type1.py(), promoted(first, second).map_err(raise)?)
}

/// Tell whether results of the first element type may be written into memory of the second.
#[pyfunction]
pub(crate) fn can_cast(from_: &Bound<'_, PyAny>, to: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(asked("can_cast", "from_", 1, from_)?.can_cast(asked("can_cast", "to", 2, to)?))
}

/// The element type that was asked for.
pub(crate) fn asked(
    function: &str,
    argument: &str,
    position: usize,
    object: &Bound<'_, PyAny>,
) -> PyResult<DType> {
    element_type(object).ok_or_else(|| {
        let found = type_name(object);
        PyTypeError::new_err(format!(
            "{function}(): argument '{argument}' (position {position}) must be torch.dtype, not {found}"
        ))
    })
}
