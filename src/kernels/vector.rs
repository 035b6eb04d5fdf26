//! Loops over functions that are written once for every kind of processor: see `math::Arithmetic`.
//!
//! What becomes of a number does not depend on where it lies or what lies beside it: a processor that has fused
//! instructions uses them for a single number and for the last ones of a slice too. So results are the same at any
//! number of threads and for any strides; those of a processor without may differ in the last digit.

use std::mem::MaybeUninit;

use super::parallel::{Body, each_part};
use super::place::Place;
use super::simd::{Calculation, calculated, vectorised};
use crate::dtype::{DType, Real};
use crate::kernels::pointwise::apply;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::pointwise::math::Arithmetic;

/// Numbers that are worked on before the next ones are looked at: they stay in the nearest memory.
const CHUNK: usize = 1024;

/// The most numbers that a loop takes at once, or a multiple of that: what is left over is filled up to so many.
const LANES: usize = 64;

/// Numbers of several slices that are taken out of them together: where these end need not be asked for each.
const BLOCK: usize = 64;

/// Numbers of which one half goes another way than the other: see `Function::HAS_TWIN`.
const TWIN: usize = 32;

/// So few numbers that are left over are taken one by one.
const FEW: usize = 4;

/// For which numbers an operation is written as such a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    /// For none.
    No,
    /// For those of single precision.
    Single,
    /// For all.
    All,
}

impl Vectors {
    /// Whether it is for these.
    pub const fn has<T: Real>(self) -> bool {
        match self {
            Vectors::No => false,
            Vectors::Single => matches!(T::DTYPE, DType::Float32),
            Vectors::All => true,
        }
    }
}

/// A function of a number and `N` others.
pub trait Function<const N: usize>: Copy + Send + Sync {
    /// The function, of numbers that are not far.
    fn at<A: Arithmetic>(&self, x: A, others: [A; N]) -> A;

    /// Whether it is so little work that loops wait for memory: in plain arithmetic then, without a copy of anything.
    const LITTLE: bool = false;

    /// Whether it is so much work that one more copy of numbers that are near counts for nothing: there is one loop then,
    /// for new memory and for what is written in place.
    const SLOW: bool = false;

    /// Whether few programs have it, so that it is not compiled for the widest vectors.
    const RARE: bool = false;

    /// Whether there are numbers for which the function is a factor and no more, and so often that nothing else is
    /// there for a while.
    const HAS_EASY: bool = false;

    /// Whether this is one.
    fn is_easy<T: Real>(&self, _x: T) -> bool {
        false
    }

    /// The factor.
    fn factor<T: Real>(&self) -> T {
        T::ONE
    }

    /// Whether there is another way to the same bits, for numbers of double precision in fused arithmetic, by other units
    /// of the processor: half of the numbers go that way at the same time.
    const HAS_TWIN: bool = false;

    /// Whether it is a way for this number.
    fn has_twin<T: Real>(&self, _x: T) -> bool {
        false
    }

    /// That way.
    fn twin<A: Arithmetic>(&self, x: A) -> A {
        x
    }

    /// Whether there is a shorter way to the same bits for most numbers: it is taken in single precision, where all of a
    /// chunk are near.
    const HAS_NEAR: bool = false;

    /// Whether this is such a number.
    fn is_near<T: Real>(&self, _x: T) -> bool {
        false
    }

    /// The shorter way.
    fn near<A: Arithmetic>(&self, x: A) -> A {
        x
    }

    /// Whether there are numbers that `at` is not for.
    const HAS_FAR: bool = false;

    /// Whether these are.
    fn is_far<T: Real>(&self, _x: T, _others: [T; N]) -> bool {
        false
    }

    /// The function of such numbers, of which there are few.
    fn far<T: Real>(&self, x: T, _others: [T; N]) -> T {
        x
    }
}

