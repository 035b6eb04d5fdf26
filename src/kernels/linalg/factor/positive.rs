//! Factors of positive real matrices that stay in the nearest memory, and the way of gradients through them: in vectors
//! as wide as the processor's, a few columns at a time.

use pulp::{Arch, Simd, WithSimd};

use super::columns::{MANY, add, dot, of, room_of, splats, vector_of};
use super::{Field, zeros};
use crate::kernels::wide::{Wide, lanes};

/// Matrices with more rows than this are the library's.
pub(super) const MOST: usize = 192;

/// The lower half of a matrix that lies column by column, in columns with room for whole vectors and for more of them
/// behind, with zeros everywhere else.
fn lower<T: Wide>(numbers: &[T], n: usize, room: usize) -> Vec<T> {
    let mut columns = zeros(room * (n + MANY - 1));
    let places = columns.chunks_exact_mut(room).zip(numbers.chunks_exact(n));
    places.enumerate().for_each(|(at, (place, column))| place[at..n].copy_from_slice(&column[at..]));
    columns
}

/// So many vectors of a line, from a row on.
#[inline(always)]
fn vectors<T: Wide, S: Simd, const R: usize>(line: &[T], row: usize) -> [T::Of<S>; R] {
    let vectors = T::vectors::<S>(&line[row..]).0;
    *vectors.first_chunk().unwrap_or_else(|| unreachable!("lines have room for whole vectors"))
}

/// `cholesky::cholesky` in the lower half, if the matrix is positive; else it stays as it is.
pub(super) fn cholesky<T: Wide>(matrix: &mut [T], n: usize) -> bool {
    let room = room_of::<T>(n);
    let mut columns = lower(matrix, n, room);
    if !Arch::new().dispatch(Factor { columns: &mut columns, room, n }) {
        return false;
    }
    let places = matrix.chunks_exact_mut(n).zip(columns.chunks_exact(room));
    places.enumerate().for_each(|(at, (place, column))| place[at..].copy_from_slice(&column[at..n]));
    true
}

/// `cholesky::pull_back`, of a gradient of which the lower half is given.
pub(super) fn pull_back<T: Wide>(triangle: &[T], gradient: &mut [T], n: usize) {
    let room = room_of::<T>(n);
    let (known, mut columns) = (lower(triangle, n, room), lower(gradient, n, room));
    let factors = zeros(n);
    Arch::new().dispatch(PullBack { known: &known, columns: &mut columns, factors, room, n });
    for (column, numbers) in gradient.chunks_exact_mut(n).zip(columns.chunks_exact(room)) {
        column.copy_from_slice(&numbers[..n]);
    }
}

/// Columns of a matrix of which the lower half becomes its factor.
struct Factor<'a, T> {
    columns: &'a mut [T],
    room: usize,
    n: usize,
}

impl<T: Wide> WithSimd for Factor<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> bool {
        // A closure, as `all` takes it, would be compiled for another processor.
        for first in (0..self.n).step_by(MANY) {
            let mut row = vector_of::<T>(first);
            while row < self.room {
                row += match (self.room - row) / lanes::<T, S>() {
                    3.. => self.less::<S, 3>(simd, first, row),
                    2 => self.less::<S, 2>(simd, first, row),
                    _ => self.less::<S, 1>(simd, first, row),
                };
            }
            if !self.few(simd, first) {
                return false;
            }
        }
        true
    }
}

impl<T: Wide> Factor<'_, T> {
    /// Some columns less what those before them make of them, of so many vectors from a row on.
    #[inline(always)]
    fn less<S: Simd, const R: usize>(&mut self, simd: S, first: usize, row: usize) -> usize {
        let (known, columns) = self.columns.split_at_mut(first * self.room);
        let mut sums = [[T::splat(simd, T::ZERO); R]; MANY];
        for column in 0..MANY {
            sums[column] = vectors::<T, S, R>(&columns[column * self.room..], row);
        }
        for known in known.chunks_exact(self.room) {
            let factors = splats(simd, of(known, first));
            let known = vectors::<T, S, R>(known, row);
            for column in 0..MANY {
                for lane in 0..R {
                    sums[column][lane] =
                        T::minus_times(simd, factors[column], known[lane], sums[column][lane]);
                }
            }
        }
        for column in 0..MANY {
            T::vectors_mut::<S>(&mut columns[column * self.room + row..]).0[..R]
                .copy_from_slice(&sums[column]);
        }
        R * lanes::<T, S>()
    }

    /// Some columns, of which those before them have been taken. False if the matrix is not positive.
    #[inline(always)]
    fn few<S: Simd>(&mut self, simd: S, first: usize) -> bool {
        let columns = &mut self.columns[first * self.room..];
        for step in 0..MANY.min(self.n - first) {
            let (column, others) = columns[step * self.room..].split_at_mut(self.room);
            let head = column[first + step];
            let Some(root) = head.root() else { return false };
            let top = vector_of::<T>(first + step);
            scale(simd, &mut column[top..], T::ONE / root);
            column[first + step] = root;
            for (other, line) in others.chunks_exact_mut(self.room).take(MANY - 1 - step).enumerate() {
                add(simd, &mut line[top..], -column[first + step + 1 + other], &column[top..]);
            }
        }
        true
    }
}

