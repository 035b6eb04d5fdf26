//! Chains of operations of elements and a number each, such as x · 2 + 1 - 3: what one of them gives, the next one takes
//! from a register.

use std::mem::MaybeUninit;

use pulp::{Arch, Simd, WithSimd};

use crate::dtype::Real;
use crate::kernels::wide::{Wide, lanes};

/// What an operation of an element and a number does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// x + c
    Add,
    /// x - c
    Subtract,
    /// x c
    Multiply,
}

/// A product and then a sum: x · factor + summand, both rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link<T> {
    factor: T,
    summand: T,
}

impl<T: Real> Link<T> {
    /// The link that does one step, to the bit: x · 1 is x, and so is x + -0, whatever the sign of a zero. To subtract a
    /// number is to add the other one.
    fn new((step, number): (Step, T)) -> Link<T> {
        match step {
            Step::Add => Link { factor: T::ONE, summand: number },
            Step::Subtract => Link { factor: T::ONE, summand: -number },
            Step::Multiply => Link { factor: number, summand: T::neg_zero() },
        }
    }

    /// The links that do steps one after the other: a sum that follows a product is in one with it.
    pub fn all(steps: impl Iterator<Item = (Step, T)>) -> Vec<Link<T>> {
        let mut links = Vec::new();
        let mut is_open = false;
        for step in steps {
            let link = Link::new(step);
            match links.last_mut() {
                Some(Link { summand, .. }) if is_open && step.0 != Step::Multiply => *summand = link.summand,
                _ => links.push(link),
            }
            is_open = step.0 == Step::Multiply;
        }
        links
    }
}

/// `out[i]` = what all links make of `a[i]`, one after the other
pub fn chain<T: Wide>(a: &[T], links: &[Link<T>], out: &mut [MaybeUninit<T>]) {
    Arch::new().dispatch(Chain { a, links, out });
}

/// Vectors that are in registers from the first link to the last.
const HELD: usize = 8;

struct Chain<'a, 'o, T> {
    a: &'a [T],
    links: &'a [Link<T>],
    out: &'o mut [MaybeUninit<T>],
}

impl<T: Wide> WithSimd for Chain<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = lanes::<T, S>();
        let (vectors, rest) = T::vectors::<S>(self.a);
        let (whole, single) = vectors.as_chunks::<HELD>();
        let mut out = self.out.chunks_mut(lanes);
        for held in whole {
            linked(simd, *held, self.links, &mut out);
        }
        for &held in single {
            linked(simd, [held], self.links, &mut out);
        }
        // What is left, as if there were as much as in a vector.
        if !rest.is_empty() {
            let mut line = [T::ZERO; MOST_LANES];
            line[..rest.len()].copy_from_slice(rest);
            if let Some(&held) = T::vectors::<S>(&line).0.first() {
                linked(simd, [held], self.links, &mut out);
            }
        }
    }
}

/// No vector has more numbers.
const MOST_LANES: usize = 16;

/// Writes what all links make of vectors.
#[inline(always)]
fn linked<'o, T: Wide, S: Simd, const V: usize>(
    simd: S,
    mut held: [T::Of<S>; V],
    links: &[Link<T>],
    out: &mut impl Iterator<Item = &'o mut [MaybeUninit<T>]>,
) {
    for link in links {
        let (factor, summand) = (T::splat(simd, link.factor), T::splat(simd, link.summand));
        for x in &mut held {
            *x = T::plus(simd, T::times(simd, *x, factor), summand);
        }
    }
    for (x, out) in held.into_iter().zip(out) {
        T::put(simd, x, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::written;

    #[test]
    fn a_chain_gives_the_bits_of_its_steps() {
        let steps = [Step::Multiply, Step::Add, Step::Subtract, Step::Multiply, Step::Add, Step::Add];
        for count in [1, 2, 3, 4, 5, 9, 64] {
            for len in [1, 5, 256, 257, 1000] {
                let a: Vec<f32> = (0..len).map(|index| index as f32 * 0.37 - 20.0).collect();
                let chosen =
                    (0..count).map(|at| (steps[(at * at + len) % steps.len()], 0.3 + at as f32 * 0.11));
                let chosen: Vec<(Step, f32)> = chosen.collect();
                let links: Vec<Link<f32>> = Link::all(chosen.iter().copied());
                assert!(links.len() <= count);
                let expected = a.iter().map(|&x| {
                    chosen.iter().fold(x, |x, &(step, number)| match step {
                        Step::Add => x + number,
                        Step::Subtract => x - number,
                        Step::Multiply => x * number,
                    })
                });
                let expected: Vec<u32> = expected.map(f32::to_bits).collect();
                let found = written(len, |out| chain(&a, &links, out));
                assert_eq!(found.into_iter().map(f32::to_bits).collect::<Vec<u32>>(), expected);
            }
        }
    }

    #[test]
    fn a_product_and_the_sum_after_it_are_one_link() {
        let steps = [(Step::Add, 1.0), (Step::Multiply, 2.0), (Step::Subtract, 3.0), (Step::Add, 4.0)];
        let links: Vec<Link<f32>> = Link::all(steps.into_iter());
        assert_eq!(links[1], Link { factor: 2.0, summand: -3.0 });
        assert_eq!(links.len(), 3);
    }

    #[test]
    fn zeros_keep_their_signs_and_infinities_stay() {
        let a = [0.0, -0.0, f64::INFINITY, f64::NAN];
        let steps = [(Step::Subtract, 0.0), (Step::Multiply, 1.0), (Step::Multiply, 1.0)];
        let links: Vec<Link<f64>> = Link::all(steps.into_iter());
        let found = written(4, |out| chain(&a, &links, out));
        assert_eq!(found[0].to_bits(), 0.0_f64.to_bits());
        assert_eq!(found[1].to_bits(), (-0.0_f64).to_bits());
        assert_eq!(found[2], f64::INFINITY);
        assert!(found[3].is_nan());
    }
}
