//! Ways to lay labels along the steps of a sequence: the logarithms of their probabilities, summed step by step, and
//! what derivatives make of them.
//!
//! A sequence is a matrix with a row for every step and a column for every state, and each state follows itself or one
//! of the two before it.

use std::mem::MaybeUninit;

use crate::dtype::Real;
use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::pointwise::math::{self, Arithmetic};
use crate::kernels::simd::{Calculation, calculated, vectorised};

/// States that are worth another thread: each is the logarithm of a sum of powers.
const WORTH: usize = GRAIN / 16;

/// How many states before it, itself included, a state follows at most.
pub const REACH: usize = 3;

/// The logarithms of the probabilities of all ways that end in a state at a step, for sequences of steps and states; of
/// `skips` there is one for each state of a sequence: whether it follows the state two before it.
pub fn states<T: Real>(
    logarithms: &[T],
    skips: &[bool],
    [steps, width]: [usize; 2],
    out: &mut [MaybeUninit<T>],
) {
    let block = steps * width;
    if block == 0 {
        return;
    }
    parallel_parts(out, (WORTH / block).max(1) * block, |start, part| {
        for (index, out) in part.chunks_exact_mut(block).enumerate() {
            let item = start / block + index;
            let skips = &skips[item * width..][..width];
            along(skips, out.write_copy_of_slice(&logarithms[item * block..][..block]));
        }
    });
}

/// Makes the states of a sequence of its logarithms.
pub(super) fn along<T: Real>(skips: &[bool], states: &mut [T]) {
    calculated(Sequence { skips, states });
}

/// A sequence, whose logarithms become states.
struct Sequence<'a, T> {
    skips: &'a [bool],
    states: &'a mut [T],
}

/// What is added to the state before the last one, so that it counts only where it is followed by this one.
pub(super) fn gates<T: Real>(skips: impl ExactSizeIterator<Item = bool>) -> Vec<T> {
    interrupt::collected(skips.map(|skips| if skips { T::ZERO } else { T::from_f64(f64::NEG_INFINITY) }))
}

/// ln (eᵃ + eᵇ + eᶜ), of which each may be nothing.
#[inline(always)]
pub(super) fn joined<A: Arithmetic>(a: A, b: A, c: A) -> A {
    let most = if a > b { a } else { b };
    let most = if c > most { c } else { most };
    let base = if most > A::from_f64(f64::NEG_INFINITY) { most } else { A::from_f64(0.0) };
    math::ln(math::exp(a - base) + math::exp(b - base) + math::exp(c - base)) + base
}

impl<T: Real> Calculation<T> for Sequence<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let (width, none) = (self.skips.len(), T::from_f64(f64::NEG_INFINITY));
        // Nothing is before the first state.
        let mut before = interrupt::filled(width + REACH - 1, none);
        let added: Vec<T> = gates(self.skips.iter().copied());
        let mut rows = self.states.chunks_exact_mut(width);
        if let Some(first) = rows.next() {
            first.iter_mut().skip(2).for_each(|state| *state = none);
            before[REACH - 1..].copy_from_slice(first);
        }
        let mut steps = Steps::default();
        for row in rows {
            steps.take(width);
            let (two, one, same) = (&before[..width], &before[1..][..width], &before[2..][..width]);
            let added = &added[..width];
            for (state, out) in row.iter_mut().enumerate() {
                let two = A::new(two[state]) + A::new(added[state]);
                let sum = joined(A::new(same[state]), A::new(one[state]), two);
                *out = (sum + A::new(*out)).get();
            }
            before[REACH - 1..].copy_from_slice(row);
        }
    }
}

