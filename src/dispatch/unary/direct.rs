//! Elementwise operations of one tensor, computed into memory that is there.

use super::Elementwise;
use super::numbers::Vector;
use crate::dispatch::direct::{Beside, Direct, Lies, Side, Source, Target, beside, is_one_like, misfit};
use crate::dtype::DType;
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

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        dispatch!(float target.array.dtype, T => {
            let side = Side::<T>::of(&sources[0], target.count)?;
            target.write_of(sources, |y| side.through(y, &|x, y| match const { E::VECTOR.has::<T>() } {
                true => vector::map(x, [], y, Vector(self.0)),
                false => map::map_slice(x, y, self.0.loops()),
            }));
        }, else { return Err(misfit()) });
        Ok(())
    }
}
