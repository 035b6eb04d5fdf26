//! Comparisons of few elements, computed into memory that is there.

use super::Question;
use crate::dispatch::direct::few::{Few, TYPES, has_few, is_few_of, write_each};
use crate::dispatch::direct::{Direct, Lies, Source, Target, misfit};
use crate::dtype::{Bool, DType, Ordered, Scalar};
use crate::error::Result;
use crate::shape::Layout;

impl Question {
    fn answers<T: Ordered>(self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let [a, b] = sources else { return Err(misfit()) };
        let (a, b) = (Few::<T>::of(a, target.count)?, Few::<T>::of(b, target.count)?);
        match self {
            Question::Equal => write_each(sources, target, |at| Bool::new(a.at(at) == b.at(at))),
            Question::NotEqual => write_each(sources, target, |at| Bool::new(a.at(at) != b.at(at))),
            Question::Less => write_each(sources, target, |at| Bool::new(a.at(at) < b.at(at))),
            Question::LessEqual => write_each(sources, target, |at| Bool::new(a.at(at) <= b.at(at))),
            Question::Greater => write_each(sources, target, |at| Bool::new(a.at(at) > b.at(at))),
            Question::GreaterEqual => write_each(sources, target, |at| Bool::new(a.at(at) >= b.at(at))),
        }
        Ok(())
    }
}

/// The type in which operands are compared, if there are loops for it.
fn compared(operands: &[Lies<'_>]) -> Option<DType> {
    let dtype = operands.iter().find_map(|operand| match operand {
        Lies::Tensor(_, dtype) => Some(*dtype),
        Lies::Number(_) => None,
    });
    dtype.filter(|dtype| TYPES.contains(dtype))
}

impl Direct for Question {
    fn takes(&self, operands: &[Lies<'_>], (result, _): (&Layout, DType)) -> bool {
        let Some(dtype) = compared(operands) else { return false };
        let goes_along = |operand: &Lies<'_>| match operand {
            Lies::Number(Scalar::Int(_)) => true,
            Lies::Number(Scalar::Float(_)) => dtype.is_float(),
            Lies::Number(_) => false,
            tensor => is_few_of(tensor, dtype, result),
        };
        has_few(result) && operands.iter().all(goes_along)
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let array = sources.iter().find_map(Source::array).ok_or_else(misfit)?;
        dispatch!(usual array.dtype, T => self.answers::<T>(sources, target), else { Err(misfit()) })
    }
}
