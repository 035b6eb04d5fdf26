//! All that a compiled function sees, to be looked at before every run: most of it is dictionaries, and of these most are
//! known to be as they were by one number each, which lie beside each other here.

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::sight::{Check, Mark, mark_of};

/// Checks, and what tells quickly that they hold.
pub(super) struct Checks {
    all: Vec<Check>,
    marked: Vec<Marked>,
    /// Those that have no number.
    others: Vec<usize>,
}

/// A dictionary, the number of its last change when it was looked at, and the check of it.
struct Marked {
    dict: Py<PyDict>,
    mark: Mark,
    check: usize,
}

impl Checks {
    /// Each is looked at once more before it is relied on that nothing has changed.
    pub(super) fn new(py: Python<'_>, all: Vec<Check>) -> Checks {
        let (mut marked, mut others) = (Vec::new(), Vec::new());
        for (check, about) in all.iter().map(Check::dict).enumerate() {
            match about {
                Some(dict) => marked.push(Marked { dict: dict.clone_ref(py), mark: Mark::new(0), check }),
                None => others.push(check),
            }
        }
        Checks { all, marked, others }
    }

    /// Whether all is as it was.
    pub(super) fn hold(&self, py: Python<'_>) -> bool {
        let holds = |check: usize| self.all[check].holds(py);
        let is_as_it_was =
            |Marked { dict, mark, check }: &Marked| mark.holds(mark_of(dict.bind(py)), || holds(*check));
        self.marked.iter().all(is_as_it_was) && self.others.iter().all(|&check| holds(check))
    }

    /// Each of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Check> {
        self.all.iter()
    }

    /// Each of them, to say that less of it may change.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Check> {
        self.all.iter_mut()
    }

    /// What they hold.
    pub(super) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.all.iter().try_for_each(|check| check.visit(visit))?;
        self.marked.iter().try_for_each(|marked| visit.call(&marked.dict))
    }
}
