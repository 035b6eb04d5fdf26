//! Positive matrices as a triangle times its transpose.

use std::ops::RangeInclusive;

use ndarray::ArrayView2;

use super::lanes::{self, Lanes, in_lanes};
use super::{Field, Known, are_finite, each, laid, lay, library, positive};

/// Matrices with fewer rows than this are factored by a plain loop, alone and with others.
const SMALL: usize = lanes::MOST + 1;

/// A matrix, and room for its triangle and for what `cholesky` answers.
pub struct Positive<'a, T> {
    pub matrix: ArrayView2<'a, T>,
    pub triangle: &'a mut [T],
    pub order: &'a mut i32,
}

/// Factors many matrices, so many as there are, of so many rows and columns: see `cholesky`.
pub fn cholesky_each<'a, T: Known>(
    items: impl Iterator<Item = Positive<'a, T>>,
    size: (usize, usize, usize),
) {
    let one = |of: &mut Positive<'a, T>| *of.order = cholesky(of.matrix, of.triangle);
    lanes::each::<T, _>(items, size, |items| in_lanes!(T, factored(items)), one);
}

fn factored<T: Known, const L: usize>(items: &mut [Positive<'_, T>]) -> bool {
    let mut matrices = Lanes::<T, L>::gather(items.iter().map(|of| of.matrix));
    if !matrices.cholesky() {
        return false;
    }
    matrices.scatter(items.iter_mut().map(|of| &mut *of.triangle));
    items.iter_mut().for_each(|of| *of.order = 0);
    true
}

/// The lower triangle whose product with its transpose, conjugated, is the matrix, of which the lower half is
/// read; and zero. If there is none, the number of the first row at which that turns out, and the triangle as far as
/// it was found, with what is left of that row's diagonal, and the matrix behind it.
fn cholesky<T: Known>(matrix: ArrayView2<'_, T>, triangle: &mut [T]) -> i32 {
    let n = matrix.nrows();
    lay(matrix, triangle);
    let mut found = n >= SMALL && T::factor(triangle, n);
    if found {
        clear(triangle, n);
        found = are_finite(triangle);
    }
    if found {
        return 0;
    }
    lay(matrix, triangle);
    let order = plainly(triangle, n);
    clear(triangle, n);
    order
}

/// Leaves nothing above the diagonal of a triangle.
fn clear<T: Field>(triangle: &mut [T], n: usize) {
    for column in 0..n {
        let column = &mut triangle[column * n..][..=column];
        if let Some((head, above)) = column.split_last_mut() {
            above.fill(T::ZERO);
            // The library may leave an imaginary part of nothing but rounding.
            *head = T::of(head.real());
        }
    }
}

/// Writes the inverse of a triangle times its adjoint, column by column; of the triangle the lower half is read. Says
/// whether it did: it leaves small ones to others, and those whose inverse has numbers that are none.
pub fn invert<T: Known>(triangle: ArrayView2<'_, T>, inverse: &mut [T]) -> bool {
    let n = triangle.nrows();
    if n < SMALL || !library::invert_positive(&laid(triangle), n, inverse) {
        return false;
    }
    for column in 0..n {
        let (above, below) = inverse.split_at_mut((column + 1) * n);
        for (row, column_below) in (column + 1..n).zip(below.chunks_exact_mut(n)) {
            column_below[column] = above[column * n + row].conj();
        }
    }
    are_finite(inverse)
}

/// Column by column, each less what those before it make of it.
fn plainly<T: Field>(triangle: &mut [T], n: usize) -> i32 {
    for step in 0..n {
        let (known, column) = triangle.split_at_mut(step * n);
        let column = &mut column[..n];
        let row = |before: usize| known[before * n + step].conj();
        let rest = (0..step).fold(T::of(column[step].real()), |rest, before| {
            let factor = row(before);
            rest.sub(factor.mul(factor.conj()))
        });
        column[step] = rest;
        let Some(root) = rest.root() else { return step as i32 + 1 };
        for before in 0..step {
            let factor = row(before);
            let others = known[before * n..][..n].iter().zip(column.iter_mut());
            others.skip(step + 1).for_each(|(&x, rest)| *rest = rest.sub(x.mul(factor)));
        }
        column[step] = root;
        column[step + 1..].iter_mut().for_each(|x| *x = x.div(root));
    }
    0
}

/// A triangle, what of a gradient belongs to it, and room for that of the matrix.
pub struct Gradient<'a, T> {
    pub triangle: ArrayView2<'a, T>,
    pub gradient: ArrayView2<'a, T>,
    pub matrix: &'a mut [T],
}

/// Matrices of so many rows have gradients that are found without equations, if they are real.
pub const PULLED_BACK: RangeInclusive<usize> = SMALL..=positive::MOST;

/// Writes the gradients of many matrices, as symmetric as these, of those of their triangles: see `Cholesky`.
pub fn pull_back_each<'a, T: Known>(
    items: impl Iterator<Item = Gradient<'a, T>>,
    size: (usize, usize, usize),
) {
    each(items, size, |Gradient { triangle, gradient, matrix }| {
        lay(gradient, matrix);
        let rows = triangle.nrows();
        let is_done = match triangle.reversed_axes().to_slice() {
            Some(numbers) => T::pull_back(numbers, matrix, rows),
            None => T::pull_back(&laid(triangle), matrix, rows),
        };
        debug_assert!(is_done, "nobody asks for those of complex numbers");
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, arr2};

    #[test]
    fn a_matrix_is_a_triangle_times_its_transpose_if_it_is_positive() {
        let mut triangle = [0.0; 4];
        assert_eq!(cholesky(arr2(&[[4.0, 7.0], [2.0, 5.0]]).view(), &mut triangle), 0);
        assert_eq!(triangle, [2.0, 1.0, 0.0, 2.0]);
        assert_eq!(cholesky(arr2(&[[1.0, 2.0], [2.0, 1.0]]).view(), &mut triangle), 2);
        assert_eq!(triangle, [1.0, 2.0, 0.0, -3.0]);
    }

    #[test]
    fn a_large_one_is_too() {
        let n = 60;
        let number = |(row, column): (usize, usize)| {
            if row == column { n as f64 } else { 1.0 / (1 + row + column) as f64 }
        };
        let matrix = Array2::from_shape_fn((n, n), number);
        let (mut triangle, mut plain) = (vec![0.0; n * n], laid(matrix.view()));
        assert_eq!((cholesky(matrix.view(), &mut triangle), plainly(&mut plain, n)), (0, 0));
        for (place, (a, b)) in triangle.iter().zip(&plain).enumerate() {
            let wanted = if place % n < place / n { 0.0 } else { *b };
            assert!((a - wanted).abs() < 1e-12);
        }
    }
}
