//! Whether everything that a compiled function sees besides what it is called with is as it was when it was recorded.
//!
//! Most of it never changes, and is looked at before every run: dictionaries and classes tell by a number that nothing
//! was written to them since it was last read, what functions consist of is read where it lies. Only what seems to
//! have changed is gone through.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyFunction, PyList, PyModule, PyTuple, PyType};

use super::guard::is_same;

/// A key of a dictionary and what stands under it.
type Item = (Py<PyAny>, Py<PyAny>);

/// A place in a dictionary, its key and what stands under that.
pub(super) type Given<'py> = (usize, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// A key and what stands under it; nothing, perhaps.
pub(super) type Entry = (Py<PyAny>, Option<Py<PyAny>>);

/// A number that changes with what it is the number of; 0 says nothing.
pub(super) struct Mark(AtomicU64);

impl Mark {
    pub(super) fn new(mark: u64) -> Mark {
        Mark(AtomicU64::new(mark))
    }

    /// Whether nothing has changed since it was this number, or all is as it was in spite of that.
    #[inline]
    pub(super) fn holds(&self, now: u64, look: impl FnOnce() -> bool) -> bool {
        if now != 0 && self.0.load(Ordering::Relaxed) == now {
            return true;
        }
        let holds = look();
        if holds {
            self.0.store(now, Ordering::Relaxed);
        }
        holds
    }
}

/// The number of a dictionary's last change. No two changes of any dictionaries have the same.
#[cfg(not(Py_3_13))]
#[allow(deprecated)] // Where it is, it is what it says.
pub(super) fn mark_of(dict: &Bound<'_, PyDict>) -> u64 {
    // SAFETY: it is a dictionary, which begins with these fields in these versions of Python.
    unsafe { (*dict.as_ptr().cast::<ffi::PyDictObject>()).ma_version_tag }
}

/// Nothing is known of dictionaries whose values may lie in an object.
#[cfg(Py_3_13)]
pub(super) fn mark_of(_dict: &Bound<'_, PyDict>) -> u64 {
    0
}

/// The number of the last change to a class, or to one that it comes from.
#[cfg(not(Py_3_13))]
fn mark_of_class(class: &Bound<'_, PyType>) -> u64 {
    let class = class.as_type_ptr();
    // SAFETY: it is a class, whose fields are these in these versions of Python.
    unsafe {
        match (*class).tp_flags & ffi::Py_TPFLAGS_VALID_VERSION_TAG != 0 {
            true => u64::from((*class).tp_version_tag),
            false => 0,
        }
    }
}

/// As of dictionaries.
#[cfg(Py_3_13)]
fn mark_of_class(_class: &Bound<'_, PyType>) -> u64 {
    0
}

/// A part of a function, which the interpreter owns; none, perhaps.
type Part = unsafe extern "C" fn(*mut ffi::PyObject) -> *mut ffi::PyObject;

/// How a part of functions is read that has this name.
fn part(name: &str) -> Option<Part> {
    Some(match name {
        "__code__" => ffi::PyFunction_GetCode,
        "__defaults__" => ffi::PyFunction_GetDefaults,
        "__kwdefaults__" => ffi::PyFunction_GetKwDefaults,
        _ => return None,
    })
}

/// Something that a function sees, as it was.
pub(super) enum Check {
    /// A dictionary with these keys and values, in this order. What stands in some places may be another of its kind.
    Dict(Py<PyDict>, Vec<Item>, Free),
    /// What a dictionary has under some keys.
    Entries(Py<PyDict>, Vec<Entry>),
    /// A list with these elements.
    List(Py<PyList>, Vec<Py<PyAny>>),
    /// What a function consists of.
    Part(Py<PyFunction>, Part, Py<PyAny>),
    /// What a cell holds.
    Cell(Py<PyAny>, Py<PyAny>),
    /// The class of an object.
    Kind(Py<PyAny>, Py<PyType>),
    /// Attributes of a class.
    Class(Py<PyType>, Mark, Vec<Entry>),
    /// An attribute of an object; an object that has none of that name, perhaps.
    Attribute(Py<PyAny>, Py<PyAny>, Option<Py<PyAny>>),
    /// An object that equals a copy of it.
    Equal(Py<PyAny>, Py<PyAny>),
    /// What somebody says when asked.
    Said(Py<PyAny>),
}

