//! The Rust function behind a table entry: any function of arguments, or one of the two shapes in which the engine
//! lists its elementwise operations of one tensor.
use crate::error::raise;
use crate::interpreter::warnings::Superseded;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::{Result, Tensor};

/// The Rust side of an entry that takes its arguments itself.
pub(crate) type Call = for<'a, 'py> fn(&Arguments<'a, 'py>) -> PyResult<Py<PyAny>>;

/// The Rust side of a table entry.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// Whatever the arguments are.
    Any(Call),
    /// The same of an operation whose place another has taken.
    Superseded(Call, &'static Superseded),
    /// `exp(x)`
    Unary(fn(&Tensor) -> Result<Tensor>),
    /// `x.exp_()`
    UnaryInPlace(fn(&Tensor) -> Result<()>),
}

impl Body {
    /// Runs it. What works in place returns the object it was given.
    #[inline]
    pub(crate) fn run(self, arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
        match self {
            Body::Any(call) => call(arguments),
            Body::Superseded(call, by) => by.tell(arguments.py()).and_then(|()| call(arguments)),
            Body::Unary(operation) => operation(arguments.tensor(0)?).answer(arguments.py()),
            Body::UnaryInPlace(operation) => {
                operation(arguments.tensor(0)?).map_err(raise)?;
                arguments.object(0).answer(arguments.py())
            }
        }
    }
}
