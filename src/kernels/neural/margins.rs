//! By how much classes are not less likely than the right ones by a margin, and the gradients of that, row by row.

use std::mem::MaybeUninit;

use crate::dtype::Real;
use crate::kernels::interrupt;
use crate::kernels::lanes;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::simd::{Calculation, calculated};

/// Comparisons that are worth a turn of a thread.
const TURN: usize = 1 << 16;

/// So few numbers are looked at one by one.
const FEW: usize = 16;

/// Rows that have one right class each.
#[derive(Clone, Copy)]
pub struct OneClass<'a, T> {
    /// The right class of each row.
    pub of: &'a [i64],
    /// What a row of each class weighs.
    pub weight: Option<&'a [T]>,
    pub margin: T,
    /// Whether violations are squared.
    pub squared: bool,
}

/// What is given for a row, where there is one number for each or for all.
fn of_row<T: Copy>(given: &[T], row: usize) -> T {
    if given.len() == 1 { given[0] } else { given[row] }
}

/// What a margin is violated by: no more than met, or not a number, it is not.
#[inline(always)]
fn violation<A: Arithmetic>(by: A) -> A {
    let none = A::from_f64(0.0);
    if by > none { by } else { none }
}

impl<T: Real> OneClass<'_, T> {
    /// What a row of a class weighs beside what it is a share of.
    fn weight(&self, class: usize) -> T {
        self.weight.map_or(T::ONE, |weight| weight[class])
    }

    /// What each row of so many classes loses.
    pub fn losses(self, x: &[T], classes: usize, out: &mut [MaybeUninit<T>]) {
        parallel_parts(out, (TURN / classes).max(1), |start, part| {
            for (row, out) in (start..).zip(part) {
                let (own, class) = (&x[row * classes..][..classes], self.of[row] as usize);
                let base = self.margin - own[class];
                let sum = calculated(Violations {
                    base,
                    rows: [&own[..class], &own[class + 1..]],
                    squared: self.squared,
                });
                out.write(sum * self.weight(class) / T::from_f64(classes as f64));
            }
        });
    }

    /// The gradients of rows of so many classes from those of their losses, of which there is one for each or for all.
    pub fn gradients(self, x: &[T], classes: usize, given: &[T], out: &mut [MaybeUninit<T>]) {
        parallel_parts(out, (TURN / classes).max(1) * classes, |start, part| {
            for (row, out) in (start / classes..).zip(part.chunks_exact_mut(classes)) {
                let (own, class) = (&x[row * classes..][..classes], self.of[row] as usize);
                let base = self.margin - own[class];
                let factor = of_row(given, row) * self.weight(class) / T::from_f64(classes as f64);
                let (before, rest) = out.split_at_mut(class);
                let Some((place, behind)) = rest.split_first_mut() else {
                    unreachable!("the class is one of them")
                };
                let squared = self.squared;
                let rows = [&own[..class], &own[class + 1..]];
                let total = calculated(Passed { base, factor, squared, rows, outs: [before, behind] });
                place.write(-total);
            }
        });
    }
}

/// The sum of what a margin is violated by.
struct Violations<'a, T, const N: usize> {
    base: T,
    rows: [&'a [T]; N],
    squared: bool,
}

impl<T: Real, const N: usize> Calculation<T> for Violations<'_, T, N> {
    type Output = T;

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) -> T {
        let (base, one, mut total) = (A::new(self.base), A::from_f64(1.0), A::from_f64(0.0));
        let loss = move |x: A| {
            let by = violation(base + x);
            by * if self.squared { by } else { one }
        };
        for row in self.rows {
            if row.len() <= FEW {
                for &x in row {
                    total = total + loss(A::new(x));
                }
                continue;
            }
            let [sum] = lanes::sums(
                [row],
                #[inline(always)]
                |[x]: [A; 1]| [loss(x)],
            );
            total = total + sum;
        }
        total.get()
    }
}

