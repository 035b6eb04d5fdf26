//! How `clamp` and its halves are called.

use super::{clamp, clamp_, clamp_max, clamp_max_, clamp_min, clamp_min_};
use crate::dispatch::operand::Operand;
use crate::error::Result;
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, Types, UnbatchedTarget, both, receiver};

const CLAMPED: &[&str] = &[
    "(Tensor input, Tensor? min=None, Tensor? max=None, *, Tensor out=None)",
    "(Tensor input, Number? min=None, Number? max=None, *, Tensor out=None)",
];

const TWO_BOUNDS: OutPolicy = OutPolicy::ALIGNED
    .typed(Types::FoundOfOne)
    .in_place_as(|given| given.named(1, ".Tensor", ""))
    .out_as(|given| given.named(2, ".Tensor_out", ".out"));

const CLAMPED_IN_PLACE: &[&str] = &[
    "(Tensor input, Tensor? min=None, Tensor? max=None)",
    "(Tensor input, Number? min=None, Number? max=None)",
];

const ONE_BOUND: OutPolicy = TWO_BOUNDS.unbatched_target(|_| UnbatchedTarget::Arithmetic);

const BOUND_BELOW: &[&str] =
    &["(Tensor input, Tensor min, *, Tensor out=None)", "(Tensor input, Number min, *, Tensor out=None)"];

const BOUND_BELOW_IN_PLACE: &[&str] = &["(Tensor input, Tensor min)", "(Tensor input, Number min)"];

const BOUND_ABOVE: &[&str] =
    &["(Tensor input, Tensor max, *, Tensor out=None)", "(Tensor input, Number max, *, Tensor out=None)"];

const BOUND_ABOVE_IN_PLACE: &[&str] = &["(Tensor input, Tensor max)", "(Tensor input, Number max)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("clamp", CLAMPED, "Clamps every element to the range from `min` to `max`.", clamped)
        .written(&TWO_BOUNDS)
        .operators(&[("ClampBackward0", "clamp.Tensor"), ("ClampBackward1", "clamp@1")]),
    both("clamp_", CLAMPED_IN_PLACE, "`clamp` in place.", clamped_in_place).written(&TWO_BOUNDS),
    both("clip", CLAMPED, "Clamps every element to the range from `min` to `max`: `clamp`.", clamped)
        .written(&TWO_BOUNDS.refused_as("clamp")),
    both("clip_", CLAMPED_IN_PLACE, "`clamp` in place.", clamped_in_place).written(&TWO_BOUNDS),
    both("clamp_min", BOUND_BELOW, "Clamps every element to at least `min`.", |a| {
        clamp_min(a.tensor(0)?, a.operand(1)?).reply()
    })
    .written(&ONE_BOUND)
    .operators(&[
        ("ClampMinBackward0", "clamp_min@1"),
        ("ClampMinBackward0", "clamp_min.Tensor"),
        ("ClampMinBackward1", "clamp_min@1"),
        ("ClampMinBackward1", "clamp_min.Tensor"),
    ]),
    both("clamp_min_", BOUND_BELOW_IN_PLACE, "`clamp_min` in place.", |a| {
        receiver(a, clamp_min_(a.tensor(0)?, a.operand(1)?))
    })
    .written(&ONE_BOUND),
    both("clamp_max", BOUND_ABOVE, "Clamps every element to at most `max`.", |a| {
        clamp_max(a.tensor(0)?, a.operand(1)?).reply()
    })
    .written(&ONE_BOUND)
    .operators(&[
        ("ClampMaxBackward0", "clamp_max@1"),
        ("ClampMaxBackward0", "clamp_max.Tensor"),
        ("ClampMaxBackward1", "clamp_max@1"),
        ("ClampMaxBackward1", "clamp_max.Tensor"),
    ]),
    both("clamp_max_", BOUND_ABOVE_IN_PLACE, "`clamp_max` in place.", |a| {
        receiver(a, clamp_max_(a.tensor(0)?, a.operand(1)?))
    })
    .written(&ONE_BOUND),
];

/// The bounds of `clamp`, numbers or tensors.
fn bounds<'a>(a: &'a dyn Arguments) -> Result<(Option<Operand<'a>>, Option<Operand<'a>>)> {
    let bound = |index: usize| match a.overload() {
        0 => Ok(a.optional_tensor(index).map(Operand::Tensor)),
        _ => a.optional_number(index).map(|number| number.map(Operand::Scalar)),
    };
    Ok((bound(1)?, bound(2)?))
}

fn clamped(a: &dyn Arguments) -> Result<Reply> {
    let (min, max) = bounds(a)?;
    clamp(a.tensor(0)?, min, max).reply()
}

fn clamped_in_place(a: &dyn Arguments) -> Result<Reply> {
    let (min, max) = bounds(a)?;
    receiver(a, clamp_(a.tensor(0)?, min, max))
}
