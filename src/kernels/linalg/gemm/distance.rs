//! Distances of rows of one matrix from rows of another.

use std::mem::MaybeUninit;

use ndarray::ArrayView2;

use crate::dtype::Real;
use crate::kernels::geometry::moves;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::simd::{Calculation, calculated};

/// Distances that are summed together: the sums stay in the first-level cache.
const WIDTH: usize = 512;

/// Differences that are worth a turn of a thread.
const TURN: usize = 1 << 17;

/// The distances of rows of `width` numbers of one matrix from those of another, row by row.
pub fn distances<T: Real>(a: &[T], b: ArrayView2<'_, T>, out: &mut [MaybeUninit<T>]) {
    let (count, width) = b.dim();
    if out.is_empty() {
        return;
    }
    // Number by number, each of which stands beside those of the other rows.
    let lines = moves::gathered(&b.t().into_dyn());
    let rows = (TURN / (count * width).max(1)).max(1);
    parallel_parts(out, rows * count, |start, part| {
        for (row, part) in part.chunks_exact_mut(count).enumerate() {
            let row = &a[(start / count + row) * width..][..width];
            for (block, part) in part.chunks_mut(WIDTH).enumerate() {
                calculated(Distances { row, lines: &lines, count, first: block * WIDTH, out: part });
            }
        }
    });
}

/// The distances of a row from some of the others.
struct Distances<'a, 'o, T> {
    row: &'a [T],
    /// The first numbers of the others, then the second ones, and so on.
    lines: &'a [T],
    count: usize,
    first: usize,
    out: &'o mut [MaybeUninit<T>],
}

impl<T: Real> Calculation<T> for Distances<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Distances { row, lines, count, first, out } = self;
        let mut sums = [A::from_f64(0.0); WIDTH];
        let sums = &mut sums[..out.len()];
        for (&x, line) in row.iter().zip(lines.chunks_exact(count)) {
            for (sum, &y) in sums.iter_mut().zip(&line[first..]) {
                let apart = A::new(x) - A::new(y);
                *sum = apart.times_plus(apart, *sum);
            }
        }
        for (place, sum) in out.iter_mut().zip(sums) {
            place.write(sum.sqrt().get());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};
    use ndarray::Array2;

    #[test]
    fn each_row_is_as_far_from_the_others_as_its_difference_is_long() {
        for (rows, count, width) in [(3, 2, 4), (40, 600, 20), (1, 5, 0), (0, 3, 2)] {
            let number = |seed: usize| move |(i, j): (usize, usize)| ((i * 7 + j * 3 + seed) as f64).sin();
            let a = Array2::from_shape_fn((rows, width), number(1));
            let b = Array2::from_shape_fn((count, width), number(2));
            let numbers: Vec<f64> = a.iter().copied().collect();
            let [one, two, four] =
                at_thread_counts(|| written(rows * count, |out| distances(&numbers, b.view(), out)));
            assert!(one == two && one == four);
            for (place, found) in one.iter().enumerate() {
                let apart = &a.row(place / count) - &b.row(place % count);
                assert!((found - apart.dot(&apart).sqrt()).abs() < 1e-12);
            }
        }
    }
}
