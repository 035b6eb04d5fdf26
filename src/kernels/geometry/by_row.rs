//! Results that are written row by row, each from a place that its number says.

use std::mem::MaybeUninit;

use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;

/// Calls `write` with the number of each row of `out` and its memory, `width` elements, shared among threads.
pub(super) fn each_row<T: Send>(
    out: &mut [MaybeUninit<T>],
    width: usize,
    write: impl Fn(usize, &mut [MaybeUninit<T>]) + Sync,
) {
    let width = width.max(1);
    parallel_parts(out, (GRAIN / width).max(1) * width, |start, part| {
        let mut steps = Steps::default();
        for (row, out) in (start / width..).zip(part.chunks_exact_mut(width)) {
            steps.take(width);
            write(row, out);
        }
    });
}
