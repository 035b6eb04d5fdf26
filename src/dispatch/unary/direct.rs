//! Elementwise operations of one tensor, computed into memory that is there.

use std::mem::MaybeUninit;

use super::Elementwise;
use super::numbers::Vector;
use crate::dispatch::direct::{
    Beside, Direct, Lies, Registers, Side, Source, Target, beside, is_one_like, misfit,
};
use crate::dtype::{DType, Real};
use crate::error::Result;
use crate::kernels::pointwise::map;
use crate::kernels::vector;
use crate::shape::Layout;

/// The operation on floating-point numbers.
pub(super) struct Directly<E>(pub(super) E);

impl<E: Elementwise> Direct for Directly<E> {
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
        dispatch!(float registers.file.dtype, T => registers.write_of_one(|x: Side<'_, T>, y| self.write(x, y)), else {
            Err(misfit())
        })
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        dispatch!(float target.array.dtype, T => {
            let side = Side::<T>::of(&sources[0], target.count)?;
            target.write_of(sources, |y| self.write(side, y));
        }, else { return Err(misfit()) });
        Ok(())
    }
}

impl<E: Elementwise> Directly<E> {
    #[inline(never)] // Once for all who call it.
    fn write<T: Real>(&self, x: Side<'_, T>, y: &mut [MaybeUninit<T>]) {
        x.through(y, &|x, y| match const { E::VECTOR.has::<T>() } {
            true => vector::map(x, [], y, Vector(self.0)),
            false => map::map_slice(x, y, self.0.loops()),
        });
    }
}
