//! Elements kept between two numbers, computed into memory that is there.

use std::mem::MaybeUninit;

use super::{at_least, at_most};
use crate::dispatch::direct::{Side, Single};
use crate::dtype::{Real, Scalar};
use crate::kernels::pointwise::map;

/// Bounds, infinite ones where there is none.
pub(super) struct Between {
    pub(super) min: Scalar,
    pub(super) max: Scalar,
}

impl Single for Between {
    fn write<T: Real>(&self, x: Side<'_, T>, y: &mut [MaybeUninit<T>]) {
        let (min, max): (T, T) = (self.min.to(), self.max.to());
        x.through(y, &|x, y| map::map_slice(x, y, move |x| at_most(at_least(x, min), max)));
    }
}
