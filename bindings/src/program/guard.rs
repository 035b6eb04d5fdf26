//! Whether everything that a compiled function looks at is as it was when it was recorded: what it is called
//! with, and what it sees besides.

use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyTuple};
use rushlight::Tensor;

use crate::tensor::object::as_tensor;

/// The form of an argument or a result.
pub(super) enum Form {
    /// A tensor, and its class.
    Tensor(Py<PyAny>),
    /// Anything else, which has to be the same.
    Value(Py<PyAny>),
    Tuple(Vec<Form>),
    List(Vec<Form>),
    Dict(Vec<(Py<PyAny>, Form)>),
}

/// How deep arguments are looked into.
const DEEPEST: usize = 32;

impl Form {
    /// The form of an object, whose tensors are added to a list.
    pub(super) fn of(object: &Bound<'_, PyAny>, tensors: &mut Vec<Tensor>, depth: usize) -> PyResult<Form> {
        if depth > DEEPEST {
            return Err(PyValueError::new_err("arguments are nested too deeply"));
        }
        if let Some(tensor) = as_tensor(object) {
            tensors.push(tensor.clone());
            return Ok(Form::Tensor(object.get_type().into_any().unbind()));
        }
        let mut all = |items: Vec<Bound<'_, PyAny>>| {
            items.iter().map(|item| Form::of(item, tensors, depth + 1)).collect::<PyResult<Vec<Form>>>()
        };
        Ok(if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            Form::Tuple(all(tuple.iter().collect())?)
        } else if let Ok(list) = object.cast_exact::<PyList>() {
            Form::List(all(list.iter().collect())?)
        } else if let Ok(dict) = object.cast_exact::<PyDict>() {
            let values = all(dict.values().iter().collect())?;
            Form::Dict(dict.keys().iter().map(Bound::unbind).zip(values).collect())
        } else {
            Form::Value(object.clone().unbind())
        })
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
            Form::Value(value) => is_same(value.bind(py), object),
            Form::Tuple(forms) => object.cast_exact::<PyTuple>().is_ok_and(|tuple| {
                tuple.len() == forms.len()
                    && forms.iter().zip(tuple.iter()).all(|(form, item)| form.fits(&item, tensors))
            }),
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
            Form::Tensor(_) => {
                tensors.next().unwrap_or_else(|| Err(PyValueError::new_err("there are too few tensors")))
            }
            Form::Value(value) => Ok(value.bind(py).clone()),
            Form::Tuple(forms) => Ok(PyTuple::new(py, all(forms)?)?.into_any()),
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
            Form::Tuple(forms) | Form::List(forms) => forms.iter().try_for_each(|form| form.visit(visit)),
            Form::Dict(forms) => forms.iter().try_for_each(|(key, form)| {
                visit.call(key)?;
                form.visit(visit)
            }),
        }
    }
}

