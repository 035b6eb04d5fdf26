//! Columns of rows that lie one after another: each column has a mean, a deviation and a weight of its own. Rows are
//! gone through as often as sums are needed, with everything that belongs to the columns beside them.

use std::mem::MaybeUninit;

use super::Places;
use crate::dtype::{Element, Real};
use crate::kernels::interrupt;
use crate::kernels::lanes::visit;
use crate::kernels::parallel::parallel_items;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::simd::{Calculation, calculated};

/// In so many parts at the most are rows gone through, each of which takes memory as large as two rows for its sums.
const PARTS: usize = 16;

/// So many rows are added one after another, then such sums.
const TOGETHER: usize = 64;

/// Rows, one at least and not empty, and what their columns are weighed by.
#[derive(Clone, Copy)]
pub struct Columns<'a, T> {
    /// The elements of all rows.
    pub x: &'a [T],
    /// How many columns there are.
    pub count: usize,
    /// What is added to variances.
    pub eps: f64,
    /// The weight of each column.
    pub weight: Option<&'a [T]>,
    /// Mean and variance of each column, if they are not to be found.
    pub given: Option<[&'a [T]; 2]>,
}

/// Elements that make a long row.
const WIDE: usize = 128;

/// What is done with every row, and the names of what belongs to the columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Sums of the elements.
    Sums,
    /// Sums of squares of what is beside the mean.
    Squares,
    /// Elements by mean, scale, weight and bias.
    Standard,
    /// Sums of gradients, and of these times the elements by mean and scale.
    Slopes,
    /// Gradients by mean, slope, level and factor.
    Back,
}

/// Some rows.
struct Part<'a, T> {
    work: Work,
    x: &'a [T],
    gradient: &'a [T],
    columns: [&'a [T]; 4],
    out: &'a mut [MaybeUninit<T>],
    sums: [&'a mut [T]; 2],
}

impl<T: Real> Calculation<T> for Part<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Part { work, x, gradient, columns: [a, b, c, d], mut out, mut sums } = self;
        let (len, rows) = (a.len(), x.len().div_ceil(a.len()));
        let mut recent = sums.each_ref().map(|sum| interrupt::filled(sum.len(), T::ZERO));
        for (row, x) in x.chunks(len).enumerate() {
            let g = gradient.get(row * len..row * len + x.len()).unwrap_or_default();
            let out = out.split_off_mut(..x.len()).unwrap_or_default();
            let [first, second] = recent.each_mut().map(|sums| sums.get_mut(..x.len()).unwrap_or_default());
            match work {
                Work::Sums => visit([x], first, |sum: &mut T, [x]: [A; 1]| *sum = (A::new(*sum) + x).get()),
                Work::Squares => visit([x, a], first, |sum: &mut T, [x, mean]: [A; 2]| {
                    *sum = (x - mean).times_plus(x - mean, A::new(*sum)).get();
                }),
                Work::Standard => {
                    visit(
                        [x, a, b, c, d],
                        out,
                        |out: &mut MaybeUninit<T>, [x, mean, scale, weight, bias]: [A; 5]| {
                            out.write(((x - mean) * scale).times_plus(weight, bias).get());
                        },
                    );
                }
                Work::Slopes => {
                    visit([g], first, |sum: &mut T, [g]: [A; 1]| *sum = (A::new(*sum) + g).get());
                    visit([x, g, a, b], second, |sum: &mut T, [x, g, mean, scale]: [A; 4]| {
                        *sum = g.times_plus((x - mean) * scale, A::new(*sum)).get();
                    });
                }
                Work::Back => {
                    visit([x, g, a, b, c, d], out, |out: &mut MaybeUninit<T>, row: [A; 6]| {
                        let [x, g, mean, slope, level, factor] = row;
                        out.write(((mean - x).times_plus(slope, g - level) * factor).get());
                    });
                }
            }
            if (row + 1) % TOGETHER == 0 || row + 1 == rows {
                for (sum, recent) in sums.iter_mut().zip(&mut recent) {
                    visit([&*recent], sum, |sum: &mut T, [recent]: [A; 1]| {
                        *sum = (A::new(*sum) + recent).get()
                    });
                    recent.fill(T::ZERO);
                }
            }
        }
    }
}

