//! Calls of the library `faer` that can be given up, although it cannot.
//!
//! Note [Where a library ends]
//! ----
//! Functions here answer whether there is a result. There is none where an iteration does not end or where the
//! library gives up by a panic, which is caught here and goes no further; whoever asked then goes another way.
//!
//! What the library computes in one call cannot be given up in between. Where that takes long and somebody may want to,
//! it is done by a thread of its own, with numbers of its own, that is left alone when the work is given up: it comes to
//! its end, and nobody looks at it. Columns that do not depend on each other are handed over a few at a time instead.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use faer::MatMut;
use gemm_common::cache::CACHE_INFO;

use super::{interrupt, library};
use crate::kernels::linalg::gemm;

/// As much as products of blocks take beside what the library keeps for each thread.
const BLOCKS: usize = 1 << 23;

/// Rows and columns of a product for which the library takes what it keeps.
const SIDE: usize = 64;

/// Has the library take what it keeps for this thread, twice the last cache, while there is so much.
fn have_kept() {
    thread_local!(static HAS_KEPT: Cell<bool> = const { Cell::new(false) });
    if !HAS_KEPT.get() {
        let _kept = interrupt::reserve(2 * CACHE_INFO[2].cache_bytes);
        let (factor, mut product) = ([1.0_f64; SIDE * SIDE], [0.0; SIDE * SIDE]);
        library::product(&factor, &factor, (SIDE, SIDE, SIDE), &mut product);
        HAS_KEPT.set(true);
    }
}

/// What the library answers, unless it panics.
fn answer<R>(work: impl FnOnce() -> R) -> Option<R> {
    let _products = gemm::reserve::<f64>(0, 0, 0);
    have_kept();
    let _blocks = interrupt::reserve(BLOCKS);
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Products of two numbers from which a call takes longer than anybody should have to wait for.
const LONG: usize = 1 << 24;

/// How often it is asked whether a call that takes long is still wanted.
const PAUSE: Duration = Duration::from_millis(20);

/// As deep as the library may call itself.
const STACK: usize = 8 << 20;

/// `answer` of work, about so many products of two numbers, that reads some numbers and writes to others, and needs
/// nothing else of anybody. Where it is not done apart, these are not copied.
pub(super) fn answer_apart<T, R, const M: usize, const N: usize>(
    products: usize,
    reads: [&[T]; M],
    writes: [&mut [T]; N],
    work: impl FnOnce([&[T]; M], [&mut [T]; N]) -> R + Send + 'static,
) -> Option<R>
where
    T: Copy + Send + 'static,
    R: Send + 'static,
{
    if products < LONG || !interrupt::is_asking() {
        return answer(|| work(reads, writes));
    }
    let own = |numbers: &[T]| interrupt::collected(numbers.iter().copied());
    let (given, mut made) = (reads.map(own), writes.each_ref().map(|numbers| own(numbers)));
    let (found, made) = in_a_thread(move || {
        let found = work(given.each_ref().map(Vec::as_slice), made.each_mut().map(Vec::as_mut_slice));
        (found, made)
    })?;
    writes.into_iter().zip(&made).for_each(|(numbers, made)| numbers.copy_from_slice(made));
    Some(found)
}

/// `answer` by a thread of its own, which is left alone when the work is given up.
fn in_a_thread<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> Option<R> {
    let (done, waiting) = sync_channel(1);
    // What unwinds where there is no memory goes on unwinding over here.
    let run = move || drop(done.send(catch_unwind(AssertUnwindSafe(|| answer(work)))));
    if thread::Builder::new().stack_size(STACK).spawn(run).is_err() {
        interrupt::exhausted(STACK);
    }
    loop {
        match waiting.recv_timeout(PAUSE) {
            Ok(answer) => return answer.unwrap_or_else(|exhausted| resume_unwind(exhausted)),
            Err(RecvTimeoutError::Timeout) => interrupt::unwind_if_due(),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// Columns that are handed over at a time.
pub(super) const COLUMNS: usize = 128;

/// Calls `work` with a few of the columns, which have so many rows, after the other.
pub(super) fn few_at_a_time<T>(columns: &mut [T], rows: usize, mut work: impl FnMut(MatMut<'_, T>)) -> bool {
    columns.chunks_mut(COLUMNS * rows.max(1)).all(|few| {
        interrupt::unwind_if_due();
        let count = few.len() / rows.max(1);
        answer(|| work(writable(few, rows, count))).is_some()
    })
}

/// A matrix that lies column by column, to be written to.
pub(super) fn writable<T>(numbers: &mut [T], rows: usize, columns: usize) -> MatMut<'_, T> {
    MatMut::from_column_major_slice_mut(numbers, rows, columns)
}
