//! `rushlight.dtype`: one Python object for every element type.

use pyo3::exceptions::PySystemError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use rushlight::dtype::DType;

use crate::tensor::object::name_in_messages;

/// The type of the elements of a tensor, such as `torch.float32`.
#[pyclass(name = "dtype", module = "rushlight", frozen)]
pub(crate) struct ElementType(DType);

static OBJECTS: PyOnceLock<[Py<PyAny>; DType::ALL.len()]> = PyOnceLock::new();

/// Shorter names under which an element type is found in the package.
const ALIASES: [(&str, DType); 5] = [
    ("float", DType::Float32),
    ("double", DType::Float64),
    ("short", DType::Int16),
    ("int", DType::Int32),
    ("long", DType::Int64),
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

/// The Python object of an element type.
pub(crate) fn wrap_dtype(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    let objects = OBJECTS.get_or_try_init(py, || {
        let made: PyResult<Vec<_>> =
            DType::ALL.iter().map(|&dtype| Ok(Py::new(py, ElementType(dtype))?.into_any())).collect();
        made?.try_into().map_err(|_| PySystemError::new_err("the list of element types has another length"))
    })?;
    Ok(objects[dtype as usize].bind(py).clone())
}

/// The element type that an object is, if it is one.
#[inline]
pub(crate) fn as_dtype(object: &Bound<'_, PyAny>) -> Option<DType> {
    object.cast_exact::<ElementType>().ok().map(|dtype| dtype.get().0)
}

#[pymethods]
impl ElementType {
    /// Whether elements have a fraction.
    #[getter]
    fn is_floating_point(&self) -> bool {
        self.0.is_float()
    }

    /// Whether elements have an imaginary part.
    #[getter]
    fn is_complex(&self) -> bool {
        false
    }

    /// Whether elements can be negative.
    #[getter]
    fn is_signed(&self) -> bool {
        !matches!(self.0, DType::Bool | DType::UInt8)
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
            DType::Bool => 'b',
            DType::UInt8 => 'u',
            dtype if dtype.is_float() => 'f',
            _ => 'i',
        };
        format!("{kind}{}", 8 * self.0.size())
    }

    /// The type of the real part: this one.
    fn to_real(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
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
