//! Symmetric matrices of either sign as L D Lᵀ, or as L D Lᴴ, with blocks of one or two rows in D. What is divided by is
//! chosen as Bunch and Kaufman do.

use ndarray::ArrayView2;

use super::{Field, lay};
use crate::kernels::interrupt::{Steps, collected};

/// Below this share of what is beside it an element of the diagonal is not divided by: so elements grow least.
const SHARE: f64 = 0.640_388_203_202_208;

/// A matrix that is being taken apart, column by column, both halves of it.
struct Rest<'a, T> {
    numbers: &'a mut [T],
    n: usize,
    /// Whether what is mirrored is conjugated.
    hermitian: bool,
}

/// Writes L and D in one matrix, column by column, of a matrix of which the lower half is read, and the numbers of the
/// rows that each row was exchanged with, from one on: with a minus in blocks of two rows. Answers zero, or the number
/// of the first block that is zero.
pub fn factor<T: Field>(
    matrix: ArrayView2<'_, T>,
    hermitian: bool,
    into: &mut [T],
    pivots: &mut [i32],
) -> i32 {
    let n = matrix.nrows();
    lay(matrix, into);
    let mut rest = Rest { numbers: into, n, hermitian };
    for column in 0..n {
        if hermitian {
            rest.numbers[column * n + column] = T::of(rest.at(column, column).real());
        }
        for row in column + 1..n {
            rest.numbers[row * n + column] = rest.turned(rest.at(row, column));
        }
    }
    let (mut step, mut failed, mut steps) = (0, 0, Steps::default());
    while step < n {
        steps.take((n - step) * (n - step));
        step += match rest.chosen(step) {
            Some((row, count)) => {
                let number = row as i32 + 1;
                pivots[step..step + count].fill(if count == 1 { number } else { -number });
                rest.exchange(step, step + count - 1, row);
                rest.take(step, count);
                count
            }
            None => {
                pivots[step] = step as i32 + 1;
                failed = if failed == 0 { step as i32 + 1 } else { failed };
                1
            }
        };
    }
    for column in 0..n {
        into[column * n..][..column].fill(T::ZERO);
    }
    failed
}

impl<T: Field> Rest<'_, T> {
    fn at(&self, row: usize, column: usize) -> T {
        self.numbers[column * self.n + row]
    }

    fn turned(&self, x: T) -> T {
        if self.hermitian { x.conj() } else { x }
    }

    /// The greatest of some elements of a column and its row; the first that is no number, if there is one.
    fn largest(&self, rows: std::ops::Range<usize>, column: usize) -> (f64, usize) {
        let mut most = (0.0, rows.start);
        for row in rows {
            let weight = self.at(row, column).weight();
            if weight > most.0 || weight.is_nan() {
                most = (weight, row);
            }
            if weight.is_nan() {
                break;
            }
        }
        most
    }

    /// The row that the next block is exchanged with, and how many rows the block has; nothing if all are zeros.
    fn chosen(&self, step: usize) -> Option<(usize, usize)> {
        let own = self.at(step, step).weight();
        let (below, other) = self.largest(step + 1..self.n, step);
        if own == 0.0 && below == 0.0 {
            return None;
        }
        if own < SHARE * below {
            // What is beside an element of the diagonal stands in its column, too.
            let (before, after) =
                (self.largest(step..other, other).0, self.largest(other + 1..self.n, other).0);
            let beside = before.max(after);
            if own < SHARE * below * (below / beside) {
                let is_one = self.at(other, other).weight() >= SHARE * beside;
                return Some((other, if is_one { 1 } else { 2 }));
            }
        }
        Some((step, 1))
    }

    /// Exchanges two rows and columns of what is left.
    fn exchange(&mut self, step: usize, first: usize, second: usize) {
        if first == second {
            return;
        }
        let n = self.n;
        for at in step..n {
            self.numbers.swap(first * n + at, second * n + at);
        }
        for column in step..n {
            self.numbers.swap(column * n + first, column * n + second);
        }
    }

    /// Takes a block out of what is left.
    fn take(&mut self, step: usize, count: usize) {
        let (n, first) = (self.n, step + count);
        let block = |rest: &Self, row: usize, column: usize| rest.at(step + row, step + column);
        let inverse = match count {
            1 => [[T::ONE.div(block(self, 0, 0)), T::ZERO], [T::ZERO; 2]],
            _ => {
                let [a, b, c, d] =
                    [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(row, column)| block(self, row, column));
                let size = a.mul(d).sub(b.mul(c));
                [[d.div(size), b.negative().div(size)], [c.negative().div(size), a.div(size)]]
            }
        };
        let columns = collected((0..count * n).map(|at| self.numbers[step * n + at]));
        let scaled = |row: usize, place: usize| {
            (0..count).fold(T::ZERO, |sum, at| sum.add(columns[at * n + row].mul(inverse[at][place])))
        };
        for column in first..n {
            let own: [T; 2] = std::array::from_fn(|at| match at < count {
                true => self.turned(columns[at * n + column]),
                false => T::ZERO,
            });
            for row in first..n {
                let taken = (0..count).fold(T::ZERO, |sum, at| sum.add(scaled(row, at).mul(own[at])));
                let place = &mut self.numbers[column * n + row];
                *place = place.sub(taken);
            }
        }
        for place in 0..count {
            for row in first..n {
                self.numbers[(step + place) * n + row] = scaled(row, place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn both_factors_make_the_matrix_again_where_rows_were_not_exchanged() {
        let matrix = Array2::from_shape_fn((6, 6), |(row, column)| {
            if row == column { -9.0 - row as f64 } else { ((row * column) as f64).sin() }
        });
        let (mut made, mut pivots) = (vec![0.0; 36], vec![0; 6]);
        assert_eq!(factor(matrix.view(), false, &mut made, &mut pivots), 0);
        assert_eq!(pivots, [1, 2, 3, 4, 5, 6]);
        let lower = |row: usize, column: usize| match row.cmp(&column) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => made[column * 6 + row],
        };
        for ((row, column), &x) in matrix.indexed_iter() {
            let sum: f64 = (0..6).map(|at| lower(row, at) * made[at * 7] * lower(column, at)).sum();
            assert!((sum - x).abs() < 1e-12);
        }
    }

    #[test]
    fn a_zero_block_is_told_of_and_numbers_that_are_none_end_it() {
        let (mut made, mut pivots) = (vec![0.0; 4], vec![0; 2]);
        assert_eq!(factor(Array2::zeros((2, 2)).view(), false, &mut made, &mut pivots), 1);
        assert_eq!((pivots, made), (vec![1, 2], vec![0.0; 4]));
        let (mut made, mut pivots) = (vec![0.0; 4], vec![0; 2]);
        factor(Array2::from_elem((2, 2), f64::NAN).view(), false, &mut made, &mut pivots);
        assert!(made[0].is_nan() && made[3].is_nan());
    }
}
