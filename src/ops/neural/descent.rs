//! Steps of optimisers as one operation on a parameter, its gradient and what is remembered of earlier ones. Nothing
//! is recorded here: who wants a derivative of a step writes it in operations.

use std::hint::black_box;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::dispatch::apply::Outputs;
use crate::dispatch::direct::{Direct, Lies, Source, Target, misfit};
use crate::dispatch::long_work;
use crate::dispatch::modes::plain::{Plain, Portable, Reader, Row, damaged, plain};
use crate::dispatch::modes::{intercept, recording};
use crate::dispatch::operand::Value;
use crate::dtype::{DType, Real};
use crate::error::Result;
use crate::graph::mode;
use crate::kernels::neural::descent::{Adagrad, Adam, RmsProp, Sgd, Way};
use crate::shape::Layout;
use crate::tensor::{Array, Tensor};

/// What optimisers do with a parameter. What it is multiplied by, and with what, is in 64 bits until it meets numbers.
#[derive(Clone, Copy, Debug)]
pub enum Descent {
    /// Stochastic gradient descent.
    Sgd(Sgd),
    /// Adam.
    Adam {
        /// How far a step goes.
        rate: f64,
        /// What stays of the mean, and of that of squares.
        betas: [f64; 2],
        /// Added to the root of the latter.
        eps: f64,
        /// How fast parameters fall by themselves.
        decay: f64,
        /// Whether steps are over the root of the greatest mean of squares so far.
        amsgrad: bool,
    },
    /// RMSprop, with the square of the mean taken from the mean of squares or without.
    RmsProp(RmsProp, bool),
    /// Adagrad.
    Adagrad {
        /// How far the first step goes.
        rate: f64,
        /// How much faster later ones become shorter.
        decay: f64,
        /// Added to the root of the sum of squares.
        eps: f64,
    },
}

impl Descent {
    /// What is remembered of a parameter, in the order of `Step::states`.
    pub fn states(&self) -> &'static [&'static str] {
        match self {
            Descent::Sgd(Sgd { momentum: 0.0, .. }) => &[],
            Descent::Sgd(_) => &["momentum_buffer"],
            Descent::Adam { amsgrad: false, .. } => &["exp_avg", "exp_avg_sq"],
            Descent::Adam { amsgrad: true, .. } => &["exp_avg", "exp_avg_sq", "max_exp_avg_sq"],
            Descent::RmsProp(RmsProp { momentum, .. }, is_centred) => match (*momentum > 0.0, is_centred) {
                (false, false) => &["square_avg"],
                (false, true) => &["square_avg", "grad_avg"],
                (true, false) => &["square_avg", "momentum_buffer"],
                (true, true) => &["square_avg", "grad_avg", "momentum_buffer"],
            },
            Descent::Adagrad { .. } => &["sum"],
        }
    }

    /// How far a step goes.
    fn rate(&self) -> f64 {
        match self {
            Descent::Sgd(Sgd { rate, .. }) | Descent::RmsProp(RmsProp { rate, .. }, _) => *rate,
            Descent::Adam { rate, .. } | Descent::Adagrad { rate, .. } => *rate,
        }
    }

    /// The same with steps that go as far as this.
    fn with_rate(mut self, other: f64) -> Descent {
        match &mut self {
            Descent::Sgd(Sgd { rate, .. }) | Descent::RmsProp(RmsProp { rate, .. }, _) => *rate = other,
            Descent::Adam { rate, .. } | Descent::Adagrad { rate, .. } => *rate = other,
        }
        self
    }

    /// Whether the steps of each parameter are counted.
    pub fn counts(&self) -> bool {
        !matches!(self, Descent::Sgd(_))
    }
}

/// A parameter and all that its step reads and writes.
pub struct Step<'a> {
    /// The parameter.
    pub parameter: &'a Tensor,
    /// Its gradient.
    pub gradient: &'a Tensor,
    /// How many steps there were, if they are counted.
    pub count: Option<&'a Tensor>,
    /// What is remembered, as `Descent::states` names it.
    pub states: &'a [Tensor],
}

