//! Absolute errors, and errors that are squared where they are small and linear where they are large.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::{Arguments, Entry, IntoReply, inner};
use smallvec::smallvec;

use super::{Reduction, Single, common_type};
use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::{binary, unary};
use crate::dispatch::{fixed, memory_order};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::pointwise::math::Arithmetic;
use crate::ops::creation::{cast, copy};
use crate::ops::pointwise::arithmetic::{self, Div, Mul};
use crate::ops::pointwise::compare::Question;
use crate::ops::pointwise::rounding::Abs;
use crate::ops::pointwise::{compare, select};
use crate::ops::{abs, mul, sub};
use crate::tensor::{Array, Tensor};
use std::borrow::Cow;

/// With z = x - t: y = Σ s z²/2 where |z| < b, Σ s b (|z| - b/2) elsewhere, or the mean, or each. A
/// scale s of 1 gives the loss of Huber, 1/b the smooth L1 loss.
///
/// ∂y/∂z = s z where |z| < b, s b sgn z elsewhere
#[derive(Clone, Copy)]
pub struct RobustLoss {
    reduction: Reduction,
    bound: f64,
    /// Whether s is 1/b.
    smooth: bool,
}

impl RobustLoss {
    /// The parameters, under torch's names.
    fn parameters(&self) -> Attributes {
        let mut shown = shown! { reduction: self.reduction };
        shown.push((if self.smooth { "beta" } else { "delta" }, self.bound.into()));
        shown
    }

    /// ∂y/∂z by z where |z| is small, and its magnitude elsewhere.
    fn slopes(&self) -> (f64, f64) {
        let (steep, flat) = if self.smooth { (1.0 / self.bound, 1.0) } else { (1.0, self.bound) };
        (if steep.is_finite() { steep } else { 0.0 }, flat)
    }

    /// ∂y/∂z, from constants so that it is differentiated as what it is: linear or constant.
    fn slope_of(&self, z: &Tensor) -> Result<Tensor> {
        let bound = self.bound;
        // At the bound itself the slope is that of what is beyond, which does not bend.
        let small = move |z: f64| z.abs() < bound;
        let (steep, flat) = self.slopes();
        let constant = fixed::map(z, move |z| match z {
            z if small(z) || z == 0.0 => 0.0,
            z if z.is_nan() => z,
            z => flat * z.signum(),
        })?;
        let inside = fixed::map(z, move |z| f64::from(u8::from(small(z))))?;
        select::where_(&compare::gt(&inside, 0)?, &mul(z, steep)?, &constant)
    }
}

impl Single for RobustLoss {
    #[inline(always)] // A loop is vectorised in one piece only.
    fn value<A: Arithmetic>(&self, x: A, target: A) -> A {
        let (z, bound) = ((x - target).abs(), A::from_f64(self.bound));
        let half = z * A::from_f64(0.5) * z;
        let beyond = z - A::from_f64(0.5 * self.bound);
        match self.smooth {
            true => {
                if z < bound {
                    half / bound
                } else {
                    beyond
                }
            }
            false => {
                if z <= bound {
                    half
                } else {
                    beyond * bound
                }
            }
        }
    }

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A, target: A) -> A {
        let (steep, flat) = self.slopes();
        let (z, flat) = (x - target, A::from_f64(flat));
        let inside = z * A::from_f64(steep);
        let size = if z.abs() < A::from_f64(self.bound) { inside } else { flat.copysign(z) };
        // What is zero or no number has no direction.
        if z.abs() > A::from_f64(0.0) { size } else { z }
    }
}

impl Op for RobustLoss {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["self", "target"];

    fn name(&self) -> &'static str {
        if self.smooth { "SmoothL1LossBackward0" } else { "HuberLossBackward0" }
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        self.parameters()
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let dtype = common_type(inputs)?;
        if !dtype.is_float() {
            let operation = if self.smooth { "smooth_l1_cpu" } else { "huber_cpu" };
            return Err(Error::NotImplementedFor { operation, dtype }.into());
        }
        if let Some(loss) = self.reduction.at_once(*self, &inputs[0], &inputs[1])? {
            return Ok(smallvec![loss]);
        }
        // In the type of the losses from the first step on: what is rounded is rounded there.
        let wide = |x: &Array| copy::as_type_in_order(x, dtype).map(Cow::into_owned);
        let less = arithmetic::LESS;
        let z = unary::numbers(Abs, &binary::numbers(less, &wide(&inputs[0])?, &wide(&inputs[1])?)?)?;
        let half = binary::numbers(Mul, &binary::numbers(Mul, &z, 0.5)?, &z)?;
        let (bound, beyond) = (self.bound, binary::numbers(less, &z, 0.5 * self.bound)?);
        let losses = match self.smooth {
            true => {
                let half = binary::numbers(Div, &half, bound)?;
                select::choose(&compare::numbers(Question::Less, &z, bound)?, &half, &beyond, dtype)?
            }
            false => {
                let beyond = binary::numbers(Mul, &beyond, bound)?;
                select::choose(&compare::numbers(Question::LessEqual, &z, bound)?, &half, &beyond, dtype)?
            }
        };
        let losses = match self.smooth || inputs[0].layout.shape() != losses.layout.shape() {
            true => losses,
            false => memory_order::like(losses, &inputs[0].layout)?,
        };
        Ok(smallvec![self.reduction.finish(losses)?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.input(1)]
    }