/// A line of whole vectors times a factor.
#[inline(always)]
fn scale<T: Wide, S: Simd>(simd: S, line: &mut [T], factor: T) {
    let factor = T::splat(simd, factor);
    for x in T::vectors_mut::<S>(line).0 {
        *x = T::times(simd, *x, factor);
    }
}

/// The sum of the products of two lines from a row on.
#[inline(always)]
fn along<T: Wide, S: Simd>(simd: S, a: &[T], b: &[T], first: usize) -> T {
    let whole = first.next_multiple_of(T::LANES).min(a.len());
    let mut few = T::ZERO;
    for (&a, &b) in a[first..whole].iter().zip(&b[first..whole]) {
        few = few + a * b;
    }
    few + dot(simd, &a[whole..], &b[whole..])
}

/// Columns of a gradient of which the lower half becomes that of the matrix, with what is opposite of it.
///
/// The triangle comes about a few columns after the other, each of which takes from the matrix behind it what it makes of
/// it. So the last are the first whose gradient is known: that of others is theirs less what the one behind has made of
/// them, over what they were divided by.
struct PullBack<'a, T> {
    known: &'a [T],
    columns: &'a mut [T],
    /// Room for some of the triangle's numbers, row by row.
    factors: Vec<[T; MANY]>,
    room: usize,
    n: usize,
}

impl<T: Wide> WithSimd for PullBack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for first in (0..self.n).step_by(MANY).rev() {
            let behind = (first + MANY).min(self.n);
            for (row, factors) in self.factors.iter_mut().enumerate().skip(behind) {
                for (column, factor) in factors.iter_mut().enumerate() {
                    *factor = self.known[(first + column) * self.room + row];
                }
            }
            let mut row = vector_of::<T>(first);
            while row < self.room {
                row += match (self.room - row) / lanes::<T, S>() {
                    3.. => self.less::<S, 3>(simd, (first, behind), row),
                    2 => self.less::<S, 2>(simd, (first, behind), row),
                    _ => self.less::<S, 1>(simd, (first, behind), row),
                };
            }
            for column in (first..behind).rev() {
                self.one(simd, column, behind);
            }
            self.mirror(first, behind);
        }
    }
}

