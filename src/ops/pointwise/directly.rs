//! Choices between few elements, and elements kept between two numbers, computed into memory that is there.

use std::mem::MaybeUninit;

use super::clamp::{at_least, at_most};
use crate::dispatch::direct::few::{Few, has_few, is_few_of, write_each};
use crate::dispatch::direct::{Direct, Lies, Registers, Side, Source, Target, is_one_like, misfit};
use crate::dtype::{Bool, DType, Element, Number, Scalar};
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
        matches!(dtype, DType::Float32 | DType::Float64 | DType::Int64)
            && has_few(result)
            && is_few_of(condition, DType::Bool, result)
            && others.iter().all(|operand| is_few_of(operand, dtype, result))
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        match target.array.dtype {
            DType::Float32 => self.choose::<f32>(sources, target),
            DType::Float64 => self.choose::<f64>(sources, target),
            DType::Int64 => self.choose::<i64>(sources, target),
            _ => Err(misfit()),
        }
    }
}

/// Bounds, infinite ones where there is none.
pub(super) struct Between {
    pub(super) min: Scalar,
    pub(super) max: Scalar,
}

impl Between {
    fn write<T: Number>(&self, x: Side<'_, T>, y: &mut [MaybeUninit<T>]) {
        let (min, max): (T, T) = (self.min.to(), self.max.to());
        x.through(y, &|x, y| map::map_slice(x, y, move |x| at_most(at_least(x, min), max)));
    }
}

impl Direct for Between {
    fn is_elementwise(&self) -> bool {
        true
    }

    fn takes(&self, operands: &[Lies<'_>], result: (&Layout, DType)) -> bool {
        is_one_like(operands, result)
    }

    fn takes_registers(&self) -> bool {
        true
    }

    fn in_registers(&self, registers: &Registers<'_>) -> Result<()> {
        dispatch!(float registers.file.dtype, T => registers.write_of_one(|x: Side<'_, T>, y| self.write(x, y)), else {
            Err(misfit())
        })
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        dispatch!(float target.array.dtype, T => {
            let x = Side::<T>::of(&sources[0], target.count)?;
            target.write_of(sources, |y| self.write(x, y));
        }, else { return Err(misfit()) });
        Ok(())
    }
}
