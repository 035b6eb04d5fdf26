//! Arithmetic that takes more than its operands: `add` and its kin with `alpha`.
use crate::arguments::Arguments;
use crate::body::Body;
use crate::callable::{FUNCTION, Function, METHOD};
use crate::error::raise;
use crate::outputs::Way;
use crate::returns::ToPython;
use pyo3::prelude::*;
use rushlight::dtype::Scalar;
use rushlight::ops::arithmetic::{Add, Sub};
use rushlight::ops::{self, binary};

/// The entries. They stand in for those that the engine's lists would make.
pub(super) const TABLE: &[Function] = &[
    Function {
        name: "add",
        signatures: &[
            "(Tensor|Number input, Tensor|Number other, *, Number alpha=1, Tensor out=None)",
            "(Tensor|Number input, Number alpha, Tensor|Number other, *, Tensor out=None)|deprecated",
        ],
        doc: "The sum of `input` and `alpha * other`.",
        body: Body::Any(add),
        kind: FUNCTION | METHOD,
        way: &Way::ALIGNED,
    },
    Function {
        name: "sub",
        signatures: &[
            "(Tensor|Number input, Tensor|Number other, *, Number alpha=1, Tensor out=None)",
            "(Tensor|Number input, Number alpha, Tensor|Number other, *, Tensor out=None)|deprecated",
        ],
        doc: "The difference of `input` and `alpha * other`.",
        body: Body::Any(sub),
        kind: FUNCTION | METHOD,
        way: &Way::ALIGNED,
    },
    Function {
        name: "subtract",
        signatures: &["(Tensor|Number input, Tensor|Number other, *, Number alpha=1, Tensor out=None)"],
        doc: "The difference of `input` and `alpha * other`.",
        body: Body::Any(sub),
        kind: FUNCTION | METHOD,
        way: &Way::ALIGNED.refused_as("sub"),
    },
    Function {
        name: "add_",
        signatures: &[
            "(Tensor input, Tensor|Number other, *, Number alpha=1)",
            "(Tensor input, Number alpha, Tensor|Number other)|deprecated",
        ],
        doc: "Adds `alpha * other` in place.",
        body: Body::Any(add_),
        kind: METHOD,
        way: &Way::PLAIN,
    },
    Function {
        name: "sub_",
        signatures: &[
            "(Tensor input, Tensor|Number other, *, Number alpha=1)",
            "(Tensor input, Number alpha, Tensor|Number other)|deprecated",
        ],
        doc: "Subtracts `alpha * other` in place.",
        body: Body::Any(sub_),
        kind: METHOD,
        way: &Way::PLAIN,
    },
    Function {
        name: "subtract_",
        signatures: &["(Tensor input, Tensor|Number other, *, Number alpha=1)"],
        doc: "Subtracts `alpha * other` in place.",
        body: Body::Any(sub_),
        kind: METHOD,
        way: &Way::PLAIN,
    },
];

fn add(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (a, b) = (arguments.operand(0)?, arguments.operand(1)?);
    let result = match arguments.number(2)? {
        Scalar::Int(1) => ops::add(a, b),
        alpha => binary::apply(Add { alpha }, a, b),
    };
    result.answer(arguments.py())
}

fn sub(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let operation = Sub { alpha: arguments.number(2)? };
    let result = binary::apply(operation, arguments.operand(0)?, arguments.operand(1)?);
    result.answer(arguments.py())
}

fn add_(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let operation = Add { alpha: arguments.number(2)? };
    binary::apply_in_place(operation, arguments.tensor(0)?, arguments.operand(1)?).map_err(raise)?;
    arguments.object(0).answer(arguments.py())
}

fn sub_(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let operation = Sub { alpha: arguments.number(2)? };
    binary::apply_in_place(operation, arguments.tensor(0)?, arguments.operand(1)?).map_err(raise)?;
    arguments.object(0).answer(arguments.py())
}
