//! Ways to lay labels along the steps of a sequence: `LabelStates` sums their probabilities, and `StateSums` is the linear
//! map that its derivatives are made of.

use crate::schema::{Entry, IntoReply, inner};
use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call};
use crate::dtype::{Bool, DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor};
use crate::kernels::neural::labelling as kernels;
use crate::ops::creation::copy;
use crate::ops::geometry::{expand, join, part, squeeze};
use crate::ops::neural::images::pad;
use crate::ops::pointwise::select::where_;
use crate::ops::pointwise::{compare, logical};
use crate::ops::{add, exp, mul, reduction, sub};
use crate::shape;
use crate::shape::Layout;
use crate::tensor::{Array, Tensor};

/// The operation in messages.
const OPERATION: &str = "ctc_loss_cpu";

/// The logarithms of the probabilities of all ways that end in a state at a step. The last dimensions of `logarithms` are
/// steps and states; `skips` says of each state whether it follows the one two before it.
pub fn label_states(logarithms: &Tensor, skips: &Tensor) -> Result<Tensor> {
    let mut shape = shape::signed(logarithms.layout().shape());
    match shape.len().checked_sub(2) {
        Some(steps) => shape.remove(steps),
        None => {
            return Err(Error::NotImplementedFor { operation: OPERATION, dtype: logarithms.dtype() }.into());
        }
    };
    apply_one(LabelStates, &[logarithms, &expand::expand(skips, &shape)?])
}

/// x moved by a step and `states` states, and filled with a number: what is before each state, or turned, behind it.
fn moved(x: &Tensor, states: usize, is_turned: bool, value: f64) -> Result<Tensor> {
    let (states, step) = if is_turned { (-(states as i64), -1) } else { (states as i64, 1) };
    pad::constant_pad(x, &[states, -states, step, -step], Scalar::Float(value))
}

/// How many weights each state of so many has.
fn reach(x: &Layout) -> usize {
    x.shape().last().copied().unwrap_or_default().min(kernels::REACH)
}

/// The weights of all moves, stacked in front of steps and states.
fn stacked(x: &Tensor, part: impl Fn(usize) -> Result<Tensor>) -> Result<Tensor> {
    let parts = (0..reach(&x.layout())).map(part).collect::<Result<Vec<Tensor>>>()?;
    join::stack(&parts.iter().collect::<Vec<&Tensor>>(), -3)
}

/// y(t, s) = x(t, s) + ln Σ exp y(t-1, s-k) over the k that s follows, from 0 to 2; y(0, s) = x(0, s) for s < 2
///
/// ẏ(t, s) = ẋ(t, s) + Σ w(k, t, s) ẏ(t-1, s-k) with w(k, t, s) = exp(y(t-1, s-k) + x(t, s) - y(t, s)), and x̄ by the
/// transposed sums. Where nothing leads, y is minus infinity and moves with nothing.
#[derive(Clone)]
struct LabelStates;

impl LabelStates {
    /// w
    fn weights(x: &Tensor, skips: &Tensor, y: &Tensor) -> Result<Tensor> {
        let none = f64::NEG_INFINITY;
        let is_there = compare::ne(y, none)?;
        stacked(x, |k| {
            let before = moved(y, k, false, none)?;
            let mut leads = logical::and(&is_there, &compare::ne(&before, none)?)?;
            if k == 2 {
                leads = logical::and(&leads, &squeeze::unsqueeze(skips, -2)?)?;
            }
            let finite = |x: &Tensor| where_(&leads, x, 0.0);
            let share = sub(&add(&finite(&before)?, &finite(x)?)?, &finite(y)?)?;
            where_(&leads, &exp(&share)?, 0.0)
        })
    }
}

