//! Reductions that choose an element.
use super::entries::both;
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, types};
use crate::calls::writes::OtherArguments;
use crate::values::arguments::Arguments;
use crate::values::returns::{ToPython, named};
use pyo3::prelude::*;
use rushlight::ops;
use rushlight::ops::reduction::{extremes_along, extremes_over};

const GREATEST: &[&str] = &[
    "(Tensor input, *, Tensor out=None)",
    "(Tensor input, Tensor other, *, Tensor out=None)",
    "(Tensor input, int dim, bool keepdim=False, *, Tensor[] out=None) -> return_types.max",
];
const LEAST: &[&str] = &[
    "(Tensor input, *, Tensor out=None)",
    "(Tensor input, Tensor other, *, Tensor out=None)",
    "(Tensor input, int dim, bool keepdim=False, *, Tensor[] out=None) -> return_types.min",
];
const OVER: &[&str] = &["(Tensor input, int[1]? dim=(), bool keepdim=False, *, Tensor out=None)"];
const PLACE: &[&str] = &["(Tensor input, int? dim=None, bool keepdim=False, *, Tensor out=None)"];

/// The entries.
pub(super) const TABLE: &[Function] = &[
    both("max", GREATEST, "The greatest element, or those along a dimension.", max).written(
        &OutPolicy::ALIGNED
            .refused_of_two_as("maximum")
            .typed(types::extreme_of_all)
            .out_as(|given| extreme(given, ".dim_max")),
    ),
    both("min", LEAST, "The least element, or those along a dimension.", min).written(
        &OutPolicy::ALIGNED
            .refused_of_two_as("minimum")
            .typed(types::extreme_of_all)
            .out_as(|given| extreme(given, ".dim_min")),
    ),
    both("amax", OVER, "The greatest elements along some dimensions.", |a| {
        extremes_over::amax(a.tensor(0)?, &a.ints(1)?, a.boolean(2)).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.typed(types::extreme)),
    both("amin", OVER, "The least elements along some dimensions.", |a| {
        extremes_over::amin(a.tensor(0)?, &a.ints(1)?, a.boolean(2)).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.typed(types::extreme)),
    both("argmax", PLACE, "The index of the greatest element.", |a| {
        extremes_along::argmax(a.tensor(0)?, a.optional_int(1)?, a.boolean(2)).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.unrecorded().typed(types::same)),
    both("argmin", PLACE, "The index of the least element.", |a| {
        extremes_along::argmin(a.tensor(0)?, a.optional_int(1)?, a.boolean(2)).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.unrecorded().typed(types::same)),
];

/// What torch calls the overload of `max` and `min` that writes. The name is that along a dimension.
fn extreme(given: &OtherArguments<'_>, along: &'static str) -> &'static str {
    match given.tensors.len() {
        _ if given.count < 2 => ".unary_out",
        0 | 1 => along,
        _ => ".out",
    }
}

fn max(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (x, py) = (arguments.tensor(0)?, arguments.py());
    match arguments.overload() {
        0 => extremes_over::max(x).answer(py),
        1 => ops::maximum(x, arguments.tensor(1)?).answer(py),
        _ => named("max", extremes_along::max_along(x, arguments.int(1)?, arguments.boolean(2))).answer(py),
    }
}

fn min(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (x, py) = (arguments.tensor(0)?, arguments.py());
    match arguments.overload() {
        0 => extremes_over::min(x).answer(py),
        1 => ops::minimum(x, arguments.tensor(1)?).answer(py),
        _ => named("min", extremes_along::min_along(x, arguments.int(1)?, arguments.boolean(2))).answer(py),
    }
}