    fn vjp(&self, [x, target]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (x, target) = (at.load(x)?, at.load(target)?);
        let count = super::count(&x, &target)?;
        super::both_ways(at, &x, &target, |x, target| {
            let found = self.reduction.gradient_at_once(*self, [x, target], single(gradients))?;
            if let Some(found) = found {
                return Ok(found);
            }
            mul(&self.slope_of(&sub(x, target)?)?, &self.reduction.share(single(gradients), count)?)
        })
    }

    fn jvp(&self, [x, target]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let moved = super::moved_apart(tangents)?;
        let slope = self.slope_of(&sub(&at.load(x)?, &at.load(target)?)?)?;
        one(self.reduction.apply(&mul(&slope, &moved)?)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        self.reduction.of_each(call.aligned(RobustLoss { reduction: Reduction::None, ..*self })?)
    }
}

/// Half the squared differences below `beta`, scaled by it; the absolute ones above.
pub fn smooth_l1_loss(x: &Tensor, target: &Tensor, reduction: Reduction, beta: f64) -> Result<Tensor> {
    if beta < 0.0 {
        return Err(
            Error::LossBound { operation: "smooth_l1_loss", sign: "negative", argument: "beta" }.into()
        );
    }
    apply_one(RobustLoss { reduction, bound: beta, smooth: true }, &[x, target])
}

/// Half the squared differences up to `delta`, `delta` times the absolute ones above.
pub fn huber_loss(x: &Tensor, target: &Tensor, reduction: Reduction, delta: f64) -> Result<Tensor> {
    if delta <= 0.0 {
        return Err(
            Error::LossBound { operation: "huber_loss", sign: "non-positive", argument: "delta" }.into()
        );
    }
    // The losses are of the type that the input has, of which the target is not asked.
    let target = match x.dtype().is_float() && target.dtype().is_float() {
        true => cast::to_dtype(target, x.dtype())?,
        false => target.clone(),
    };
    apply_one(RobustLoss { reduction, bound: delta, smooth: false }, &[x, &target])
}

/// The absolute differences, reduced.
pub fn l1_loss(x: &Tensor, target: &Tensor, reduction: Reduction) -> Result<Tensor> {
    reduction.apply(&abs(&sub(x, target)?)?)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "l1_loss",
        &["(Tensor input, Tensor target, int reduction=1)"],
        "The absolute error, averaged, summed or of each element.",
        |a| l1_loss(a.tensor(0)?, a.tensor(1)?, reduction(a, 2)?).reply(),
    ),
    inner(
        "smooth_l1_loss",
        &["(Tensor input, Tensor target, int reduction=1, float beta=1.0, *, Tensor out=None)"],
        "The squared error below `beta`, divided by it, and the absolute error above.",
        |a| smooth_l1_loss(a.tensor(0)?, a.tensor(1)?, reduction(a, 2)?, a.float(3)?).reply(),
    )
    .operators(&[("SmoothL1LossBackward0", "smooth_l1_loss")]),
    inner(
        "huber_loss",
        &["(Tensor input, Tensor target, int reduction=1, float delta=1.0, *, Tensor out=None)"],
        "The squared error below `delta`, and `delta` times the absolute error above.",
        |a| huber_loss(a.tensor(0)?, a.tensor(1)?, reduction(a, 2)?, a.float(3)?).reply(),
    )
    .operators(&[("HuberLossBackward0", "huber_loss")]),
];

fn reduction(arguments: &dyn Arguments, index: usize) -> Result<Reduction> {
    arguments.int(index).map(Reduction::from_number)
}

plain! {
    struct RobustLoss { reduction, bound, smooth }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[
    portable::row::<RobustLoss>("robust loss"),
    Row::of::<super::Shared<RobustLoss>>("robust loss gradient"),
];
