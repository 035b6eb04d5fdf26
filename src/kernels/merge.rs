//! What takes two numbers together, and many along a tree. The compiler makes pairs of what the tree has side by side
//! and takes numbers one by one; where every processor has vectors of four, they are named.

use std::ops::Add;

use crate::dtype::Real;

/// Numbers that are taken together with as many others.
type Four<T> = [T; 4];

/// The most numbers that `Merge::all` takes.
const MOST: usize = 32;

/// How two numbers become one.
pub(super) trait Merge: Copy {
    /// What becomes of two.
    fn two<T: PartialOrd + Add<Output = T>>(self, a: T, b: T) -> T;

    /// The same as an instruction.
    #[cfg(target_arch = "x86_64")]
    fn single(self, simd: vectors::Simd, a: vectors::Single, b: vectors::Single) -> vectors::Single;

    /// Of half as many numbers of double precision.
    #[cfg(target_arch = "x86_64")]
    fn double(self, simd: vectors::Simd, a: vectors::Double, b: vectors::Double) -> vectors::Double;

    /// Of all numbers, along a tree: those of one half with those of the other, as long as there are two.
    #[inline(always)]
    fn all<T: Real, const L: usize>(self, numbers: &[T; L]) -> T {
        const { assert!(L <= MOST && L.is_power_of_two()) };
        if const { L < 4 } {
            return if const { L == 1 } { numbers[0] } else { self.two(numbers[0], numbers[L - 1]) };
        }
        let mut fours = [[T::ZERO; 4]; MOST / 4];
        for (four, numbers) in fours.iter_mut().zip(numbers.as_chunks().0) {
            *four = *numbers;
        }
        let mut width = L / 4;
        while width > 1 {
            width /= 2;
            for at in 0..width {
                fours[at] = four(self, fours[at], fours[at + width]);
            }
        }
        let [a, b, c, d] = fours[0];
        self.two(self.two(a, c), self.two(b, d))
    }
}

/// What becomes of four numbers and four.
#[inline(always)]
fn four<T: Real>(merge: impl Merge, a: Four<T>, b: Four<T>) -> Four<T> {
    #[cfg(target_arch = "x86_64")]
    if let Some(merged) = vectors::four(merge, &a, &b) {
        return merged;
    }
    let mut merged = a;
    for (merged, b) in merged.iter_mut().zip(b) {
        *merged = merge.two(*merged, b);
    }
    merged
}

/// The sum.
#[derive(Clone, Copy)]
pub(super) struct Sum;

impl Merge for Sum {
    #[inline(always)]
    fn two<T: PartialOrd + Add<Output = T>>(self, a: T, b: T) -> T {
        a + b
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn single(self, simd: vectors::Simd, a: vectors::Single, b: vectors::Single) -> vectors::Single {
        simd.0._mm_add_ps(a, b)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn double(self, simd: vectors::Simd, a: vectors::Double, b: vectors::Double) -> vectors::Double {
        simd.1._mm_add_pd(a, b)
    }
}

/// The greater number; where one of them is none, the first.
#[derive(Clone, Copy)]
pub(super) struct Greater;

impl Merge for Greater {
    #[inline(always)]
    fn two<T: PartialOrd + Add<Output = T>>(self, a: T, b: T) -> T {
        if b > a { b } else { a }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn single(self, simd: vectors::Simd, a: vectors::Single, b: vectors::Single) -> vectors::Single {
        simd.0._mm_max_ps(b, a)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn double(self, simd: vectors::Simd, a: vectors::Double, b: vectors::Double) -> vectors::Double {
        simd.1._mm_max_pd(b, a)
    }
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::any::Any;
    pub(super) use std::arch::x86_64::{__m128 as Single, __m128d as Double};

    use pulp::bytemuck::cast;
    use pulp::core_arch::x86::{Sse, Sse2};

    use super::{Four, Merge};
    use crate::dtype::Real;

    /// What knows that the instructions are there.
    #[derive(Clone, Copy)]
    pub(in crate::kernels) struct Simd(pub(super) Sse, pub(super) Sse2);

    /// Four numbers and four, for both precisions.
    #[inline(always)]
    pub(super) fn four<T: Real>(merge: impl Merge, a: &Four<T>, b: &Four<T>) -> Option<Four<T>> {
        let simd = Simd(Sse::try_new()?, Sse2::try_new()?);
        let mut merged = *a;
        let (place, other): (&mut dyn Any, &dyn Any) = (&mut merged, b);
        if let (Some(a), Some(b)) = (place.downcast_mut::<Four<f32>>(), other.downcast_ref::<Four<f32>>()) {
            *a = cast(merge.single(simd, cast(*a), cast(*b)));
        } else if let (Some(a), Some(b)) = (place.downcast_mut::<Four<f64>>(), other.downcast_ref()) {
            let ([p, q], [r, s]): ([Double; 2], [Double; 2]) = (cast(*a), cast::<Four<f64>, _>(*b));
            *a = cast([merge.double(simd, p, r), merge.double(simd, q, s)]);
        }
        Some(merged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways of taking so many numbers together, against one number after another.
    fn compared<T: Real, const L: usize>() {
        let mut numbers = [T::ZERO; L];
        for (index, number) in numbers.iter_mut().enumerate() {
            *number = T::from_f64((index * 37 % 11) as f64 - 4.0);
        }
        assert_eq!(Sum.all(&numbers), numbers.iter().fold(T::ZERO, |sum, &x| sum + x));
        assert_eq!(Greater.all(&numbers), numbers.iter().fold(numbers[0], |most, &x| most.max(x)));
    }

    #[test]
    fn all_numbers_are_taken_together_however_many() {
        compared::<f32, 1>();
        compared::<f32, 2>();
        compared::<f32, 4>();
        compared::<f32, 8>();
        compared::<f32, 32>();
        compared::<f64, 8>();
        compared::<f64, 16>();
        compared::<f64, 32>();
    }
}
