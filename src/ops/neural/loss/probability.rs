//! The cross entropy of probabilities of two classes.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::{Arguments, Entry, IntoReply, inner};
use smallvec::{SmallVec, smallvec};

use super::{Reduction, Single};
use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::binary;
use crate::dispatch::record::refuse_gradients;
use crate::dispatch::unary;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::ops::pointwise::arithmetic::{self, Mul};
use crate::ops::pointwise::{clamp, special};
use crate::ops::pointwise::{exp_log, rounding};
use crate::ops::{add, div, log, mul, neg, sub};
use crate::tensor::{Array, Tensor};

/// y = -Σ w (t ln x + (1 - t) ln(1 - x)), or the mean, or each; logarithms go down to -100
///
/// ∂y/∂x = w (x - t)/(x (1 - x)), ∂y/∂t = w (ln(1 - x) - ln x)
#[derive(Clone)]
struct BinaryCrossEntropy {
    reduction: Reduction,
    weight: Option<Tensor>,
}

impl BinaryCrossEntropy {
    fn weighted(&self, losses: Tensor) -> Result<Tensor> {
        match &self.weight {
            Some(weight) => mul(&losses, weight),
            None => Ok(losses),
        }
    }

    /// ∂y/∂x or ∂y/∂t of single losses, times `t`.
    fn toward(&self, index: usize, x: &Tensor, target: &Tensor, t: &Tensor) -> Result<Tensor> {
        let slope = match index {
            0 => {
                let spread = clamp::clamp_min(&mul(&sub(1.0, x)?, x)?, 1e-12)?;
                div(&sub(x, target)?, &spread)?
            }
            _ => sub(&log(&sub(1.0, x)?)?, &log(x)?)?,
        };
        mul(&self.weighted(slope)?, t)
    }
}

/// The loss of single elements that have no weights.
#[derive(Clone, Copy)]
struct Probable;

impl Single for Probable {
    #[inline(always)] // A loop is vectorised in one piece only.
    fn value<A: Arithmetic>(&self, x: A, target: A) -> A {
        let (one, least) = (A::from_f64(1.0), A::from_f64(-100.0));
        let (hit, miss) = (math::ln(x), math::ln(one - x));
        let hit = if hit < least { least } else { hit };
        let miss = if miss < least { least } else { miss };
        -(target * hit + (one - target) * miss)
    }

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A, target: A) -> A {
        let (spread, least) = ((A::from_f64(1.0) - x) * x, A::from_f64(1e-12));
        (x - target) / if spread < least { least } else { spread }
    }
}

