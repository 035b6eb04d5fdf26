//! The Rust function behind a table entry: one that the engine lists with its operation, or one of the bindings' own.
use crate::error::raise;
use crate::interpreter::warnings::Superseded;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::schema;

/// The Rust side of an entry that speaks with Python.
pub(crate) type Call = for<'a, 'py> fn(&Arguments<'a, 'py>) -> PyResult<Py<PyAny>>;

/// The Rust side of a table entry.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// Whatever the arguments are.
    Any(Call),
    /// The same of an operation whose place another has taken.
    Superseded(Call, &'static Superseded),
    /// What the engine's entry does.
    Engine(schema::Call),
}

impl Body {
    /// Runs it. What works in place returns the object it was given.
    #[inline]
    pub(crate) fn run(self, arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
        match self {
            Body::Any(call) => call(arguments),
            Body::Superseded(call, by) => by.tell(arguments.py()).and_then(|()| call(arguments)),
            Body::Engine(call) => match call(arguments).map_err(raise)? {
                schema::Reply::Tensor(tensor) => tensor.answer(arguments.py()),
                schema::Reply::Given(index) => arguments.object(index).answer(arguments.py()),
                answer => answer.answer(arguments.py()),
            },
        }
    }
}
