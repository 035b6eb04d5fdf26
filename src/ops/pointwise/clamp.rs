//! Elements kept between bounds, which are numbers or tensors.

mod directly;
mod entries;
mod portable;

use std::sync::Arc;

use crate::ops;
use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, number_one, single};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::direct::{Direct, OfOne};
use crate::dispatch::operand::{Numbers, Operand, Value, result_dtype, result_type};
use crate::dispatch::{batch, binary, in_place, memory_order, unary, view};
use crate::dtype::{DType, Element, Number, Scalar};
use crate::error::{Error, Result};
use crate::graph::{At, Attributes, Gradients, Inputs, SavedTensor, Shown};
use crate::kernels::pointwise::map;
use crate::ops::creation::{copy, create};
use crate::ops::pointwise::compare::{ge, gt, le, lt};
use crate::ops::pointwise::{logical, select::where_};
use crate::shape::Layout;
use crate::tensor::{Array, Tensor};

use directly::Between;
pub use entries::ENTRIES;
pub use portable::ROWS;

/// A bound of `clamp`.
#[derive(Clone, Copy)]
enum Bound {
    None,
    Number(Scalar),
    /// The input of that number.
    Tensor(usize),
}

/// By which name `clamp` was called: that decides what its node shows.
#[derive(Clone, Copy, PartialEq)]
enum Caller {
    Clamp,
    ClampMin,
    ClampMax,
}

/// y = min(max(x, min), max)
///
/// x̄ = ȳ where min ≤ x ≤ max; a bound gets ȳ where it is the result, the upper one if they are
/// crossed.
#[derive(Clone)]
struct Clamp {
    min: Bound,
    max: Bound,
    dtype: DType,
    caller: Caller,
}

// What is not a number stays so, and a bound that is none makes everything so.
fn at_least<T: Number>(x: T, bound: T) -> T {
    if x < bound || bound.is_nan() { bound } else { x }
}

fn at_most<T: Number>(x: T, bound: T) -> T {
    if x > bound || bound.is_nan() { bound } else { x }
}

impl Bound {
    fn numbers(self, inputs: &[Array]) -> Option<Numbers> {
        match self {
            Bound::None => None,
            Bound::Number(number) => Some(Numbers::Scalar(number)),
            Bound::Tensor(index) => Some(Numbers::Array(inputs[index].clone())),
        }
    }

    /// The bound as it was at the time of the call; `saved` is where it would be kept.
    fn load(self, saved: Option<&SavedTensor>, at: &At<'_>) -> Result<Option<Value>> {
        match self {
            Bound::None => Ok(None),
            Bound::Number(number) => Ok(Some(Value::Scalar(number))),
            Bound::Tensor(_) => saved.map(|saved| at.load(saved).map(Value::Tensor)).transpose(),
        }
    }
}

impl Clamp {
    /// The clamped tensor and the bounds.
    fn load(
        &self,
        [x, min, max]: &[Option<SavedTensor>; 3],
        at: &At<'_>,
    ) -> Result<(Tensor, Option<Value>, Option<Value>)> {
        let Some(x) = x else { unreachable!("the clamped tensor is kept") };
        Ok((at.load(x)?, self.min.load(min.as_ref(), at)?, self.max.load(max.as_ref(), at)?))
    }

    fn has_tensors(&self) -> bool {
        [self.min, self.max].iter().any(|bound| matches!(bound, Bound::Tensor(_)))
    }

    /// Where the tangent of an input goes to: unlike a gradient, it has somewhere to go everywhere.
    fn passes_forth(&self, index: usize, saved: &[Option<SavedTensor>; 3], at: &At<'_>) -> Result<Tensor> {
        let is_bound = |bound| matches!(bound, Bound::Tensor(tensor) if tensor == index);
        match self.load(saved, at)? {
            (x, Some(min), Some(max)) if self.has_tensors() => {
                let crossed = gt(&min, &max)?;
                let below = lt(&x, &min)?;
                if is_bound(self.max) {
                    return logical::or(&crossed, &logical::and(&gt(&x, &max)?, &logical::not(&below)?)?);
                }
                let outside = if is_bound(self.min) {
                    logical::not(&below)?
                } else {
                    logical::or(&below, &gt(&x, &max)?)?
                };
                logical::not(&logical::or(&crossed, &outside)?)
            }
            // `clamp` gives the tangent of equals to the bound, `clamp_min` and `clamp_max` keep it.
            (x, Some(min), None) if self.has_tensors() => {
                let own = if self.caller == Caller::Clamp { gt(&x, &min)? } else { ge(&x, &min)? };
                if is_bound(self.min) { logical::not(&own) } else { Ok(own) }
            }
            (x, None, Some(max)) if self.has_tensors() => {
                let own = if self.caller == Caller::Clamp { lt(&x, &max)? } else { le(&x, &max)? };
                if is_bound(self.max) { logical::not(&own) } else { Ok(own) }
            }
            _ => self.passes(index, saved, at),
        }
    }

