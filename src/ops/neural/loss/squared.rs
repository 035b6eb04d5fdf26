//! The squared error.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::{Arguments, Entry, IntoReply, inner};
use smallvec::smallvec;
use std::sync::Arc;

use super::{Reduction, common_type};
use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::binary;
use crate::dispatch::direct::Direct;
use crate::dispatch::operand::Numbers;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Function;
use crate::ops::{mul, sub};
use crate::tensor::{Array, Tensor};

/// y = Σ (x - t)², or the mean, or each
///
/// dy = Σ 2 (x - t) (dx - dt), x̄ = 2 (x - t) ȳ, t̄ = -x̄
#[derive(Clone)]
pub struct MseLoss {
    reduction: Reduction,
}

/// The square of a difference.
#[derive(Clone, Copy)]
struct Squared;

impl Function<1> for Squared {
    const LITTLE: bool = true;

    #[inline(always)]
    fn at<A: Arithmetic>(&self, x: A, [target]: [A; 1]) -> A {
        (x - target) * (x - target)
    }
}

impl Op for MseLoss {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["self", "target"];

    fn name(&self) -> &'static str {
        "MseLossBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { reduction: self.reduction }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let dtype = common_type(inputs)?;
        let (x, target) = (Numbers::Array(inputs[0].clone()), Numbers::Array(inputs[1].clone()));
        let losses = dispatch!(float dtype, T => {
            binary::combine::<T, T>(&x, &target, |x, t| (x - t) * (x - t))?
        }, else {
            return Err(Error::NotImplementedFor { operation: "mse_cpu", dtype }.into())
        });
        Ok(smallvec![self.reduction.finish(losses)?])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        self.reduction.directly(Squared)
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.input(1)]
    }

    fn vjp(&self, [x, target]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (x, target) = (at.load(x)?, at.load(target)?);
        let count = super::count(&x, &target)?;
        super::both_ways(at, &x, &target, |x, target| {
            let scale = mul(&self.reduction.share(single(gradients), count)?, 2.0)?;
            mul(&sub(x, target)?, &scale)
        })
    }

    fn jvp(&self, [x, target]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let moved = super::moved_apart(tangents)?;
        let losses = mul(&mul(&sub(&at.load(x)?, &at.load(target)?)?, 2.0)?, &moved)?;
        one(self.reduction.apply(&losses)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        self.reduction.of_each(call.aligned(MseLoss { reduction: Reduction::None })?)
    }
}

/// The squared differences of `x` and `target`, reduced.
pub fn mse_loss(x: &Tensor, target: &Tensor, reduction: Reduction) -> Result<Tensor> {
    apply_one(MseLoss { reduction }, &[x, target])
}

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "mse_loss",
    &["(Tensor input, Tensor target, int reduction=1, *, Tensor out=None)"],
    "The squared error, averaged, summed or of each element.",
    |a| mse_loss(a.tensor(0)?, a.tensor(1)?, reduction(a, 2)?).reply(),
)
.operators(&[("MseLossBackward0", "mse_loss")])];

fn reduction(arguments: &dyn Arguments, index: usize) -> Result<Reduction> {
    arguments.int(index).map(Reduction::from_number)
}

plain! {
    struct MseLoss { reduction }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<MseLoss>("mse loss")];
