//! Whether a compiled function is called as it was when it was recorded: the form of what it is given and gives.

use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyTuple, PyType};
use rushlight::Tensor;
use rushlight::dtype::DType;

use crate::error::raise;
use crate::tensor::number::number;
use crate::tensor::object::as_tensor;
use crate::values::returns::ToPython;
use crate::values::size::is_size;

/// The form of an argument or a result.
pub(super) enum Form {
    /// A tensor, and its class.
    Tensor(Py<PyAny>),
    /// The number that is the only element of a tensor of this type.
    Number(DType),
    /// Anything else, which has to be the same.
    Value(Py<PyAny>),
    Tuple(Vec<Form>),
    /// A tuple of a class of its own, such as those whose elements have names.
    Named(Py<PyType>, Vec<Form>),
    List(Vec<Form>),
    Dict(Vec<(Py<PyAny>, Form)>),
}

/// How deep arguments are looked into.
const DEEPEST: usize = 32;

impl Form {
    /// The form of an object, whose tensors are added to a list, and those whose only elements these numbers are.
    pub(super) fn of(
        object: &Bound<'_, PyAny>,
        numbers: &[(Py<PyAny>, Tensor)],
        tensors: &mut Vec<Tensor>,
        depth: usize,
    ) -> PyResult<Form> {
        if depth > DEEPEST {
            return Err(PyValueError::new_err("arguments are nested too deeply"));
        }
        if let Some(tensor) = as_tensor(object) {
            tensors.push(tensor.clone());
            return Ok(Form::Tensor(object.get_type().into_any().unbind()));
        }
        if let Some((_, tensor)) = numbers.iter().find(|(number, _)| number.is(object)) {
            // Each is a tensor of its own, as those are that `fits` makes.
            tensors.push(Tensor::from_array(tensor.memory()));
            return Ok(Form::Number(tensor.dtype()));
        }
        let mut all = |items: Vec<Bound<'_, PyAny>>| {
            let of = |item| Form::of(item, numbers, tensors, depth + 1);
            items.iter().map(of).collect::<PyResult<Vec<Form>>>()
        };
        Ok(if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            Form::Tuple(all(tuple.iter().collect())?)
        } else if let Some(tuple) = named(object) {
            Form::Named(object.get_type().unbind(), all(tuple.iter().collect())?)
        } else if let Ok(list) = object.cast_exact::<PyList>() {
            Form::List(all(list.iter().collect())?)
        } else if let Ok(dict) = object.cast_exact::<PyDict>() {
            let values = all(dict.values().iter().collect())?;
            Form::Dict(dict.keys().iter().map(Bound::unbind).zip(values).collect())
        } else {
            Form::Value(object.clone().unbind())
        })
    }

    /// Whether it has no parts.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Form::Tuple(forms) | Form::Named(_, forms) | Form::List(forms) => forms.is_empty(),
            Form::Dict(forms) => forms.is_empty(),
            Form::Tensor(_) | Form::Number(_) | Form::Value(_) => false,
        }
    }

    /// Whether an object is of this form; its tensors are added to a list.
    pub(super) fn fits(&self, object: &Bound<'_, PyAny>, tensors: &mut Vec<Tensor>) -> bool {
        let py = object.py();
        match self {
            Form::Tensor(class) => match as_tensor(object) {
                Some(tensor) if class.is(object.get_type()) => {
                    tensors.push(tensor.clone());
                    true
                }
                _ => false,
            },
            Form::Number(dtype) => match number(object) {
                Ok(Some(number)) => {
                    let is_number = Tensor::from_scalar(number, *dtype).map(|tensor| tensors.push(tensor));
                    is_number.is_ok()
                }
                _ => false,
            },
            Form::Value(value) => is_same(value.bind(py), object),
            Form::Tuple(forms) => object.cast_exact::<PyTuple>().is_ok_and(|tuple| {
                tuple.len() == forms.len()
                    && forms.iter().zip(tuple.iter()).all(|(form, item)| form.fits(&item, tensors))
            }),
            Form::Named(class, forms) => {
                class.is(object.get_type())
                    && named(object).is_some_and(|tuple| {
                        tuple.len() == forms.len()
                            && forms.iter().zip(tuple.iter()).all(|(form, item)| form.fits(&item, tensors))
                    })
            }
            Form::List(forms) => object.cast_exact::<PyList>().is_ok_and(|list| {
                list.len() == forms.len()
                    && forms.iter().zip(list.iter()).all(|(form, item)| form.fits(&item, tensors))
            }),
            Form::Dict(forms) => object.cast_exact::<PyDict>().is_ok_and(|dict| {
                dict.len() == forms.len()
                    && forms.iter().zip(dict.iter()).all(|((own, form), (key, item))| {
                        is_same(own.bind(py), &key) && form.fits(&item, tensors)
                    })
            }),
        }
    }

    /// The object of this form that has these tensors.
    pub(super) fn build<'py>(
        &self,
        py: Python<'py>,
        tensors: &mut impl Iterator<Item = PyResult<Bound<'py, PyAny>>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut all = |forms: &[Form]| {
            forms.iter().map(|form| form.build(py, tensors)).collect::<PyResult<Vec<Bound<'py, PyAny>>>>()
        };
        match self {
            Form::Tensor(_) | Form::Number(_) => {
                let tensor =
                    tensors.next().ok_or_else(|| PyValueError::new_err("there are too few tensors"))??;
                match (self, as_tensor(&tensor)) {
                    (Form::Number(_), Some(own)) => own.item().map_err(raise)?.to_python(py),
                    _ => Ok(tensor),
                }
            }
            Form::Value(value) => Ok(value.bind(py).clone()),
            Form::Tuple(forms) => Ok(PyTuple::new(py, all(forms)?)?.into_any()),
            Form::Named(class, forms) => {
                // What its class makes of arguments is its own affair.
                let new = py.get_type::<PyTuple>().getattr("__new__")?;
                new.call1((class.bind(py), PyTuple::new(py, all(forms)?)?))
            }
            Form::List(forms) => Ok(PyList::new(py, all(forms)?)?.into_any()),
            Form::Dict(forms) => {
                let dict = PyDict::new(py);
                for (key, form) in forms {
                    dict.set_item(key, form.build(py, tensors)?)?;
                }
                Ok(dict.into_any())
            }
        }
    }

    /// Everything in it that is no tensor.
    pub(super) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Form::Tensor(object) | Form::Value(object) => visit.call(object),
            Form::Number(_) => Ok(()),
            Form::Tuple(forms) | Form::List(forms) => forms.iter().try_for_each(|form| form.visit(visit)),
            Form::Named(class, forms) => {
                visit.call(class)?;
                forms.iter().try_for_each(|form| form.visit(visit))
            }
            Form::Dict(forms) => forms.iter().try_for_each(|(key, form)| {
                visit.call(key)?;
                form.visit(visit)
            }),
        }
    }
}