    /// Where the gradient of an input goes to: truth values.
    fn passes(&self, index: usize, saved: &[Option<SavedTensor>; 3], at: &At<'_>) -> Result<Tensor> {
        let (x, min, max) = self.load(saved, at)?;
        let both = |a: Result<Tensor>, b: Result<Tensor>| logical::and(&a?, &b?);
        let either = |a: Result<Tensor>, b: Result<Tensor>| logical::or(&a?, &b?);
        let is_min = matches!(self.min, Bound::Tensor(min) if min == index);
        match (&min, &max) {
            (Some(min), Some(max)) if index == 0 => both(ge(&x, min), le(&x, max)),
            (Some(min), Some(max)) if is_min => both(lt(&x, min), lt(min, max)),
            (Some(min), Some(max)) => either(gt(&x, max), lt(max, min)),
            (Some(min), None) if index == 0 => ge(&x, min),
            (Some(min), None) => lt(&x, min),
            (None, Some(max)) if index == 0 => le(&x, max),
            (None, Some(max)) => gt(&x, max),
            (None, None) => unreachable!("there is a bound"),
        }
    }
}

/// Numbers, and this one in the place of what is below.
pub(crate) fn not_below(x: &Array, least: f64) -> Result<Array> {
    let min = Bound::Number(least.into());
    let clamp = Clamp { min, max: Bound::None, dtype: x.dtype, caller: Caller::ClampMin };
    number_one(&clamp, std::slice::from_ref(x))
}

