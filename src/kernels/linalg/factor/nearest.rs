//! What comes nearest to the solutions of equations whose matrix is no square, or is one without an inverse as far as
//! can be told.

use ndarray::ArrayView2;

use super::{Field, Known, Part, are_finite, elimination, laid, lay, library, square, values, zeros};
use crate::dtype::{Element, Ring};
use crate::kernels::interrupt;

/// Matrices whose smaller side is less than this are left to their singular values.
const SMALL: usize = 8;

/// How much of the length of all numbers the least singular value has to be, beyond what counts as nothing: below that
/// only singular values tell. An estimate is the value or more, after so many turns hardly more.
const NEAR: f64 = 4.0;
const TURNS: usize = 3;

/// How much of it a number has to be that no singular value is less than, but for what was rounded.
const SURE: f64 = 1.5;

/// What is no less than the greatest singular value, as a multiple of its estimate.
const BEYOND: f64 = 2.0;

/// Of squares whose sum is less than this, some may have been rounded away.
const LITTLE: f64 = 1e-280;

/// Writes the columns that come nearest to solutions of equations with columns on the right, of all that do the
/// shortest, and answers the rank of the matrix. Singular values count as nothing up to a share of the greatest.
pub fn solve<T: Known>(
    matrix: ArrayView2<'_, T>,
    right: ArrayView2<'_, T>,
    share: f64,
    solution: &mut [T],
) -> usize {
    let (rows, columns) = matrix.dim();
    if Full::of(matrix, 0.0, share).is_some_and(|full| full.solve(right, solution)) {
        return rows.min(columns);
    }
    let mut inverse = zeros(rows * columns);
    let rank = by_values(matrix, false, [0.0, share], &mut inverse);
    let inverse = ArrayView2::from_shape((columns, rows), &inverse)
        .unwrap_or_else(|_| unreachable!("there are so many numbers"));
    library::product(&laid(inverse), &laid(right), (columns, rows, right.ncols()), solution);
    rank
}

/// The factors of a matrix whose rows do not depend on each other, or its columns: beyond doubt no singular value counts
/// as nothing.
enum Full<T> {
    /// Of one that has an inverse, two triangles and which rows were exchanged.
    Square(Vec<T>, Vec<i32>),
    /// Of one that is high, reflections and a triangle; of one that is wide, those of its adjoint.
    Reflected(library::Reflected<T>, bool),
}

impl<T: Known> Full<T> {
    /// The factors, unless singular values up to an absolute bound or up to a share of the greatest may be there.
    fn of(matrix: ArrayView2<'_, T>, absolute: f64, share: f64) -> Option<Full<T>> {
        let (rows, columns) = matrix.dim();
        let least = rows.min(columns);
        if least < SMALL {
            return None;
        }
        let full = if rows == columns {
            let (mut triangles, mut pivots) = (zeros(rows * rows), zeros(rows));
            elimination::eliminate(matrix, true, &mut triangles, &mut pivots);
            Full::Square(triangles, pivots)
        } else {
            let wide = rows < columns;
            let mut packed = if wide { laid(matrix.reversed_axes()) } else { laid(matrix) };
            if wide && !T::IS_REAL {
                packed.iter_mut().for_each(|x| *x = Field::conj(*x));
            }
            Full::Reflected(library::reflect(packed, rows.max(columns), least)?, wide)
        };
        // The length of all numbers is not less than the greatest singular value.
        let square = matrix.iter().map(|x| x.magnitude().powi(2)).sum::<f64>();
        if !(LITTLE..f64::INFINITY).contains(&square) {
            return None;
        }
        let (value, bound) = (full.least_value(least)?, absolute.max(share * square.sqrt()));
        if value > NEAR * bound {
            return Some(full);
        }
        // Mostly it is many times the greatest.
        if value > NEAR * absolute.max(share * BEYOND * greatest_value(matrix)) {
            return Some(full);
        }
        if value * (least as f64).sqrt() < bound {
            return None;
        }
        if full.least_value_at_least(matrix) > SURE * bound {
            return Some(full);
        }
        let mut sizes = interrupt::filled(least, <Part<T> as Element>::from_f64(0.0));
        values::singular(matrix, &mut sizes, None);
        let ends = sizes.first().zip(sizes.last()).map(|(first, last)| (first.to_f64(), last.to_f64()));
        ends.is_some_and(|(greatest, value)| value > absolute.max(share * greatest)).then_some(full)
    }

    /// Replaces columns by the solutions of equations with the triangles, or with their adjoints.
    fn divide(&self, columns: &mut [T], adjoined: bool) -> bool {
        match self {
            Full::Square(triangles, pivots) => {
                let triangles = elimination::by_columns(triangles, pivots.len());
                match adjoined {
                    true => elimination::solve_adjoined(triangles, pivots, columns),
                    false => elimination::solve(triangles, pivots, columns),
                }
                true
            }
            Full::Reflected(found, _) => found.solve(columns, adjoined),
        }
    }

