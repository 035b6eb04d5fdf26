//! Loss functions. This file has what they share: the reduction of the losses of single elements to one number.

pub mod alignment;
pub mod binary;
pub mod cross_entropy;
mod directly;
pub mod margins;
pub mod nll;
pub mod probability;
pub mod robust;
pub mod squared;

use crate::dispatch::apply::Outputs;
use crate::dispatch::batch::{Answer, Samples};
use crate::dispatch::direct::{Direct, misfit};
use crate::dispatch::fused::{fused, fused_numbers, is_alike, numbers};
use crate::dispatch::modes::intercept;
use crate::dispatch::modes::plain::{Plain, Portable, Reader, plain};
use crate::dispatch::modes::recording;
use crate::dispatch::operand::Value;
use crate::dispatch::operand::{Numbers, result_type};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::{At, Gradients, Shown};
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::reduction::reduce as kernels;
use crate::kernels::vector::Function;
use crate::ops;
use crate::ops::reduction::reduce::{mean, sum};
use crate::ops::{neg, sub};
use crate::shape;
use crate::tensor::{Array, Tensor};
use directly::Together;
use smallvec::smallvec;
use std::sync::Arc;

/// How the losses of single elements are reduced (`reduction=`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Not at all: `"none"`.
    None,
    /// To their mean: `"mean"`.
    Mean,
    /// To their sum: `"sum"`.
    Sum,
}

/// torch's number.
impl From<Reduction> for Shown {
    fn from(value: Reduction) -> Shown {
        Shown::Int(match value {
            Reduction::None => 0,
            Reduction::Mean => 1,
            Reduction::Sum => 2,
        })
    }
}

/// A loss of single elements, and its derivative by the first, as loops take them.
trait Single: Plain + Copy + Send + Sync + 'static {
    /// The loss.
    fn value<A: Arithmetic>(&self, x: A, target: A) -> A;

    /// Its derivative.
    fn slope<A: Arithmetic>(&self, x: A, target: A) -> A;
}

#[derive(Clone, Copy)]
struct Values<S>(S);

impl<S: Single> Function<1> for Values<S> {
    #[inline(always)] // A loop is vectorised in one piece only.
    fn at<A: Arithmetic>(&self, x: A, [target]: [A; 1]) -> A {
        self.0.value(x, target)
    }
}

/// Gradients of the elements, from a gradient for each loss.
#[derive(Clone, Copy)]
struct Slopes<S>(S);

impl<S: Single> Function<2> for Slopes<S> {
    #[inline(always)]
    fn at<A: Arithmetic>(&self, g: A, [x, target]: [A; 2]) -> A {
        self.0.slope(x, target) * g
    }
}

/// Gradients of the elements, from one gradient of the reduced loss.
#[derive(Clone, Copy)]
struct Scaled<S>(S, f64);

impl<S: Single> Function<1> for Scaled<S> {
    #[inline(always)]
    fn at<A: Arithmetic>(&self, x: A, [target]: [A; 1]) -> A {
        self.0.slope(x, target) * A::from_f64(self.1)
    }
}

/// The gradient of the first operand of a loss from that of all losses, as a recorded operation.
#[derive(Clone)]
struct Shared<S> {
    loss: S,
    reduction: Reduction,
}

impl<S: Single> Portable for Shared<S> {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let [gradient, x, target] = intercept::tensors(operands)[..] else { return Err(misfit()) };
        let share = self.reduction.share(gradient, x.numel())?.to_vec::<f64>()?;
        let [share] = *share else { return Err(misfit()) };
        let found = numbers(Scaled(self.loss, share), &x.array(), [&target.array()])?;
        Ok(smallvec![Tensor::from_array(found)])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(self.clone()))
    }
}

impl<S: Single> Plain for Shared<S> {
    fn write(&self, to: &mut Vec<u8>) {
        self.loss.write(to);
        self.reduction.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Shared { loss: S::read(from)?, reduction: Reduction::read(from)? })
    }
}

/// How many single losses these tensors have.
fn count(x: &Tensor, target: &Tensor) -> Result<usize> {
    Ok(shape::broadcast(x.layout().shape(), target.layout().shape())?.iter().product())
}

