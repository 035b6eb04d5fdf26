//! The parameters of a function written in Python, as the interpreter knows them.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyString, PyTuple};

/// In the flags of a function's code: it takes any number of arguments by position, or by keyword.
const TAKES_REST: u32 = 4;
const TAKES_NAMES: u32 = 8;

pub(super) struct Parameters<'py> {
    flags: u32,
    /// How many may be given by position, and how many behind them by keyword only.
    pub(super) placed: usize,
    pub(super) named: usize,
    /// How many of the first must be given.
    pub(super) required: usize,
    /// The names of both, and behind them that of further arguments by position, if it takes these.
    pub(super) names: Bound<'py, PyTuple>,
    annotations: Bound<'py, PyDict>,
    defaults: Option<Bound<'py, PyTuple>>,
    named_defaults: Option<Bound<'py, PyDict>>,
}

impl<'py> Parameters<'py> {
    pub(super) fn of(function: &Bound<'py, PyFunction>) -> PyResult<Self> {
        let code = function.getattr("__code__")?;
        let number = |name| code.getattr(name)?.extract::<usize>();
        let placed = number("co_argcount")?;
        let defaults: Option<Bound<'py, PyTuple>> = function.getattr("__defaults__")?.extract()?;
        Ok(Parameters {
            flags: code.getattr("co_flags")?.extract()?,
            placed,
            named: number("co_kwonlyargcount")?,
            required: placed.saturating_sub(defaults.as_ref().map_or(0, |defaults| defaults.len())),
            names: code.getattr("co_varnames")?.cast_into()?,
            annotations: function.getattr("__annotations__")?.cast_into()?,
            defaults,
            named_defaults: function.getattr("__kwdefaults__")?.extract()?,
        })
    }

    pub(super) fn takes_rest(&self) -> bool {
        self.flags & TAKES_REST != 0
    }

    pub(super) fn takes_names(&self) -> bool {
        self.flags & TAKES_NAMES != 0
    }

    pub(super) fn name(&self, place: usize) -> PyResult<Bound<'py, PyString>> {
        Ok(self.names.get_item(place)?.cast_into()?)
    }

    pub(super) fn annotation(&self, place: usize) -> PyResult<String> {
        let annotation = self.annotations.get_item(self.name(place)?)?;
        Ok(annotation.map_or_else(String::new, |annotation| annotation.to_string()))
    }

    pub(super) fn default(&self, place: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        match (&self.defaults, &self.named_defaults) {
            (Some(defaults), _) if (self.required..self.placed).contains(&place) => {
                defaults.get_item(place - self.required).map(Some)
            }
            (_, Some(defaults)) if place >= self.placed => defaults.get_item(self.name(place)?),
            _ => Ok(None),
        }
    }
}
