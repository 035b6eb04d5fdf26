//! The cross entropy of yes or no, from logits.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::{Arguments, Entry, IntoReply, function};
use smallvec::smallvec;
use std::sync::Arc;

use super::{Reduction, Single, Values, common_type};
use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::direct::Direct;
use crate::dispatch::forward_mode::tangents::innermost;
use crate::dispatch::operand::Numbers;
use crate::dispatch::record::refuse_gradients;
use crate::dispatch::{binary, unary};
use crate::dtype::{Category, Ring};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, Inputs, SavedTensor};
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::ops::creation::copy;
use crate::ops::neural::units::smooth_units::LogSigmoid;
use crate::ops::{add, mul, neg, sigmoid, sub};
use crate::shape;
use crate::tensor::{Array, Tensor};

/// y = Σ w ((1 - t) x - (1 + (p - 1) t) ln σ(x)), or the mean, or each; w and p are 1 unless given
///
/// ∂y/∂x = w ((p t + 1 - t) σ(x) - p t),  ∂y/∂t = w ((1 - p) ln σ(x) - x)
#[derive(Clone)]
pub struct BinaryCrossEntropyWithLogits {
    reduction: Reduction,
    weighted: bool,
    positive: bool,
}

/// The operands of the loss; only the first two are differentiated.
struct Operands {
    x: Tensor,
    target: Tensor,
    weight: Option<Tensor>,
    positive: Option<Tensor>,
}

impl Operands {
    fn load(saved: &[Option<SavedTensor>; 4], at: &At<'_>) -> Result<Operands> {
        let load = |saved: &Option<SavedTensor>| saved.as_ref().map(|saved| at.load(saved)).transpose();
        let [x, target, weight, positive] = saved;
        match (load(x)?, load(target)?) {
            (Some(x), Some(target)) => {
                Ok(Operands { x, target, weight: load(weight)?, positive: load(positive)? })
            }
            _ => unreachable!("input and target are kept"),
        }
    }

    fn weighted(&self, slope: Tensor) -> Result<Tensor> {
        match &self.weight {
            Some(weight) => mul(&slope, weight),
            None => Ok(slope),
        }
    }

    /// ∂y/∂x times `t`
    fn toward_x(&self, t: &Tensor) -> Result<Tensor> {
        let probability = sigmoid(&self.x)?;
        let slope = match &self.positive {
            Some(positive) => {
                let yes = mul(positive, &self.target)?;
                let either = sub(&add(&yes, 1)?, &self.target)?;
                sub(&mul(&either, &probability)?, &yes)?
            }
            None => sub(&probability, &self.target)?,
        };
        self.weighted(mul(&slope, t)?)
    }

    /// ∂y/∂t times `t`
    fn toward_target(&self, t: &Tensor) -> Result<Tensor> {
        let slope = match &self.positive {
            Some(positive) => {
                let log_sigmoid = |x: &Tensor| unary::apply(LogSigmoid, x);
                sub(&log_sigmoid(&neg(&self.x)?)?, &mul(&log_sigmoid(&self.x)?, positive)?)?
            }
            None => neg(&self.x)?,
        };
        self.weighted(mul(&slope, t)?)
    }

    fn count(&self) -> Result<usize> {
        let mut shape = shape::broadcast(self.x.layout().shape(), self.target.layout().shape())?;
        for more in [&self.weight, &self.positive].into_iter().flatten() {
            shape = shape::broadcast(&shape, more.layout().shape())?;
        }
        Ok(shape.iter().product())
    }
}

/// The loss of single elements that have no weights.
#[derive(Clone, Copy)]
struct Logits;

impl Single for Logits {
    #[inline(always)] // A loop is vectorised in one piece only.
    fn value<A: Arithmetic>(&self, x: A, target: A) -> A {
        (A::from_f64(1.0) - target) * x + minus_log_sigmoid(x)
    }

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A, target: A) -> A {
        math::sigmoid(x) - target
    }
}

/// -ln σ(x) = max(-x, 0) + ln(1 + e^-|x|)
#[inline(always)] // A loop is vectorised in one piece only.
fn minus_log_sigmoid<A: Arithmetic>(x: A) -> A {
    let zero = A::from_f64(0.0);
    let beyond = if x < zero { -x } else { zero };
    // The sum is NaN if x is.
    beyond + math::ln_1p_of_share(math::exp(-x.abs()))
}

