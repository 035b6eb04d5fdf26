//! Arithmetic that takes more than its operands: `add` and its kin with `alpha`.
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, UnbatchedTarget};
use crate::error::raise;
use crate::functions::entries::{both, method};
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::dispatch::binary;
use rushlight::dtype::Scalar;
use rushlight::ops;
use rushlight::ops::pointwise::arithmetic::{Add, Sub};

/// How what is changed in place is written.
const CHANGED: OutPolicy = OutPolicy::PLAIN.in_place_as(|_| ".Tensor");

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[
    both(
        "add",
        &[
            "(Tensor|Number input, Tensor|Number other, *, Number alpha=1, Tensor out=None)",
            "(Tensor|Number input, Number alpha, Tensor|Number other, *, Tensor out=None)|deprecated",
        ],
        "The sum of `input` and `alpha * other`.",
        add,
    )
    .written(&OutPolicy::ALIGNED),
    both(
        "sub",
        &[
            "(Tensor|Number input, Tensor|Number other, *, Number alpha=1, Tensor out=None)",
            "(Tensor|Number input, Number alpha, Tensor|Number other, *, Tensor out=None)|deprecated",
        ],
        "The difference of `input` and `alpha * other`.",
        sub,
    )
    .written(&OutPolicy::ALIGNED),
    both(
        "subtract",
        &[
            "(Tensor|Number input, Tensor|Number other, *, Number alpha=1, Tensor out=None)",
            "(Tensor input, Number other, Number alpha=1)",
        ],
        "The difference of `input` and `alpha * other`.",
        sub,
    )
    .written(&OutPolicy::ALIGNED.refused_as("sub")),
    method(
        "add_",
        &[
            "(Tensor input, Tensor|Number other, *, Number alpha=1)",
            "(Tensor input, Number alpha, Tensor|Number other)|deprecated",
        ],
        "Adds `alpha * other` in place.",
        add_,
    )
    .written(&CHANGED.unbatched_target(|_| UnbatchedTarget::Shape)),
    method(
        "sub_",
        &[
            "(Tensor input, Tensor|Number other, *, Number alpha=1)",
            "(Tensor input, Number alpha, Tensor|Number other)|deprecated",
        ],
        "Subtracts `alpha * other` in place.",
        sub_,
    )
    .written(&CHANGED.unbatched_target(|_| UnbatchedTarget::Arithmetic)),
    method(
        "subtract_",
        &[
            "(Tensor input, Tensor|Number other, *, Number alpha=1)",
            "(Tensor input, Number other, Number alpha=1)",
        ],
        "Subtracts `alpha * other` in place.",
        sub_,
    )
    .written(&CHANGED),
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