/// `out[i] = f(a[i], others[i])`
pub fn map<T: Real, F: Function<N>, const N: usize>(
    a: &[T],
    others: [&[T]; N],
    out: &mut [MaybeUninit<T>],
    f: F,
) {
    match (const { F::LITTLE }, others.as_slice()) {
        (true, &[]) => {
            return apply::each_slice_1(out, a, move |out, a| {
                out.write(f.at::<T>(a, [a; N]));
            });
        }
        (true, &[b]) => {
            return apply::each_slice_2(out, a, b, move |out, a, b| {
                out.write(f.at::<T>(a, [b; N]));
            });
        }
        (true, &[b, c]) => {
            return apply::each_slice_3(out, a, b, c, move |out, a, b, c| {
                let mut others = [b; N];
                others[N - 1] = c;
                out.write(f.at::<T>(a, others));
            });
        }
        _ => {}
    }
    each(out, &|(start, part): (usize, &mut [MaybeUninit<T>])| {
        let a = a[start..].chunks(CHUNK);
        for (index, (out, a)) in part.chunks_mut(CHUNK).zip(a).enumerate() {
            let a = &a[..out.len()];
            if const { F::HAS_EASY } && scaled(a, out, f) {
                continue;
            }
            let others = beside(others, start + index * CHUNK, a.len());
            match const { F::SLOW } {
                true => evaluate(a, others, out.write_copy_of_slice(a), f),
                false => evaluate(a, others, out, f),
            }
        }
    });
}

/// Numbers that are easy, if all are, times their factor.
fn scaled<T: Real, const N: usize>(a: &[T], out: &mut [MaybeUninit<T>], f: impl Function<N>) -> bool {
    vectorised(
        a.len(),
        #[inline(always)]
        || {
            let all = a.iter().fold(true, |all, &x| all & f.is_easy(x));
            if all {
                let factor = f.factor();
                out.iter_mut().zip(a).for_each(|(out, &x)| {
                    out.write(x * factor);
                });
            }
            all
        },
    )
}

/// `a[i] = f(a[i], others[i])`
pub fn map_in_place<T: Real, const N: usize>(a: &mut [T], others: [&[T]; N], f: impl Function<N>) {
    each(a, &|(start, part): (usize, &mut [T])| {
        let mut before = [T::ONE; CHUNK];
        for (index, chunk) in part.chunks_mut(CHUNK).enumerate() {
            let before = &mut before[..chunk.len()];
            before.copy_from_slice(chunk);
            evaluate(before, beside(others, start + index * CHUNK, chunk.len()), chunk, f);
        }
    });
}

/// `out[i] = f(a[i], others[i])` of a few numbers that are in the nearest memory.
pub fn map_near<T: Real, const N: usize>(a: &[T], others: [&[T]; N], out: &mut [T], f: impl Function<N>) {
    evaluate(a, beside(others, 0, a.len()), &mut out[..a.len()], f);
}

/// Hands out a slice in parts; short ones are one part without any further ado.
fn each<V: Send>(out: &mut [V], body: &dyn for<'a> Body<(usize, &'a mut [V])>) {
    if out.len() <= GRAIN { body.run((0, out)) } else { each_part(out, GRAIN, body) }
}

/// A part of each of the other numbers.
#[inline(always)]
fn beside<T, const N: usize>(mut others: [&[T]; N], start: usize, len: usize) -> [&[T]; N] {
    for other in &mut others {
        *other = &other[start..start + len];
    }
    others
}

/// The numbers beside one. Neither `map` of arrays nor `zip` is always compiled into the loop that calls it.
#[inline(always)]
fn row<A: Arithmetic, const N: usize>(others: &[&[A::Plain]; N], index: usize, x: A) -> [A; N] {
    let mut row = [x; N];
    for (place, number) in row.iter_mut().enumerate() {
        *number = A::new(others[place][index]);
    }
    row
}

/// Numbers whose function is wanted, and others beside them.
struct Chunk<'a, T, V, F, const N: usize> {
    a: &'a [T],
    others: [&'a [T]; N],
    out: &'a mut [V],
    f: F,
    /// Whether it does not matter what becomes of numbers that are far.
    heedless: bool,
}

/// The function of the numbers of a chunk.
#[inline(always)]
fn evaluate<T: Real, V: Place<T>, F: Function<N>, const N: usize>(
    a: &[T],
    others: [&[T]; N],
    out: &mut [V],
    f: F,
) {
    if const { F::HAS_NEAR && size_of::<T>() == 4 } && a.len() >= BLOCK && are_near(a, f) {
        calculated(Chunk { a, others, out, f: Near(f), heedless: true });
        return;
    }
    let has_far = calculated(Chunk { a, others, out: &mut *out, f, heedless: const { !F::HAS_FAR } });
    if const { F::HAS_FAR } && has_far {
        calculated(Chunk { a, others, out: &mut *out, f, heedless: true });
        for (index, (out, &x)) in out.iter_mut().zip(a).enumerate() {
            let others = row(&others, index, x);
            if f.is_far(x, others) {
                out.put(f.far(x, others));
            }
        }
    }
}

/// A function of numbers that are near.
#[derive(Clone, Copy)]
struct Near<F>(F);