    /// The least singular value, by equations whose solutions are ever more of its vector.
    fn least_value(&self, n: usize) -> Option<f64> {
        let mut vector: Vec<T> = start(n);
        let mut value = f64::INFINITY;
        for _ in 0..TURNS {
            let before = length(&vector);
            vector.iter_mut().for_each(|x| *x = Field::div(*x, T::of(before)));
            if !(self.divide(&mut vector, true) && self.divide(&mut vector, false)) {
                return None;
            }
            let after = length(&vector);
            if !after.is_finite() {
                return None;
            }
            value = value.min(after.sqrt().recip());
        }
        Some(value)
    }

    /// What no singular value is less than, by the length of all numbers of the inverse.
    fn least_value_at_least(&self, matrix: ArrayView2<'_, T>) -> f64 {
        let mut inverse = zeros(matrix.len());
        match self.invert(matrix, &mut inverse) {
            true => length(&inverse).recip(),
            false => 0.0,
        }
    }

    /// Writes the solutions, and says whether there are some.
    fn solve(&self, right: ArrayView2<'_, T>, solution: &mut [T]) -> bool {
        let (height, count) = right.dim();
        let done = match self {
            Full::Square(..) => {
                lay(right, solution);
                self.divide(solution, false)
            }
            Full::Reflected(found, true) => {
                let mut inner = laid(right);
                let solved = found.solve(&mut inner, true);
                onto_longer(&inner, height, solution, count);
                solved && found.apply(solution, false)
            }
            Full::Reflected(found, false) => {
                let mut turned = laid(right);
                let applied = found.apply(&mut turned, true);
                let columns = solution.len() / count.max(1);
                for (turned, solution) in
                    turned.chunks_exact(height).zip(solution.chunks_exact_mut(columns.max(1)))
                {
                    solution.copy_from_slice(&turned[..columns]);
                }
                applied && found.solve(solution, false)
            }
        };
        done && are_finite(solution)
    }

    /// Writes the matrix nearest to the inverse, row by row, and says whether it is there.
    fn invert(&self, matrix: ArrayView2<'_, T>, inverse: &mut [T]) -> bool {
        let (rows, columns) = matrix.dim();
        let done = match self {
            Full::Square(triangles, pivots) => {
                let mut columns = zeros(rows * rows);
                elimination::invert(triangles, pivots, true, &mut columns);
                lay(square(&columns, rows), inverse);
                true
            }
            Full::Reflected(found, wide) => {
                let (least, most) = (rows.min(columns), rows.max(columns));
                let mut inner = zeros(least * least);
                (0..least).for_each(|at| inner[at * (least + 1)] = T::ONE);
                let solved = found.solve(&mut inner, true);
                let mut basis = zeros(most * least);
                onto_longer(&inner, least, &mut basis, least);
                let applied = found.apply(&mut basis, false);
                if *wide {
                    // It is there column by column.
                    let basis = ArrayView2::from_shape((least, most), &basis)
                        .unwrap_or_else(|_| unreachable!("there are so many numbers"));
                    lay(basis, inverse);
                } else {
                    inverse.iter_mut().zip(&basis).for_each(|(place, x)| *place = Field::conj(*x));
                }
                solved && applied
            }
        };
        done && are_finite(inverse)
    }
}

/// The greatest singular value or a little less, by products with what is ever more of its vector.
fn greatest_value<T: Known>(matrix: ArrayView2<'_, T>) -> f64 {
    let mut vector: Vec<T> = start(matrix.ncols());
    let mut value = 0.0;
    for _ in 0..=TURNS {
        let before = length(&vector);
        let mut next: Vec<T> = zeros(vector.len());
        for row in matrix.rows() {
            let product =
                row.iter().zip(&vector).fold(T::ZERO, |sum, (&a, &x)| Ring::add(sum, Ring::mul(a, x)));
            let product = Field::div(product, T::of(before));
            next.iter_mut()
                .zip(row)
                .for_each(|(place, &a)| *place = Ring::add(*place, Ring::mul(Field::conj(a), product)));
        }
        value = length(&next).sqrt();
        vector = next;
    }
    value
}

/// Numbers that no vector is likely to be at right angles to.
fn start<T: Known>(n: usize) -> Vec<T> {
    interrupt::collected((0..n).map(|at| T::of(1.5 + (at as f64 * 1.7).sin())))
}

fn length<T: Known>(vector: &[T]) -> f64 {
    vector.iter().map(|x| x.magnitude().powi(2)).sum::<f64>().sqrt()
}

