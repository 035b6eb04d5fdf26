//! What comes nearest to the solutions of equations whose matrix is no square, or is one without an inverse as far as
//! can be told.

use ndarray::ArrayView2;

use super::{Field, Known, Part, are_finite, elimination, laid, library, values, zeros};
use crate::dtype::Element;
use crate::kernels::interrupt;

/// Matrices whose smaller side is less than this are left to their singular values.
const SMALL: usize = 8;

/// How much of the head of a triangle the rest of its diagonal has to be, beyond what counts as nothing: below that the
/// least singular value is estimated.
const MARGIN: f64 = 1e3;

/// How much that has to be of the length of all, beyond what counts as nothing: between that and nothing only singular
/// values tell. An estimate is the value or more, after so many turns hardly more.
const NEAR: f64 = 10.0;
const TURNS: usize = 4;

/// Writes the columns that come nearest to solutions of equations with columns on the right, of all that do the
/// shortest, and answers the rank of the matrix. Singular values count as nothing up to a share of the greatest.
pub fn solve<T: Known>(
    matrix: ArrayView2<'_, T>,
    right: ArrayView2<'_, T>,
    share: f64,
    solution: &mut [T],
) -> usize {
    let (rows, columns) = matrix.dim();
    if let Some(found) = directly(matrix, right, share) {
        solution.copy_from_slice(&found);
        return rows.min(columns);
    }
    let mut inverse = zeros(rows * columns);
    let rank = invert(matrix, false, 0.0, share, &mut inverse);
    let inverse = ArrayView2::from_shape((columns, rows), &inverse)
        .unwrap_or_else(|_| unreachable!("there are so many numbers"));
    library::product(&laid(inverse), &laid(right), (columns, rows, right.ncols()), solution);
    rank
}

/// `solve`, if the rows of the matrix do not depend on each other, or its columns. Else `None`, also where that is not
/// clear.
fn directly<T: Known>(matrix: ArrayView2<'_, T>, right: ArrayView2<'_, T>, share: f64) -> Option<Vec<T>> {
    let (rows, columns) = matrix.dim();
    let (least, most) = (rows.min(columns), rows.max(columns));
    if least < SMALL {
        return None;
    }
    let wide = rows < columns;
    // A wide one is the adjoint of one that is not.
    let mut packed = if wide { laid(matrix.reversed_axes()) } else { laid(matrix) };
    if wide {
        packed.iter_mut().for_each(|x| *x = Field::conj(*x));
    }
    let found = library::reflect(packed, most, least, true)?;
    let sizes = (0..least).map(|at| found.at(at, at).magnitude());
    let (smallest, greatest) = sizes.fold((f64::INFINITY, 0.0), |(a, b), size| (size.min(a), size.max(b)));
    // Also not where either is no number.
    let mut clear = smallest > MARGIN * share * greatest && greatest.is_finite();
    if !clear && smallest > 0.0 {
        clear = least_value(&found, least)? > NEAR * share * length(&found, least);
    }
    if !clear {
        return None;
    }
    let count = right.ncols();
    let mut solution = zeros(columns * count);
    let done = if wide {
        let mut inner = zeros(rows * count);
        for (right, inner) in right.columns().into_iter().zip(inner.chunks_exact_mut(rows)) {
            found.order.iter().zip(inner).for_each(|(&row, place)| *place = right[row]);
        }
        let solved = found.solve(&mut inner, true);
        for (inner, solution) in inner.chunks_exact(rows).zip(solution.chunks_exact_mut(columns)) {
            solution[..rows].copy_from_slice(inner);
        }
        solved && found.apply(&mut solution, false)
    } else {
        let mut turned = laid(right);
        let applied = found.apply(&mut turned, true);
        let mut inner = zeros(columns * count);
        for (turned, inner) in turned.chunks_exact(rows).zip(inner.chunks_exact_mut(columns)) {
            inner.copy_from_slice(&turned[..columns]);
        }
        let solved = found.solve(&mut inner, false);
        for (inner, solution) in inner.chunks_exact(columns).zip(solution.chunks_exact_mut(columns)) {
            found.order.iter().zip(inner).for_each(|(&column, &x)| solution[column] = x);
        }
        applied && solved
    };
    (done && are_finite(&solution)).then_some(solution)
}

