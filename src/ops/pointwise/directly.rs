//! Choices between few elements, and elements kept between two numbers, computed into memory that is there.

use std::mem::MaybeUninit;

use super::clamp::{at_least, at_most};
use crate::dispatch::direct::few::{Few, TYPES, has_few, is_few_of, write_each};
use crate::dispatch::direct::{Direct, Lies, Side, Single, Source, Target, misfit};
use crate::dtype::{Bool, DType, Element, Real, Scalar};
use crate::error::Result;
use crate::kernels::pointwise::map;
use crate::shape::Layout;

/// What is chosen where the condition holds, the last operand.
pub(super) enum Chosen {
    /// The operand of this number, of two.
    Operand(usize),
    /// A number, beside the only operand.
    Number(Scalar),
}

impl Chosen {
    fn choose<T: Element>(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let of = |index: usize| sources.get(index).ok_or_else(misfit);
        let elements = |index: usize| Few::<T>::of(of(index)?, target.count);
        let (yes, no, condition) = match self {
            Chosen::Operand(yes) => (elements(*yes)?, elements(1 - yes)?, of(2)?),
            Chosen::Number(number) => (Few::All(number.to()), elements(0)?, of(1)?),
        };
        let condition = Few::<Bool>::of(condition, target.count)?;
        write_each(sources, target, |at| if condition.at(at).get() { yes.at(at) } else { no.at(at) });
        Ok(())
    }
}

impl Direct for Chosen {
    fn takes(&self, operands: &[Lies<'_>], (result, dtype): (&Layout, DType)) -> bool {
        let Some((condition, others)) = operands.split_last() else { return false };
        TYPES.contains(&dtype)
            && has_few(result)
            && is_few_of(condition, DType::Bool, result)
            && others.iter().all(|operand| is_few_of(operand, dtype, result))
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        dispatch!(usual target.array.dtype, T => self.choose::<T>(sources, target), else { Err(misfit()) })
    }
}

/// Bounds, infinite ones where there is none.
pub(super) struct Between {
    pub(super) min: Scalar,
    pub(super) max: Scalar,
}

impl Single for Between {
    fn write<T: Real>(&self, x: Side<'_, T>, y: &mut [MaybeUninit<T>]) {
        let (min, max): (T, T) = (self.min.to(), self.max.to());
        x.through(y, &|x, y| map::map_slice(x, y, move |x| at_most(at_least(x, min), max)));
    }
}