impl Op for BinaryCrossEntropyWithLogits {
    type Saved = [Option<SavedTensor>; 4];
    const SAVED: &'static [&'static str] = &["self", "target", "weight", "pos_weight"];

    fn name(&self) -> &'static str {
        "BinaryCrossEntropyWithLogitsBackward0"
    }

    fn inputs(&self) -> Option<Inputs> {
        Some(smallvec![Some(0), Some(1)])
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { reduction: self.reduction }
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        self.reduction.directly(Values(Logits))
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let (dtype, result) = (inputs[0].dtype, common_type(inputs)?);
        if let [x, target] = inputs
            && let Some(loss) = self.reduction.at_once(Logits, x, target)?
        {
            return Ok(smallvec![loss]);
        }
        let array = |index: usize| Numbers::from(&inputs[index]);
        if !dtype.is_float() {
            return Err(Error::NotImplementedFor { operation: "log_sigmoid_cpu", dtype }.into());
        }
        let loss = dispatch!(float result, U => {
            let mut log = Numbers::Array(unary::numbers(LogSigmoid, &inputs[0])?);
            if self.positive {
                let one = |p: U, t: U| Ring::add(U::ONE, (p - U::ONE) * t);
                let scale = binary::combine::<U, U>(&array(inputs.len() - 1), &array(1), one)?;
                log = Numbers::Array(binary::combine::<U, U>(&log, &Numbers::Array(scale), |a, b| a * b)?);
            }
            let linear = binary::combine::<U, U>(&array(0), &array(1), |x, t| (U::ONE - t) * x)?;
            let mut losses = binary::combine::<U, U>(&Numbers::Array(linear), &log, |a, b| a - b)?;
            if self.weighted {
                losses = binary::combine::<U, U>(&Numbers::Array(losses), &array(2), |a, b| a * b)?;
            }
            self.reduction.finish(losses)?
        }, else {
            return Err(Error::NotImplementedFor { operation: "log_sigmoid_cpu", dtype: result }.into())
        });
        // The losses are of the type of what is written to for them, which begins as one less the target.
        Ok(smallvec![copy::as_type(&loss, inputs[1].dtype)?.into_owned()])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        let positive = if self.weighted { 3 } else { 2 };
        [
            Some(keep.input(0)),
            Some(keep.input(1)),
            keep.input_if(self.weighted, 2),
            keep.input_if(self.positive, positive),
        ]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let operands = Operands::load(saved, at)?;
        let (g, count) = (single(gradients), operands.count()?);
        let share = self.reduction.share(g, count)?;
        let found = match (self.weighted || self.positive, at.needs(0)) {
            (false, true) => self.reduction.gradient_at_once(Logits, [&operands.x, &operands.target], g)?,
            _ => None,
        };
        let to_x = match found {
            Some(found) => Some(found),
            None => at.needs(0).then(|| operands.toward_x(&share)).transpose()?,
        };
        let to_target = at.needs(1).then(|| operands.toward_target(&share)).transpose()?;
        let mut results: Gradients = smallvec![to_x, to_target];
        results.resize(2 + usize::from(self.weighted) + usize::from(self.positive), None);
        Ok(results)
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let operands = Operands::load(saved, at)?;
        let through_x = tangents[0].as_ref().map(|t| operands.toward_x(t)).transpose()?;
        let through_target = tangents[1].as_ref().map(|t| operands.toward_target(t)).transpose()?;
        let losses = match (through_x, through_target) {
            (Some(x), Some(target)) => add(&x, &target)?,
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => unreachable!("rules run with a tangent"),
        };
        one(self.reduction.apply(&losses)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        self.reduction
            .of_each(call.aligned(BinaryCrossEntropyWithLogits { reduction: Reduction::None, ..*self })?)
    }
}

/// The cross entropy of the logits `x` and the probabilities in `target`. `positive` weighs the
/// probability of yes, `weight` the loss of each element.
pub fn binary_cross_entropy_with_logits(
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    positive: Option<&Tensor>,
    reduction: Reduction,
) -> Result<Tensor> {
    match target.dtype().category() {
        Category::Bool => return Err(Error::SubtractBool {}.into()),
        Category::Integer => return Err(Error::ResultCast { from: x.dtype(), to: target.dtype() }.into()),
        _ => {}
    }
    if weight.map_or(Ok(false), is_varied)? || positive.map_or(Ok(false), is_varied)? {
        return of_parts(x, target, weight, positive, reduction);
    }
    refuse_gradients("binary_cross_entropy_with_logits", [("weight", weight), ("pos_weight", positive)])?;
    let op =
        BinaryCrossEntropyWithLogits { reduction, weighted: weight.is_some(), positive: positive.is_some() };
    let mut inputs = vec![x, target];
    inputs.extend(weight);
    inputs.extend(positive);
    apply_one(op, &inputs)
}

/// Whether a transform of functions, or forward mode, may ask for a derivative by a tensor.
fn is_varied(weight: &Tensor) -> Result<bool> {
    let mut weight = weight.clone();
    loop {
        if weight.is_followed() || innermost(&weight)?.is_some() {
            return Ok(true);
        }
        match weight.batch() {
            Some(batch) if batch.value.requires_grad() => return Ok(true),
            Some(batch) => weight = batch.value,
            None => return Ok(false),
        }
    }
}

/// The cross entropy of logits as what it consists of: by the weights too it has derivatives then.
fn of_parts(
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    positive: Option<&Tensor>,
    reduction: Reduction,
) -> Result<Tensor> {
    let mut minus_log = neg(&unary::apply(LogSigmoid, x)?)?;
    if let Some(positive) = positive {
        minus_log = mul(&minus_log, &add(&mul(&sub(positive, 1)?, target)?, 1)?)?;
    }
    let mut losses = add(&mul(&sub(1, target)?, x)?, &minus_log)?;
    if let Some(weight) = weight {
        losses = mul(&losses, weight)?;
    }
    reduction.apply(&losses)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[function(
    "binary_cross_entropy_with_logits",
    &["(Tensor input, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1)"],
    "The binary cross entropy of logits and target probabilities.",
    |a| {
        let (weight, positive) = (a.optional_tensor(2), a.optional_tensor(3));
        binary_cross_entropy_with_logits(a.tensor(0)?, a.tensor(1)?, weight, positive, reduction(a, 4)?)
            .reply()
    },
)
.operators(&[("BinaryCrossEntropyWithLogitsBackward0", "binary_cross_entropy_with_logits")])];

fn reduction(arguments: &dyn Arguments, index: usize) -> Result<Reduction> {
    arguments.int(index).map(Reduction::from_number)
}

plain! {
    struct BinaryCrossEntropyWithLogits { reduction, weighted, positive }
    struct Logits {}
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[
    portable::row::<BinaryCrossEntropyWithLogits>("bce with logits"),
    Row::of::<super::Shared<Logits>>("bce with logits gradient"),
];
