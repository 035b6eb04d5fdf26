//! Running a plain loop with the widest vector instructions of this processor. The loops
//! themselves live with their kernels and are written for the compiler to vectorise.

/// Work shorter than this is not worth looking up the processor for.
const SHORT: usize = 32;

/// Runs `work` compiled for the vector instructions that this processor turns out to have.
///
/// Results do not depend on the choice: multiplication and addition are never contracted.
#[inline]
pub(super) fn vectorised<R>(len: usize, work: impl FnOnce() -> R) -> R {
    if len < SHORT { work() } else { dispatched(work) }
}

#[inline(never)]
#[cfg(not(debug_assertions))]
fn dispatched<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// Unoptimised builds have one copy of each loop instead of one for every kind of processor: the
/// results are the same, and they compile in a third of the time.
#[cfg(debug_assertions)]
fn dispatched<R>(work: impl FnOnce() -> R) -> R {
    work()
}