/// The places in a dictionary where something of the same kind is as good, and whether operations are to be given it.
#[derive(Default)]
pub(super) struct Free {
    places: Vec<usize>,
    is_given: bool,
}

impl Free {
    /// Whether what stands under a key may be that in the place of what was there.
    pub(super) fn takes(&self, place: usize, (key, was): &Item, now: &Bound<'_, PyAny>) -> bool {
        let (key, was) = (key.bind(now.py()), was.bind(now.py()));
        // Without momentum, steps are of another kind.
        let is_nothing = |value: &Bound<'_, PyAny>| value.extract::<f64>().is_ok_and(|value| value == 0.0);
        let stays = || key.extract::<&str>().is_ok_and(|key| key == "momentum");
        self.places.contains(&place) && is_kin(was, now) && (!stays() || is_nothing(was) == is_nothing(now))
    }
}

/// Whether two objects are of one class; of tuples, the first elements may differ.
fn is_kin(was: &Bound<'_, PyAny>, now: &Bound<'_, PyAny>) -> bool {
    if !was.get_type().is(now.get_type()) {
        return false;
    }
    match (was.cast_exact::<PyTuple>(), now.cast_exact::<PyTuple>()) {
        (Ok(was), Ok(now)) => {
            let mut pairs = was.iter().zip(now.iter());
            was.len() == now.len()
                && pairs.next().is_none_or(|(was, now)| was.get_type().is(now.get_type()))
                && pairs.all(|(was, now)| is_same(&was, &now))
        }
        _ => true,
    }
}

/// The number that something is, or that it begins with.
pub(super) fn first_number(value: &Bound<'_, PyAny>) -> Option<f64> {
    match value.cast_exact::<PyTuple>() {
        Ok(tuple) => tuple.get_item(0).ok()?.cast_exact::<PyFloat>().ok()?.extract().ok(),
        Err(_) => value.cast_exact::<PyFloat>().ok()?.extract().ok(),
    }
}

/// Checks as `rushlight.compiler` says them: each a kind, an object, and what the kind needs besides.
pub(super) fn checks(said: &[Bound<'_, PyTuple>]) -> PyResult<Vec<Check>> {
    let mut checks = Vec::with_capacity(said.len());
    let mut found: HashMap<usize, usize> = HashMap::new();
    for said in said {
        let kind: String = said.get_item(0)?.extract()?;
        let object = said.get_item(1)?;
        let other = |at: usize| said.get_item(at).map(Bound::unbind);
        let perhaps = || if said.len() > 3 { other(3).map(Some) } else { Ok(None) };
        let check = match kind.as_str() {
            "dict" | "group" | "free" => {
                let dict = object.cast_into::<PyDict>()?;
                let items = dict.iter().map(|(key, value)| (key.unbind(), value.unbind())).collect();
                let items: Vec<Item> = items;
                let place = |free: Bound<'_, PyAny>| {
                    items.iter().position(|(key, _)| is_same(key.bind(dict.py()), &free))
                };
                let places = said.iter().skip(2).filter_map(place).collect();
                let free = Free { places, is_given: kind == "group" };
                Check::Dict(dict.unbind(), items, free)
            }
            "list" => {
                let list = object.cast_into::<PyList>()?;
                let items = list.iter().map(Bound::unbind).collect();
                Check::List(list.unbind(), items)
            }
            "entry" | "attribute" => {
                let entry = (other(2)?, perhaps()?);
                let at = *found.entry(object.as_ptr().addr()).or_insert(checks.len());
                if let Some(Check::Entries(_, entries) | Check::Class(_, _, entries)) = checks.get_mut(at) {
                    entries.push(entry);
                    continue;
                }
                match kind.as_str() {
                    "entry" => Check::Entries(object.cast_into::<PyDict>()?.unbind(), vec![entry]),
                    _ if is_lasting(&object, &entry)? => continue,
                    _ => attribute(object, entry)?,
                }
            }
            "equal" => Check::Equal(object.unbind(), other(2)?),
            "said" => Check::Said(object.unbind()),
            kind => return Err(PyValueError::new_err(format!("there is no check {kind}"))),
        };
        checks.push(check);
    }
    Ok(checks)
}