impl Step<'_> {
    /// Takes the step, if these are numbers of one type and shape that lie apart and in order, and nobody is to be
    /// shown what is done with them. Answers whether they are; nothing is written otherwise.
    pub fn take(&self, descent: &Descent, way: Way) -> Result<bool> {
        let is_recorded = recording::is_on() && !mode::is_grad_enabled() && !intercept::is_intercepting();
        if !is_recorded && !mode::is_plain() || self.arrays().is_none() {
            return Ok(false);
        }
        match is_recorded {
            true => self.compute_recorded(*descent, way)?,
            false => self.compute(descent, way)?,
        }
        self.count.into_iter().chain(self.written()).try_for_each(Tensor::bump_version)?;
        Ok(true)
    }

    /// What the step overwrites beside the count.
    fn written(&self) -> impl Iterator<Item = &Tensor> {
        std::iter::once(self.parameter).chain(self.states)
    }

    /// What is written, then the gradient; and the count. Nothing if they are not plain numbers.
    fn arrays(&self) -> Option<(SmallVec<[Array; 5]>, Option<Array>)> {
        let mut arrays: SmallVec<[Array; 5]> = self.written().map(Tensor::memory).collect();
        arrays.push(self.gradient.memory());
        let count = self.count.map(Tensor::memory);
        is_plain(&arrays, count.as_ref()).then_some((arrays, count))
    }

    /// Overwrites the numbers.
    fn compute(&self, descent: &Descent, way: Way) -> Result<()> {
        let Some((arrays, count)) = self.arrays() else { return Err(misfit()) };
        let counted = count.as_ref().map(counted).transpose()?;
        let elements = arrays[0].layout.numel() as u64;
        let compute = || {
            let arrays: SmallVec<[&Array; 5]> = arrays.iter().collect();
            dispatch!(float arrays[0].dtype, T => move_along::<T>(descent, way, counted, &arrays), else {
                return Err(misfit())
            });
            Ok(())
        };
        // Some three operations a nanosecond, as many as there are slices. Handles of ours are gone when writes are
        // counted: they would be taken for those to memory that others see.
        match long_work::is_long(elements) {
            true => long_work::at_length(true, compute),
            false => compute(),
        }
    }

    /// `compute` as one operation of a record.
    fn compute_recorded(&self, descent: Descent, way: Way) -> Result<()> {
        let targets: SmallVec<[&Tensor; 5]> = self.written().chain(self.count).collect();
        let own = Recorded { descent, way, is_counted: self.count.is_some(), written: targets.len() };
        recording::overwriting_of("step", &targets, &[self.gradient], Some(descent.rate()), own)
    }
}

/// A step of arrays that were plain when it was recorded: what is written, the count, then the gradient, and how far it
/// goes.
#[derive(Clone)]
struct Recorded {
    descent: Descent,
    way: Way,
    is_counted: bool,
    /// How many arrays are written, with the count.
    written: usize,
}

impl Portable for Recorded {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let tensors = intercept::tensors(operands);
        let rate = match operands.last() {
            Some(Value::Scalar(rate)) => rate.to_f64(),
            _ => self.descent.rate(),
        };
        let [targets @ .., gradient] = &tensors[..] else { return Err(misfit()) };
        let (written, count) = targets.split_at(targets.len().saturating_sub(usize::from(self.is_counted)));
        let [parameter, states @ ..] = written else { return Err(misfit()) };
        let states: SmallVec<[Tensor; 3]> = states.iter().map(|&state| state.clone()).collect();
        let step = Step { parameter, gradient, count: count.first().copied(), states: &states };
        step.compute(&self.descent.with_rate(rate), self.way).map(|()| Outputs::new())
    }

    fn targets(&self) -> usize {
        self.written
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(self.clone()))
    }
}

