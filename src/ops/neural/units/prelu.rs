//! A rectifier with a slope that is learnt.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::{Entry, IntoReply, both};
use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::{Arrays, Keep, Op, apply, apply_one, one, single, two};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::binary;
use crate::dispatch::memory_order;
use crate::dispatch::operand::Numbers;
use crate::dtype::{Ring, Scalar};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor};
use crate::ops::geometry::reshape;
use crate::ops::pointwise::arithmetic::Mul;
use crate::ops::pointwise::compare::ge;
use crate::ops::pointwise::compare::{self, Question};
use crate::ops::pointwise::select;
use crate::ops::pointwise::select::where_;
use crate::ops::{add, mul};
use crate::shape;
use crate::tensor::{Array, Tensor};

/// Where numbers are greater than zero.
fn positive(x: &Array) -> Result<Array> {
    compare::numbers(Question::Greater, x, 0)
}

/// y = x where x > 0, w x elsewhere
///
/// ∂y/∂x = 1 and w, ∂y/∂w = 0 and x; forward, what is zero counts as positive
#[derive(Clone)]
struct Prelu;

impl Op for Prelu {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["self", "weight"];

    fn name(&self) -> &'static str {
        "PreluKernelBackward0"
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (x, w) = (&inputs[0], &inputs[1]);
        let pair = (Numbers::from(x), Numbers::from(w));
        let y = dispatch!(float x.dtype, T => {
            binary::combine::<T, T>(&pair.0, &pair.1, |x, w| if x > T::ZERO { x } else { w * x })?
        }, else { select::choose(&positive(x)?, x, &binary::numbers(Mul, x, w)?, x.dtype)? });
        Ok(smallvec![memory_order::settled(y, &[&x.layout, &w.layout])?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [0, 1].map(|index| keep.input(index))
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (x, w) = (at.load(&saved[0])?, at.load(&saved[1])?);
        let (slope, toward) = two(apply(PreluBackward, &[single(gradients), &x, &w])?);
        Ok(smallvec![at.needs(0).then_some(slope), at.needs(1).then_some(toward)])
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (x, w) = (at.load(&saved[0])?, at.load(&saved[1])?);
        let own = |t: &Tensor| where_(&ge(&x, 0)?, t, &mul(t, &w)?);
        let of_weight = |t: &Tensor| where_(&ge(&x, 0)?, 0.0, &mul(t, &x)?);
        one(sum(tangents[0].as_ref().map(own), tangents[1].as_ref().map(of_weight))?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.aligned(Prelu)
    }
}

/// x̄ = g where x > 0, w g elsewhere; w̄ = 0 where x > 0, x g elsewhere
///
/// Derivatives of these count zero as positive.
#[derive(Clone)]
struct PreluBackward;

impl Op for PreluBackward {
    type Saved = [SavedTensor; 3];
    const SAVED: &'static [&'static str] = &["grad_output", "self", "weight"];

    fn name(&self) -> &'static str {
        "PreluKernelBackwardBackward0"
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (g, x, w) = (&inputs[0], &inputs[1], &inputs[2]);
        let [at_g, at_x, at_w] = [g, x, w].map(Numbers::from);
        dispatch!(float g.dtype, T => {
            let slope = binary::combine::<T, T>(&at_x, &at_w, |x, w| if x > T::ZERO { T::ONE } else { w })?;
            let toward = |g: T, x: T| if x > T::ZERO { T::ZERO } else { g * x };
            Ok(smallvec![binary::numbers(Mul, g, &slope)?, binary::combine::<T, T>(&at_g, &at_x, toward)?])
        }, else {
            let (positive, nothing) = (positive(x)?, Array::from_scalar(Scalar::Int(0), g.dtype)?);
            Ok(smallvec![
                select::choose(&positive, g, &binary::numbers(Mul, g, w)?, g.dtype)?,
                select::choose(&positive, &nothing, &binary::numbers(Mul, g, x)?, g.dtype)?,
            ])
        })
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [0, 1, 2].map(|index| keep.input(index))
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let inputs = saved.iter().map(|one| at.load(one)).collect::<Result<SmallVec<[Tensor; 3]>>>()?;
        let [g, x, w] = [&inputs[0], &inputs[1], &inputs[2]];
        let (a, b) = (gradients[0].as_ref(), gradients[1].as_ref());
        let positive = ge(x, 0)?;
        // Of a gradient that is missing nothing comes but zeros.
        let elsewhere = |of: Option<&Tensor>, factor: &Tensor| match of {
            Some(of) => where_(&positive, 0.0, &mul(of, factor)?),
            None => where_(&positive, 0.0, &mul(g, 0.0)?),
        };
        let first = || {
            let own = a.map(|a| where_(&positive, a, &mul(a, w)?));
            sum(own, b.map(|b| elsewhere(Some(b), x)))
        };
        Ok(smallvec![
            at.needs(0).then(first).transpose()?,
            at.needs(1).then(|| elsewhere(b, g)).transpose()?,
            at.needs(2).then(|| elsewhere(a, g)).transpose()?,
        ])
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let inputs = saved.iter().map(|one| at.load(one)).collect::<Result<SmallVec<[Tensor; 3]>>>()?;
        let [g, x, w] = [&inputs[0], &inputs[1], &inputs[2]];
        let positive = ge(x, 0)?;
        let elsewhere = |t: &Tensor, factor: &Tensor| where_(&positive, 0.0, &mul(t, factor)?);
        let [tg, tx, tw] = [0, 1, 2].map(|index: usize| tangents[index].as_ref());
        let own = tg.map(|t| where_(&positive, t, &mul(t, w)?));
        let slope = sum(own, Some(tw.map_or_else(|| mul(g, 0.0), |t| elsewhere(t, g))))?;
        let of_gradient = tg.map(|t| elsewhere(t, x));
        let toward = sum(of_gradient, Some(tx.map_or_else(|| mul(g, 0.0), |t| elsewhere(t, g))))?;
        Ok(smallvec![Some(slope), Some(toward)])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.aligned(PreluBackward)
    }
}

