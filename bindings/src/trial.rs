//! A stand-in for the Python classes until the real ones are joined.
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::Tensor;
use rushlight::dtype::{DType, Scalar};

/// Stand-in for the tensor class.
#[pyclass(frozen, subclass, name = "Tensor", module = "rushlight")]
pub(crate) struct PyTensor(Tensor);

#[pymethods]
impl PyTensor {
    #[new]
    fn new(shape: Vec<usize>, dtype: &str, value: f64, requires_grad: bool) -> PyResult<Self> {
        let dtype = DType::ALL.into_iter().find(|d| d.name() == dtype).unwrap_or(DType::Float32);
        let tensor = if shape.is_empty() {
            Tensor::from_scalar(Scalar::Float(value), dtype)
        } else {
            let elements = vec![value; shape.iter().product()];
            Tensor::from_slice(&shape, &elements)
        };
        let tensor = tensor.map_err(raise)?;
        tensor.set_requires_grad(requires_grad).map_err(raise)?;
        Ok(PyTensor(tensor))
    }
}

/// Stand-in for the class of element types.
#[pyclass(frozen, name = "dtype", module = "rushlight")]
pub(crate) struct PyDType(DType);

#[pymethods]
impl PyDType {
    #[new]
    fn new(name: &str) -> Self {
        PyDType(DType::ALL.into_iter().find(|d| d.name() == name).unwrap_or(DType::Float32))
    }
}

/// The tensor in a Python object, if it is one.
#[inline]
pub(crate) fn as_tensor<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Tensor> {
    object.cast::<PyTensor>().ok().map(|tensor| &tensor.get().0)
}

/// The Python object of a tensor.
pub(crate) fn wrap(py: Python<'_>, tensor: Tensor) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, PyTensor(tensor))?.into_any())
}

/// The element type that a Python object is.
pub(crate) fn as_dtype(object: &Bound<'_, PyAny>) -> Option<DType> {
    object.cast::<PyDType>().ok().map(|dtype| dtype.get().0)
}

/// The Python object of an element type.
pub(crate) fn wrap_dtype(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    Ok(Bound::new(py, PyDType(dtype))?.into_any())
}

/// The exception for an engine error.
pub(crate) fn raise(error: Box<rushlight::Error>) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