/// Whether an attribute is the class of an object whose class cannot be exchanged for another.
fn is_lasting(object: &Bound<'_, PyAny>, (name, value): &Entry) -> PyResult<bool> {
    let class = object.get_type();
    // SAFETY: it is a class, which the caller's object holds.
    let is_fixed = unsafe { ffi::PyType_HasFeature(class.as_type_ptr(), ffi::Py_TPFLAGS_IMMUTABLETYPE) } != 0;
    let is_it = value.as_ref().is_some_and(|value| value.bind(object.py()).is(&class));
    let is_class = name.extract::<&str>(object.py()).is_ok_and(|name| name == "__class__");
    Ok(is_class && is_it && is_fixed && !object.is_instance_of::<PyModule>())
}

/// An attribute of an object, read as quickly as that kind of object allows.
fn attribute(object: Bound<'_, PyAny>, (name, value): Entry) -> PyResult<Check> {
    let py = object.py();
    let text: String = name.extract(py)?;
    if let Ok(function) = object.cast_exact::<PyFunction>()
        && let (Some(part), Some(value)) = (part(&text), &value)
    {
        return Ok(Check::Part(function.clone().unbind(), part, value.clone_ref(py)));
    }
    // SAFETY: it is an object.
    let is_cell = unsafe { ffi::PyCell_Check(object.as_ptr()) } != 0;
    if is_cell
        && text == "cell_contents"
        && let Some(value) = &value
    {
        return Ok(Check::Cell(object.unbind(), value.clone_ref(py)));
    }
    if text == "__class__"
        && let Some(value) = &value
        && value.bind(py).is(object.get_type())
    {
        let kind = object.get_type().unbind();
        return Ok(Check::Kind(object.unbind(), kind));
    }
    if object.get_type().is(py.get_type::<PyType>()) {
        let class = object.cast_into::<PyType>()?;
        return Ok(Check::Class(class.unbind(), Mark::new(0), vec![(name, value)]));
    }
    Ok(Check::Attribute(object.unbind(), name, value))
}