/// Gradients of numbers that violate a margin, and their sum.
struct Passed<'a, 'o, T> {
    base: T,
    factor: T,
    squared: bool,
    rows: [&'a [T]; 2],
    outs: [&'o mut [MaybeUninit<T>]; 2],
}

impl<T: Real> Calculation<T> for Passed<'_, '_, T> {
    type Output = T;

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) -> T {
        let (base, factor, squared) = (A::new(self.base), A::new(self.factor), self.squared);
        let (none, two, mut total) = (A::from_f64(0.0), A::from_f64(2.0), A::from_f64(0.0));
        let slope = move |x: A| {
            let by = base + x;
            let slope = if squared { two * by * factor } else { factor };
            if by > none { slope } else { none }
        };
        for (row, out) in self.rows.into_iter().zip(self.outs) {
            if row.len() <= FEW {
                for (out, &x) in out.iter_mut().zip(row) {
                    let slope = slope(A::new(x));
                    total = total + slope;
                    out.write(slope.get());
                }
                continue;
            }
            lanes::visit(
                [row],
                out,
                #[inline(always)]
                |out, [x]: [A; 1]| {
                    out.write(slope(x).get());
                },
            );
            let [sum] = lanes::sums(
                [row],
                #[inline(always)]
                |[x]: [A; 1]| [slope(x)],
            );
            total = total + sum;
        }
        total.get()
    }
}

/// The classes that come first in a row of targets, up to one below zero.
fn listed(targets: &[i64]) -> &[i64] {
    let count = targets.iter().position(|&class| class < 0).unwrap_or(targets.len());
    &targets[..count]
}

/// The numbers of a row that belong to none of its right classes, and which classes these are.
fn others<T: Real>(x: &[T], is_right: &[T], found: &mut Vec<T>, classes: &mut Vec<usize>) {
    found.clear();
    classes.clear();
    let wrong = (0..x.len()).filter(|&class| is_right[class] == T::ZERO);
    for class in wrong {
        found.push(x[class]);
        classes.push(class);
    }
}

/// Which classes are right in each row: ones and zeros.
pub fn right_classes<T: Real>(targets: &[i64], classes: usize, out: &mut [MaybeUninit<T>]) {
    parallel_parts(out, (TURN / classes).max(1) * classes, |start, part| {
        let targets = targets[start..].chunks_exact(classes);
        for (out, targets) in part.chunks_exact_mut(classes).zip(targets) {
            out.fill(MaybeUninit::new(T::ZERO));
            for &class in listed(targets) {
                out[class as usize].write(T::ONE);
            }
        }
    });
}

/// What each row loses that has several right classes: violations of a margin of one by all others.
pub fn several_losses<T: Real>(
    x: &[T],
    targets: &[i64],
    is_right: &[T],
    classes: usize,
    out: &mut [MaybeUninit<T>],
) {
    parallel_parts(out, (TURN / (classes * classes)).max(1), |start, part| {
        let (mut found, mut places) = (interrupt::room(classes), interrupt::room(classes));
        for (row, out) in (start..).zip(part) {
            let range = row * classes..(row + 1) * classes;
            let own = &x[range.clone()];
            others(own, &is_right[range.clone()], &mut found, &mut places);
            let mut total = T::ZERO;
            let mut steps = interrupt::Steps::default();
            for &class in listed(&targets[range]) {
                let base = T::ONE - own[class as usize];
                total = total + calculated(Violations { base, rows: [&found], squared: false });
                steps.take(found.len());
            }
            out.write(total / T::from_f64(classes as f64));
        }
    });
}

/// The gradients of such rows from those of their losses, of which there is one for each or for all.
pub fn several_gradients<T: Real>(
    x: &[T],
    targets: &[i64],
    is_right: &[T],
    (classes, given): (usize, &[T]),
    out: &mut [MaybeUninit<T>],
) {
    parallel_parts(out, (TURN / (classes * classes)).max(1) * classes, |start, part| {
        let (mut found, mut places) = (interrupt::room(classes), interrupt::room(classes));
        let mut counts = interrupt::filled(classes, T::ZERO);
        let mut passed = interrupt::filled(classes, T::ZERO);
        for (row, out) in (start / classes..).zip(part.chunks_exact_mut(classes)) {
            let range = row * classes..(row + 1) * classes;
            let own = &x[range.clone()];
            others(own, &is_right[range.clone()], &mut found, &mut places);
            let factor = of_row(given, row) / T::from_f64(classes as f64);
            let counts = &mut counts[..found.len()];
            counts.fill(T::ZERO);
            passed.fill(T::ZERO);
            let mut steps = interrupt::Steps::default();
            for &class in listed(&targets[range]) {
                let base = T::ONE - own[class as usize];
                let count = calculated(Counted { base, row: &found, counts: &mut *counts });
                passed[class as usize] = passed[class as usize] - count;
                steps.take(found.len());
            }
            for (&class, &count) in places.iter().zip(&*counts) {
                passed[class] = count;
            }
            out.iter_mut().zip(&passed).for_each(|(out, &count)| {
                out.write(count * factor);
            });
        }
    });
}

/// How many numbers violate a margin, and each of them once more.
struct Counted<'a, 'o, T> {
    base: T,
    row: &'a [T],
    counts: &'o mut [T],
}

impl<T: Real> Calculation<T> for Counted<'_, '_, T> {
    type Output = T;

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) -> T {
        let (base, none, one) = (A::new(self.base), A::from_f64(0.0), A::from_f64(1.0));
        let count = move |x: A| if base + x > none { one } else { none };
        if self.row.len() <= FEW {
            let mut sum = none;
            for (counted, &x) in self.counts.iter_mut().zip(self.row) {
                let count = count(A::new(x));
                (*counted, sum) = ((A::new(*counted) + count).get(), sum + count);
            }
            return sum.get();
        }
        lanes::visit(
            [self.row],
            self.counts,
            #[inline(always)]
            |counted, [x]: [A; 1]| *counted = (A::new(*counted) + count(x)).get(),
        );
        let [sum] = lanes::sums(
            [self.row],
            #[inline(always)]
            |[x]: [A; 1]| [count(x)],
        );
        sum.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};

