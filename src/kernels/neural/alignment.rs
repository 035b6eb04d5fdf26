//! The loss of labels whose places along the steps are not known, of many samples at once: the logarithm of the
//! probability that a sample spells its labels with blanks between them, and its gradient.
//!
//! The states of a sample are its labels with a blank around each. Sums along the steps are those of `labelling`; ways
//! that lead on from a state are summed here, from the last step to the first.

use std::mem::MaybeUninit;

use crate::dtype::Real;
use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::neural::labelling::{along, gates, joined};
use crate::kernels::parallel::{parallel_items, parallel_parts};
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::pointwise::math::{self, Arithmetic};
use crate::kernels::simd::{Calculation, calculated};

/// Exponentials that are worth another thread.
const WORTH: usize = GRAIN / 16;

/// What samples are to spell.
pub struct Labels<'a> {
    /// Steps, samples and classes of what is given, one row of classes after the other.
    pub shape: [usize; 3],
    /// How many states a sample has.
    pub width: usize,
    /// The class of each state of each sample.
    pub classes: &'a [usize],
    /// Whether each state follows the one two before it.
    pub skips: &'a [bool],
    /// How many steps each sample takes.
    pub steps: &'a [usize],
    /// How many labels each sample has.
    pub counts: &'a [usize],
}

impl Labels<'_> {
    /// The class of each state of a sample, and whether it follows the one two before it.
    fn of(&self, sample: usize) -> (&[usize], &[bool]) {
        let range = sample * self.width..(sample + 1) * self.width;
        (&self.classes[range.clone()], &self.skips[range])
    }

    /// Writes what is given for the states of a sample, step by step.
    fn pick<T: Real>(&self, given: &[T], sample: usize, out: &mut [T]) {
        let [_, samples, classes] = self.shape;
        let (places, _) = self.of(sample);
        let rows = given.chunks_exact(classes).skip(sample).step_by(samples);
        for (row, out) in rows.zip(out.chunks_exact_mut(self.width)) {
            out.iter_mut().zip(places).for_each(|(out, &class)| *out = row[class]);
        }
    }

    /// The loss of each sample, and its states.
    pub fn losses<T: Real>(&self, given: &[T], states: &mut [T], losses: &mut [MaybeUninit<T>]) {
        let block = self.shape[0] * self.width;
        let samples = states.chunks_exact_mut(block).zip(losses).enumerate();
        parallel_items(interrupt::collected(samples), (WORTH / block).max(1), |(sample, (states, loss))| {
            self.pick(given, sample, states);
            along(self.of(sample).1, states);
            loss.write(self.loss(sample, states));
        });
    }

    /// The loss of a sample: ways end in its last label or in the blank behind it.
    fn loss<T: Real>(&self, sample: usize, states: &[T]) -> T {
        let (steps, count) = (self.steps[sample], self.counts[sample]);
        let none = T::from_f64(f64::NEG_INFINITY);
        let Some(last) = steps.checked_sub(1).map(|step| &states[step * self.width..][..self.width]) else {
            return if count == 0 { T::ZERO } else { T::from_f64(f64::INFINITY) };
        };
        let label = count.checked_sub(1).map_or(none, |label| last[2 * label + 1]);
        calculated(Joined([last[2 * count], label, none]))
    }

    /// The gradient of what is given, as that of logits of which it is the `log_softmax`, from that of each loss:
    /// the probability of a class at a step, less that of being in one of its states. Where nothing spells the labels, it is in none.
    pub fn gradients<T: Real>(
        &self,
        given: &[T],
        states: &[T],
        [losses, gradients]: [&[T]; 2],
        out: &mut [MaybeUninit<T>],
    ) {
        let [steps, samples, classes] = self.shape;
        let block = steps * self.width;
        let mut shares = interrupt::filled(states.len(), T::ZERO);
        let both = shares.chunks_exact_mut(block).zip(states.chunks_exact(block)).enumerate();
        parallel_items(interrupt::collected(both), (WORTH / block).max(1), |(sample, (shares, states))| {
            self.pick(given, sample, shares);
            let taken = self.steps[sample] * self.width;
            if losses[sample] == T::from_f64(f64::INFINITY) {
                return shares.fill(T::ZERO);
            }
            calculated(Onward {
                skips: self.of(sample).1,
                count: self.counts[sample],
                states: &states[..taken],
                loss: losses[sample],
                shares: &mut shares[..taken],
            });
        });
        parallel_parts(out, (WORTH / classes).max(1) * classes, |start, out| {
            let rows = (start / classes..).zip(out.chunks_exact_mut(classes));
            for (row, out) in rows {
                let (step, sample) = (row / samples, row % samples);
                if step >= self.steps[sample] {
                    out.fill(MaybeUninit::new(T::ZERO));
                    continue;
                }
                let out = out.write_copy_of_slice(&given[row * classes..][..classes]);
                calculated(Powers(&mut *out));
                let shares = &shares[sample * block + step * self.width..][..self.width];
                for (&class, &share) in self.of(sample).0.iter().zip(shares) {
                    out[class] = out[class] - share;
                }
                out.iter_mut().for_each(|out| *out = *out * gradients[sample]);
            }
        });
    }
}

/// Less the logarithm of a sum of powers.
struct Joined<T>([T; 3]);

impl<T: Real> Calculation<T> for Joined<T> {
    type Output = T;

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) -> T {
        let [a, b, c] = self.0;
        T::ZERO - joined(A::new(a), A::new(b), A::new(c)).get()
    }
}

/// Numbers that become their powers.
struct Powers<'a, T>(&'a mut [T]);

impl<T: Real> Calculation<T> for Powers<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        for x in self.0.iter_mut() {
            *x = math::exp(A::new(*x)).get();
        }
    }
}

