//! The Rust function behind a table entry: one that the engine lists with its operation, or one of the bindings' own.
use crate::error::raise;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::Result;
use rushlight::schema::{self, Reply};

/// The Rust side of an entry that speaks with Python.
pub(crate) type Call = for<'a, 'py> fn(&Arguments<'a, 'py>) -> PyResult<Py<PyAny>>;

/// The Rust side of a table entry.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// Whatever the arguments are.
    Any(Call),
    /// What the engine's entry does.
    Engine(schema::Call),
}

impl Body {
    /// Runs it. What works in place returns the object it was given.
    #[inline]
    pub(crate) fn run(self, arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
        match self {
            Body::Any(call) => call(arguments),
            Body::Engine(call) => answer(arguments, call(arguments)),
        }
    }
}

/// What an entry of the engine answers, as Python has it.
#[inline]
pub(crate) fn answer(arguments: &Arguments<'_, '_>, reply: Result<Reply>) -> PyResult<Py<PyAny>> {
    match reply.map_err(raise)? {
        Reply::Tensor(tensor) => tensor.answer(arguments.py()),
        Reply::Given(index) => arguments.object(index).answer(arguments.py()),
        other => other.answer(arguments.py()),
    }
}
