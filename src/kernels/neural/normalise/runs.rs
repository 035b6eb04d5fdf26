//! Runs of elements that share a weight, such as those of a channel of an image: sets of them have a mean and a
//! deviation.

use std::mem::MaybeUninit;

use super::Places;
use crate::dtype::{Element, Real};
use crate::kernels::interrupt;
use crate::kernels::lanes::{sums, visit};
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::simd::{Calculation, calculated};

/// Runs, none of them empty, which sets they are in, and what the elements of each are weighed by.
#[derive(Clone, Copy)]
pub struct Runs<'a, T> {
    /// The elements of all runs.
    pub x: &'a [T],
    /// How many a run has.
    pub len: usize,
    /// How many runs, one after another, have weights of their own, before those start again.
    pub channels: usize,
    /// How many runs, one after another, are a set; else the runs of a channel are.
    pub together: Option<usize>,
    /// What is added to variances.
    pub eps: f64,
    /// The weight of each channel.
    pub weight: Option<&'a [T]>,
    /// Mean and variance of each set, if they are not to be found.
    pub given: Option<[&'a [T]; 2]>,
}

/// A run: which it is, where its results go, and sums over it.
struct Run<'a, T> {
    number: usize,
    out: &'a mut [MaybeUninit<T>],
    /// What the gradients of bias and weight are summed from.
    sums: [T; 2],
}

impl<'a, T: Real> Runs<'a, T> {
    /// How many runs there are.
    fn count(&self) -> usize {
        self.x.len() / self.len
    }

    /// How many of them are a set.
    fn in_set(&self) -> usize {
        self.together.unwrap_or_else(|| self.count() / self.channels)
    }

    /// The elements of a run.
    fn run(&self, number: usize) -> &'a [T] {
        &self.x[number * self.len..][..self.len]
    }

    /// One number of each channel, as the run needs it.
    #[inline(always)]
    fn of_channel<A: Arithmetic<Plain = T>>(&self, numbers: Option<&[T]>, number: usize, other: f64) -> A {
        numbers.map_or(A::from_f64(other), |numbers| A::new(numbers[number % self.channels]))
    }

    /// The runs, one set after another. `out` is empty where nothing is to be written.
    fn in_order<'o>(&self, mut out: &'o mut [MaybeUninit<T>]) -> Vec<Run<'o, T>> {
        let count = self.count();
        let room = |number| {
            let out = out.split_off_mut(..self.len).unwrap_or_default();
            Run { number, out, sums: [T::ZERO; 2] }
        };
        let runs = interrupt::collected((0..count).map(room));
        if self.together.is_some() {
            return runs;
        }
        let mut runs = interrupt::collected(runs.into_iter().map(Some));
        let in_set = self.in_set();
        let place = |index: usize| index / in_set + index % in_set * self.channels;
        interrupt::collected(
            (0..count).map(|index| {
                runs[place(index)].take().unwrap_or_else(|| unreachable!("a run is in one set"))
            }),
        )
    }

    /// The mean and the variance of a set.
    #[inline(always)]
    fn moments<A: Arithmetic<Plain = T>>(&self, set: &[Run<'_, T>]) -> [A; 2] {
        if let Some(given) = self.given {
            return given.map(|numbers| A::new(numbers[set[0].number % self.channels]));
        }
        let count = A::from_f64((set.len() * self.len) as f64);
        let mut sum = A::from_f64(0.0);
        for run in set {
            let [part] = sums([self.run(run.number)], |[x]: [A; 1]| [x]);
            sum = sum + part;
        }
        let mean = sum / count;
        let mut squares = A::from_f64(0.0);
        for run in set {
            let [part] = sums([self.run(run.number)], |[x]: [A; 1]| [(x - mean) * (x - mean)]);
            squares = squares + part;
        }
        [mean, squares / count]
    }

    /// One over the deviation.
    #[inline(always)]
    fn scale<A: Arithmetic<Plain = T>>(&self, variance: A) -> A {
        A::from_f64(1.0) / (variance + A::from_f64(self.eps)).sqrt()
    }

    /// Has `work` done with the sets, several at a time.
    fn each_set(&self, runs: &mut [Run<'_, T>], work: impl Fn(&mut [Run<'_, T>]) + Sync) {
        let in_set = self.in_set();
        parallel_parts(runs, (GRAIN / (in_set * self.len)).max(1) * in_set, |_, part| work(part));
    }
}

/// The sets normalised.
pub fn runs<T: Real>(runs: Runs<'_, T>, bias: Option<&[T]>, out: &mut [MaybeUninit<T>]) {
    let mut all = runs.in_order(out);
    runs.each_set(&mut all, |sets| calculated(Forward { runs, bias, sets }));
}

