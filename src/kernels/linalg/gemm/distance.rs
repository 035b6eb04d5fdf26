//! Distances of rows of one matrix from rows of another.

use std::mem::MaybeUninit;

use ndarray::ArrayView2;

use super::by_rows;
use crate::dtype::Real;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::simd::vectorised;

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
    let lines = by_rows(b.t());
    let rows = (TURN / (count * width).max(1)).max(1);
    parallel_parts(out, rows * count, |start, part| {
        for (row, part) in part.chunks_exact_mut(count).enumerate() {
            let row = &a[(start / count + row) * width..][..width];
            for (block, part) in part.chunks_mut(WIDTH).enumerate() {
                let first = block * WIDTH;
                let mut sums = [T::ZERO; WIDTH];
                let sums = &mut sums[..part.len()];
                vectorised(
                    sums.len(),
                    #[inline(always)]
                    || {
                        for (&x, line) in row.iter().zip(lines.chunks_exact(count)) {
                            for (sum, &y) in sums.iter_mut().zip(&line[first..]) {
                                let apart = x - y;
                                *sum = *sum + apart * apart;
                            }
                        }
                        sums.iter_mut().for_each(|sum| *sum = sum.sqrt());
                    },
                );
                for (place, &sum) in part.iter_mut().zip(&*sums) {
                    place.write(sum);
                }
            }
        }
    });
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