/// A sample on the way back. What is given becomes the probability of being in each state.
struct Onward<'a, T> {
    skips: &'a [bool],
    count: usize,
    states: &'a [T],
    loss: T,
    shares: &'a mut [T],
}

impl<T: Real> Calculation<T> for Onward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let (width, none) = (self.skips.len(), T::from_f64(f64::NEG_INFINITY));
        let followers = (0..width).map(|state| self.skips.get(state + 2).is_some_and(|&skips| skips));
        let added: Vec<T> = gates(followers);
        // The ways on from the states of the last step: they end there. Nothing is behind the last state.
        let mut ways = interrupt::filled(width, none);
        let ends = if self.count == 0 { 0 } else { 2 * self.count - 1 };
        ways[ends..=2 * self.count].fill(T::ZERO);
        let mut behind = interrupt::filled(width + 2, none);
        let mut steps = Steps::default();
        let rows = self.shares.chunks_exact_mut(width).zip(self.states.chunks_exact(width));
        for (row, states) in rows.rev() {
            steps.take(width);
            for ((behind, &way), &given) in behind.iter_mut().zip(&*ways).zip(&*row) {
                *behind = (A::new(way) + A::new(given)).get();
            }
            for ((share, &way), &state) in row.iter_mut().zip(&*ways).zip(states) {
                *share = math::exp(A::new(state) + A::new(way) + A::new(self.loss)).get();
            }
            let (same, one, two) = (&behind[..width], &behind[1..][..width], &behind[2..][..width]);
            let added = &added[..width];
            for (state, way) in ways.iter_mut().enumerate() {
                let two = A::new(two[state]) + A::new(added[state]);
                *way = joined(A::new(same[state]), A::new(one[state]), two).get();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};

    const SHAPE: [usize; 3] = [4, 2, 3];
    const WIDTH: usize = 5;

    fn labels() -> Labels<'static> {
        Labels {
            shape: SHAPE,
            width: WIDTH,
            classes: &[0, 1, 0, 2, 0, 0, 2, 0, 0, 0],
            skips: &[false, false, false, true, false, false, false, false, false, false],
            steps: &[4, 3],
            counts: &[2, 1],
        }
    }

    fn given() -> Vec<f64> {
        (0..24).map(|index| -0.1 - f64::from((index * 7) % 11) * 0.3).collect()
    }

    fn losses(given: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut states = vec![0.0; 2 * 4 * WIDTH];
        let losses = written(2, |out| labels().losses(given, &mut states, out));
        (losses, states)
    }

    /// What a sequence of classes spells: none twice in a row, and no blanks.
    fn spelt(path: &[usize]) -> Vec<usize> {
        let mut path = path.to_vec();
        path.dedup();
        path.retain(|&class| class != 0);
        path
    }

    #[test]
    fn a_loss_counts_every_path_that_spells_the_labels() {
        let given = given();
        let (losses, _) = losses(&given);
        for (sample, (steps, wanted)) in [(4, vec![1, 2]), (3, vec![2])].into_iter().enumerate() {
            let mut total = 0.0;
            for number in 0..3usize.pow(steps) {
                let path: Vec<usize> = (0..steps).map(|step| number / 3usize.pow(step) % 3).collect();
                if spelt(&path) == wanted {
                    let at = |(step, class): (usize, &usize)| given[(step * 2 + sample) * 3 + class];
                    total += path.iter().enumerate().map(at).sum::<f64>().exp();
                }
            }
            assert!((losses[sample] + total.ln()).abs() < 1e-12, "{losses:?} {total}");
        }
    }

    #[test]
    fn gradients_are_slopes_less_the_probabilities_that_a_softmax_takes() {
        let (given, weights) = (given(), [0.7, -1.3]);
        let (found, states) = losses(&given);
        let gradient = written(24, |out| labels().gradients(&given, &states, [&found, &weights], out));
        for (place, &gradient) in gradient.iter().enumerate() {
            let sum = |by: f64| {
                let mut moved = given.clone();
                moved[place] += by;
                losses(&moved).0.iter().zip(weights).map(|(loss, weight)| loss * weight).sum::<f64>()
            };
            let (step, sample) = (place / 6, place / 3 % 2);
            let is_taken = step < labels().steps[sample];
            let own = if is_taken { given[place].exp() * weights[sample] } else { 0.0 };
            let slope = (sum(1e-6) - sum(-1e-6)) / 2e-6;
            assert!((gradient - own - slope).abs() < 1e-8, "{place}: {gradient} {own} {slope}");
        }
    }

    #[test]
    fn the_bits_are_the_same_at_any_number_of_threads() {
        let (samples, steps, width) = (9, 40, 21);
        let classes: Vec<usize> = (0..samples * width).map(|state| state % 2 * (1 + state % 7)).collect();
        let (skips, taken, counts) = (vec![false; samples * width], vec![steps; samples], vec![10; samples]);
        let labels = Labels {
            shape: [steps, samples, 8],
            width,
            classes: &classes,
            skips: &skips,
            steps: &taken,
            counts: &counts,
        };
        let given: Vec<f32> = (0..steps * samples * 8).map(|index| (index % 13) as f32 * -0.3).collect();
        let [one, two, four] = at_thread_counts(|| {
            let mut states = vec![0.0; samples * steps * width];
            let losses = written(samples, |out| labels.losses(&given, &mut states, out));
            let ones = vec![1.0; samples];
            let found = written(given.len(), |out| labels.gradients(&given, &states, [&losses, &ones], out));
            (losses, found)
        });
        assert!(one == two && one == four && one.1.iter().all(|x| x.is_finite()));
    }
}
