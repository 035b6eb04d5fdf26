//! Discrete Fourier transforms of lines of any length, by the libraries `rustfft` and `realfft`. One line is computed
//! on one thread and cannot be given up in between; lines are shared between threads in pieces of a fixed size.

mod plans;

pub use plans::Precision;

use ndarray::{ArrayView2, ArrayViewD, ArrayViewMut2, Axis};
use std::mem::MaybeUninit;

use super::geometry::moves;
use super::interrupt;
use super::parallel::parallel_parts;
use crate::dtype::Complex;

/// Elements that are worth a turn of a thread.
const PIECE: usize = 1 << 12;

/// Lines that are turned together.
const TILE: usize = 16;

/// Room for so many numbers.
fn zeros<T: Clone + Default>(count: usize) -> Vec<T> {
    let mut zeros = interrupt::room(count);
    zeros.resize(count, T::default());
    zeros
}

/// How many elements of lines of that length go to a thread at a time.
fn piece(size: usize) -> usize {
    (PIECE / size).max(1) * size
}

/// Numbers as a matrix of so many rows and columns.
fn in_rows<T>([rows, columns]: [usize; 2], numbers: &[T]) -> ArrayViewD<'_, T> {
    match ArrayView2::from_shape((rows, columns), numbers) {
        Ok(matrix) => matrix.into_dyn(),
        Err(_) => unreachable!("there are so many numbers"),
    }
}

fn scaled<T: Precision>(numbers: &mut [Complex<T>], scale: T) {
    if scale != T::one() {
        numbers.iter_mut().for_each(|x| *x = *x * scale);
    }
}

/// Every line along a dimension of numbers in row-major order, in place: its sums with exp(-2πi kj/n) if `forward`,
/// else with the conjugates, times `scale`.
pub fn transform<T: Precision>(
    numbers: &mut [Complex<T>],
    shape: &[usize],
    dim: usize,
    forward: bool,
    scale: T,
) {
    let (size, width) = (shape[dim], shape[dim + 1..].iter().product::<usize>());
    if numbers.is_empty() {
        return;
    }
    let plan = T::plans().complex(size, forward);
    if width == 1 {
        return parallel_parts(numbers, piece(size), |_, part| {
            plan.process_with_scratch(part, &mut zeros(plan.get_inplace_scratch_len()));
            scaled(part, scale);
        });
    }
    // Lines that lie across are laid along, some at a time, and back again.
    let mut tiles = interrupt::room(numbers.len() / (size * width) * width.div_ceil(TILE));
    for block in numbers.chunks_exact_mut(size * width) {
        let mut rest = ArrayViewMut2::from_shape((size, width), block)
            .unwrap_or_else(|_| unreachable!("a block has so many numbers"));
        while rest.ncols() > 0 {
            let beside = TILE.min(rest.ncols());
            let (tile, right) = rest.split_at(Axis(1), beside);
            tiles.push(tile);
            rest = right;
        }
    }
    parallel_parts(&mut tiles, (PIECE / (TILE * size)).max(1), |_, tiles| {
        let (mut room, mut scratch) = (zeros(TILE * size), zeros(plan.get_inplace_scratch_len()));
        for tile in tiles {
            let lines = &mut room[..tile.len()];
            let along = [tile.ncols(), size];
            moves::move_here(moves::ordered(&along, lines), tile.view().reversed_axes().into_dyn());
            plan.process_with_scratch(lines, &mut scratch);
            scaled(lines, scale);
            moves::move_here(tile.view_mut().reversed_axes().into_dyn(), in_rows(along, lines));
        }
    });
}

/// The sums of real lines of `size` numbers, times `scale`: their first half, or if they are `whole` the other one
/// too, which mirrors its conjugates.
pub fn from_real<T: Precision>(
    lines: &[T],
    size: usize,
    scale: T,
    whole: bool,
    sums: &mut [MaybeUninit<Complex<T>>],
) {
    let (half, plan) = (size / 2 + 1, T::plans().there(size));
    let width = if whole { size } else { half };
    parallel_parts(sums, piece(width), |start, part| {
        let (mut line, mut scratch) = (zeros(size), zeros(plan.get_scratch_len()));
        let mut found: Vec<Complex<T>> = zeros(half);
        for (at, sums) in part.chunks_exact_mut(width).enumerate() {
            line.copy_from_slice(&lines[(start / width + at) * size..][..size]);
            let done = plan.process_with_scratch(&mut line, &mut found, &mut scratch);
            debug_assert!(done.is_ok(), "the lengths are those of the plan");
            scaled(&mut found, scale);
            for (place, &x) in sums.iter_mut().zip(&found) {
                place.write(x);
            }
            for (at, place) in sums.iter_mut().enumerate().skip(half) {
                place.write(found[size - at].conj());
            }
        }
    });
}

