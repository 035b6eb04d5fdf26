//! Elementwise operations of one tensor, computed into memory that is there.

use std::mem::MaybeUninit;

use super::Elementwise;
use super::numbers::Vector;
use crate::dispatch::direct::{Side, Single};
use crate::dtype::Real;
use crate::kernels::pointwise::map;
use crate::kernels::vector;

/// The operation on floating-point numbers.
pub(super) struct Directly<E>(pub(super) E);

impl<E: Elementwise> Single for Directly<E> {
    #[inline(never)] // Once for all who call it.
    fn write<T: Real>(&self, x: Side<'_, T>, y: &mut [MaybeUninit<T>]) {
        x.through(y, &|x, y| match const { E::VECTOR.has::<T>() } {
            true => vector::map(x, [], y, Vector(self.0)),
            false => map::map_slice(x, y, self.0.loops()),
        });
    }
}