impl Op for Clamp {
    type Saved = [Option<SavedTensor>; 3];
    const SAVED: &'static [&'static str] = &["self", "min", "max"];

    fn name(&self) -> &'static str {
        match (self.caller, self.has_tensors()) {
            (Caller::Clamp, true) => "ClampBackward0",
            (Caller::Clamp, false) => "ClampBackward1",
            (Caller::ClampMin, false) => "ClampMinBackward0",
            (Caller::ClampMin, true) => "ClampMinBackward1",
            (Caller::ClampMax, false) => "ClampMaxBackward0",
            (Caller::ClampMax, true) => "ClampMaxBackward1",
        }
    }

    fn saved_names(&self) -> &'static [&'static str] {
        match self.caller {
            Caller::Clamp => Self::SAVED,
            Caller::ClampMin => &["self", "min", ""],
            Caller::ClampMax => &["self", "", "max"],
        }
    }

    fn inputs(&self) -> Option<Inputs> {
        let place = |bound: &Bound| match bound {
            Bound::Tensor(index) => Some(*index),
            _ => None,
        };
        (self.caller == Caller::Clamp && self.has_tensors())
            .then(|| smallvec![Some(0), place(&self.min), place(&self.max)])
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        let bound = |bound: &Bound| match bound {
            Bound::Number(number) => Some(Shown::from(*number)),
            // Where the other is a tensor it is one that was left out.
            Bound::None if self.has_tensors() => None,
            Bound::None => Some(Shown::Nothing),
            Bound::Tensor(_) => None,
        };
        let named = [("min", bound(&self.min)), ("max", bound(&self.max))];
        // Some operations have one bound only.
        let named = match self.caller {
            Caller::Clamp => &named[..],
            Caller::ClampMin => &named[..1],
            Caller::ClampMax => &named[1..],
        };
        named.iter().filter_map(|(name, shown)| Some((*name, shown.clone()?))).collect()
    }

    fn result(&self) -> Option<DType> {
        Some(self.dtype)
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let (min, max) = (self.min.numbers(inputs), self.max.numbers(inputs));
        let dtype = self.dtype.wide();
        let y = dispatch!(number dtype, T => match (number(&min, T::LOWEST), number(&max, T::HIGHEST)) {
            (Some(min), Some(max)) => {
                let x = copy::as_type_in_order(x, dtype)?;
                unary::compute::<T, T>(&x, dtype, move |x| at_most(at_least(x, min), max))?
            }
            _ => {
                let mut y = x.clone();
                if let Some(min) = min {
                    y = binary::combine::<T, T>(&Numbers::Array(y), &min, at_least)?;
                }
                match max {
                    Some(max) => binary::combine::<T, T>(&Numbers::Array(y), &max, at_most)?,
                    None => y,
                }
            }
        }, else { return Err(Error::NotImplementedFor { operation: "clamp_cpu", dtype }.into()) });
        let layouts: SmallVec<[&Layout; 3]> = inputs.iter().map(|input| &*input.layout).collect();
        Ok(smallvec![memory_order::settled(y, &layouts)?])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        let number = |bound, infinite: f64| match bound {
            Bound::None => Some(infinite.into()),
            Bound::Number(number) => Some(number),
            Bound::Tensor(_) => None,
        };
        let (min, max) = (number(self.min, f64::NEG_INFINITY)?, number(self.max, f64::INFINITY)?);
        self.dtype.is_float().then(|| Arc::new(OfOne(Between { min, max })) as Arc<dyn Direct>)
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        let bound = |bound| match bound {
            Bound::Tensor(index) => Some(keep.input(index)),
            _ => None,
        };
        [Some(keep.input(0)), bound(self.min), bound(self.max)]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let toward = |index: usize| -> Result<Option<Tensor>> {
            let wanted = at.needs(index);
            wanted.then(|| where_(&self.passes(index, saved, at)?, single(gradients), 0.0)).transpose()
        };
        (0..at.node.edges().len()).map(toward).collect()
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let mut sum: Option<Tensor> = None;
        for (index, t) in tangents.iter().enumerate() {
            let Some(t) = t else { continue };
            let part = where_(&self.passes_forth(index, saved, at)?, t, 0.0)?;
            sum = Some(match sum {
                Some(sum) => ops::add(&sum, &part)?,
                None => part,
            });
        }
        let shape = at.node.form(0).layout.clone();
        Ok(smallvec![sum.map(|sum| view::expand_to(&sum, shape.shape())).transpose()?])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.aligned(self.clone())
    }
}

/// Elements not less than `min` and not greater than `max`, of which at least one must be there.
pub fn clamp(x: &Tensor, min: Option<Operand<'_>>, max: Option<Operand<'_>>) -> Result<Tensor> {
    let dtype = batch::value_type([Some(Operand::Tensor(x)), min, max].into_iter().flatten())?;
    clamp_as(x, min, max, dtype, Caller::Clamp)
}

fn is_truth(operand: Operand<'_>) -> bool {
    operand.dtype() == DType::Bool
}

/// Elements not less than `min`.
pub fn clamp_min<'a>(x: &Tensor, min: impl Into<Operand<'a>>) -> Result<Tensor> {
    let min = min.into();
    if is_truth(x.into()) && matches!(min, Operand::Tensor(_)) && is_truth(min) {
        return ops::maximum(x, min);
    }
    clamp_as(x, Some(min), None, result_dtype(x.into(), min)?, Caller::ClampMin)
}

/// Elements not greater than `max`.
pub fn clamp_max<'a>(x: &Tensor, max: impl Into<Operand<'a>>) -> Result<Tensor> {
    let max = max.into();
    if is_truth(x.into()) && matches!(max, Operand::Tensor(_)) && is_truth(max) {
        return ops::minimum(x, max);
    }
    clamp_as(x, None, Some(max), result_dtype(x.into(), max)?, Caller::ClampMax)
}