/// The numbers so many times over.
fn repeated<T: Copy>(numbers: &[T], times: usize) -> Vec<T> {
    let mut all = interrupt::room(numbers.len() * times);
    (0..times).for_each(|_| all.extend_from_slice(numbers));
    all
}

impl<T: Real> Columns<'_, T> {
    /// Goes through all rows, and answers the sums.
    fn each(
        &self,
        work: Work,
        columns: [&[T]; 4],
        gradient: &[T],
        mut out: &mut [MaybeUninit<T>],
    ) -> [Vec<T>; 2] {
        // As many short rows as make a long one are one.
        let beside = (WIDE / self.count).clamp(1, self.x.len() / self.count);
        let len = self.count * beside;
        let repeated = columns.map(|column| if beside > 1 { repeated(column, beside) } else { Vec::new() });
        let columns = if beside > 1 { repeated.each_ref().map(Vec::as_slice) } else { columns };
        let widths = match work {
            Work::Standard | Work::Back => [0, 0],
            Work::Sums | Work::Squares => [len, 0],
            Work::Slopes => [len, len],
        };
        let rows = self.x.len().div_ceil(len);
        let size = (GRAIN / 4 / len).max(rows.div_ceil(PARTS)).max(1) * len;
        let count = self.x.len().div_ceil(size);
        let mut sums = widths.map(|width| interrupt::filled(count * width, T::ZERO));
        let mut rest = sums.each_mut().map(Vec::as_mut_slice);
        let mut parts = interrupt::room(count);
        for (index, x) in self.x.chunks(size).enumerate() {
            let gradient = gradient.get(index * size..).unwrap_or_default();
            let out = out.split_off_mut(..x.len()).unwrap_or_default();
            let [first, second] = &mut rest;
            let sums = [(first, widths[0]), (second, widths[1])]
                .map(|(rest, width)| rest.split_off_mut(..width).unwrap_or_default());
            parts.push(Part { work, x, gradient, columns, out, sums });
        }
        parallel_items(parts, 1, |part| calculated(part));
        for sums in sums.iter_mut().filter(|sums| !sums.is_empty()) {
            let (total, others) = sums.split_at_mut(self.count);
            for other in others.chunks_exact(self.count) {
                total.iter_mut().zip(other).for_each(|(total, &sum)| *total = *total + sum);
            }
            sums.truncate(self.count);
        }
        sums
    }

    fn rows(&self) -> T {
        <T as Element>::from_f64((self.x.len() / self.count) as f64)
    }

    /// The mean and the variance of each column.
    fn moments(&self) -> [Vec<T>; 2] {
        if let Some(given) = self.given {
            return given.map(|numbers| interrupt::collected(numbers.iter().copied()));
        }
        let of_sums = |work, beside: &[T]| {
            let [mut sums, _] = self.each(work, [beside; 4], &[], &mut []);
            sums.iter_mut().for_each(|sum| *sum = *sum / self.rows());
            sums
        };
        let mean = of_sums(Work::Sums, &self.x[..self.count]);
        let variance = of_sums(Work::Squares, &mean);
        [mean, variance]
    }

    /// The mean of each column, and one over its deviation.
    fn mean_and_scale(&self) -> [Vec<T>; 2] {
        let [mean, mut scale] = self.moments();
        let eps = <T as Element>::from_f64(self.eps);
        scale.iter_mut().for_each(|scale| *scale = T::ONE / (*scale + eps).sqrt());
        [mean, scale]
    }

    /// One number of each column, or the same for all.
    fn or(&self, numbers: Option<&[T]>, other: T) -> Vec<T> {
        match numbers {
            Some(numbers) => interrupt::collected(numbers.iter().copied()),
            None => interrupt::filled(self.count, other),
        }
    }
}

