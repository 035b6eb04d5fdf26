//! Operations of one result that a kernel writes as a whole, such as reductions and softmax.

use std::mem::MaybeUninit;

use smallvec::SmallVec;

use super::{Direct, Lies, Source, Target, misfit};
use crate::dtype::{DType, Real};
use crate::error::Result;
use crate::shape::Layout;
use crate::tensor::Array;

/// What writes a whole result, in row-major order, of operands of its own type.
pub(crate) trait Whole: Send + Sync {
    /// Whether it is computed so of operands that lie so, the first of them at least.
    fn fits(&self, _operands: &[&Layout], result: &Layout) -> bool {
        result.numel() > 0
    }

    /// Writes it.
    fn write<T: Real>(&self, operands: &[&Array], y: &mut [MaybeUninit<T>]);
}

/// Such an operation.
pub(crate) struct OfWhole<E>(pub(crate) E);

impl<E: Whole> Direct for OfWhole<E> {
    fn takes(&self, operands: &[Lies<'_>], (result, dtype): (&Layout, DType)) -> bool {
        let mut layouts = SmallVec::<[&Layout; 2]>::new();
        for operand in operands {
            match operand {
                Lies::Tensor(layout, own) if *own == dtype => layouts.push(layout),
                _ => return false,
            }
        }
        matches!(dtype, DType::Float32 | DType::Float64) && result.is_plain() && self.0.fits(&layouts, result)
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let operands: SmallVec<[&Array; 2]> = sources.iter().filter_map(Source::array).collect();
        if operands.iter().any(|operand| operand.dtype != target.array.dtype) {
            return Err(misfit());
        }
        dispatch!(float target.array.dtype, T => target.write::<T>(&operands, |y| self.0.write(&operands, y)), else {
            return Err(misfit())
        });
        Ok(())
    }
}