fn clamp_as(
    x: &Tensor,
    min: Option<Operand<'_>>,
    max: Option<Operand<'_>>,
    dtype: DType,
    caller: Caller,
) -> Result<Tensor> {
    if min.is_none() && max.is_none() {
        return Err(Error::ClampBounds {}.into());
    }
    if dtype.is_complex() {
        return Err(Error::ClampedComplex {}.into());
    }
    for bound in [min, max] {
        if let Some(Operand::Scalar(number)) = bound {
            create::check_value(number, dtype)?;
        }
    }
    let mut inputs: SmallVec<[&Tensor; 3]> = smallvec![x];
    let mut bound = |operand| match operand {
        None => Bound::None,
        Some(Operand::Scalar(number)) => Bound::Number(number),
        Some(Operand::Tensor(tensor)) => {
            inputs.push(tensor);
            Bound::Tensor(inputs.len() - 1)
        }
    };
    let (min, max) = (bound(min), bound(max));
    apply_one(Clamp { min, max, dtype, caller }, &inputs)
}

/// The number that a bound is, or what stands for one that is not there.
fn number<T: Number>(bound: &Option<Numbers>, missing: T) -> Option<T> {
    match bound {
        Some(Numbers::Scalar(number)) => Some(number.to()),
        Some(Numbers::Array(_)) => None,
        None => Some(missing),
    }
}

/// Keeps elements of a floating-point type between these numbers where they lie. Answers whether that was so.
fn overwritten(x: &Tensor, [min, max]: [Option<Operand<'_>>; 2]) -> Result<bool> {
    let number = |bound: Option<Operand<'_>>, missing: f64| match bound {
        Some(Operand::Scalar(number)) => create::check_value(number, x.dtype()).map(|()| number.to_f64()),
        Some(Operand::Tensor(_)) => unreachable!("there are numbers only"),
        None => Ok(missing),
    };
    let (min, max) = (number(min, f64::NEG_INFINITY)?, number(max, f64::INFINITY)?);
    in_place::at_one_go(x, |target| {
        dispatch!(float target.dtype, T => {
            let (min, max) = (T::from_f64(min), T::from_f64(max));
            Ok(target.overwrite_slice([], |elements: &mut [T]| {
                map::map_slice_in_place(elements, move |x| at_most(at_least(x, min), max));
            }))
        }, else { Ok(false) })
    })
}

fn in_place_of<'a>(
    x: &Tensor,
    bounds: [Option<Operand<'a>>; 2],
    operation: impl Fn(&Tensor, [Option<Operand<'_>>; 2]) -> Result<Tensor> + Sync,
) -> Result<()> {
    let tensor = |bound: &Option<Operand<'a>>| match bound {
        Some(Operand::Tensor(tensor)) => Some(*tensor),
        _ => None,
    };
    let numbers = bounds.iter().flatten().all(|bound| matches!(bound, Operand::Scalar(_)));
    let operands: SmallVec<[Numbers; 3]> = [Some(Operand::Tensor(x)), bounds[0], bounds[1]]
        .into_iter()
        .flatten()
        .map(Operand::numbers)
        .collect();
    let (from, to) = (result_type(&operands)?, x.dtype());
    if numbers && !from.is_complex() && !from.can_cast(to) {
        return Err(Error::ClampCast { from, to }.into());
    }
    let others: SmallVec<[&Tensor; 2]> = bounds.iter().filter_map(tensor).collect();
    if others.is_empty() && from == to && in_place::is_plain(x) && overwritten(x, bounds)? {
        return Ok(());
    }
    in_place::through_stretches(x, &others, |x, others| {
        let mut others = others.iter();
        let own = bounds.map(|bound| match bound {
            Some(Operand::Tensor(_)) => others.next().map(|&other| other.into()),
            number => number,
        });
        operation(x, own)
    })
}

/// `clamp` in place.
pub fn clamp_(x: &Tensor, min: Option<Operand<'_>>, max: Option<Operand<'_>>) -> Result<()> {
    in_place_of(x, [min, max], |x, [min, max]| clamp(x, min, max))
}

/// `clamp_min` in place.
pub fn clamp_min_<'a>(x: &Tensor, min: impl Into<Operand<'a>>) -> Result<()> {
    let min = min.into();
    in_place_of(x, [Some(min), None], |x, [own, _]| clamp_min(x, own.unwrap_or(min)))
}

/// `clamp_max` in place.
pub fn clamp_max_<'a>(x: &Tensor, max: impl Into<Operand<'a>>) -> Result<()> {
    let max = max.into();
    in_place_of(x, [None, Some(max)], |x, [_, own]| clamp_max(x, own.unwrap_or(max)))
}
