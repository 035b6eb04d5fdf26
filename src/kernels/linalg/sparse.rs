//! Products of matrices of which few elements are kept. A row of the result is summed by one thread, in the order of
//! the values, so that the number of threads never shows in the bits.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::dtype::Ring;
use crate::kernels::interrupt;
use crate::kernels::parallel::{parallel_items, parallel_parts};
use crate::kernels::simd::vectorised;

/// Multiplications that are worth a turn of a thread.
const TURN: usize = 1 << 16;

/// Sums of an inner product that run side by side.
const LANES: usize = 16;

/// In which order values are when those of a line lie together, and where those of each line begin and end then.
pub struct Lines {
    ends: Vec<usize>,
    order: Option<Vec<usize>>,
}

impl Lines {
    /// Of values whose lines these are, of so many.
    pub fn new(lines: &[i64], count: usize) -> Lines {
        let mut ends = interrupt::filled(count + 1, 0);
        for &line in lines {
            ends[line as usize + 1] += 1;
        }
        for line in 0..count {
            ends[line + 1] += ends[line];
        }
        let order = (!lines.is_sorted()).then(|| {
            let mut next = interrupt::collected(ends.iter().copied());
            let mut order = interrupt::filled(lines.len(), 0);
            for (value, &line) in lines.iter().enumerate() {
                let place = &mut next[line as usize];
                order[*place] = value;
                *place += 1;
            }
            order
        });
        Lines { ends, order }
    }

    /// Which value stands at this place of the order.
    #[inline(always)]
    fn value(&self, place: usize) -> usize {
        self.order.as_ref().map_or(place, |order| order[place])
    }

    /// The lines from this one on that make a turn, of results of this width.
    fn turn(&self, first: usize, width: usize) -> Range<usize> {
        let count = self.ends.len() - 1;
        let full = self.ends[first] + TURN / width;
        let many = self.ends[first..].partition_point(|&end| end <= full);
        first..count.min(first + many.clamp(2, 2 + TURN / width) - 1)
    }
}

/// Row by row, the sum of the rows of a matrix that the columns of the values name, times the values.
pub fn product<T: Ring>(
    lines: &Lines,
    columns: &[i64],
    values: &[T],
    (matrix, width): (&[T], usize),
    mut out: &mut [MaybeUninit<T>],
) {
    let (mut turns, mut first) = (Vec::new(), 0);
    while !out.is_empty() {
        let turn = lines.turn(first, width);
        let (part, rest) = out.split_at_mut(turn.len() * width);
        (out, first) = (rest, turn.end);
        turns.push((turn, part));
    }
    let factor = |place: usize| {
        let value = lines.value(place);
        (columns[value] as usize * width, values[value])
    };
    parallel_items(turns, 1, |(turn, part)| {
        vectorised(
            TURN,
            #[inline(always)]
            || {
                for (line, out) in turn.zip(part.chunks_exact_mut(width)) {
                    sum_line(lines.ends[line]..lines.ends[line + 1], factor, matrix, out);
                }
            },
        );
    });
}

/// The sum of rows of a matrix times numbers: so many columns at a time as processors hold sums of.
#[inline(always)]
fn sum_line<T: Ring>(
    places: Range<usize>,
    factor: impl Fn(usize) -> (usize, T) + Copy,
    matrix: &[T],
    out: &mut [MaybeUninit<T>],
) {
    let mut at = 0;
    while out.len() - at >= 64 && size_of::<T>() <= 4 {
        at = sum_columns::<T, 64>(places.clone(), factor, matrix, at, out);
    }
    while out.len() - at >= 32 {
        at = sum_columns::<T, 32>(places.clone(), factor, matrix, at, out);
    }
    while out.len() - at >= 8 {
        at = sum_columns::<T, 8>(places.clone(), factor, matrix, at, out);
    }
    while out.len() > at {
        at = sum_columns::<T, 1>(places.clone(), factor, matrix, at, out);
    }
}

/// `sum_line` of `L` columns from this one on; the column behind them.
#[inline(always)]
fn sum_columns<T: Ring, const L: usize>(
    places: Range<usize>,
    factor: impl Fn(usize) -> (usize, T),
    matrix: &[T],
    at: usize,
    out: &mut [MaybeUninit<T>],
) -> usize {
    let mut sums = [T::ZERO; L];
    for place in places {
        let (row, value) = factor(place);
        let line = &matrix[row + at..][..L];
        for lane in 0..L {
            sums[lane] = sums[lane].add(value.mul(line[lane]));
        }
    }
    for (out, sum) in out[at..].iter_mut().zip(sums) {
        out.write(sum);
    }
    at + L
}

/// The elements of the product of one matrix and another transposed that stand in these rows and columns.
pub fn sampled<T: Ring>(
    rows: &[i64],
    columns: &[i64],
    [left, right]: [&[T]; 2],
    width: usize,
    out: &mut [MaybeUninit<T>],
) {
    let line = |line: i64| line as usize * width..(line as usize + 1) * width;
    parallel_parts(out, (TURN / width.max(1)).max(1), |first, part| {
        vectorised(
            TURN,
            #[inline(always)]
            || {
                for (place, out) in (first..).zip(part) {
                    out.write(inner(&left[line(rows[place])], &right[line(columns[place])]));
                }
            },
        );
    });
}

/// The sum of products.
#[inline(always)]
fn inner<T: Ring>(a: &[T], b: &[T]) -> T {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [T::ZERO; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] = sums[lane].add(a[lane].mul(b[lane]));
        }
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            sums[lane] = sums[lane].add(sums[lane + width]);
        }
    }
    a_rest.iter().zip(b_rest).fold(sums[0], |sum, (&a, &b)| sum.add(a.mul(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::written;

    #[test]
    fn products_are_sums_of_rows_in_any_order_of_values_and_any_width() {
        let (rows, columns, values) = ([2, 0, 2, 0], [1, 0, 0, 1], [5.0, 1.0, 3.0, 2.0]);
        for width in [1, 7, 8, 40, 75] {
            let matrix: Vec<f64> = (0..2 * width).map(|number| number as f64).collect();
            let found = written(3 * width, |out| {
                product(&Lines::new(&rows, 3), &columns, &values, (&matrix, width), out);
            });
            for column in 0..width {
                let (a, b) = (column as f64, (width + column) as f64);
                let expected = [a + 2.0 * b, 0.0, 5.0 * b + 3.0 * a];
                assert_eq!([0, 1, 2].map(|row| found[row * width + column]), expected);
            }
        }
    }

    #[test]
    fn turns_cover_all_lines_whether_or_not_anything_is_in_them() {
        let all = vec![3; 200_000];
        for lines in [&all[..], &[]] {
            let lines = Lines::new(lines, 100_000);
            let (mut first, mut turns) = (0, 0);
            while first < 100_000 {
                let turn = lines.turn(first, 64);
                assert!(turn.start == first && turn.end > first);
                (first, turns) = (turn.end, turns + 1);
            }
            assert!(turns >= 64);
        }
    }
}
