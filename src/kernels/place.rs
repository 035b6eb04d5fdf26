//! Where results go: into memory that holds nothing yet, or in the place of what is there.

use std::mem::MaybeUninit;

use crate::dtype::Number;

/// What is written to: elements, or memory of such.
pub(super) trait Place<T>: Copy + Send {
    /// A place that is still to be written to.
    const EMPTY: Self;
    /// Writes one.
    fn put(&mut self, value: T);
    /// Writes all.
    fn copied<'a>(places: &'a mut [Self], from: &[T]) -> &'a mut [T];
}

impl<T: Number> Place<T> for T {
    const EMPTY: T = T::ZERO;

    #[inline(always)]
    fn put(&mut self, value: T) {
        *self = value;
    }

    #[inline(always)]
    fn copied<'a>(places: &'a mut [T], from: &[T]) -> &'a mut [T] {
        places.copy_from_slice(from);
        places
    }
}

impl<T: Number> Place<T> for MaybeUninit<T> {
    const EMPTY: MaybeUninit<T> = MaybeUninit::uninit();

    #[inline(always)]
    fn put(&mut self, value: T) {
        self.write(value);
    }

    #[inline(always)]
    fn copied<'a>(places: &'a mut [MaybeUninit<T>], from: &[T]) -> &'a mut [T] {
        places.write_copy_of_slice(from)
    }
}