/// The sum of what there is.
fn sum(first: Option<Result<Tensor>>, second: Option<Result<Tensor>>) -> Result<Tensor> {
    match (first, second) {
        (Some(first), Some(second)) => add(&first?, &second?),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => unreachable!("a rule runs for something"),
    }
}

/// Every element, and negative ones times the weight of their channel.
pub fn prelu(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    if x.dtype() != weight.dtype() {
        return Err(Error::PreluDTypes { left: x.dtype(), right: weight.dtype() }.into());
    }
    if weight.ndim() > 1 {
        return Err(Error::PreluRank { ndim: weight.ndim() }.into());
    }
    let layout = x.layout();
    if weight.numel() != 1 {
        if layout.ndim() == 0 {
            return Err(Error::PreluScalar {}.into());
        }
        let channels = layout.shape().get(1).copied().unwrap_or(1);
        if weight.numel() != channels {
            return Err(Error::PreluCount { weights: weight.numel(), channels }.into());
        }
    }
    let mut sizes = vec![1; layout.ndim()];
    if let Some(size) = sizes.get_mut(1) {
        *size = weight.numel() as i64;
    }
    let weight = match shape::signed(weight.layout().shape()) == sizes {
        true => weight.clone(),
        false => reshape::reshape(weight, &sizes)?,
    };
    apply_one(Prelu, &[x, &weight])
}

/// The entries.
pub const ENTRIES: &[Entry] = &[both(
    "prelu",
    &["(Tensor input, Tensor weight)"],
    "The leaky rectified linear unit with a learnable slope.",
    |a| prelu(a.tensor(0)?, a.tensor(1)?).reply(),
)
.operators(&[("PreluKernelBackward0", "_prelu_kernel")])];

plain! {
    struct Prelu {}
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Prelu>("prelu")];
