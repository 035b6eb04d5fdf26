//! The greater and the lesser of two elements.

use crate::dispatch::binary::{Elementwise2, Needs};
use crate::dispatch::memory_order;
use crate::dispatch::operand::{Operand, Value};
use crate::dispatch::stored::Unsigned;
use crate::dtype::{DType, Number, Real};
use crate::error::{Error, Result};
use crate::graph::mode;
use crate::ops::creation::cast;
use crate::ops::pointwise::compare::{eq, ge, gt, le, lt, ne};
use crate::ops::pointwise::integer::Integer;
use crate::ops::pointwise::logical;
use crate::ops::pointwise::select::{masked_fill, where_};
use crate::ops::{div, mul, sub};
use crate::schema::elementwise2;
use crate::schema::signatures::TENSORS;
use crate::schema::{Entry, IntoReply, OutPolicy, both, pair};
use crate::tensor::Tensor;

/// y = max(a, b), or min(a, b),  ∂y/∂ of the one that it is = 1, of equals 1/2 each
///
/// What is not a number wins.
#[derive(Clone, Copy)]
pub struct Extreme<const MAX: bool>;

/// The one that wins.
fn extreme<T: Number, const MAX: bool>(a: T, b: T) -> T {
    let wins = if MAX { a > b } else { a < b };
    if wins || a.is_nan() { a } else { b }
}

/// `t` where the loser is not less than the winner, which the first operand is or is not, and half of it where
/// they are equal. That is asked of the operands in their order, whose strides the answer follows.
fn shared(a: &Value, b: &Value, first_wins: bool, t: &Tensor) -> Result<Tensor> {
    let (a, b) = (Operand::from(a), Operand::from(b));
    let half = where_(&eq(a, b)?, &div(t, 2)?, t)?;
    let (loser, winner) = if first_wins { (b, a) } else { (a, b) };
    let found = masked_fill(&half, &lt(loser, winner)?, 0)?;
    // torch writes to the half, which keeps its strides.
    match mode::is_plain() {
        true => Ok(Tensor::from_array(memory_order::like(found.array(), &half.layout())?)),
        false => Ok(found),
    }
}

impl<const MAX: bool> Elementwise2 for Extreme<MAX> {
    const NAME: &'static str = if MAX { "maximum" } else { "minimum" };
    const NODE: &'static str = if MAX { "MaximumBackward0" } else { "MinimumBackward0" };
    const LEFT_NEEDS: Needs = Needs::Both;
    const RIGHT_NEEDS: Needs = Needs::Both;
    const UNSIGNED: Unsigned = Unsigned::Ordered;

    fn refusal(&self, _dtype: DType) -> Error {
        Error::ExtremeOfComplex { operation: Self::NAME }
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        extreme::<T, MAX>(a, b)
    }

    fn integer<T: Integer>(&self, a: T, b: T) -> T {
        extreme::<T, MAX>(a, b)
    }

    fn boolean(&self, a: bool, b: bool) -> Option<bool> {
        Some(if MAX { a || b } else { a && b })
    }

    fn left(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        shared(a, b, !MAX, t)
    }

    fn right(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        shared(a, b, MAX, t)
    }

    fn left_forth(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        mul(t, &first_share::<MAX>(a, b, t)?)
    }

    fn right_forth(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        mul(t, &sub(1.0, &first_share::<MAX>(a, b, t)?)?)
    }
}

/// How much of a tangent is that of the first, in the type of the tangent, which may have no
/// dimensions: where either is not a number, nothing.
fn first_share<const MAX: bool>(a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
    let (a, b) = (Operand::from(a), Operand::from(b));
    let wins = if MAX { gt(a, b) } else { lt(a, b) }?;
    cast::to_dtype(&where_(&eq(a, b)?, 0.5, &where_(&wins, 1.0, 0.0)?)?, t.dtype())
}

/// y = max(a, b), or min(a, b),  ∂y/∂ of the one that it is = 1, and of equals that of the first
///
/// What is not a number loses.
#[derive(Clone, Copy)]
pub struct NumberExtreme<const MAX: bool>;

