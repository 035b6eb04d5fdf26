//! How a view came to be, which decides whether it may be written to, by torch's numbers.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::Tensor;
use rushlight::tensor::Creation;

use crate::tensor::object::TensorBase;

/// Every way, at the place that is its number.
const CREATIONS: [Creation; 5] =
    [Creation::Default, Creation::Custom, Creation::MultiOutput, Creation::NoGrad, Creation::Inference];

/// Return the number of the way in which a view came to be.
#[pyfunction]
#[pyo3(name = "_creation_of")]
pub(crate) fn creation_of(tensor: &Bound<'_, TensorBase>) -> PyResult<usize> {
    let creation = view(tensor)?.creation();
    Ok(CREATIONS.iter().position(|&known| known == creation).unwrap_or_default())
}

/// Say anew, by its number, how a view came to be.
#[pyfunction]
#[pyo3(name = "_set_creation")]
pub(crate) fn set_creation(tensor: &Bound<'_, TensorBase>, number: usize) -> PyResult<()> {
    let Some(&creation) = CREATIONS.get(number) else {
        return Err(PyRuntimeError::new_err("there is no such way for a view to come to be"));
    };
    view(tensor)?.set_creation(creation);
    Ok(())
}

fn view<'a>(tensor: &'a Bound<'_, TensorBase>) -> PyResult<&'a Tensor> {
    let tensor = tensor.get().tensor();
    if tensor.is_view() {
        return Ok(tensor);
    }
    Err(PyRuntimeError::new_err(
        "Expected meta != nullptr to be true, but got false.  (Could this error message be improved?  If so, \
         please report an enhancement request to PyTorch.)",
    ))
}
