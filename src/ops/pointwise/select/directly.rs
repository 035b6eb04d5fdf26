//! Choices between few elements, computed into memory that is there.

use crate::dispatch::direct::few::{Few, has_few, is_few_of, write_each};
use crate::dispatch::direct::{Direct, Lies, Source, Target, misfit};
use crate::dtype::{Bool, DType, Element, Scalar};
use crate::error::Result;
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