/// An object as a tuple, if it is nothing but that beside its class.
fn named<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyTuple>> {
    let tuple = object.cast::<PyTuple>().ok()?;
    let is_plain = object.getattr_opt("__dict__").is_ok_and(|own| own.is_none());
    (is_plain && !is_size(object)).then_some(tuple)
}

/// Whether two objects are one, or numbers or texts that cannot be told apart.
pub(super) fn is_same(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> bool {
    if a.is(b) {
        return true;
    }
    if !a.get_type().is(b.get_type()) {
        return false;
    }
    if let (Ok(a), Ok(b)) = (a.cast_exact::<PyFloat>(), b.cast_exact::<PyFloat>()) {
        return a.value().to_bits() == b.value().to_bits();
    }
    if let (Ok(a), Ok(b)) = (a.cast::<PyTuple>(), b.cast::<PyTuple>())
        && (a.is_exact_instance_of::<PyTuple>() || is_size(a))
    {
        return a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same(&a, &b));
    }
    is_value(a) && a.eq(b).unwrap_or(false)
}

/// Whether an object is a number or a text, or nothing.
pub(super) fn is_simple(object: &Bound<'_, PyAny>) -> bool {
    object.is_none() || object.cast_exact::<PyFloat>().is_ok() || is_value(object)
}

/// Whether an object is a number or a text, of which equal ones are as good as one.
fn is_value(object: &Bound<'_, PyAny>) -> bool {
    let flags = |class: *mut ffi::PyTypeObject| object.get_type().as_type_ptr() == class;
    let types = [
        &raw mut ffi::PyLong_Type,
        &raw mut ffi::PyBool_Type,
        &raw mut ffi::PyUnicode_Type,
        &raw mut ffi::PyBytes_Type,
        &raw mut ffi::PyComplex_Type,
    ];
    types.into_iter().any(flags)
}