impl<F: Function<N>, const N: usize> Function<N> for Near<F> {
    #[inline(always)] // A loop is vectorised in one piece only.
    fn at<A: Arithmetic>(&self, x: A, _others: [A; N]) -> A {
        self.0.near(x)
    }

    const RARE: bool = F::RARE;
}

/// Whether all numbers are near.
fn are_near<T: Real, const N: usize>(a: &[T], f: impl Function<N>) -> bool {
    vectorised(
        a.len(),
        #[inline(always)]
        || a.iter().fold(true, |all, &x| all & f.is_near(x)),
    )
}

impl<T: Real, V: Place<T>, F: Function<N>, const N: usize> Calculation<T> for Chunk<'_, T, V, F, N> {
    /// Whether nothing was done because numbers are far.
    type Output = bool;

    const WIDEST: bool = !F::RARE;

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) -> bool {
        let Chunk { a, others, out, f, heedless } = self;
        if !heedless {
            let mut has_far = false;
            for (index, &x) in a.iter().enumerate() {
                has_far |= f.is_far(x, row(&others, index, x));
            }
            if has_far {
                return true;
            }
        }
        let lanes = const { if size_of::<T>() == 4 || N > 0 { LANES } else { LANES / 2 } };
        let whole = a.len() - a.len() % lanes;
        let ((first, rest), (out, out_rest)) = (a.split_at(whole), out.split_at_mut(whole));
        let (others, others_rest) = (beside(others, 0, whole), beside(others, whole, rest.len()));
        let is_filled = rest.len() > FEW;
        let (mut room, mut room_beside) = ([T::ONE; LANES], [[T::ONE; LANES]; N]);
        let mut results = [V::EMPTY; LANES];
        if is_filled {
            room[..rest.len()].copy_from_slice(rest);
            for (place, room) in room_beside.iter_mut().enumerate() {
                room[..rest.len()].copy_from_slice(others_rest[place]);
            }
        }
        let mut filled = others_rest;
        for (place, filled) in filled.iter_mut().enumerate() {
            *filled = &room_beside[place][..lanes];
        }
        // One loop, so that it is there once.
        let left: (&[T], [&[T]; N], &mut [V]) = match is_filled {
            true => (&room[..lanes], filled, &mut results[..lanes]),
            false => (rest, others_rest, &mut *out_rest),
        };
        for (a, others, out) in [(first, others, out), left] {
            let (others, out) = (beside(others, 0, a.len()), &mut out[..a.len()]);
            let mut done = 0;
            if const { F::HAS_TWIN && A::FUSED && !A::SINGLE } {
                let (ways, _) = out.as_chunks_mut::<TWIN>();
                for (ways, numbers) in ways.iter_mut().zip(a.as_chunks::<TWIN>().0) {
                    done += TWIN;
                    if !numbers[TWIN / 2..].iter().fold(true, |all, &x| all & f.has_twin(x)) {
                        for (out, &x) in ways.iter_mut().zip(numbers) {
                            out.put(f.at(A::new(x), [A::new(x); N]).get());
                        }
                        continue;
                    }
                    for lane in 0..TWIN / 2 {
                        let other = lane + TWIN / 2;
                        ways[lane].put(f.at(A::new(numbers[lane]), [A::new(numbers[lane]); N]).get());
                        ways[other].put(f.twin(A::new(numbers[other])).get());
                    }
                }
            }
            if const { N > 0 } {
                let (blocks, _) = out.as_chunks_mut::<BLOCK>();
                for (out, numbers) in blocks.iter_mut().zip(a.as_chunks::<BLOCK>().0) {
                    let mut near = [[T::ONE; BLOCK]; N];
                    for (place, near) in near.iter_mut().enumerate() {
                        if let Some(numbers) = others[place][done..].first_chunk() {
                            *near = *numbers;
                        }
                    }
                    for lane in 0..BLOCK {
                        let number = A::new(numbers[lane]);
                        let mut row = [number; N];
                        for (place, other) in row.iter_mut().enumerate() {
                            *other = A::new(near[place][lane]);
                        }
                        out[lane].put(f.at(number, row).get());
                    }
                    done += BLOCK;
                }
            }
            let others = beside(others, done, a.len() - done);
            for (index, (out, &x)) in out[done..].iter_mut().zip(&a[done..]).enumerate() {
                let number = A::new(x);
                out.put(f.at(number, row(&others, index, number)).get());
            }
        }
        if is_filled {
            out_rest.copy_from_slice(&results[..out_rest.len()]);
        }
        false
    }
}

#[cfg(test)]
mod tests;