impl Op for BinaryCrossEntropy {
    type Saved = [Option<SavedTensor>; 3];
    const SAVED: &'static [&'static str] = &["self", "target", "weight"];

    fn name(&self) -> &'static str {
        "BinaryCrossEntropyBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { reduction: self.reduction }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (x, target) = (&inputs[0], &inputs[1]);
        check_range("input", x)?;
        check_range("target", target)?;
        if self.weight.is_none()
            && let Some(loss) = self.reduction.at_once(Probable, x, target)?
        {
            return Ok(smallvec![loss]);
        }
        // ln x, but not below -100.
        let bounded_log = |x: &Array| clamp::not_below(&unary::numbers(exp_log::Log, x)?, -100.0);
        let beyond = |x: &Array| binary::numbers(arithmetic::LESS, 1.0, x);
        let hit = binary::numbers(Mul, target, &bounded_log(x)?)?;
        let miss = binary::numbers(Mul, &beyond(target)?, &bounded_log(&beyond(x)?)?)?;
        let losses = unary::numbers(rounding::Neg, &binary::numbers(arithmetic::PLUS, &hit, &miss)?)?;
        let losses = match &self.weight {
            Some(weight) => binary::numbers(Mul, &losses, &weight.array())?,
            None => losses,
        };
        Ok(smallvec![self.reduction.finish(losses)?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        let weight = self.weight.as_ref().map(SavedTensor::constant);
        [Some(keep.input(0)), Some(keep.input(1)), weight]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (x, target) = loaded(saved, at)?;
        let (count, g) = (x.numel(), single(gradients));
        let to_x = || {
            let found = match self.weight {
                Some(_) => None,
                None => self.reduction.gradient_at_once(Probable, [&x, &target], g)?,
            };
            match found {
                Some(found) => Ok(found),
                None => self.toward(0, &x, &target, &self.reduction.share(g, count)?),
            }
        };
        let to_target = || {
            let slope = neg(&unary::apply(special::Logit { eps: None }, &x)?)?;
            let found = self.weighted(mul(&slope, g)?)?;
            self.reduction.share(&found, count)
        };
        Ok(smallvec![at.needs(0).then(to_x).transpose()?, at.needs(1).then(to_target).transpose()?])
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (x, target) = loaded(saved, at)?;
        let toward = |index: usize| {
            let tangent = tangents.get(index).and_then(Option::as_ref);
            tangent.map(|tangent| self.toward(index, &x, &target, tangent)).transpose()
        };
        let moved = match (toward(0)?, toward(1)?) {
            (Some(x), Some(target)) => add(&x, &target)?,
            (Some(moved), None) | (None, Some(moved)) => moved,
            (None, None) => unreachable!("rules run with a tangent"),
        };
        one(self.reduction.apply(&moved)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let single = BinaryCrossEntropy { reduction: Reduction::None, weight: self.weight.clone() };
        self.reduction.of_each(call.aligned(single)?)
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        self.weight.iter().cloned().collect()
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Self> {
        Ok(BinaryCrossEntropy { weight: held.first().cloned(), reduction: self.reduction })
    }
}

/// Every element has to be a probability, those of all samples too.
fn check_range(argument: &'static str, array: &Array) -> Result<()> {
    let is_outside = dispatch!(float array.dtype, T => {
        let outside = |any: bool, &x: &T| any | !(0.0..=1.0).contains(&x);
        match array.slice::<T>() {
            Some(elements) => elements.iter().fold(false, outside),
            None => array.view::<T>().iter().fold(false, outside),
        }
    }, else {
        unreachable!("the type was checked")
    });
    if is_outside { Err(Error::ProbabilityRange { argument }.into()) } else { Ok(()) }
}

/// The input and the target. The weight was not written to either.
fn loaded(saved: &[Option<SavedTensor>; 3], at: &At<'_>) -> Result<(Tensor, Tensor)> {
    let [Some(x), Some(target), weight] = saved else { unreachable!("input and target are kept") };
    if let Some(weight) = weight {
        at.load(weight)?;
    }
    Ok((at.load(x)?, at.load(target)?))
}

/// The cross entropy of probabilities and those of the target.
pub fn binary_cross_entropy(
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: Reduction,
) -> Result<Tensor> {
    refuse_gradients("binary_cross_entropy", [("weight", weight)])?;
    if !x.dtype().is_float() {
        return Err(Error::NotImplementedFor { operation: "binary_cross_entropy", dtype: x.dtype() }.into());
    }
    if target.dtype() != x.dtype() {
        return Err(Error::LikelihoodDType { expected: x.dtype(), got: target.dtype() }.into());
    }
    let weight = weight.map(Tensor::detach);
    apply_one(BinaryCrossEntropy { reduction, weight }, &[x, target])
}

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "binary_cross_entropy",
    &["(Tensor input, Tensor target, Tensor? weight=None, int reduction=1, *, Tensor out=None)"],
    "The binary cross entropy of probabilities and target probabilities.",
    |a| {
        let weight = a.optional_tensor(2);
        binary_cross_entropy(a.tensor(0)?, a.tensor(1)?, weight, reduction(a, 3)?).reply()
    },
)
.operators(&[("BinaryCrossEntropyBackward0", "binary_cross_entropy")])];

fn reduction(arguments: &dyn Arguments, index: usize) -> Result<Reduction> {
    arguments.int(index).map(Reduction::from_number)
}

plain! {
    struct BinaryCrossEntropy { reduction, weight }
    struct Probable {}
}

/// How these are written as plain data.
pub const ROWS: &[Row] =
    &[portable::row::<BinaryCrossEntropy>("bce"), Row::of::<super::Shared<Probable>>("bce gradient")];
