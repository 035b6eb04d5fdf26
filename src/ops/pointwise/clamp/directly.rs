//! Elements kept between two numbers, computed into memory that is there.

use std::mem::MaybeUninit;

use super::{at_least, at_most};
use crate::dispatch::direct::{Direct, Lies, Registers, Side, Source, Target, is_one_like, misfit};
use crate::dtype::{DType, Number, Scalar};
use crate::error::Result;
use crate::kernels::pointwise::map;
use crate::shape::Layout;

/// The two numbers; infinite ones where there is no bound.
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