/// The columns normalised.
pub fn columns<T: Real>(columns: Columns<'_, T>, bias: Option<&[T]>, out: &mut [MaybeUninit<T>]) {
    let [mean, scale] = columns.mean_and_scale();
    let (weight, bias) = (columns.or(columns.weight, T::ONE), columns.or(bias, T::ZERO));
    columns.each(Work::Standard, [&mean, &scale, &weight, &bias], &[], out);
}

/// The gradients of the columns, of their weights and of biases, from that of the columns normalised.
pub fn columns_backward<T: Real>(columns: Columns<'_, T>, gradient: &[T], places: Places<'_, T>) {
    let [mean, scale] = columns.mean_and_scale();
    let [mut level, mut slope] =
        columns.each(Work::Slopes, [&mean, &scale, &scale, &scale], gradient, &mut []);
    let [input, weight, bias] = places;
    for (place, sums) in [(bias, &level), (weight, &slope)] {
        for (place, &sum) in place.into_iter().flatten().zip(sums) {
            place.write(sum);
        }
    }
    let Some(input) = input else { return };
    // What is given does not depend on the elements.
    let share = if columns.given.is_some() { T::ZERO } else { T::ONE / columns.rows() };
    level.iter_mut().for_each(|level| *level = *level * share);
    slope.iter_mut().zip(&scale).for_each(|(slope, &scale)| *slope = *slope * share * scale);
    let mut factor = columns.or(columns.weight, T::ONE);
    factor.iter_mut().zip(&scale).for_each(|(factor, &scale)| *factor = *factor * scale);
    columns.each(Work::Back, [&mean, &slope, &level, &factor], gradient, input);
}

/// The mean and the variance of each column, the latter with one less than the number of rows as its divisor.
pub fn columns_moments<T: Real>(columns: Columns<'_, T>, places: [&mut [MaybeUninit<T>]; 2]) {
    let [mean, mut variance] = columns.moments();
    let rows = columns.rows();
    variance.iter_mut().for_each(|variance| *variance = *variance * (rows / (rows - T::ONE)));
    for (place, found) in places.into_iter().zip([mean, variance]) {
        place.write_copy_of_slice(&found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};

    fn numbers(count: usize) -> Vec<f32> {
        (0..count).map(|index| ((index as f32) * 0.7).sin() + (index % 7) as f32).collect()
    }

    #[test]
    fn columns_have_their_own_means_and_deviations_at_any_number_of_threads() {
        for (rows, count) in [(2, 1), (700, 3), (1000, 70), (90, 1000)] {
            let (x, weight) = (numbers(rows * count), numbers(count));
            let given = Columns { x: &x, count, eps: 0.0, weight: Some(&weight), given: None };
            let [one, two, four] = at_thread_counts(|| {
                let forward = written(x.len(), |out| columns(given, Some(&weight), out));
                let mut to_weight = vec![MaybeUninit::new(0.0); count];
                let mut to_bias = vec![MaybeUninit::new(0.0); count];
                let back = written(x.len(), |out| {
                    columns_backward(given, &x, [Some(out), Some(&mut to_weight), Some(&mut to_bias)]);
                });
                let sums = written(count, |out| columns_backward(given, &x, [None, None, Some(out)]));
                (forward, back, sums)
            });
            assert!(one == two && one == four);
            let (forward, back, sums) = one;
            for column in 0..count {
                let of =
                    |x: &[f32]| x[column..].iter().step_by(count).map(|&x| f64::from(x)).collect::<Vec<_>>();
                let (x, y) = (of(&x), of(&forward));
                let mean = x.iter().sum::<f64>() / rows as f64;
                let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / rows as f64;
                let weight = f64::from(weight[column]);
                for (x, y) in x.iter().zip(y) {
                    assert!((y - ((x - mean) / variance.sqrt() * weight + weight)).abs() < 1e-3);
                }
                assert!((x.iter().sum::<f64>() - f64::from(sums[column])).abs() < 1e-2);
                // What reaches the elements are these themselves: nothing of that is beside mean and deviation.
                assert!(of(&back).iter().all(|x| x.abs() < 1e-3));
            }
        }
    }
}
