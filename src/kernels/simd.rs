//! Running a plain loop with the widest vector instructions of this processor. The loops
//! themselves live with their kernels and are written for the compiler to vectorise.

/// Work shorter than this is not worth looking up the processor for.
#[cfg(not(debug_assertions))]
const SHORT: usize = 32;

/// Runs `work` compiled for the vector instructions that this processor turns out to have.
///
/// Results do not depend on the choice: multiplication and addition are never contracted.
#[inline]
#[cfg(all(not(debug_assertions), not(target_arch = "x86_64")))]
pub(super) fn vectorised<R>(len: usize, work: impl FnOnce() -> R) -> R {
    if len < SHORT { work() } else { pulp::Arch::new().dispatch(work) }
}

/// AVX2 or nothing: a third copy of every loop, for AVX-512, would make the module half as large
/// again, and most loops wait for memory.
#[inline]
#[cfg(all(not(debug_assertions), target_arch = "x86_64"))]
pub(super) fn vectorised<R>(len: usize, work: impl FnOnce() -> R) -> R {
    match if len < SHORT { None } else { pulp::x86::V3::try_new() } {
        Some(simd) => simd.vectorize(work),
        None => work(),
    }
}

/// Unoptimised builds have one copy of each loop instead of one for every kind of processor: the
/// results are the same, and they compile in a third of the time.
#[inline]
#[cfg(debug_assertions)]
pub(super) fn vectorised<R>(_len: usize, work: impl FnOnce() -> R) -> R {
    work()
}
