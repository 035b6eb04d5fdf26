//! A stand-in tensor until the real one is joined.
use pyo3::prelude::*;
use rushlight::dtype::{DType, Scalar};

/// Stand-in.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// shape
    pub shape: Vec<usize>,
    /// dtype
    pub dtype: DType,
    /// value
    pub value: Scalar,
    /// requires_grad
    pub requires_grad: bool,
}
impl Tensor {
    /// dtype
    pub fn dtype(&self) -> DType {
        self.dtype
    }
    /// ndim
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }
    /// requires_grad
    pub fn requires_grad(&self) -> bool {
        self.requires_grad
    }
    /// item
    pub fn item(&self) -> Result<Scalar, String> {
        Ok(self.value)
    }
}

/// Python class
#[pyclass(frozen, subclass, name = "Tensor", module = "rushlight")]
pub struct PyTensor(pub Tensor);

#[pymethods]
impl PyTensor {
    #[new]
    fn new(shape: Vec<usize>, dtype: &str, value: f64, requires_grad: bool) -> Self {
        let dtype = DType::ALL.into_iter().find(|d| d.name() == dtype).unwrap_or(DType::Float32);
        let value = match dtype.category() {
            rushlight::dtype::Category::Float => Scalar::Float(value),
            rushlight::dtype::Category::Integer => Scalar::Int(value as i64),
            rushlight::dtype::Category::Bool => Scalar::Bool(value != 0.0),
        };
        PyTensor(Tensor { shape, dtype, value, requires_grad })
    }
}

/// dtype class
#[pyclass(frozen, name = "dtype", module = "rushlight")]
pub struct PyDType(pub DType);
#[pymethods]
impl PyDType {
    #[new]
    fn new(name: &str) -> Self {
        PyDType(DType::ALL.into_iter().find(|d| d.name() == name).unwrap_or(DType::Float32))
    }
}

/// downcast
#[inline]
pub fn as_tensor<'a>(object: &'a Bound<'_, PyAny>) -> Option<&'a Tensor> {
    object.cast::<PyTensor>().ok().map(|tensor| &tensor.get().0)
}
/// wrap
pub fn wrap(py: Python<'_>, tensor: Tensor) -> PyResult<Py<PyAny>> {
    Ok(Py::new(py, PyTensor(tensor))?.into_any())
}
/// dtype
pub fn as_dtype(object: &Bound<'_, PyAny>) -> Option<DType> {
    object.cast::<PyDType>().ok().map(|dtype| dtype.get().0)
}
/// dtype out
pub fn wrap_dtype(py: Python<'_>, dtype: DType) -> PyResult<Py<PyAny>> {
    Ok(Py::new(py, PyDType(dtype))?.into_any())
}