impl Check {
    /// The dictionary, and the places, keys and values of what operations are to be given.
    pub(super) fn given<'py>(&self, py: Python<'py>) -> Option<(Bound<'py, PyDict>, Vec<Given<'py>>)> {
        match self {
            Check::Dict(dict, items, Free { places, is_given: true }) => {
                let item = |&place: &usize| {
                    let (key, value) = &items[place];
                    (place, key.bind(py).clone(), value.bind(py).clone())
                };
                Some((dict.bind(py).clone(), places.iter().map(item).collect()))
            }
            _ => None,
        }
    }

    /// The dictionary that it is about, if it is about one alone.
    pub(super) fn dict(&self) -> Option<&Py<PyDict>> {
        match self {
            Check::Dict(dict, ..) | Check::Entries(dict, _) => Some(dict),
            _ => None,
        }
    }

    /// Whether it is of what a schedule changes, which steps after the program has run.
    pub(super) fn is_scheduled(&self) -> bool {
        matches!(self, Check::Dict(_, _, free) if free.is_given || !free.places.is_empty())
    }

    /// Says that what stands in a place may not be another.
    pub(super) fn fix(&mut self, place: usize) {
        if let Check::Dict(_, _, free) = self {
            free.places.retain(|other| *other != place);
        }
    }

    /// Whether it is as it was, as far as can be seen.
    pub(super) fn holds(&self, py: Python<'_>) -> bool {
        match self {
            Check::Dict(dict, items, free) => {
                let dict = dict.bind(py);
                let same = |(place, (own, (key, value))): (usize, (&Item, (Bound<'_, _>, Bound<'_, _>)))| {
                    is_same(own.0.bind(py), &key)
                        && (is_same(own.1.bind(py), &value) || free.takes(place, own, &value))
                };
                dict.len() == items.len() && items.iter().zip(dict.iter()).enumerate().all(same)
            }
            Check::Entries(dict, entries) => {
                let dict = dict.bind(py);
                let same = |(key, value): &Entry| {
                    dict.get_item(key).is_ok_and(|found| is_as(found.as_ref(), value.as_ref()))
                };
                entries.iter().all(same)
            }
            Check::List(list, items) => {
                let list = list.bind(py);
                let same = |(own, item): (&Py<PyAny>, Bound<'_, PyAny>)| is_same(own.bind(py), &item);
                list.len() == items.len() && items.iter().zip(list.iter()).all(same)
            }
            Check::Part(function, part, value) => {
                // SAFETY: it is a function. What is answered belongs to it, or is nothing.
                let found = NonNull::new(unsafe { part(function.as_ptr()) });
                // SAFETY: as above.
                let found = found.map(|found| unsafe { Bound::from_borrowed_ptr(py, found.as_ptr()) });
                found.map_or_else(|| value.is_none(py), |found| is_same(value.bind(py), &found))
            }
            Check::Cell(cell, value) => {
                // SAFETY: it is a cell. What is answered is a handle of ours, or nothing.
                let found = unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyCell_Get(cell.as_ptr())) };
                found.is_some_and(|found| is_same(value.bind(py), &found))
            }
            Check::Kind(object, kind) => object.bind(py).get_type().is(kind.bind(py)),
            Check::Class(class, mark, entries) => {
                let class = class.bind(py);
                let same = |(name, value): &Entry| has(class, name, value.as_ref());
                // Looking makes a number for classes that have none.
                mark.holds(mark_of_class(class), || entries.iter().all(same))
            }
            Check::Attribute(object, name, value) => has(object.bind(py), name, value.as_ref()),
            Check::Equal(object, copy) => object.bind(py).eq(copy).unwrap_or(false),
            Check::Said(asked) => {
                asked.bind(py).call0().and_then(|answer| answer.is_truthy()).unwrap_or(false)
            }
        }
    }

    /// What it holds.
    pub(super) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let each = |entries: &[Entry]| {
            entries.iter().try_for_each(|(key, value)| {
                visit.call(key)?;
                visit.call(value)
            })
        };
        match self {
            Check::Dict(dict, items, _) => {
                visit.call(dict)?;
                items.iter().try_for_each(|(key, value)| {
                    visit.call(key)?;
                    visit.call(value)
                })
            }
            Check::Entries(dict, entries) => {
                visit.call(dict)?;
                each(entries)
            }
            Check::Class(class, _, entries) => {
                visit.call(class)?;
                each(entries)
            }
            Check::List(list, items) => {
                visit.call(list)?;
                items.iter().try_for_each(|item| visit.call(item))
            }
            Check::Part(function, _, value) => {
                visit.call(function)?;
                visit.call(value)
            }
            Check::Attribute(object, name, value) => {
                visit.call(object)?;
                visit.call(name)?;
                visit.call(value)
            }
            Check::Kind(object, kind) => {
                visit.call(object)?;
                visit.call(kind)
            }
            Check::Said(asked) => visit.call(asked),
            Check::Cell(object, other) | Check::Equal(object, other) => {
                visit.call(object)?;
                visit.call(other)
            }
        }
    }
}

/// Whether an object has this attribute, or none of that name.
fn has(object: &Bound<'_, PyAny>, name: &Py<PyAny>, value: Option<&Py<PyAny>>) -> bool {
    let found = name.bind(object.py()).cast().ok().and_then(|name| object.getattr(name).ok());
    is_as(found.as_ref(), value)
}

pub(super) fn is_as(found: Option<&Bound<'_, PyAny>>, expected: Option<&Py<PyAny>>) -> bool {
    match (found, expected) {
        (None, None) => true,
        (Some(found), Some(expected)) => is_same(expected.bind(found.py()), found),
        _ => false,
    }
}
