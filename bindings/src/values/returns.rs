//! From results to Python objects. Words for errors are not found here.
use crate::error::raise;
use crate::interpreter::signals::Listening;
use crate::tensor::object::wrap;
use crate::values::dtype::wrap_dtype;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyString, PyTuple};
use rushlight::Tensor;
use rushlight::dtype::{DType, Scalar};
use rushlight::schema::Reply;
use rushlight::storage;

/// A result that Python can see.
pub(crate) trait ToPython {
    /// The Python object.
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>>;

    /// The Python object as a native callable answers it.
    fn answer(self, py: Python<'_>) -> PyResult<Py<PyAny>>
    where
        Self: Sized,
    {
        self.to_python(py).map(Bound::unbind)
    }
}

/// A tuple whose elements have names, such as `return_types.max`.
pub(crate) struct Named<T> {
    /// The name of the class in `rushlight.return_types`.
    pub(crate) class: &'static str,
    /// The elements.
    pub(crate) elements: T,
}

impl<T: ToPython> ToPython for Named<T> {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        static CLASSES: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
        static NEW: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let classes =
            CLASSES.get_or_try_init(py, || py.import("rushlight.return_types").map(Bound::unbind))?;
        // The classes check what a user hands them; here the number of elements is known to be right.
        let new =
            NEW.get_or_try_init(py, || py.get_type::<PyTuple>().getattr("__new__").map(Bound::unbind))?;
        new.bind(py).call1((classes.bind(py).getattr(self.class)?, self.elements.to_python(py)?))
    }
}

/// An object stays what it is.
impl ToPython for &Bound<'_, PyAny> {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(self.clone().unbind().into_bound(py))
    }
}

impl ToPython for Tensor {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        wrap(py, self)
    }
}

impl ToPython for () {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(py.None().into_bound(py))
    }
}

impl ToPython for bool {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(PyBool::new(py, self).to_owned().into_any())
    }
}

impl ToPython for i64 {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(PyInt::new(py, self).into_any())
    }
}

impl ToPython for f64 {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(PyFloat::new(py, self).into_any())
    }
}

impl ToPython for Scalar {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            Scalar::Bool(value) => value.to_python(py),
            Scalar::Int(value) => value.to_python(py),
            Scalar::Unsigned(value) => Ok(value.into_pyobject(py)?.into_any()),
            Scalar::Float(value) => value.to_python(py),
            Scalar::Complex(value) => Ok(PyComplex::from_doubles(py, value.re, value.im).into_any()),
        }
    }
}

impl ToPython for DType {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        wrap_dtype(py, self)
    }
}

impl ToPython for &str {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(PyString::new(py, self).into_any())
    }
}

impl<T: ToPython> ToPython for Option<T> {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        self.map_or_else(|| ().to_python(py), |value| value.to_python(py))
    }
}

/// What the entry of an operation answers. An object that was given has to be looked up by whoever has the arguments.
impl ToPython for Reply {
    #[cold]
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            Reply::Nothing | Reply::Given(_) => ().to_python(py),
            Reply::Tensor(tensor) => tensor.to_python(py),
            Reply::Tensors(tensors) => tensors.to_python(py),
            Reply::Named(class, elements) => Named { class, elements }.to_python(py),
            Reply::Bool(value) => value.to_python(py),
            Reply::Int(value) => value.to_python(py),
            Reply::Seed(seed) => Ok(PyInt::new(py, seed).into_any()),
            Reply::DType(dtype) => dtype.to_python(py),
        }
    }
}

/// A tuple, as torch returns for `split`, `unbind` and their like.
impl<T: ToPython> ToPython for Vec<T> {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let mut listening = Listening::default();
        let mut elements = storage::room(self.len()).map_err(raise)?;
        for value in self {
            listening.object(py)?;
            elements.push(value.to_python(py)?);
        }
        Ok(PyTuple::new(py, elements)?.into_any())
    }
}

impl<A: ToPython, B: ToPython> ToPython for (A, B) {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok((self.0.to_python(py)?, self.1.to_python(py)?).into_pyobject(py)?.into_any())
    }
}

impl<A: ToPython, B: ToPython, C: ToPython> ToPython for (A, B, C) {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let (a, b, c) = self;
        Ok((a.to_python(py)?, b.to_python(py)?, c.to_python(py)?).into_pyobject(py)?.into_any())
    }
}

/// What an engine operation returns: its error becomes the exception that the user sees.
impl<T: ToPython> ToPython for rushlight::Result<T> {
    fn to_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        self.map_err(raise)?.to_python(py)
    }
}
