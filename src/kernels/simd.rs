//! Running a plain loop with the widest vector instructions of this processor. The loops
//! themselves live with their kernels and are written for the compiler to vectorise.

use crate::dtype::Real;
use crate::kernels::pointwise::math::Arithmetic;
#[cfg(not(debug_assertions))]
use crate::kernels::pointwise::math::Fused;

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

/// Work with numbers that is written for plain arithmetic and for fused, of which a processor has the one or the other.
pub(super) trait Calculation<T> {
    /// What comes of it.
    type Output;

    /// Whether it is compiled for the widest vectors too.
    #[cfg_attr(
        any(debug_assertions, not(target_arch = "x86_64")),
        expect(dead_code, reason = "it is compiled for one kind of vectors")
    )]
    const WIDEST: bool = true;

    /// Does it.
    fn run<A: Arithmetic<Plain = T>>(self) -> Self::Output;
}

/// Does work with the widest fused instructions of this processor, however little it is: results depend on the
/// choice between plain and fused arithmetic, though not on how wide it is.
#[inline]
#[cfg(all(not(debug_assertions), target_arch = "x86_64"))]
pub(super) fn calculated<T: Real, C: Calculation<T>>(work: C) -> C::Output {
    if const { C::WIDEST }
        && let Some(simd) = pulp::x86::V4::try_new()
    {
        return simd.vectorize(
            #[inline(always)]
            || work.run::<Fused<T>>(),
        );
    }
    match pulp::x86::V3::try_new() {
        Some(simd) => simd.vectorize(
            #[inline(always)]
            || work.run::<Fused<T>>(),
        ),
        None => work.run::<T>(),
    }
}

/// Every processor of this kind has fused instructions.
#[inline]
#[cfg(all(not(debug_assertions), target_arch = "aarch64"))]
pub(super) fn calculated<T: Real, C: Calculation<T>>(work: C) -> C::Output {
    work.run::<Fused<T>>()
}

/// Plain arithmetic, which is right on all processors: see `vectorised`.
#[inline]
#[cfg(any(debug_assertions, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(super) fn calculated<T: Real, C: Calculation<T>>(work: C) -> C::Output {
    work.run::<T>()
}