/// Columns of so many numbers, with zeros behind them.
fn onto_longer<T: Known>(columns: &[T], height: usize, longer: &mut [T], count: usize) {
    let length = longer.len() / count.max(1);
    longer.fill(T::ZERO);
    for (column, longer) in columns.chunks_exact(height.max(1)).zip(longer.chunks_exact_mut(length.max(1))) {
        longer[..height].copy_from_slice(column);
    }
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
    let mirrored;
    let matrix = match symmetric {
        true => {
            mirrored = values::mirrored(matrix, false);
            elimination::by_columns(&mirrored, matrix.nrows())
        }
        false => matrix,
    };
    if Full::of(matrix, absolute, relative).is_some_and(|full| full.invert(matrix, inverse)) {
        return matrix.nrows().min(matrix.ncols());
    }
    by_values(matrix, symmetric, [absolute, relative], inverse)
}

/// `invert` by singular values, or by the eigenvalues of a matrix that is its own adjoint.
fn by_values<T: Known>(
    matrix: ArrayView2<'_, T>,
    symmetric: bool,
    [absolute, relative]: [f64; 2],
    inverse: &mut [T],
) -> usize {
    let (rows, columns) = matrix.dim();
    let least = rows.min(columns);
    let mut sizes = interrupt::filled(least, <Part<T> as Element>::from_f64(0.0));
    let (mut left, mut right) = (zeros(rows * least), zeros(least * columns));
    if symmetric {
        values::symmetric(matrix, false, &mut sizes, Some(&mut left));
        lay(square(&left, rows), &mut right);
        right.iter_mut().for_each(|x| *x = Field::conj(*x));
    } else {
        values::singular(matrix, &mut sizes, Some((&mut left, &mut right)));
    }
    let greatest = sizes.iter().map(|size| size.to_f64().abs()).fold(0.0, f64::max);
    let bound = absolute.max(relative * greatest);
    for (column, size) in left.chunks_exact_mut(rows.max(1)).zip(&sizes) {
        let size = size.to_f64();
        match size.abs() > bound {
            true => column.iter_mut().for_each(|x| *x = Field::div(*x, T::of(size))),
            false => column.fill(T::ZERO),
        }
    }
    // Row by row it is U S⁻¹ Vᴴ, conjugated, column by column.
    library::product(&left, &right, (rows, least, columns), inverse);
    inverse.iter_mut().for_each(|x| *x = Field::conj(*x));
    sizes.iter().filter(|size| size.to_f64().abs() > bound).count()
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
            let mut x = vec![Complex::default(); 2 * columns];
            assert!(Full::of(a.view(), 0.0, 1e-12).is_some_and(|full| full.solve(b.view(), &mut x)));
            let x = ArrayView2::from_shape((2, columns), &x).unwrap();
            let missed = a.dot(&x.t()) - &b;
            let along = a.t().mapv(|x| x.conj()).dot(&missed);
            assert!(along.iter().all(|x| x.norm() < 1e-9), "{rows} {columns}");
            assert!(rows > columns || missed.iter().all(|x| x.norm() < 1e-9));
        }
    }

    #[test]
    fn columns_that_depend_on_others_are_left_to_others() {
        let mut a = matrix(30, 20);
        let first = a.column(0).to_owned();
        a.column_mut(9).assign(&first);
        let (b, mut x) = (matrix(30, 1), vec![Complex::default(); 20]);
        assert!(Full::of(a.view(), 0.0, 1e-14).is_none());
        assert_eq!(solve(a.view(), b.view(), 1e-14, &mut x), 19);
        assert!((x[0] - x[9]).norm() < 1e-9, "the shortest solution takes as much of either");
    }

    #[test]
    fn factors_and_singular_values_find_the_same_inverse() {
        for (rows, columns) in [(30, 20), (20, 20), (20, 30)] {
            let a = matrix(rows, columns);
            let (mut found, mut wanted) = (vec![Complex::default(); rows * columns], vec![]);
            wanted.extend_from_slice(&found);
            assert!(Full::of(a.view(), 0.0, 1e-12).is_some_and(|full| full.invert(a.view(), &mut found)));
            assert_eq!(by_values(a.view(), false, [0.0, 1e-12], &mut wanted), rows.min(columns));
            assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).norm() < 1e-8), "{rows} {columns}");
        }
    }

    #[test]
    fn a_symmetric_matrix_without_full_rank_is_inverted_where_it_is_something() {
        let a = matrix(20, 12);
        let whole = a.dot(&a.t().mapv(|x| x.conj()));
        let (mut found, mut wanted) = (vec![Complex::default(); 400], vec![Complex::default(); 400]);
        assert_eq!(invert(whole.view(), true, 0.0, 1e-10, &mut found), 12);
        assert_eq!(invert(whole.view(), false, 0.0, 1e-10, &mut wanted), 12);
        assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).norm() < 1e-8));
    }
}