struct Forward<'a, 'o, 'p, T> {
    runs: Runs<'a, T>,
    bias: Option<&'a [T]>,
    sets: &'p mut [Run<'o, T>],
}

impl<T: Real> Calculation<T> for Forward<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Forward { runs, bias, sets } = self;
        for set in sets.chunks_mut(runs.in_set()) {
            let [mean, variance]: [A; 2] = runs.moments(set);
            let scale = runs.scale(variance);
            for Run { number, out, .. } in set {
                let weight: A = runs.of_channel(runs.weight, *number, 1.0);
                let bias: A = runs.of_channel(bias, *number, 0.0);
                visit([runs.run(*number)], out, |out: &mut MaybeUninit<T>, [x]: [A; 1]| {
                    out.write(((x - mean) * scale).times_plus(weight, bias).get());
                });
            }
        }
    }
}

/// The gradients of the sets, of the weights of channels and of biases, from that of the sets normalised.
pub fn runs_backward<T: Real>(runs: Runs<'_, T>, gradient: &[T], places: Places<'_, T>) {
    let [input, weight, bias] = places;
    let mut totals = interrupt::filled(runs.channels, [0.0, 0.0]);
    let mut all = runs.in_order(input.unwrap_or_default());
    runs.each_set(&mut all, |sets| calculated(Backward { runs, gradient, sets }));
    for run in &all {
        let total = &mut totals[run.number % runs.channels];
        for (total, sum) in total.iter_mut().zip(run.sums) {
            *total += sum.to_f64();
        }
    }
    for (place, index) in [(bias, 0), (weight, 1)] {
        for (place, total) in place.into_iter().flatten().zip(&totals) {
            place.write(<T as Element>::from_f64(total[index]));
        }
    }
}

struct Backward<'a, 'o, 'p, T> {
    runs: Runs<'a, T>,
    gradient: &'a [T],
    sets: &'p mut [Run<'o, T>],
}

impl<T: Real> Calculation<T> for Backward<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Backward { runs, gradient, sets } = self;
        let passed = |number: usize| &gradient[number * runs.len..][..runs.len];
        let count = A::from_f64((runs.in_set() * runs.len) as f64);
        for set in sets.chunks_mut(runs.in_set()) {
            let [mean, variance]: [A; 2] = runs.moments(set);
            let scale = runs.scale(variance);
            let mut sum = [A::from_f64(0.0); 2];
            for run in set.iter_mut() {
                let part = sums([runs.run(run.number), passed(run.number)], |[x, g]: [A; 2]| {
                    [g, g * ((x - mean) * scale)]
                });
                let weight: A = runs.of_channel(runs.weight, run.number, 1.0);
                for index in 0..2 {
                    sum[index] = sum[index] + weight * part[index];
                    run.sums[index] = part[index].get();
                }
            }
            // What is given does not depend on the elements.
            let [level, slope] = match runs.given {
                Some(_) => [A::from_f64(0.0); 2],
                None => [sum[0] / count, sum[1] / count],
            };
            for Run { number, out, .. } in set {
                let weight: A = runs.of_channel(runs.weight, *number, 1.0);
                let rows = [runs.run(*number), passed(*number)];
                if out.is_empty() {
                    continue;
                }
                visit(rows, out, |out: &mut MaybeUninit<T>, [x, g]: [A; 2]| {
                    let standard = (x - mean) * scale;
                    out.write(((-standard).times_plus(slope, g * weight - level) * scale).get());
                });
            }
        }
    }
}

/// The mean and the variance of each set, the latter with one less than their number as its divisor.
pub fn runs_moments<T: Real>(runs: Runs<'_, T>, places: [&mut [MaybeUninit<T>]; 2]) {
    let mut all = runs.in_order(&mut []);
    runs.each_set(&mut all, |sets| calculated(Moments { runs, sets }));
    let count = (runs.in_set() * runs.len) as f64;
    let [means, variances] = places;
    for (set, (mean, variance)) in all.chunks(runs.in_set()).zip(means.iter_mut().zip(variances)) {
        let [found, square] = set[0].sums;
        mean.write(found);
        variance.write(<T as Element>::from_f64(square.to_f64() * (count / (count - 1.0))));
    }
}

struct Moments<'a, 'o, 'p, T> {
    runs: Runs<'a, T>,
    sets: &'p mut [Run<'o, T>],
}

impl<T: Real> Calculation<T> for Moments<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        for set in self.sets.chunks_mut(self.runs.in_set()) {
            set[0].sums = self.runs.moments::<A>(set).map(A::get);
        }
    }
}