impl<T: Wide> PullBack<'_, T> {
    /// Some columns less twice the product of what is known of the gradient of the matrix with the triangle's, in so
    /// many vectors from a row on. Rows of these columns take part in it: what is above in those behind is mirrored.
    #[inline(always)]
    fn less<S: Simd, const R: usize>(
        &mut self,
        simd: S,
        (first, behind): (usize, usize),
        row: usize,
    ) -> usize {
        let room = self.room;
        let (columns, done) = self.columns.split_at_mut(behind * room);
        let columns = &mut columns[first * room..];
        let mut sums = [[T::splat(simd, T::ZERO); R]; MANY];
        for (done, factors) in done.chunks_exact(room).zip(&self.factors[behind..]) {
            let done = vectors::<T, S, R>(done, row);
            for column in 0..MANY {
                let factor = T::splat(simd, factors[column]);
                for lane in 0..R {
                    sums[column][lane] = T::times_plus(simd, factor, done[lane], sums[column][lane]);
                }
            }
        }
        let two = T::splat(simd, T::ONE + T::ONE);
        for (line, sums) in columns.chunks_exact_mut(room).zip(sums) {
            for (x, sum) in T::vectors_mut::<S>(&mut line[row..]).0.iter_mut().zip(sums) {
                *x = T::minus_times(simd, two, sum, *x);
            }
        }
        R * lanes::<T, S>()
    }

    /// One of them, those behind it in the same group being there.
    #[inline(always)]
    fn one<S: Simd>(&mut self, simd: S, column: usize, behind: usize) {
        let (room, two) = (self.room, T::ONE + T::ONE);
        let known = &self.known[column * room..][..room];
        let (columns, others) = self.columns.split_at_mut((column + 1) * room);
        let line = &mut columns[column * room..][..room];
        let others = (column + 1..behind).zip(others.chunks_exact(room));
        for (other, done) in others.clone() {
            let top = vector_of::<T>(other);
            add(simd, &mut line[top..], -two * known[other], &done[top..]);
        }
        // What lies across in the group's own rows, which is there as what is below the diagonals of the others.
        for (other, done) in others {
            line[other] = line[other] - two * along(simd, done, known, other + 1);
        }
        let (inverse, half) = (T::ONE / known[column], T::ONE / two);
        let (head, top) = (line[column], vector_of::<T>(column));
        scale(simd, &mut line[top..], inverse);
        let rest = along(simd, line, known, column + 1);
        scale(simd, &mut line[top..], half);
        line[column] = (head - rest) * inverse * half;
    }

    /// Writes what is below the diagonal of some columns opposite of it.
    #[inline(always)]
    fn mirror(&mut self, first: usize, behind: usize) {
        let room = self.room;
        let (columns, done) = self.columns.split_at_mut(behind * room);
        for (row, done) in (behind..self.n).zip(done.chunks_exact_mut(room)) {
            for column in first..behind {
                done[column] = columns[column * room + row];
            }
        }
        for column in first..behind {
            for row in column + 1..behind {
                columns[row * room + column] = columns[column * room + row];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A positive matrix that lies column by column.
    fn positive(n: usize) -> Vec<f64> {
        let number = |place: usize| match (place % n, place / n) {
            (row, column) if row == column => n as f64,
            (row, column) => ((row * column) as f64).sin(),
        };
        (0..n * n).map(number).collect()
    }

    #[test]
    fn a_triangle_times_its_transpose_is_the_matrix() {
        for n in [1, 4, 7, 17, 40, 64, 67, MOST] {
            let matrix = positive(n);
            let mut triangle = matrix.clone();
            assert!(cholesky(&mut triangle, n));
            for column in 0..n {
                for row in column..n {
                    let products =
                        (0..=column).map(|step| triangle[step * n + row] * triangle[step * n + column]);
                    assert!((products.sum::<f64>() - matrix[column * n + row]).abs() < 1e-10, "{n}");
                }
            }
            triangle.clone_from(&matrix);
            triangle[(n - 1) * n + n - 1] = -1.0;
            assert!(!cholesky(&mut triangle, n), "{n}");
        }
    }

    #[test]
    fn a_gradient_says_how_the_triangle_moves_with_the_matrix() {
        for n in [1, 3, 4, 9, 22, 40] {
            let (matrix, step) = (positive(n), 1e-5);
            let weight = |place: usize| (place as f64 * 0.7).cos();
            let loss = |matrix: &[f64]| {
                let mut triangle = matrix.to_vec();
                assert!(cholesky(&mut triangle, n));
                let is_lower = |place: &usize| place % n >= place / n;
                (0..n * n).filter(is_lower).map(|place| triangle[place] * weight(place)).sum::<f64>()
            };
            let (mut triangle, mut gradient) = (matrix.clone(), (0..n * n).map(weight).collect::<Vec<f64>>());
            assert!(cholesky(&mut triangle, n));
            pull_back(&triangle, &mut gradient, n);
            for (row, column) in [(0, 0), (n - 1, 0), (n / 2, n / 3), (n - 1, n - 1), (n - 1, n / 2)] {
                let moved = |by: f64| {
                    let mut matrix = matrix.clone();
                    matrix[column * n + row] += by;
                    if row != column {
                        matrix[row * n + column] += by;
                    }
                    loss(&matrix)
                };
                let (there, across) = (gradient[column * n + row], gradient[row * n + column]);
                assert!((there - across).abs() < 1e-14, "{n} {row} {column}");
                let slope = (moved(step) - moved(-step)) / (2.0 * step);
                let wanted = if row == column { there } else { there + across };
                assert!((slope - wanted).abs() < 1e-7, "{n} {row} {column}: {slope} {wanted}");
            }
        }
    }
}
