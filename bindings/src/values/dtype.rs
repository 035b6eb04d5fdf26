//! `rushlight.dtype`: one Python object for every element type.

use pyo3::exceptions::{PyRuntimeError, PySystemError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyType};
use rushlight::dtype::DType;

use crate::tensor::object::name_in_messages;

/// The type of the elements of a tensor, such as `torch.float32`. Types that only tensors of other kinds have are
/// of classes below, and what stands in them says nothing.
#[pyclass(name = "dtype", module = "rushlight", frozen, subclass)]
pub(crate) struct ElementType(DType);

static OBJECTS: PyOnceLock<[Py<PyAny>; DType::ALL.len()]> = PyOnceLock::new();

/// Shorter names under which an element type is found in the package.
const ALIASES: [(&str, DType); 9] = [
    ("half", DType::Float16),
    ("float", DType::Float32),
    ("double", DType::Float64),
    ("short", DType::Int16),
    ("int", DType::Int32),
    ("long", DType::Int64),
    ("chalf", DType::Complex32),
    ("cfloat", DType::Complex64),
    ("cdouble", DType::Complex128),
];

/// Adds the class and its objects to the module.
pub(crate) fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<ElementType>()?;
    name_in_messages(&py.get_type::<ElementType>(), c"torch.dtype");
    for dtype in DType::ALL {
        module.add(dtype.name(), wrap_dtype(py, dtype)?)?;
    }
    for (name, dtype) in ALIASES {
        module.add(name, wrap_dtype(py, dtype)?)?;
    }
    Ok(())
}

/// The Python object of an element type: of a pending one, that of what is seen.
pub(crate) fn wrap_dtype(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    let objects = OBJECTS.get_or_try_init(py, || {
        let made: PyResult<Vec<_>> =
            DType::ALL.iter().map(|&dtype| Ok(Py::new(py, ElementType(dtype))?.into_any())).collect();
        made?.try_into().map_err(|_| PySystemError::new_err("the list of element types has another length"))
    })?;
    Ok(objects[dtype.resolved() as usize].bind(py).clone())
}

/// The element type that an object is, if it is one.
#[inline]
pub(crate) fn as_dtype(object: &Bound<'_, PyAny>) -> Option<DType> {
    object.cast_exact::<ElementType>().ok().map(|dtype| dtype.get().0)
}

#[pymethods]
impl ElementType {
    #[new]
    #[classmethod]
    fn construct(class: &Bound<'_, PyType>) -> PyResult<ElementType> {
        if class.is(class.py().get_type::<ElementType>()) {
            return Err(PyTypeError::new_err("cannot create 'torch.dtype' instances"));
        }
        Ok(ElementType(DType::UInt8))
    }

    /// Whether elements have a fraction.
    #[getter]
    fn is_floating_point(&self) -> bool {
        self.0.is_float()
    }

    /// Whether elements have an imaginary part.
    #[getter]
    fn is_complex(&self) -> bool {
        self.0.is_complex()
    }

    /// Whether elements can be negative.
    #[getter]
    fn is_signed(&self) -> bool {
        !(matches!(self.0, DType::Bool | DType::UInt8 | DType::Float8E8M0FnU) || self.0.is_wide_unsigned())
    }

    /// Bytes of one element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.size()
    }

    /// A short name, such as `f32`.
    #[getter]
    fn abbr(&self) -> String {
        let kind = match self.0 {
            DType::BFloat16 => return "bf16".to_owned(),
            DType::Bool => 'b',
            dtype if dtype.is_float8() => return dtype.name().replace("loat8_", "8"),
            dtype if dtype == DType::UInt8 || dtype.is_wide_unsigned() => 'u',
            dtype if dtype.is_float() => 'f',
            dtype if dtype.is_complex() => 'c',
            _ => 'i',
        };
        format!("{kind}{}", 8 * self.0.size())
    }

    /// The type of the real part.
    fn to_real<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        wrap_dtype(py, self.0.to_real())
    }

    /// The type of complex numbers whose parts are of this type.
    fn to_complex<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.to_complex() {
            dtype if dtype.is_complex() && !self.0.is_float8() => wrap_dtype(py, dtype),
            _ => Err(PyRuntimeError::new_err(format!("Unknown Complex ScalarType for {}", self.0.title()))),
        }
    }

    fn __repr__(&self) -> String {
        format!("torch.{}", self.0.name())
    }

    /// Pickled by name, so that a loaded type is the same object.
    fn __reduce__(&self) -> &'static str {
        self.0.name()
    }
}

/// What `x.type()` answers for a tensor of an element type, such as `torch.FloatTensor`.
pub(crate) fn tensor_type_name(dtype: DType) -> String {
    format!("torch.{}Tensor", dtype.title())
}

/// The element type that an object stands for.
pub(crate) fn element_type(object: &Bound<'_, PyAny>) -> Option<DType> {
    if let Some(dtype) = as_dtype(object) {
        return Some(dtype);
    }
    let py = object.py();
    if object.is(py.get_type::<PyFloat>()) {
        Some(DType::Float64)
    } else if object.is(py.get_type::<PyInt>()) {
        Some(DType::Int64)
    } else {
        let truth = object.is(py.get_type::<PyBool>()).then_some(DType::Bool);
        truth.or_else(|| object.is(py.get_type::<PyComplex>()).then_some(DType::Complex128))
    }
}
