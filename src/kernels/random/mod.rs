//! Random numbers, bit for bit those that torch draws on a CPU.
//!
//! Every function fills its output in memory order and draws from the generator strictly in that
//! order, on the calling thread. Arguments are checked before: probabilities lie in [0, 1] and so on.

pub mod counts;
pub mod gammas;
mod generator;
mod normal;
#[cfg(test)]
mod tests;

use std::f64::consts::PI;
use std::num::NonZeroU64;
use std::ops::Range;

pub use generator::Generator;
pub use normal::{Normal, fill_normal, fill_normal_singly};

use super::interrupt;
use super::simd::vectorised;
use crate::dtype::{DType, Element, Real};

/// Floating-point types that uniform numbers can be drawn for.
pub trait Uniform: Real {
    /// One number of [0, 1), of as many random bits as the type holds.
    fn unit(generator: &mut Generator) -> Self;

    /// Fills a run with numbers of [0, 1).
    fn fill_unit(generator: &mut Generator, out: &mut [Self]) {
        generator_fill(generator, out, Self::unit);
    }
}

impl Uniform for f64 {
    #[inline]
    fn unit(generator: &mut Generator) -> f64 {
        from_words(generator.random64())
    }

    fn fill_unit(generator: &mut Generator, out: &mut [f64]) {
        fill_pairs(generator, out, from_words);
    }
}

#[inline(always)]
fn from_words(words: u64) -> f64 {
    (words & LOW) as i64 as f64 / (1u64 << 53) as f64
}

/// The bits of a pair of words that a number of double precision is made of.
const LOW: u64 = (1 << 53) - 1;

/// Fills a run with a function of 64 random bits each.
fn fill_pairs<T>(generator: &mut Generator, mut out: &mut [T], f: impl Fn(u64) -> T + Copy) {
    while !out.is_empty() {
        let pairs = generator.take_pairs(out.len());
        if pairs.is_empty() {
            out[0] = f(generator.random64());
            out = &mut out[1..];
            continue;
        }
        let (now, later) = out.split_at_mut(pairs.len());
        vectorised(
            now.len(),
            #[inline(always)]
            || {
                for (out, [high, low]) in now.iter_mut().zip(pairs) {
                    *out = f(u64::from(*high) << 32 | u64::from(*low));
                }
            },
        );
        out = later;
    }
}

impl Uniform for f32 {
    #[inline]
    fn unit(generator: &mut Generator) -> f32 {
        from_word(generator.random())
    }

    fn fill_unit(generator: &mut Generator, mut out: &mut [f32]) {
        while !out.is_empty() {
            let words = generator.take(out.len());
            let (now, later) = out.split_at_mut(words.len());
            vectorised(
                now.len(),
                #[inline(always)]
                || {
                    for (out, word) in now.iter_mut().zip(words) {
                        *out = from_word(*word);
                    }
                },
            );
            out = later;
        }
    }
}

#[inline(always)]
fn from_word(word: u32) -> f32 {
    // 24 bits fit into the sign-carrying integer, whose conversion is one instruction.
    (word & ((1 << 24) - 1)) as i32 as f32 / (1 << 24) as f32
}

/// Fills a run by asking for one number after the other.
#[inline(always)]
fn generator_fill<T>(generator: &mut Generator, out: &mut [T], draw: impl Fn(&mut Generator) -> T) {
    out.iter_mut().for_each(|out| *out = draw(generator));
}

/// Uniform numbers of [from, to).
pub fn fill_uniform<T: Uniform>(generator: &mut Generator, out: &mut [T], from: f64, to: f64) {
    T::fill_unit(generator, out);
    let (from, to) = (T::from_f64(from), T::from_f64(to));
    let width = to - from;
    vectorised(
        out.len(),
        #[inline(always)]
        || {
            for out in out.iter_mut() {
                let value = out.mul_add(width, from);
                // Rounding may reach the end, which does not belong to the interval.
                *out = if value == to { from } else { value };
            }
        },
    );
}

/// Integers of [base, base + range).
pub fn fill_integers<T: Element>(generator: &mut Generator, out: &mut [T], base: i64, range: NonZeroU64) {
    let shift = |drawn: u64| T::from_i64(base.wrapping_add(drawn as i64));
    // Of 32 bits, a remainder by much less is close enough to uniform.
    match u32::try_from(range.get()) {
        Ok(range) if range < 1 << 28 => {
            generator_fill(generator, out, |g| shift(u64::from(g.random() % range)))
        }
        _ => generator_fill(generator, out, |g| shift(g.random64() % range)),
    }
}

/// Integers of the whole range of `i64`.
pub fn fill_all_integers<T: Element>(generator: &mut Generator, out: &mut [T]) {
    generator_fill(generator, out, |g| T::from_i64(g.random64() as i64));
}