/// y with y(t, s) = x(t, s) + Σ w(k, t, s) y(t-1, s-k), for sequences of steps and states and `reach` weights of each; the
/// other way round, x turned into what it adds to: y(t, s) = x(t, s) + Σ w(k, t+1, s+k) y(t+1, s+k).
pub fn sums<T: Real>(
    x: &[T],
    weights: &[T],
    [reach, steps, width]: [usize; 3],
    is_turned: bool,
    out: &mut [MaybeUninit<T>],
) {
    let block = steps * width;
    if block == 0 {
        return;
    }
    parallel_parts(out, (WORTH / block).max(1) * block, |start, part| {
        let mut steps_taken = Steps::default();
        for (index, out) in part.chunks_exact_mut(block).enumerate() {
            let item = start / block + index;
            let out = out.write_copy_of_slice(&x[item * block..][..block]);
            let weights = &weights[item * reach * block..][..reach * block];
            for step in 1..steps {
                steps_taken.take(width);
                let later = if is_turned { steps - step } else { step } * width;
                let (early, late) = out.split_at_mut(later);
                let (early, late) = (&mut early[later - width..], &mut late[..width]);
                vectorised(
                    width,
                    #[inline(always)]
                    || {
                        for (k, weights) in weights.chunks_exact(block).enumerate().take(width) {
                            let weights = &weights[later + k..][..width - k];
                            let (early, late) = (&mut early[..width - k], &mut late[k..]);
                            let both = early.iter_mut().zip(late).zip(weights);
                            match is_turned {
                                true => {
                                    both.for_each(|((early, late), &weight)| *early = *early + weight * *late)
                                }
                                false => {
                                    both.for_each(|((early, late), &weight)| *late = *late + weight * *early)
                                }
                            }
                        }
                    },
                );
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};

    fn numbers(len: usize) -> Vec<f64> {
        (0..len).map(|index| ((index * 37) % 101) as f64 * 0.03 - 2.0).collect()
    }

    #[test]
    fn states_are_sums_over_all_ways() {
        let (steps, width) = (4, 5);
        let x = numbers(2 * steps * width);
        let skips = [false, false, false, true, false, false, false, false, false, false];
        let found = written(x.len(), |out| states(&x, &skips, [steps, width], out));
        for item in 0..2 {
            let at = |t: usize, s: usize| x[(item * steps + t) * width + s].exp();
            let mut before: Vec<f64> = (0..width).map(|s| if s < 2 { at(0, s) } else { 0.0 }).collect();
            for t in 1..steps {
                let reaches = |s: usize, k: usize| k < 2 || k == 2 && skips[item * width + s];
                let next = (0..width).map(|s| {
                    (0..=s).filter(|&k| reaches(s, k)).map(|k| before[s - k]).sum::<f64>() * at(t, s)
                });
                before = next.collect();
                for s in 0..width {
                    let found = found[(item * steps + t) * width + s].exp();
                    assert!((found - before[s]).abs() <= 1e-12 * before[s].abs(), "{found} {}", before[s]);
                }
            }
        }
    }

    #[test]
    fn sums_and_turned_sums_are_one_matrix_and_its_transpose() {
        for [reach, steps, width] in [[3, 4, 5], [1, 3, 1], [2, 1, 2], [3, 2, 2]] {
            let size = steps * width;
            let (weights, mut entries) = (numbers(reach * size), 0);
            let column = |place: usize, is_turned: bool| {
                let mut unit = vec![0.0; size];
                unit[place] = 1.0;
                written(size, |out| sums(&unit, &weights, [reach, steps, width], is_turned, out))
            };
            let columns: Vec<Vec<f64>> = (0..size).map(|place| column(place, false)).collect();
            for (row, turned) in (0..size).map(|row| column(row, true)).enumerate() {
                for (column, entry) in columns.iter().zip(turned) {
                    assert!((column[row] - entry).abs() < 1e-12);
                    entries += usize::from(entry != 0.0);
                }
            }
            assert!(entries >= size);
        }
    }

    #[test]
    fn the_bits_are_the_same_at_any_number_of_threads() {
        let (x, weights, skips) = (numbers(40 * 300), numbers(3 * 40 * 300), vec![true; 40 * 10]);
        let [one, two, four] = at_thread_counts(|| {
            [
                written(x.len(), |out| states(&x, &skips, [30, 10], out)),
                written(x.len(), |out| sums(&x, &weights, [3, 30, 10], true, out)),
            ]
        });
        assert!(one == two && one == four);
    }
}
