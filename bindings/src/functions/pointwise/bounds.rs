//! Bounds beyond which elements are moved.
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, UnbatchedTarget, types};
use crate::functions::entries::{both, in_place};
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::ops::Operand;
use rushlight::ops::pointwise::clamp;

const CLAMPED: &[&str] = &[
    "(Tensor input, Tensor? min=None, Tensor? max=None, *, Tensor out=None)",
    "(Tensor input, Number? min=None, Number? max=None, *, Tensor out=None)",
];
const CLAMPED_IN_PLACE: &[&str] = &[
    "(Tensor input, Tensor? min=None, Tensor? max=None)",
    "(Tensor input, Number? min=None, Number? max=None)",
];
const BOUND_BELOW: &[&str] =
    &["(Tensor input, Tensor min, *, Tensor out=None)", "(Tensor input, Number min, *, Tensor out=None)"];
const BOUND_ABOVE: &[&str] =
    &["(Tensor input, Tensor max, *, Tensor out=None)", "(Tensor input, Number max, *, Tensor out=None)"];
const BOUND_BELOW_IN_PLACE: &[&str] = &["(Tensor input, Tensor min)", "(Tensor input, Number min)"];
const BOUND_ABOVE_IN_PLACE: &[&str] = &["(Tensor input, Tensor max)", "(Tensor input, Number max)"];

const TWO_BOUNDS: OutPolicy = OutPolicy::ALIGNED
    .typed(types::found_of_one)
    .in_place_as(|given| given.named(1, ".Tensor", ""))
    .out_as(|given| given.named(2, ".Tensor_out", ".out"));
const ONE_BOUND: OutPolicy = TWO_BOUNDS.unbatched_target(|_| UnbatchedTarget::Arithmetic);

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[
    both("clamp", CLAMPED, "Every element, or the bound that it lies beyond.", clamped).written(&TWO_BOUNDS),
    both("clamp_", CLAMPED_IN_PLACE, "Moves elements beyond a bound to it.", clamped_in_place)
        .written(&TWO_BOUNDS),
    both("clip", CLAMPED, "Every element, or the bound that it lies beyond.", clamped)
        .written(&TWO_BOUNDS.refused_as("clamp")),
    both("clip_", CLAMPED_IN_PLACE, "Moves elements beyond a bound to it.", clamped_in_place)
        .written(&TWO_BOUNDS),
    both("clamp_min", BOUND_BELOW, "Every element, or the bound that it lies below.", |a| {
        clamp::clamp_min(a.tensor(0)?, a.operand(1)?).answer(a.py())
    })
    .written(&ONE_BOUND),
    both("clamp_min_", BOUND_BELOW_IN_PLACE, "Moves elements below a bound to it.", |a| {
        in_place(a, clamp::clamp_min_(a.tensor(0)?, a.operand(1)?))
    })
    .written(&ONE_BOUND),
    both("clamp_max", BOUND_ABOVE, "Every element, or the bound that it lies above.", |a| {
        clamp::clamp_max(a.tensor(0)?, a.operand(1)?).answer(a.py())
    })
    .written(&ONE_BOUND),
    both("clamp_max_", BOUND_ABOVE_IN_PLACE, "Moves elements above a bound to it.", |a| {
        in_place(a, clamp::clamp_max_(a.tensor(0)?, a.operand(1)?))
    })
    .written(&ONE_BOUND),
];

/// The bounds of `clamp`, numbers or tensors.
fn bounds<'a>(a: &Arguments<'a, '_>) -> PyResult<(Option<Operand<'a>>, Option<Operand<'a>>)> {
    let bound = |index: usize| match a.overload() {
        0 => Ok(a.optional_tensor(index).map(Operand::Tensor)),
        _ => a.optional_number(index).map(|number| number.map(Operand::Scalar)),
    };
    Ok((bound(1)?, bound(2)?))
}

fn clamped(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (min, max) = bounds(a)?;
    clamp::clamp(a.tensor(0)?, min, max).answer(a.py())
}

fn clamped_in_place(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (min, max) = bounds(a)?;
    in_place(a, clamp::clamp_(a.tensor(0)?, min, max))
}