fn number_extreme<T: Number, const MAX: bool>(a: T, b: T) -> T {
    let wins = if MAX { a > b } else { a < b };
    if wins || b.is_nan() { a } else { b }
}

/// Where the first wins.
fn first_wins<const MAX: bool>(a: &Value, b: &Value) -> Result<Tensor> {
    let (a, b) = (Operand::from(a), Operand::from(b));
    let wins = if MAX { ge(a, b) } else { le(a, b) }?;
    // Only what is not a number differs from itself.
    logical::or(&wins, &ne(b, b)?)
}

impl<const MAX: bool> Elementwise2 for NumberExtreme<MAX> {
    const NAME: &'static str = if MAX { "fmax" } else { "fmin" };
    const NODE: &'static str = if MAX { "FmaxBackward0" } else { "FminBackward0" };
    const LEFT_NEEDS: Needs = Needs::Both;
    const RIGHT_NEEDS: Needs = Needs::Both;
    const UNSIGNED: Unsigned = Unsigned::Ordered;

    fn refusal(&self, _dtype: DType) -> Error {
        Error::ExtremeOfComplex { operation: Self::NAME }
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        number_extreme::<T, MAX>(a, b)
    }

    fn integer<T: Integer>(&self, a: T, b: T) -> T {
        number_extreme::<T, MAX>(a, b)
    }

    fn boolean(&self, a: bool, b: bool) -> Option<bool> {
        Some(if MAX { a || b } else { a && b })
    }

    fn left(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        masked_fill(t, &logical::not(&first_wins::<MAX>(a, b)?)?, 0)
    }

    fn right(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        masked_fill(t, &first_wins::<MAX>(a, b)?, 0)
    }

    fn left_forth(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        where_(&first_passes::<MAX>(a, b)?, t, 0)
    }

    fn right_forth(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        where_(&first_passes::<MAX>(a, b)?, 0, t)
    }
}

/// Where the tangent is that of the first: for equals, where the lesser is asked for.
fn first_passes<const MAX: bool>(a: &Value, b: &Value) -> Result<Tensor> {
    let (a, b) = (Operand::from(a), Operand::from(b));
    let wins = if MAX { gt(a, b) } else { le(a, b) }?;
    logical::or(&wins, &ne(b, b)?)
}

elementwise2! {
    maximum, maximum_: Extreme::<true>, "The maximum of two tensors, element by element; NaN if either is.";
    minimum, minimum_: Extreme::<false>, "The minimum of two tensors, element by element; NaN if either is.";
    fmax, fmax_: NumberExtreme::<true>, "The maximum of two tensors, element by element, ignoring a NaN.";
    fmin, fmin_: NumberExtreme::<false>, "The minimum of two tensors, element by element, ignoring a NaN.";
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("maximum", TENSORS, "The maximum of two tensors, element by element; NaN if either is.", |a| {
        pair(a).and_then(|(p, q)| crate::ops::maximum(p, q).reply())
    })
    .written(&OutPolicy::ALIGNED)
    .operators(&[("MaximumBackward0", "maximum")]),
    both("minimum", TENSORS, "The minimum of two tensors, element by element; NaN if either is.", |a| {
        pair(a).and_then(|(p, q)| crate::ops::minimum(p, q).reply())
    })
    .written(&OutPolicy::ALIGNED)
    .operators(&[("MinimumBackward0", "minimum")]),
    both("fmax", TENSORS, "The maximum of two tensors, element by element, ignoring a NaN.", |a| {
        pair(a).and_then(|(p, q)| crate::ops::fmax(p, q).reply())
    })
    .written(&OutPolicy::ALIGNED)
    .operators(&[("FmaxBackward0", "fmax")]),
    both("fmin", TENSORS, "The minimum of two tensors, element by element, ignoring a NaN.", |a| {
        pair(a).and_then(|(p, q)| crate::ops::fmin(p, q).reply())
    })
    .written(&OutPolicy::ALIGNED)
    .operators(&[("FminBackward0", "fmin")]),
];
