//! Steps of optimisers as one operation on a parameter, its gradient and what is remembered of earlier ones. Nothing
//! is recorded here: who wants a derivative of a step writes it in operations.

mod kind;

use std::sync::Arc;

use smallvec::SmallVec;

use crate::dispatch::apply::Outputs;
use crate::dispatch::direct::{Direct, Lies, Source, Target, misfit};
use crate::dispatch::long_work;
use crate::dispatch::modes::plain::{Portable, Row, plain};
use crate::dispatch::modes::{intercept, recording};
use crate::dispatch::operand::Value;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::mode;
use crate::shape::Layout;
use crate::tensor::{Array, Tensor};

pub use crate::kernels::neural::descent::{Adadelta, RmsProp, Sgd, Way};
pub use kind::{Descent, Moments};

/// What a step goes along, of a parameter and what is remembered of it.
type Slices = SmallVec<[Array; 5]>;

/// Single numbers that a step reads and writes.
type Counts = SmallVec<[Array; 3]>;

/// A parameter and all that its step reads and writes.
pub struct Step<'a> {
    /// The parameter.
    pub parameter: &'a Tensor,
    /// Its gradient.
    pub gradient: &'a Tensor,
    /// Single numbers that are remembered, as `Descent::scalars` names them.
    pub scalars: &'a [Tensor],
    /// What is remembered, as `Descent::states` names it.
    pub states: &'a [Tensor],
}

impl Step<'_> {
    /// Takes the step, if these are numbers of one type and shape that lie apart and in order, and nobody is to be
    /// shown what is done with them. Answers whether they are; nothing is written otherwise.
    pub fn take(&self, descent: &Descent, way: Way) -> Result<bool> {
        let is_recorded = recording::is_on() && !mode::is_grad_enabled() && !intercept::is_intercepting();
        if !is_recorded && !mode::is_plain() {
            return Ok(false);
        }
        let Some(arrays) = self.arrays() else { return Ok(false) };
        match is_recorded {
            true => self.compute_recorded(*descent, way)?,
            false => compute(arrays, descent, way)?,
        }
        self.scalars.iter().chain(self.written()).try_for_each(Tensor::bump_version)?;
        Ok(true)
    }

    /// What the step overwrites beside single numbers.
    fn written(&self) -> impl Iterator<Item = &Tensor> {
        std::iter::once(self.parameter).chain(self.states)
    }

    /// What is written, then the gradient; and single numbers. Nothing if they are not plain numbers.
    fn arrays(&self) -> Option<(Slices, Counts)> {
        let mut arrays: Slices = self.written().map(Tensor::memory).collect();
        arrays.push(self.gradient.memory());
        let scalars: Counts = self.scalars.iter().map(Tensor::memory).collect();
        is_plain(&arrays, &scalars).then_some((arrays, scalars))
    }

    /// `compute` as one operation of a record.
    fn compute_recorded(&self, descent: Descent, way: Way) -> Result<()> {
        let targets: SmallVec<[&Tensor; 5]> = self.written().chain(self.scalars).collect();
        let own = Recorded { descent, way, is_counted: !self.scalars.is_empty(), written: targets.len() };
        recording::overwriting_of("step", &targets, &[self.gradient], &descent.numbers(), own)
    }
}

/// Overwrites the numbers of a step. It takes the handles, which are gone when writes are counted: they would be taken
/// for those to memory that others see.
fn compute((arrays, scalars): (Slices, Counts), descent: &Descent, way: Way) -> Result<()> {
    let counted = descent.count(&scalars.iter().collect::<SmallVec<[&Array; 3]>>());
    let elements = arrays[0].layout.numel() as u64;
    let compute = || {
        let arrays: SmallVec<[&Array; 5]> = arrays.iter().collect();
        dispatch!(float arrays[0].dtype, T => descent.move_along::<T>(way, counted, &arrays), else {
            return Err(misfit())
        });
        Ok(())
    };
    // Some three operations a nanosecond, as many as there are slices.
    match long_work::is_long(elements) {
        true => long_work::at_length(true, compute),
        false => compute(),
    }
}

/// A step of arrays that were plain when it was recorded: what is written, single numbers, then the gradient; and the
/// numbers that schedules change.
#[derive(Clone)]
struct Recorded {
    descent: Descent,
    way: Way,
    is_counted: bool,
    /// How many arrays are written, with the single numbers.
    written: usize,
}

impl Recorded {
    /// How many single numbers are written.
    fn scalars(&self) -> usize {
        if self.is_counted { self.descent.scalars().len() } else { 0 }
    }
}

impl Portable for Recorded {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let tensors = operands.iter().map_while(|operand| match operand {
            Value::Tensor(tensor) => Some(tensor.clone()),
            Value::Scalar(_) => None,
        });
        let tensors: SmallVec<[Tensor; 6]> = tensors.collect();
        let numbers = operands.iter().filter_map(|operand| match operand {
            Value::Scalar(number) => Some(number.to_f64()),
            Value::Tensor(_) => None,
        });
        let descent = self.descent.with_numbers(&numbers.collect::<SmallVec<[f64; 2]>>());
        let [targets @ .., gradient] = &tensors[..] else { return Err(misfit()) };
        let (written, scalars) = targets.split_at(targets.len().saturating_sub(self.scalars()));
        let [parameter, states @ ..] = written else { return Err(misfit()) };
        let Some(arrays) = (Step { parameter, gradient, scalars, states }).arrays() else {
            return Err(misfit());
        };
        compute(arrays, &descent, self.way).map(|()| Outputs::new())
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
        let is_tensor = |operand: &Lies<'_>| matches!(operand, Lies::Tensor(..));
        let tensors = operands.iter().take_while(|operand| is_tensor(operand)).count();
        tensors == self.written + 1
            && tensors > self.scalars() + 1
            && !operands[tensors..].iter().any(is_tensor)
    }

    fn compute(&self, sources: &[Source<'_>], _target: Target<'_>) -> Result<()> {
        let mut arrays: SmallVec<[&Array; 8]> = sources.iter().filter_map(Source::array).collect();
        let numbers = sources.iter().filter_map(|source| match source {
            Source::Number(number) => Some(number.to_f64()),
            Source::Array(..) => None,
        });
        let descent = self.descent.with_numbers(&numbers.collect::<SmallVec<[f64; 2]>>());
        let first = self.written - self.scalars();
        let scalars: SmallVec<[&Array; 3]> = arrays.drain(first..self.written).collect();
        let counted = descent.count(&scalars);
        dispatch!(float arrays[0].dtype, T => descent.move_along::<T>(self.way, counted, &arrays), else {
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
fn is_plain(arrays: &[Array], scalars: &[Array]) -> bool {
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
        && scalars.iter().all(counts)
        && (0..scalars.len())
            .all(|index| scalars[index + 1..].iter().all(|other| !scalars[index].overlaps(other)))
}

plain! {
    struct Recorded { descent, way, is_counted, written }
    struct Way { is_upward, decay }
    struct Sgd { rate, momentum, dampening, nesterov }
    struct RmsProp { rate, alpha, eps, momentum }
}

/// How a step is written as plain data.
pub const ROWS: &[Row] = &[Row::of::<Recorded>("step")];