/// The real lines of `size` numbers that half of a mirrored line makes, times `scale`. What would have to be real in
/// it, is taken for real.
pub fn to_real<T: Precision>(halves: &[Complex<T>], size: usize, scale: T, lines: &mut [MaybeUninit<T>]) {
    let (half, plan) = (size / 2 + 1, T::plans().back(size));
    parallel_parts(lines, piece(size), |start, part| {
        let (mut line, mut scratch) = (zeros(size), zeros(plan.get_scratch_len()));
        let mut given: Vec<Complex<T>> = zeros(half);
        for (at, lines) in part.chunks_exact_mut(size).enumerate() {
            given.copy_from_slice(&halves[(start / size + at) * half..][..half]);
            given[0].im = T::zero();
            if size.is_multiple_of(2) {
                given[half - 1].im = T::zero();
            }
            let done = plan.process_with_scratch(&mut given, &mut line, &mut scratch);
            debug_assert!(done.is_ok(), "the lengths are those of the plan");
            for (place, &x) in lines.iter_mut().zip(&line) {
                place.write(if scale == T::one() { x } else { x * scale });
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};
    use std::f64::consts::TAU;

    type Number = Complex<f64>;

    fn numbers(count: usize) -> Vec<Number> {
        (0..count).map(|k| Complex::new((k as f64).sin(), k as f64 * 0.1)).collect()
    }

    fn naive(line: &[Number], forward: bool) -> Vec<Number> {
        let n = line.len();
        let root = |k: usize| Complex::from_polar(1.0, TAU * (k % n) as f64 / n as f64);
        let root = |k: usize| if forward { root(k).conj() } else { root(k) };
        (0..n).map(|k| line.iter().enumerate().map(|(j, x)| x * root(k * j)).sum()).collect()
    }

    fn near(found: &[Number], wanted: &[Number]) -> bool {
        found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| (a - b).norm() < 1e-8)
    }

    #[test]
    fn lines_of_any_length_are_the_sums_that_they_should_be() {
        for n in [1, 2, 3, 4, 5, 8, 12, 30, 61, 64, 67, 134] {
            let line = numbers(n);
            for forward in [true, false] {
                let mut found = line.clone();
                transform(&mut found, &[n], 0, forward, 0.5);
                let wanted: Vec<Number> = naive(&line, forward).iter().map(|x| x * 0.5).collect();
                assert!(near(&found, &wanted), "{n}");
            }
            let real: Vec<f64> = line.iter().map(|x| x.re).collect();
            let wanted = naive(&real.iter().map(|&x| x.into()).collect::<Vec<_>>(), true);
            assert!(near(&written(n, |sums| from_real(&real, n, 1.0, true, sums)), &wanted));
            let half: Vec<Number> = written(n / 2 + 1, |sums| from_real(&real, n, 1.0, false, sums));
            assert!(near(&half, &wanted[..n / 2 + 1]));
            let back: Vec<f64> = written(n, |lines| to_real(&half, n, 1.0 / n as f64, lines));
            assert!(back.iter().zip(&real).all(|(a, b)| (a - b).abs() < 1e-10));
        }
    }

    #[test]
    fn lines_across_are_those_along_whatever_the_number_of_threads() {
        let shape = [3, 70, 45];
        let found = at_thread_counts(|| {
            let mut found = numbers(3 * 70 * 45);
            transform(&mut found, &shape, 1, true, 1.0);
            found
        });
        assert!(found.iter().all(|other| *other == found[0]));
        let given = numbers(3 * 70 * 45);
        for (lead, column) in [(0, 0), (1, 7), (2, 44)] {
            let line = |from: &[Number]| {
                (0..70).map(|row| from[(lead * 70 + row) * 45 + column]).collect::<Vec<_>>()
            };
            assert!(near(&line(&found[0]), &naive(&line(&given), true)));
        }
    }
}
