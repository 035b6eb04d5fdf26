//! Operations element by element. Most entries are made from the engine's own lists; those that
//! take more than operands are written out.
use crate::arguments::Arguments;
use crate::body::Body;
use crate::callable::{FUNCTION, Function, METHOD};
use crate::error::raise;
use crate::returns::ToPython;
use pyo3::prelude::*;
use rushlight::ops::arithmetic::{Add, Sub};
use rushlight::ops::{self, binary};

/// An entry for each line of the engine's lists that `TABLE` does not override.
pub(super) fn from_engine() -> impl Iterator<Item = Function> {
    let written = |name: &str| TABLE.iter().any(|other| other.name == name);
    let binary = ops::ELEMENTWISE2.iter().filter(move |entry| !written(entry.name)).flat_map(|entry| {
        let plain = &["(Tensor|Number input, Tensor|Number other, *, Tensor out=None)"];
        let bodies = (Body::Binary(entry.function), Body::BinaryInPlace(entry.in_place));
        pair(entry.name, entry.doc, plain, &["(Tensor input, Tensor|Number other)"], bodies, METHOD)
    });
    let unary = ops::ELEMENTWISE.iter().flat_map(|entry| {
        let plain = &["(Tensor input, *, Tensor out=None)"];
        let bodies = (Body::Unary(entry.function), Body::UnaryInPlace(entry.in_place));
        pair(entry.name, entry.doc, plain, &["(Tensor input)"], bodies, FUNCTION | METHOD)
    });
    unary.chain(binary)
}

/// The entries of an operation and of the same in place, which is reached by `kind`.
fn pair(
    name: &'static str,
    doc: &'static str,
    plain: &'static [&'static str],
    in_place: &'static [&'static str],
    bodies: (Body, Body),
    kind: u8,
) -> [Function; 2] {
    // The underscored name lives as long as the process, like the entry.
    let underscored = Box::leak(format!("{name}_").into_boxed_str());
    [
        Function { name, signatures: plain, doc, body: bodies.0, kind: FUNCTION | METHOD },
        Function { name: underscored, signatures: in_place, doc, body: bodies.1, kind },
    ]
}

/// What the engine's lists do not say all about.
pub(super) const TABLE: &[Function] = &[
    Function {
        name: "add",
        signatures: &[
            "(Tensor|Number input, Number alpha, Tensor|Number other, *, Tensor out=None)|deprecated",
            "(Tensor|Number input, Tensor|Number other, *, Number alpha=1, Tensor out=None)",
        ],
        doc: "The sum of `input` and `alpha * other`.",
        body: Body::Any(add),
        kind: FUNCTION | METHOD,
    },
    Function {
        name: "sub",
        signatures: &[
            "(Tensor|Number input, Number alpha, Tensor|Number other, *, Tensor out=None)|deprecated",
            "(Tensor|Number input, Tensor|Number other, *, Number alpha=1, Tensor out=None)",
        ],
        doc: "The difference of `input` and `alpha * other`.",
        body: Body::Any(sub),
        kind: FUNCTION | METHOD,
    },
    Function {
        name: "add_",
        signatures: &[
            "(Tensor input, Number alpha, Tensor|Number other)|deprecated",
            "(Tensor input, Tensor|Number other, *, Number alpha=1)",
        ],
        doc: "Adds `alpha * other` in place.",
        body: Body::Any(add_),
        kind: METHOD,
    },
    Function {
        name: "sub_",
        signatures: &[
            "(Tensor input, Number alpha, Tensor|Number other)|deprecated",
            "(Tensor input, Tensor|Number other, *, Number alpha=1)",
        ],
        doc: "Subtracts `alpha * other` in place.",
        body: Body::Any(sub_),
        kind: METHOD,
    },
];

/// Where `other` and `alpha` stand: the deprecated overload has them the other way round.
fn places(arguments: &Arguments<'_, '_>) -> (usize, usize) {
    if arguments.overload() == 0 { (2, 1) } else { (1, 2) }
}

fn add(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (other, alpha) = places(arguments);
    let operation = Add { alpha: arguments.number(alpha)? };
    let result = binary::apply(operation, arguments.operand(0)?, arguments.operand(other)?);
    Ok(result.to_python(arguments.py())?.unbind())
}

fn sub(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (other, alpha) = places(arguments);
    let operation = Sub { alpha: arguments.number(alpha)? };
    let result = binary::apply(operation, arguments.operand(0)?, arguments.operand(other)?);
    Ok(result.to_python(arguments.py())?.unbind())
}

fn add_(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (other, alpha) = places(arguments);
    let operation = Add { alpha: arguments.number(alpha)? };
    binary::apply_in_place(operation, arguments.tensor(0)?, arguments.operand(other)?).map_err(raise)?;
    Ok(arguments.object(0).to_python(arguments.py())?.unbind())
}

fn sub_(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (other, alpha) = places(arguments);
    let operation = Sub { alpha: arguments.number(alpha)? };
    binary::apply_in_place(operation, arguments.tensor(0)?, arguments.operand(other)?).map_err(raise)?;
    Ok(arguments.object(0).to_python(arguments.py())?.unbind())
}
