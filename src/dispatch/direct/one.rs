//! Elementwise operations of one operand, computed into memory that exists.

use std::mem::MaybeUninit;

use super::{Beside, Direct, Lies, Registers, Side, Source, Target, beside, is_one_like, misfit};
use crate::dtype::{DType, Real};
use crate::error::Result;
use crate::shape::Layout;

/// The loop of such an operation.
pub(crate) trait Single: Send + Sync {
    /// Computes `y` from the elements of `x`, one each.
    fn write<T: Real>(&self, x: Side<'_, T>, y: &mut [MaybeUninit<T>]);
}

/// An elementwise operation with this loop.
pub(crate) struct OfOne<E>(pub(crate) E);

impl<E: Single> Direct for OfOne<E> {
    fn is_elementwise(&self) -> bool {
        true
    }

    fn takes(&self, operands: &[Lies<'_>], result: (&Layout, DType)) -> bool {
        let is_apart = || match operands {
            [Lies::Tensor(layout, dtype)] => {
                *dtype == result.1 && matches!(beside(layout, result.0), Some(Beside::Apart(..)))
            }
            _ => false,
        };
        is_one_like(operands, result) || is_apart()
    }

    fn takes_registers(&self) -> bool {
        true
    }

    fn in_registers(&self, registers: &Registers<'_>) -> Result<()> {
        dispatch!(float registers.file.dtype, T => registers.write_of_one(|x: Side<'_, T>, y| self.0.write(x, y)), else {
            Err(misfit())
        })
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        dispatch!(float target.array.dtype, T => {
            let side = Side::<T>::of(&sources[0], target.count)?;
            target.write_of(sources, |y| self.0.write(side, y));
        }, else { return Err(misfit()) });
        Ok(())
    }
}