/// The length of all numbers of a triangle, which is not less than its greatest singular value.
fn length<T: Known>(found: &library::Reflected<T>, n: usize) -> f64 {
    let square = |column: usize| (0..=column).map(move |row| found.at(row, column).magnitude().powi(2));
    (0..n).flat_map(square).sum::<f64>().sqrt()
}

/// The least singular value of a triangle, by equations whose solutions are ever more of its vector.
fn least_value<T: Known>(found: &library::Reflected<T>, n: usize) -> Option<f64> {
    let mut vector: Vec<T> = interrupt::filled(n, T::ONE);
    let mut value = f64::INFINITY;
    for _ in 0..TURNS {
        let before = vector.iter().map(|x| x.magnitude().powi(2)).sum::<f64>().sqrt();
        vector.iter_mut().for_each(|x| *x = Field::div(*x, T::of(before)));
        if !(found.solve(&mut vector, true) && found.solve(&mut vector, false)) {
            return None;
        }
        let after = vector.iter().map(|x| x.magnitude().powi(2)).sum::<f64>().sqrt();
        if !after.is_finite() {
            return None;
        }
        value = value.min(after.sqrt().recip());
    }
    Some(value)
}

/// Writes, row by row, the matrix nearest to an inverse, where singular values up to a bound count as nothing: up to
/// an absolute one, and up to a share of the greatest. Answers how many do not. Of a matrix that is `symmetric` the
/// lower triangle is read.
pub fn invert<T: Known>(
    matrix: ArrayView2<'_, T>,
    symmetric: bool,
    absolute: f64,
    relative: f64,
    inverse: &mut [T],
) -> usize {
    let (rows, columns) = matrix.dim();
    let least = rows.min(columns);
    let mirrored;
    let matrix = match symmetric {
        true => {
            mirrored = values::mirrored(matrix, false);
            elimination::by_columns(&mirrored, rows)
        }
        false => matrix,
    };
    let mut sizes = interrupt::filled(least, <Part<T> as Element>::from_f64(0.0));
    let (mut left, mut right) = (zeros(rows * least), zeros(least * columns));
    values::singular(matrix, &mut sizes, Some((&mut left, &mut right)));
    let greatest = sizes.first().map_or(0.0, |size| size.to_f64());
    let bound = absolute.max(relative * greatest);
    for (column, size) in left.chunks_exact_mut(rows.max(1)).zip(&sizes) {
        let size = size.to_f64();
        match size > bound {
            true => column.iter_mut().for_each(|x| *x = Field::div(*x, T::of(size))),
            false => column.fill(T::ZERO),
        }
    }
    // Row by row it is U S⁻¹ Vᴴ, conjugated, column by column.
    library::product(&left, &right, (rows, least, columns), inverse);
    inverse.iter_mut().for_each(|x| *x = Field::conj(*x));
    sizes.iter().filter(|size| size.to_f64() > bound).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Complex;
    use ndarray::Array2;

    fn matrix(rows: usize, columns: usize) -> Array2<Complex<f64>> {
        Array2::from_shape_fn((rows, columns), |(row, column)| {
            Complex::new(((row * 7 + column * 3) as f64).sin(), ((row * column) as f64).cos())
        })
    }

    #[test]
    fn what_is_missed_is_at_right_angles_to_what_is_reached() {
        for (rows, columns) in [(30, 20), (20, 20), (20, 30)] {
            let (a, b) = (matrix(rows, columns), matrix(rows, 2));
            let x = directly(a.view(), b.view(), 1e-12).unwrap_or_default();
            let x = ArrayView2::from_shape((2, columns), &x).unwrap();
            let missed = a.dot(&x.t()) - &b;
            let along = a.t().mapv(|x| x.conj()).dot(&missed);
            assert!(x.len() == 2 * columns && along.iter().all(|x| x.norm() < 1e-9), "{rows} {columns}");
            assert!(rows > columns || missed.iter().all(|x| x.norm() < 1e-9));
        }
    }

    #[test]
    fn columns_that_depend_on_others_are_left_to_others() {
        let mut a = matrix(30, 20);
        let first = a.column(0).to_owned();
        a.column_mut(9).assign(&first);
        let (b, mut x) = (matrix(30, 1), vec![Complex::default(); 20]);
        assert!(directly(a.view(), b.view(), 1e-14).is_none());
        assert_eq!(solve(a.view(), b.view(), 1e-14, &mut x), 19);
        assert!((x[0] - x[9]).norm() < 1e-9, "the shortest solution takes as much of either");
    }
}
