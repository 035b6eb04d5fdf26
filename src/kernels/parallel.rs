//! Splitting work over threads: the façade over rayon that every kernel and the backward engine
//! go through. What is computed in the pieces lives elsewhere.
//!
//! Work is cut into chunks of a fixed size. The caller takes chunks like every helper does, and at
//! the end it waits only for chunks that a helper has claimed: a helper that is busy, asleep or
//! descheduled costs nothing, and one that comes late finds nothing left to do. Between chunks the
//! work may be given up: see Note [Giving up].
//!
//! What is below the public functions takes bodies as `dyn`, so that each is compiled once: there is
//! a body for every operation and element type, and an indirect call a chunk costs nothing.

#![allow(unsafe_code)]

mod pool;
mod processors;
mod region;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use pool::{num_threads, set_num_threads, spawn};
use region::run_chunks;

use crate::kernels::interrupt;

/// The body of a loop: `Fn(A) + Sync`, but with a table of functions that holds it once. That of a closure
/// holds it a second time as an `FnOnce`, which nobody calls.
pub(super) trait Body<A>: Sync {
    /// Does its part.
    fn run(&self, part: A);
}

impl<A, F: Fn(A) + Sync> Body<A> for F {
    fn run(&self, part: A) {
        self(part);
    }
}

/// Calls `body` with consecutive ranges of `grain` numbers (the last may be shorter) that together
/// are `0..len`, in any order and on any thread.
#[inline]
pub fn parallel_for(len: usize, grain: usize, body: impl Fn(Range<usize>) + Sync) {
    each_range(len, grain, &body);
}

fn each_range(len: usize, grain: usize, body: &dyn Body<Range<usize>>) {
    let grain = grain.max(1);
    if len <= grain {
        if len > 0 {
            body.run(0..len);
        }
        return;
    }
    run_chunks(len.div_ceil(grain), &|chunk| {
        let start = chunk * grain;
        body.run(start..len.min(start + grain));
    });
}

/// The start of a slice whose disjoint parts are handed to different threads.
struct SharedStart<T>(*mut T);

// SAFETY: the pointer is only used to make disjoint `&mut [T]`, which may be sent when `T` may.
unsafe impl<T: Send> Sync for SharedStart<T> {}

impl<T> SharedStart<T> {
    /// A method, so that closures capture the whole wrapper and not the bare pointer.
    fn get(&self) -> *mut T {
        self.0
    }
}

/// Cuts `output` into parts of `grain` elements and calls `body` with each part and the position
/// of its first element.
#[inline]
pub fn parallel_parts<T: Send>(output: &mut [T], grain: usize, body: impl Fn(usize, &mut [T]) + Sync) {
    each_part(output, grain, &|(start, part): (usize, &mut [T])| body(start, part));
}

/// `parallel_parts` of a body that is compiled elsewhere.
pub(super) fn each_part<T: Send>(
    output: &mut [T],
    grain: usize,
    body: &dyn for<'a> Body<(usize, &'a mut [T])>,
) {
    let start = SharedStart(output.as_mut_ptr());
    each_range(output.len(), grain, &|range: Range<usize>| {
        // SAFETY: the ranges are inside the slice and disjoint, each is visited once, and `output`
        // stays borrowed until all are done.
        let part = unsafe { std::slice::from_raw_parts_mut(start.get().add(range.start), range.len()) };
        body.run((range.start, part));
    });
}

/// Calls `body` once with each item, `grain` items a chunk. Unwinds if there is no memory for a list of them.
#[inline]
pub fn parallel_items<I: Send>(items: impl IntoIterator<Item = I>, grain: usize, body: impl Fn(I) + Sync) {
    each_item(items, grain, &body);
}

/// `parallel_items` of a body that is compiled elsewhere.
pub(super) fn each_item<I: Send>(items: impl IntoIterator<Item = I>, grain: usize, body: &dyn Body<I>) {
    let mut items = interrupt::gathered(items.into_iter().map(Some));
    parallel_parts(&mut items, grain, |_, part| {
        part.iter_mut().filter_map(Option::take).for_each(|item| body.run(item));
    });
}
