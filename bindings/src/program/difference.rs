//! What is not as it was when a function was compiled, in words.

use pyo3::prelude::*;

use super::guard::{is_same, is_simple};
use super::sight::{Check, Entry, is_as};

/// What is said of a value: a number or a text as it is, anything else by its kind.
fn shown(value: Option<&Bound<'_, PyAny>>) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let is_short = |text: &str| text.len() < 60;
    let text = if is_simple(value) { value.repr().ok().map(|text| text.to_string()) } else { None };
    let kind =
        || value.get_type().qualname().map_or_else(|_| "something".to_owned(), |name| name.to_string());
    text.filter(|text| is_short(text)).unwrap_or_else(|| format!("a {}", kind()))
}

/// What is said of an entry that was another, if it was.
fn changed(key: &Bound<'_, PyAny>, was: Option<&Bound<'_, PyAny>>, now: Option<&Bound<'_, PyAny>>) -> String {
    let name = key.str().map_or_else(|_| "an entry".to_owned(), |name| name.to_string());
    format!("{name} was {} and is {}", shown(was), shown(now))
}

impl Check {
    /// What is not as it was, in words.
    pub(super) fn difference(&self, py: Python<'_>) -> String {
        let of = |entries: &[Entry], find: &dyn Fn(&Bound<'_, PyAny>) -> Option<Py<PyAny>>| {
            entries.iter().find_map(|(key, was)| {
                let (key, now) = (key.bind(py), find(key.bind(py)));
                let now = now.as_ref().map(|now| now.bind(py));
                (!is_as(now, was.as_ref())).then(|| changed(key, was.as_ref().map(|was| was.bind(py)), now))
            })
        };
        let attribute = |object: &Bound<'_, PyAny>, name: &Bound<'_, PyAny>| {
            object.getattr(name.cast().ok()?).ok().map(Bound::unbind)
        };
        let found = match self {
            Check::Dict(dict, items, free) => {
                let dict = dict.bind(py);
                let differs = items.iter().enumerate().find_map(|(place, item)| {
                    let (key, was) = (item.0.bind(py), item.1.bind(py));
                    let now = dict.get_item(key).ok().flatten();
                    let same =
                        now.as_ref().is_some_and(|now| is_same(was, now) || free.takes(place, item, now));
                    (!same).then(|| changed(key, Some(was), now.as_ref()))
                });
                differs.or_else(|| {
                    Some(format!("a dictionary had {} entries and has {}", items.len(), dict.len()))
                })
            }
            Check::Entries(dict, entries) => {
                of(entries, &|key| dict.bind(py).get_item(key).ok().flatten().map(Bound::unbind))
            }
            Check::Class(class, _, entries) => of(entries, &|name| attribute(class.bind(py).as_any(), name)),
            Check::Attribute(object, name, was) => {
                let now = attribute(object.bind(py), name.bind(py));
                let (was, now) = (was.as_ref().map(|was| was.bind(py)), now.as_ref().map(|now| now.bind(py)));
                Some(changed(name.bind(py), was, now))
            }
            Check::Cell(cell, was) => {
                let now = cell.bind(py).getattr("cell_contents").ok();
                Some(format!("a variable was {} and is {}", shown(Some(was.bind(py))), shown(now.as_ref())))
            }
            Check::List(list, items) => {
                let list = list.bind(py);
                Some(format!("a list of {} elements has other ones, {} of them", items.len(), list.len()))
            }
            Check::Part(function, ..) => {
                Some(format!("{} is another function", shown(Some(function.bind(py)))))
            }
            Check::Kind(..) => Some("an object has another class".to_owned()),
            Check::Equal(..) => Some("a set has other elements".to_owned()),
            Check::Said(..) => Some("what it leaves numbers in is of another kind".to_owned()),
        };
        found.unwrap_or_else(|| "something has changed".to_owned())
    }
}
