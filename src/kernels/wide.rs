//! Vectors as wide as the processor's, of either precision, for loops that keep many of them at once: those the
//! compiler takes apart when they are written as plain loops.
//!
//! How wide they are shows in the order of sums. Functions here, and those that are built of them, are inlined into one
//! that is compiled for the processor (`pulp::WithSimd`).

use std::mem::MaybeUninit;

use pulp::Simd;

use crate::dtype::Real;

/// Numbers that there are vectors of.
pub trait Wide: Real {
    /// So many of them in lines whose length is a multiple fill whole vectors on all processors.
    const LANES: usize = 64 / size_of::<Self>();

    /// The vectors.
    type Of<S: Simd>: Copy;

    /// The same number in all places.
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Of<S>;

    /// a · b
    fn times<S: Simd>(simd: S, a: Self::Of<S>, b: Self::Of<S>) -> Self::Of<S>;

    /// a + b
    fn plus<S: Simd>(simd: S, a: Self::Of<S>, b: Self::Of<S>) -> Self::Of<S>;

    /// a · b + c, rounded once where the processor can
    fn times_plus<S: Simd>(simd: S, a: Self::Of<S>, b: Self::Of<S>, c: Self::Of<S>) -> Self::Of<S>;

    /// c - a · b
    fn minus_times<S: Simd>(simd: S, a: Self::Of<S>, b: Self::Of<S>, c: Self::Of<S>) -> Self::Of<S>;

    /// The sum of all places.
    fn total<S: Simd>(simd: S, x: Self::Of<S>) -> Self;

    /// The greater (or lesser) one in each place, or the one that is NaN.
    fn extreme<S: Simd, const GREATEST: bool>(simd: S, a: Self::Of<S>, b: Self::Of<S>) -> Self::Of<S>;

    /// A vector of the few numbers of a line, and behind them this one.
    fn part<S: Simd>(simd: S, line: &[Self], behind: Self) -> Self::Of<S>;

    /// Writes a vector, or as much of it as there is room for.
    fn put<S: Simd>(simd: S, x: Self::Of<S>, out: &mut [MaybeUninit<Self>]);

    /// A line as vectors, and what is left over.
    fn vectors<S: Simd>(line: &[Self]) -> (&[Self::Of<S>], &[Self]);

    /// A line as vectors to write to, and what is left over.
    fn vectors_mut<S: Simd>(line: &mut [Self]) -> (&mut [Self::Of<S>], &mut [Self]);
}

/// Numbers of a vector that are copied together where there is not room for all.
const FEW: usize = 4;

/// How many numbers a vector has.
#[inline(always)]
pub const fn lanes<T: Wide, S: Simd>() -> usize {
    size_of::<T::Of<S>>() / size_of::<T>()
}

/// The vectors of one precision, by the names that the library has for them.
macro_rules! wide {
    ($T:ident, $Of:ident, $splat:ident, $mul:ident, $add:ident, $mul_add:ident, $negate_mul_add:ident, $sum:ident,
     $slice:ident, $slice_mut:ident, $slice_uninit:ident, $partial:ident, $part:ident,
     $greater:ident, $equal:ident, $select:ident) => {
        impl Wide for $T {
            type Of<S: Simd> = S::$Of;
            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: Self) -> S::$Of {
                simd.$splat(x)
            }
            #[inline(always)]
            fn times<S: Simd>(simd: S, a: S::$Of, b: S::$Of) -> S::$Of {
                simd.$mul(a, b)
            }
            #[inline(always)]
            fn plus<S: Simd>(simd: S, a: S::$Of, b: S::$Of) -> S::$Of {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn times_plus<S: Simd>(simd: S, a: S::$Of, b: S::$Of, c: S::$Of) -> S::$Of {
                simd.$mul_add(a, b, c)
            }
            #[inline(always)]
            fn minus_times<S: Simd>(simd: S, a: S::$Of, b: S::$Of, c: S::$Of) -> S::$Of {
                simd.$negate_mul_add(a, b, c)
            }
            #[inline(always)]
            fn total<S: Simd>(simd: S, x: S::$Of) -> Self {
                simd.$sum(x)
            }
            #[inline(always)]
            fn extreme<S: Simd, const GREATEST: bool>(simd: S, a: S::$Of, b: S::$Of) -> S::$Of {
                let is_second = if GREATEST { simd.$greater(b, a) } else { simd.$greater(a, b) };
                // What is no number is neither: it stays where it is the first, and is taken where it is the second. What
                // waits for the first one is short, for that is what came of all before.
                let extreme = simd.$select(is_second, b, a);
                simd.$select(simd.$equal(b, b), extreme, b)
            }
            #[inline(always)]
            fn part<S: Simd>(simd: S, line: &[Self], behind: Self) -> S::$Of {
                const ONES: [$T; 64 / size_of::<$T>()] = [1.0; 64 / size_of::<$T>()];
                let part = simd.$part(line);
                if behind == 0.0 {
                    return part;
                }
                let is_there = simd.$equal(simd.$part(&ONES[..line.len()]), simd.$splat(1.0));
                simd.$select(is_there, part, simd.$splat(behind))
            }
            #[inline(always)]
            fn put<S: Simd>(simd: S, x: S::$Of, out: &mut [MaybeUninit<Self>]) {
                match S::$slice_uninit(out) {
                    ([whole], []) => {
                        whole.write(x);
                    }
                    _ => {
                        let mut line = [0.0; 64 / size_of::<$T>()];
                        simd.$partial(&mut line[..out.len()], x);
                        // A few at a time: copies of any length are calls.
                        let (places, rest) = out.as_chunks_mut::<FEW>();
                        let (few, left) = line.as_chunks::<FEW>();
                        for (place, few) in places.iter_mut().zip(few) {
                            *place = few.map(MaybeUninit::new);
                        }
                        for (place, &x) in
                            rest.iter_mut().zip(few[places.len()..].as_flattened().iter().chain(left))
                        {
                            place.write(x);
                        }
                    }
                }
            }
            #[inline(always)]
            fn vectors<S: Simd>(line: &[Self]) -> (&[S::$Of], &[Self]) {
                S::$slice(line)
            }
            #[inline(always)]
            fn vectors_mut<S: Simd>(line: &mut [Self]) -> (&mut [S::$Of], &mut [Self]) {
                S::$slice_mut(line)
            }
        }
    };
}
wide!(
    f32,
    f32s,
    splat_f32s,
    mul_f32s,
    add_f32s,
    mul_add_f32s,
    negate_mul_add_f32s,
    reduce_sum_f32s,
    as_simd_f32s,
    as_mut_simd_f32s,
    as_uninit_mut_simd_f32s,
    partial_store_f32s,
    partial_load_f32s,
    greater_than_f32s,
    equal_f32s,
    select_f32s
);
wide!(
    f64,
    f64s,
    splat_f64s,
    mul_f64s,
    add_f64s,
    mul_add_f64s,
    negate_mul_add_f64s,
    reduce_sum_f64s,
    as_simd_f64s,
    as_mut_simd_f64s,
    as_uninit_mut_simd_f64s,
    partial_store_f64s,
    partial_load_f64s,
    greater_than_f64s,
    equal_f64s,
    select_f64s
);