/// Integers from zero to the greatest that the type holds; for floating-point types, to the
/// greatest up to which they hold every integer.
pub fn fill_natural<T: Element>(generator: &mut Generator, out: &mut [T]) {
    let values: u64 = match T::DTYPE {
        DType::Bool => 2,
        DType::UInt8 => 1 << 8,
        DType::Int8 => 1 << 7,
        DType::Int16 => 1 << 15,
        DType::Int32 => 1 << 31,
        DType::Int64 => 1 << 63,
        DType::Float32 => (1 << 24) + 1,
        DType::Float64 => (1 << 53) + 1,
        _ => unreachable!("complex numbers are not counted"),
    };
    if matches!(T::DTYPE, DType::Int64 | DType::Float64) {
        generator_fill(generator, out, |g| T::from_i64((g.random64() % values) as i64));
    } else {
        generator_fill(generator, out, |g| T::from_i64((u64::from(g.random()) % values) as i64));
    }
}

/// Exchanges numbers so that all come into random order when it was done with those at all `places`, from the first
/// on.
pub fn permute<T: Element>(generator: &mut Generator, out: &mut [T], places: Range<usize>) {
    let len = out.len();
    // From here on 32 bits are too few for a remainder close to uniform.
    const MANY: usize = (u32::MAX / 20) as usize;
    if len < MANY {
        for index in places.start..places.end.min(len.saturating_sub(1)) {
            let drawn = generator.random() % (len - index) as u32;
            out.swap(index, index + drawn as usize);
        }
    } else {
        for index in places {
            let drawn = generator.random64() % (index as u64 + 1);
            out.swap(index, drawn as usize);
        }
    }
}

/// One with this probability, else zero.
pub fn fill_bernoulli<T: Element>(generator: &mut Generator, out: &mut [T], probability: f64) {
    // As many of the integers that uniform numbers are made of as are below the probability.
    let below = (probability * (1u64 << 53) as f64).ceil() as i64;
    let (zero, one) = (T::from_i64(0), T::from_i64(1));
    fill_pairs(generator, out, move |words| if ((words & LOW) as i64) < below { one } else { zero });
}

/// One with a probability of its own for every element, else zero. The type of the probabilities
/// decides how many bits a draw takes.
pub fn fill_bernoulli_each<T: Element, P: Uniform>(
    generator: &mut Generator,
    out: &mut [T],
    probabilities: impl IntoIterator<Item = P>,
) {
    for (out, probability) in out.iter_mut().zip(probabilities) {
        *out = T::from_i64(i64::from(P::unit(generator) < probability));
    }
}

/// Exponentially distributed numbers.
pub fn fill_exponential<T: Real>(generator: &mut Generator, out: &mut [T], rate: f64) {
    generator_fill(generator, out, |g| T::from_f64(-1.0 / rate * (-f64::unit(g)).ln_1p()));
}

/// Geometrically distributed numbers: how many trials the first success takes.
pub fn fill_geometric<T: Element>(generator: &mut Generator, out: &mut [T], probability: f64) {
    let failure = (-probability).ln_1p();
    generator_fill(generator, out, |g| T::from_f64((f64::unit(g).ln() / failure).ceil()));
}

/// Numbers with a Cauchy distribution.
pub fn fill_cauchy<T: Real>(generator: &mut Generator, out: &mut [T], median: f64, scale: f64) {
    let draw = |g: &mut Generator| (PI * (f64::unit(g) - 0.5)).tan().mul_add(scale, median);
    generator_fill(generator, out, |g| T::from_f64(draw(g)));
}

/// Numbers whose logarithms are normally distributed.
pub fn fill_log_normal<T: Real>(generator: &mut Generator, out: &mut [T], mean: f64, deviation: f64) {
    generator_fill(generator, out, |g| T::from_f64(normal::normal(g, mean, deviation).exp()));
}

/// The first number that is no weight: that is negative, infinite or none.
pub fn no_weight<T: Real>(weights: &[T]) -> Option<T> {
    let is_weight = |weight: T| weight >= T::ZERO && weight < T::HIGHEST;
    let are_weights = vectorised(
        weights.len(),
        #[inline(always)]
        || weights.iter().fold(true, |all, &weight| all & is_weight(weight)),
    );
    if are_weights { None } else { weights.iter().copied().find(|&weight| !is_weight(weight)) }
}

/// Where the shares of weights, which are not negative and not all zero, end in [0, 1); that of the last is open.
pub fn shares<T: Real>(weights: &[T]) -> Vec<T> {
    let mut sum = T::ZERO;
    let mut bounds = interrupt::filled(weights.len(), T::ZERO);
    for (bound, &weight) in bounds.iter_mut().zip(weights) {
        sum = sum + weight;
        *bound = sum;
    }
    vectorised(
        bounds.len(),
        #[inline(always)]
        || bounds.iter_mut().for_each(|bound| *bound = *bound / sum),
    );
    // Rounding must not leave a gap at the end.
    bounds.pop();
    bounds
}

/// Indices of weights, as likely as their shares. An index may come more than once.
pub fn fill_choices<T: Real>(generator: &mut Generator, out: &mut [i64], shares: &[T]) {
    generator_fill(generator, out, |generator| {
        let drawn = f64::unit(generator);
        shares.partition_point(|bound| Element::to_f64(*bound) < drawn) as i64
    });
}