/// The gradients of the two inputs of a loss from that of the first: it is the same function of the other
/// one, and the opposite number.
fn both_ways(
    at: &At<'_>,
    x: &Tensor,
    target: &Tensor,
    gradient: impl Fn(&Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Gradients> {
    let to_x = gradient(x, target)?;
    let to_target = at.needs(1).then(|| neg(&to_x)).transpose()?;
    Ok(smallvec![at.needs(0).then_some(to_x), to_target])
}

/// The tangent of `x - target`, the two inputs of a loss.
fn moved_apart(tangents: &[Option<Tensor>]) -> Result<Tensor> {
    match (&tangents[0], &tangents[1]) {
        (Some(x), Some(target)) => sub(x, target),
        (Some(x), None) => Ok(x.clone()),
        (None, Some(target)) => neg(target),
        (None, None) => unreachable!("rules run with a tangent"),
    }
}

impl Reduction {
    /// From torch's number.
    pub fn from_number(number: i64) -> Reduction {
        match number {
            0 => Reduction::None,
            1 => Reduction::Mean,
            _ => Reduction::Sum,
        }
    }

    /// The loss from those of single elements, as numbers.
    pub(crate) fn finish(self, losses: Array) -> Result<Array> {
        if self == Reduction::None {
            return Ok(losses);
        }
        let axes: Vec<usize> = (0..losses.layout.ndim()).collect();
        let mut loss = Array::uninit_shape(&[], losses.dtype)?;
        dispatch!(float losses.dtype, T => match self {
            Reduction::Mean => kernels::mean(losses.view::<T>(), &axes, loss.fresh()),
            _ => kernels::sum::<T>(losses.view(), &axes, loss.fresh()),
        }, else {
            unreachable!("losses are floating-point numbers")
        });
        Ok(loss)
    }

    /// The loss into memory that is there, of arrays that are alike and those of single elements.
    fn directly(self, each: impl Function<1> + 'static) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(Together { each, reduction: self }))
    }

    /// The loss in one pass, of arrays that are alike.
    fn at_once(self, loss: impl Single, x: &Array, target: &Array) -> Result<Option<Array>> {
        let losses = fused_numbers(Values(loss), x, [target])?;
        losses.map(|losses| self.finish(losses)).transpose()
    }

    /// The gradient of `x` in one pass, of tensors that are alike, if it is not recorded.
    fn gradient_at_once(
        self,
        loss: impl Single,
        [x, target]: [&Tensor; 2],
        gradient: &Tensor,
    ) -> Result<Option<Tensor>> {
        if self == Reduction::None {
            return fused(Slopes(loss), gradient, [x, target]);
        }
        let operands = [gradient, x, target];
        if !recording::is_undivided(&operands) || gradient.dtype() != x.dtype() || !is_alike(x, &[target]) {
            return Ok(None);
        }
        let own = Shared { loss, reduction: self };
        Ok(recording::as_one_of("LossBackward0", &operands, 1, own)?.pop())
    }

    /// The loss from those of single elements.
    pub(crate) fn apply(self, losses: &Tensor) -> Result<Tensor> {
        match self {
            Reduction::None => Ok(losses.clone()),
            Reduction::Mean => mean(losses, None, false, None),
            Reduction::Sum => sum(losses, None, false, None),
        }
    }

    /// The loss of each of many samples from those of their elements.
    pub(crate) fn of_each(self, losses: Answer) -> Result<Answer> {
        let reduced = |losses: Samples| {
            let dims: Vec<i64> = (1..losses.value.ndim() as i64).collect();
            Ok(Samples::first(match self {
                _ if dims.is_empty() => losses.value,
                Reduction::None => losses.value,
                Reduction::Mean => mean(&losses.value, Some(&dims), false, None)?,
                Reduction::Sum => sum(&losses.value, Some(&dims), false, None)?,
            }))
        };
        losses.into_iter().map(reduced).collect()
    }

    /// The gradient of each of `count` single losses, still to be broadcast.
    pub(crate) fn share(self, gradient: &Tensor, count: usize) -> Result<Tensor> {
        match self {
            Reduction::Mean => ops::div(gradient, count as f64),
            _ => Ok(gradient.clone()),
        }
    }
}

/// The type that a loss of these tensors is calculated in.
fn common_type(arrays: &[Array]) -> Result<DType> {
    let numbers: Vec<Numbers> = arrays.iter().cloned().map(Numbers::Array).collect();
    result_type(&numbers)
}

plain! {
    enum Reduction { None, Mean, Sum }
}
