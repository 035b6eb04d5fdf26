//! Elementwise operations of one tensor, computed into memory that is there.

use super::Elementwise;
use super::numbers::Vector;
use crate::dispatch::direct::{Direct, Lies, Side, Source, Target, is_one_like, misfit};
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
        is_one_like(operands, result)
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        dispatch!(float target.array.dtype, T => {
            let Side::Each(x) = Side::<T>::of(&sources[0], target.count)? else { return Err(misfit()) };
            target.write_of(sources, |y| match const { E::VECTOR.has::<T>() } {
                true => vector::map(x, [], y, Vector(self.0)),
                false => map::map_slice(x, y, self.0.loops()),
            });
        }, else { return Err(misfit()) });
        Ok(())
    }
}