impl Direct for Recorded {
    fn takes(&self, operands: &[Lies<'_>], _result: (&Layout, DType)) -> bool {
        let [tensors @ .., Lies::Number(_)] = operands else { return false };
        tensors.iter().all(|operand| matches!(operand, Lies::Tensor(..)))
    }

    fn compute(&self, sources: &[Source<'_>], _target: Target<'_>) -> Result<()> {
        let mut arrays: SmallVec<[&Array; 6]> = sources.iter().filter_map(Source::array).collect();
        let count = if self.is_counted { Some(arrays.remove(arrays.len() - 2)) } else { None };
        let counted = count.map(counted).transpose()?;
        let descent = match sources.last() {
            Some(Source::Number(rate)) => self.descent.with_rate(rate.to_f64()),
            _ => self.descent,
        };
        dispatch!(float arrays[0].dtype, T => move_along::<T>(&descent, self.way, counted, &arrays), else {
            return Err(misfit())
        });
        Ok(())
    }
}

/// Whether steps are calculated in this type.
fn is_calculated(dtype: DType) -> bool {
    matches!(dtype, DType::Float32 | DType::Float64)
}

/// Whether arrays, of which all but the last are written, are of one floating-point type and shape, in order and apart.
fn is_plain(arrays: &[Array], count: Option<&Array>) -> bool {
    let first = &arrays[0];
    let is_alike = |array: &Array| {
        array.dtype == first.dtype
            && array.layout.is_contiguous()
            && (array.layout.is(&first.layout) || array.layout.shape() == first.layout.shape())
    };
    let is_apart = |index: usize| arrays[index + 1..].iter().all(|other| !arrays[index].overlaps(other));
    let counts = |count: &Array| {
        is_calculated(count.dtype)
            && count.layout.ndim() == 0
            && count.storage.is_counted()
            && arrays.iter().all(|array| !array.overlaps(count))
    };
    is_calculated(first.dtype)
        && arrays.iter().all(is_alike)
        && arrays[..arrays.len() - 1].iter().all(|array| array.storage.is_counted())
        && (0..arrays.len()).all(is_apart)
        && count.is_none_or(counts)
}

/// Counts one more step; answers how many there are.
fn counted(count: &Array) -> Result<f64> {
    fn one_more<T: Real>(count: &Array) -> f64 {
        let mut counted = 0.0;
        count.overwrite_slice::<T>([], |numbers| {
            if let [number] = numbers {
                *number = *number + T::ONE;
                counted = number.to_f64();
            }
        });
        counted
    }
    Ok(dispatch!(float count.dtype, T => one_more::<T>(count), else { 0.0 }))
}

/// As languages have it: a root is not taken for a power of one half, which may round in another way.
fn power(base: f64, exponent: f64) -> f64 {
    base.powf(black_box(exponent))
}

/// One pass over the numbers of a parameter, its states and its gradient.
fn move_along<T: Real>(descent: &Descent, way: Way, counted: Option<f64>, arrays: &[&Array]) {
    let steps = counted.unwrap_or_default();
    let [rest @ .., last] = arrays else { return };
    let Some(g) = last.slice::<T>() else { return };
    Array::overwrite_slices(rest, &[last], |written| match (*descent, written) {
        (Descent::Sgd(step), [p]) => step.plain(way, p, g),
        (Descent::Sgd(step), [p, buffer]) => step.with_momentum(way, [p, buffer], g),
        (Descent::Adam { rate, betas, eps, decay, .. }, written) => {
            let [first, second] = betas.map(|beta| 1.0 - power(beta, steps));
            let shrink = (decay != 0.0).then_some(1.0 - rate * decay);
            let step = Adam { length: rate / first, spread: power(second, 0.5), betas, eps, shrink };
            match written {
                [p, mean, square] => step.plain(way, [p, mean, square], g),
                [p, mean, square, most] => step.with_greatest(way, [p, mean, square, most], g),
                _ => {}
            }
        }
        (Descent::RmsProp(step, _), [p, square]) => step.plain(way, [p, square], g),
        (Descent::RmsProp(step, true), [p, square, mean]) => step.centred(way, [p, square, mean], g),
        (Descent::RmsProp(step, false), [p, square, buffer]) => {
            step.with_momentum(way, [p, square, buffer], g);
        }
        (Descent::RmsProp(step, _), [p, square, mean, buffer]) => {
            step.centred_with_momentum(way, [p, square, mean, buffer], g);
        }
        (Descent::Adagrad { rate, decay, eps }, [p, sum]) => {
            let step = Adagrad { rate: rate / (1.0 + (steps - 1.0) * decay), eps };
            step.plain(way, [p, sum], g);
        }
        _ => {}
    });
}

plain! {
    struct Recorded { descent, way, is_counted, written }
    struct Way { is_upward, decay }
    struct Sgd { rate, momentum, dampening, nesterov }
    struct RmsProp { rate, alpha, eps, momentum }
}

impl Plain for Descent {
    fn write(&self, to: &mut Vec<u8>) {
        match *self {
            Descent::Sgd(sgd) => {
                0u8.write(to);
                sgd.write(to);
            }
            Descent::Adam { rate, betas: [first, second], eps, decay, amsgrad } => {
                (1u8, [rate, first, second, eps, decay]).write(to);
                amsgrad.write(to);
            }
            Descent::RmsProp(own, is_centred) => {
                2u8.write(to);
                own.write(to);
                is_centred.write(to);
            }
            Descent::Adagrad { rate, decay, eps } => (3u8, [rate, decay, eps]).write(to),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Descent> {
        Ok(match u8::read(from)? {
            0 => Descent::Sgd(Sgd::read(from)?),
            1 => {
                let [rate, first, second, eps, decay] = <[f64; 5]>::read(from)?;
                Descent::Adam { rate, betas: [first, second], eps, decay, amsgrad: bool::read(from)? }
            }
            2 => Descent::RmsProp(RmsProp::read(from)?, bool::read(from)?),
            3 => {
                let [rate, decay, eps] = <[f64; 3]>::read(from)?;
                Descent::Adagrad { rate, decay, eps }
            }
            _ => return Err(damaged("a step is unknown")),
        })
    }
}

/// How a step is written as plain data.
pub const ROWS: &[Row] = &[Row::of::<Recorded>("step")];