    fn numbers(len: usize) -> Vec<f64> {
        (0..len).map(|index| (index as f64 * 1.7).sin()).collect()
    }

    #[test]
    fn a_row_loses_what_each_other_class_violates_the_margin_by() {
        for (rows, classes) in [(1, 1), (7, 3), (900, 101)] {
            let x = numbers(rows * classes);
            let of: Vec<i64> = (0..rows).map(|row| (row * 5 % classes) as i64).collect();
            let weight: Vec<f64> = (0..classes).map(|class| 1.0 + class as f64 * 0.25).collect();
            for (weight, squared) in [(None, false), (Some(&weight[..]), true)] {
                let one_class = OneClass { of: &of, weight, margin: 0.5, squared };
                let given = numbers(rows);
                let found = at_thread_counts(|| {
                    let losses = written(rows, |out| one_class.losses(&x, classes, out));
                    (losses, written(rows * classes, |out| one_class.gradients(&x, classes, &given, out)))
                });
                assert!(found[0] == found[1] && found[0] == found[2]);
                let (losses, gradients) = &found[0];
                for row in 0..rows {
                    let (own, class) = (&x[row * classes..][..classes], of[row] as usize);
                    let share = weight.map_or(1.0, |weight| weight[class]) / classes as f64;
                    let (mut loss, mut slopes) = (0.0, vec![0.0; classes]);
                    for other in (0..classes).filter(|&other| other != class) {
                        let by = (0.5 - own[class] + own[other]).max(0.0);
                        loss += share * if squared { by * by } else { by };
                        let slope = if squared { 2.0 * by } else { f64::from(u8::from(by > 0.0)) };
                        slopes[other] += share * slope * given[row];
                        slopes[class] -= share * slope * given[row];
                    }
                    assert!((loss - losses[row]).abs() < 1e-12);
                    let found = &gradients[row * classes..][..classes];
                    assert!(slopes.iter().zip(found).all(|(slope, found)| (slope - found).abs() < 1e-12));
                }
            }
        }
    }

    #[test]
    fn a_row_of_several_classes_loses_for_each_as_often_as_it_is_listed() {
        for (rows, classes) in [(1, 1), (9, 4), (60, 70)] {
            let x = numbers(rows * classes);
            let targets: Vec<i64> =
                (0..rows * classes).map(|place| (place * 7 % (classes + 1)) as i64 - 1).collect();
            let given = numbers(rows);
            let found = at_thread_counts(|| {
                let right = written(rows * classes, |out| right_classes(&targets, classes, out));
                let losses = written(rows, |out| several_losses(&x, &targets, &right, classes, out));
                let own = (classes, &given[..]);
                (losses, written(rows * classes, |out| several_gradients(&x, &targets, &right, own, out)))
            });
            assert!(found[0] == found[1] && found[0] == found[2]);
            for row in 0..rows {
                let own = &x[row * classes..][..classes];
                let right = listed(&targets[row * classes..][..classes]);
                let (mut loss, mut slopes) = (0.0, vec![0.0; classes]);
                for &class in right {
                    for other in (0..classes).filter(|&other| !right.contains(&(other as i64))) {
                        let by = 1.0 - own[class as usize] + own[other];
                        if by > 0.0 {
                            loss += by / classes as f64;
                            slopes[other] += given[row] / classes as f64;
                            slopes[class as usize] -= given[row] / classes as f64;
                        }
                    }
                }
                assert!((loss - found[0].0[row]).abs() < 1e-12);
                let gradients = &found[0].1[row * classes..][..classes];
                assert!(slopes.iter().zip(gradients).all(|(slope, found)| (slope - found).abs() < 1e-12));
            }
        }
    }
}