impl Op for LabelStates {
    type Saved = [SavedTensor; 3];
    const SAVED: &'static [&'static str] = &["logarithms", "skips", "result"];

    fn name(&self) -> &'static str {
        "LabelStatesBackward0"
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (x, skips) = (&inputs[0], &inputs[1]);
        let (x, skips) = (copy::in_order(x)?, copy::as_type(skips, DType::Bool)?);
        let skips: Vec<bool> = skips.view::<Bool>().iter().map(|skips| skips.get()).collect();
        let mut y = Array::uninit(&x.layout, x.dtype)?;
        dispatch!(float x.dtype, T => {
            let Some(elements) = x.slice::<T>() else { unreachable!("the elements are in order") };
            kernels::states(elements, &skips, last(&x), y.fresh());
        }, else {
            return Err(Error::NotImplementedFor { operation: OPERATION, dtype: x.dtype }.into())
        });
        Ok(smallvec![y])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.input(1), keep.output(0)]
    }

    fn vjp(&self, [x, skips, y]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let y = at.load(y)?;
        let weights = LabelStates::weights(&at.load(x)?, &at.load(skips)?, &y)?;
        let sums = apply_one(StateSums { is_turned: true }, &[single(gradients), &weights])?;
        Ok(smallvec![Some(where_(&compare::ne(&y, f64::NEG_INFINITY)?, &sums, 0.0)?), None])
    }

    fn jvp(
        &self,
        [x, skips, y]: &Self::Saved,
        at: &At<'_>,
        tangents: &[Option<Tensor>],
    ) -> Result<Gradients> {
        let y = at.load(y)?;
        let weights = LabelStates::weights(&at.load(x)?, &at.load(skips)?, &y)?;
        let moving = where_(&compare::ne(&y, f64::NEG_INFINITY)?, tangent(tangents), 0.0)?;
        one(apply_one(StateSums { is_turned: false }, &[&moving, &weights])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(LabelStates)
    }
}

/// The last two sizes.
fn last(x: &Array) -> [usize; 2] {
    match x.layout.shape() {
        [.., steps, states] => [*steps, *states],
        _ => unreachable!("there are steps and states"),
    }
}

/// y(t, s) = x(t, s) + Σ w(k, t, s) y(t-1, s-k); turned, y(t, s) = x(t, s) + Σ w(k, t+1, s+k) y(t+1, s+k)
///
/// ẏ is the sum of ẋ + Σ ẇ y. x̄ is the sum of ȳ the other way; w̄(k, t, s) = x̄(t, s) y(t-1, s-k), or turned x̄(t-1, s-k) y(t, s)
#[derive(Clone)]
struct StateSums {
    is_turned: bool,
}

impl Op for StateSums {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["weights", "result"];

    fn name(&self) -> &'static str {
        "StateSumsBackward0"
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (x, weights) = (&inputs[0], &inputs[1]);
        let x = copy::in_order(x)?;
        let weights = copy::as_type(weights, x.dtype)?;
        let weights = copy::in_order(&weights)?;
        let mut y = Array::uninit(&x.layout, x.dtype)?;
        let ([steps, states], reach) = (last(&x), reach(&x.layout));
        dispatch!(float x.dtype, T => {
            let (Some(x), Some(weights)) = (x.slice::<T>(), weights.slice::<T>()) else {
                unreachable!("the elements are in order")
            };
            kernels::sums(x, weights, [reach, steps, states], self.is_turned, y.fresh());
        }, else {
            return Err(Error::NotImplementedFor { operation: OPERATION, dtype: x.dtype }.into())
        });
        Ok(smallvec![y])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(1), keep.output(0)]
    }

    fn vjp(&self, [weights, y]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let back = StateSums { is_turned: !self.is_turned };
        let x = apply_one(back, &[single(gradients), &at.load(weights)?])?;
        let weights = match at.needs(1) {
            true => {
                let y = at.load(y)?;
                let (early, late) = if self.is_turned { (&x, &y) } else { (&y, &x) };
                Some(stacked(&y, |k| mul(late, &moved(early, k, false, 0.0)?))?)
            }
            false => None,
        };
        Ok(smallvec![Some(x), weights])
    }

    fn jvp(&self, [weights, y]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let through = match &tangents[1] {
            Some(t) => {
                let y = at.load(y)?;
                let around = |k| if self.is_turned { Ok(y.clone()) } else { moved(&y, k, false, 0.0) };
                let parts = mul(t, &stacked(&y, around)?)?;
                Some(match self.is_turned {
                    true => {
                        let part = |k: usize| moved(&part::select(&parts, -3, k as i64)?, k, true, 0.0);
                        reduction::reduce::sum(&stacked(&y, part)?, Some(&[-3]), false, None)?
                    }
                    false => reduction::reduce::sum(&parts, Some(&[-3]), false, None)?,
                })
            }
            None => None,
        };
        let moving = match (through, tangents[0].clone()) {
            (Some(a), Some(b)) => add(&a, &b)?,
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => unreachable!("rules run with a tangent"),
        };
        one(apply_one(self.clone(), &[&moving, &at.load(weights)?])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(self.clone())
    }
}

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "label_states",
    &["(Tensor logarithms, Tensor skips)"],
    "The log-probabilities of all paths of a connectionist temporal classification up to each state.",
    |a| label_states(a.tensor(0)?, a.tensor(1)?).reply(),
)];
