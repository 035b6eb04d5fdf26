//! What a native callable does: anything, or one of the shapes in which the engine lists its
//! elementwise operations.
use crate::arguments::Arguments;
use crate::error::raise;
use crate::returns::ToPython;
use crate::warnings::Superseded;
use pyo3::prelude::*;
use rushlight::ops::Operand;
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
    /// `mul(a, b)`
    Binary(for<'a> fn(Operand<'a>, Operand<'a>) -> Result<Tensor>),
    /// `x.mul_(b)`
    BinaryInPlace(for<'a> fn(&'a Tensor, Operand<'a>) -> Result<()>),
}

impl Body {
    /// Runs it. What works in place returns the object it was given.
    #[inline]
    pub(crate) fn run(self, arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
        let py = arguments.py();
        let in_place = |result: Result<()>| {
            result.map_err(raise)?;
            arguments.object(0).to_python(py)
        };
        match self {
            Body::Any(call) => return call(arguments),
            Body::Superseded(call, by) => return by.tell(py).and_then(|()| call(arguments)),
            Body::Unary(operation) => operation(arguments.tensor(0)?).to_python(py),
            Body::UnaryInPlace(operation) => in_place(operation(arguments.tensor(0)?)),
            Body::Binary(operation) => operation(arguments.operand(0)?, arguments.operand(1)?).to_python(py),
            Body::BinaryInPlace(operation) => {
                in_place(operation(arguments.tensor(0)?, arguments.operand(1)?))
            }
        }
        .map(Bound::unbind)
    }
}
