//! What the kernels' unit tests share.

#![allow(unsafe_code)]

use ndarray::ArrayViewD;
use parking_lot::Mutex;
use std::mem::MaybeUninit;

use super::geometry::strided::Strided;

use super::parallel::{num_threads, set_num_threads};

/// Serialises the tests that change the number of threads.
static TURN: Mutex<()> = Mutex::new(());

/// What `compute` gives with 1, 2 and 4 threads.
pub(super) fn at_thread_counts<R>(compute: impl Fn() -> R) -> [R; 3] {
    let _turn = TURN.lock();
    let before = num_threads();
    let results = [1, 2, 4].map(|count| {
        set_num_threads(count);
        compute()
    });
    set_num_threads(before);
    results
}

/// What a kernel writes into a fresh output of `len` elements. The memory starts out as default
/// values, so that an element which the kernel forgets is wrong and not undefined.
pub(super) fn written<U: Copy + Default>(len: usize, kernel: impl FnOnce(&mut [MaybeUninit<U>])) -> Vec<U> {
    let mut out = vec![MaybeUninit::new(U::default()); len];
    kernel(&mut out);
    // SAFETY: every element was initialised before the kernel ran.
    out.into_iter().map(|element| unsafe { element.assume_init() }).collect()
}

/// A view of these elements by its strides, of which none is negative.
pub(super) fn strided<'a, T>(view: &ArrayViewD<'_, T>, elements: &'a [T]) -> Strided<'a, T> {
    let strides: Vec<usize> = view.strides().iter().map(|&stride| stride.cast_unsigned()).collect();
    let first = (view.as_ptr().addr() - elements.as_ptr().addr()) / size_of::<T>().max(1);
    Strided::new(&elements[first..], view.shape(), &strides)
}