/// Whether two objects are one, or numbers or texts that cannot be told apart.
fn is_same(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> bool {
    if a.is(b) {
        return true;
    }
    if !a.get_type().is(b.get_type()) {
        return false;
    }
    if let (Ok(a), Ok(b)) = (a.cast_exact::<PyFloat>(), b.cast_exact::<PyFloat>()) {
        return a.value().to_bits() == b.value().to_bits();
    }
    if let (Ok(a), Ok(b)) = (a.cast_exact::<PyTuple>(), b.cast_exact::<PyTuple>()) {
        return a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same(&a, &b));
    }
    is_value(a) && a.eq(b).unwrap_or(false)
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

/// A key of a dictionary and what stands under it.
type Item = (Py<PyAny>, Py<PyAny>);

/// Something that a function sees, as it was.
pub(super) enum Check {
    /// A dictionary with these keys and values, in this order.
    Dict(Py<PyDict>, Vec<Item>),
    /// A list with these elements.
    List(Py<PyList>, Vec<Py<PyAny>>),
    /// What a dictionary has under a key; nothing, perhaps.
    Entry(Py<PyDict>, Py<PyAny>, Option<Py<PyAny>>),
    /// An attribute of an object; an object that has none of that name, perhaps.
    Attribute(Py<PyAny>, Py<PyAny>, Option<Py<PyAny>>),
    /// An object that equals a copy of it.
    Equal(Py<PyAny>, Py<PyAny>),
}

impl Check {
    /// A check as `rushlight.compiler` says it: a kind, an object, and what the kind needs besides.
    pub(super) fn of(said: &Bound<'_, PyTuple>) -> PyResult<Check> {
        let kind: String = said.get_item(0)?.extract()?;
        let object = said.get_item(1)?;
        let other = |at: usize| said.get_item(at).map(Bound::unbind);
        let perhaps = || if said.len() > 3 { other(3).map(Some) } else { Ok(None) };
        Ok(match kind.as_str() {
            "dict" => {
                let dict = object.cast_into::<PyDict>()?;
                let items = dict.iter().map(|(key, value)| (key.unbind(), value.unbind())).collect();
                Check::Dict(dict.unbind(), items)
            }
            "list" => {
                let list = object.cast_into::<PyList>()?;
                let items = list.iter().map(Bound::unbind).collect();
                Check::List(list.unbind(), items)
            }
            "entry" => Check::Entry(object.cast_into::<PyDict>()?.unbind(), other(2)?, perhaps()?),
            "attribute" => Check::Attribute(object.unbind(), other(2)?, perhaps()?),
            "equal" => Check::Equal(object.unbind(), other(2)?),
            kind => return Err(PyValueError::new_err(format!("there is no check {kind}"))),
        })
    }

    /// Whether it is as it was.
    pub(super) fn holds(&self, py: Python<'_>) -> bool {
        match self {
            Check::Dict(dict, items) => {
                let dict = dict.bind(py);
                let same = |((own_key, own), (key, value)): (&Item, (Bound<'_, _>, Bound<'_, _>))| {
                    is_same(own_key.bind(py), &key) && is_same(own.bind(py), &value)
                };
                dict.len() == items.len() && items.iter().zip(dict.iter()).all(same)
            }
            Check::List(list, items) => {
                let list = list.bind(py);
                let same = |(own, item): (&Py<PyAny>, Bound<'_, PyAny>)| is_same(own.bind(py), &item);
                list.len() == items.len() && items.iter().zip(list.iter()).all(same)
            }
            Check::Entry(dict, key, value) => {
                let found = dict.bind(py).get_item(key);
                found.is_ok_and(|found| is_as(found.as_ref(), value.as_ref()))
            }
            Check::Attribute(object, name, value) => {
                let found = name.bind(py).cast().ok().and_then(|name| object.bind(py).getattr(name).ok());
                is_as(found.as_ref(), value.as_ref())
            }
            Check::Equal(object, copy) => object.bind(py).eq(copy).unwrap_or(false),
        }
    }

    /// What it holds.
    pub(super) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Check::Dict(dict, items) => {
                visit.call(dict)?;
                items.iter().try_for_each(|(key, value)| {
                    visit.call(key)?;
                    visit.call(value)
                })
            }
            Check::List(list, items) => {
                visit.call(list)?;
                items.iter().try_for_each(|item| visit.call(item))
            }
            Check::Entry(dict, key, value) => {
                visit.call(dict)?;
                visit.call(key)?;
                visit.call(value)
            }
            Check::Attribute(object, name, value) => {
                visit.call(object)?;
                visit.call(name)?;
                visit.call(value)
            }
            Check::Equal(object, copy) => {
                visit.call(object)?;
                visit.call(copy)
            }
        }
    }
}

fn is_as(found: Option<&Bound<'_, PyAny>>, expected: Option<&Py<PyAny>>) -> bool {
    match (found, expected) {
        (None, None) => true,
        (Some(found), Some(expected)) => is_same(expected.bind(found.py()), found),
        _ => false,
    }
}
