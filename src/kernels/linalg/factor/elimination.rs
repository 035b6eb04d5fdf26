//! Matrices as the product of two triangles with their rows exchanged, and what is read from these: solutions,
//! inverses, determinants. Both triangles stand in one matrix, as LAPACK leaves them.

use ndarray::ArrayView2;

use super::{Field, Known, are_finite, lay, library, triangles, zeros};

/// Matrices with fewer columns than this are eliminated by a plain loop.
const SMALL: usize = 8;

/// Eliminates below the diagonal, the largest element of each column first if rows are exchanged. `pivots` say with
/// which row, counted from one and from itself on, each one was exchanged in its turn.
pub fn eliminate<T: Known>(
    matrix: ArrayView2<'_, T>,
    exchange: bool,
    triangles: &mut [T],
    pivots: &mut [i32],
) {
    let (rows, columns) = matrix.dim();
    lay(matrix, triangles);
    if exchange && pivots.len() >= SMALL {
        let found = library::eliminate(triangles, rows, columns, pivots);
        // It divides by zeros where there is nothing else to divide by.
        if found && are_finite(triangles) {
            return;
        }
        lay(matrix, triangles);
    }
    plainly(triangles, rows, exchange, pivots);
}

/// Eliminates column by column, where nothing is left to divide by going on with the next one.
fn plainly<T: Field>(triangles: &mut [T], rows: usize, exchange: bool, pivots: &mut [i32]) {
    for (step, pivot) in pivots.iter_mut().enumerate() {
        let (known, others) = triangles[step * rows..].split_at_mut(rows);
        let mut best = step;
        if exchange {
            let mut most = known[step].weight();
            for (row, x) in known.iter().enumerate().skip(step + 1) {
                if x.weight() > most {
                    (best, most) = (row, x.weight());
                }
            }
        }
        *pivot = best as i32 + 1;
        known.swap(step, best);
        let head = known[step];
        if head != T::ZERO {
            known[step + 1..].iter_mut().for_each(|x| *x = x.div(head));
        }
        for column in others.chunks_exact_mut(rows) {
            column.swap(step, best);
            let above = column[step];
            let below = column[step + 1..].iter_mut().zip(&known[step + 1..]);
            if head != T::ZERO {
                below.for_each(|(x, &factor)| *x = x.sub(factor.mul(above)));
            }
        }
        // What is left of it was exchanged too.
        triangles[..step * rows].chunks_exact_mut(rows).for_each(|column| column.swap(step, best));
    }
}

/// The first step at which nothing was left to divide by, counted from one, or zero.
pub fn first_zero<T: Field>(triangles: ArrayView2<'_, T>) -> i32 {
    triangles.diag().iter().position(|&head| head == T::ZERO).map_or(0, |step| step as i32 + 1)
}

/// Replaces columns by the solutions of equations with them on the right.
pub fn solve<T: Known>(triangles: ArrayView2<'_, T>, pivots: &[i32], columns: &mut [T]) {
    for column in columns.chunks_exact_mut(pivots.len().max(1)) {
        for (step, &pivot) in pivots.iter().enumerate() {
            column.swap(step, pivot as usize - 1);
        }
    }
    triangles::solve(triangles, columns, false, true);
    triangles::solve(triangles, columns, true, false);
}

/// Writes the solutions of equations with columns on the right, whose matrix was factored, or its adjoint. Pivots are
/// rows of the matrix.
pub fn solve_factored<T: Known>(
    triangles: ArrayView2<'_, T>,
    pivots: &[i32],
    right: ArrayView2<'_, T>,
    adjoined: bool,
    solutions: &mut [T],
) {
    lay(right, solutions);
    if !adjoined {
        return solve(triangles, pivots, solutions);
    }
    // Conjugates of both sides leave a transposed matrix.
    let conjugate = |numbers: &mut [T]| numbers.iter_mut().for_each(|x| *x = Field::conj(*x));
    conjugate(solutions);
    triangles::solve(triangles.reversed_axes(), solutions, false, false);
    triangles::solve(triangles.reversed_axes(), solutions, true, true);
    conjugate(solutions);
    for column in solutions.chunks_exact_mut(pivots.len().max(1)) {
        for (step, &pivot) in pivots.iter().enumerate().rev() {
            column.swap(step, pivot as usize - 1);
        }
    }
}

/// Writes the inverse of the matrix that the triangles stand for, if it `exists`, else what is infinite or no number.
fn invert<T: Known>(triangles: &[T], pivots: &[i32], exists: bool, inverse: &mut [T]) {
    let n = pivots.len();
    if exists && n >= SMALL && library::invert(triangles, pivots, inverse) {
        return;
    }
    inverse.fill(T::ZERO);
    (0..n).for_each(|place| inverse[place * n + place] = T::ONE);
    solve(by_columns(triangles, n), pivots, inverse);
}

/// Writes the triangles, the pivots and the solutions of equations with columns on the right. Answers the first step
/// at which nothing was left to divide by, or zero.
pub fn solve_system<T: Known>(
    matrix: ArrayView2<'_, T>,
    right: ArrayView2<'_, T>,
    triangles: &mut [T],
    pivots: &mut [i32],
    solutions: &mut [T],
) -> i32 {
    eliminate(matrix, true, triangles, pivots);
    lay(right, solutions);
    let triangles = by_columns(triangles, pivots.len());
    solve(triangles, pivots, solutions);
    first_zero(triangles)
}

/// Writes the inverse, and answers the first step at which nothing was left to divide by, or zero.
pub fn invert_matrix<T: Known>(matrix: ArrayView2<'_, T>, inverse: &mut [T]) -> i32 {
    let n = matrix.nrows();
    let (mut triangles, mut pivots) = (zeros(n * n), vec![0; n]);
    eliminate(matrix, true, &mut triangles, &mut pivots);
    let step = first_zero(by_columns(&triangles, n));
    invert(&triangles, &pivots, step == 0, inverse);
    step
}

/// A square matrix that lies column by column.
pub fn by_columns<T>(numbers: &[T], n: usize) -> ArrayView2<'_, T> {
    ArrayView2::from_shape((n, n), numbers)
        .unwrap_or_else(|_| unreachable!("there are so many numbers"))
        .reversed_axes()
}

/// One, or minus one where an odd number of rows was exchanged.
fn parity<T: Field>(pivots: &[i32]) -> T {
    let odd = pivots.iter().enumerate().filter(|&(step, &pivot)| pivot as usize != step + 1).count() % 2 == 1;
    if odd { T::ZERO.sub(T::ONE) } else { T::ONE }
}

/// The determinant, by the triangles.
pub fn determinant<T: Field>(triangles: ArrayView2<'_, T>, pivots: &[i32]) -> T {
    triangles.diag().iter().fold(parity(pivots), |product, &head| product.mul(head))
}

/// The determinant's sign and the logarithm of its magnitude, by the triangles.
pub fn sign_and_logarithm<T: Field>(triangles: ArrayView2<'_, T>, pivots: &[i32]) -> (T, f64) {
    let (mut sign, mut sum) = (parity::<T>(pivots), 0.0);
    for &head in triangles.diag() {
        let magnitude = head.magnitude();
        sign = if head == T::ZERO { T::ZERO } else { sign.mul(head.div(T::of(magnitude))) };
        sum += magnitude.ln();
    }
    (sign, sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn factored(matrix: ArrayView2<'_, f64>) -> (Vec<f64>, Vec<i32>) {
        let (rows, columns) = matrix.dim();
        let (mut triangles, mut pivots) = (vec![0.0; rows * columns], vec![0; rows.min(columns)]);
        eliminate(matrix, true, &mut triangles, &mut pivots);
        (triangles, pivots)
    }

    #[test]
    fn a_system_is_solved_and_its_determinant_known() {
        let matrix = ndarray::arr2(&[[0.0, 2.0], [3.0, 1.0]]);
        let (right, mut x) = (ndarray::arr2(&[[4.0], [5.0]]), [0.0; 2]);
        let (mut lu, mut pivots) = ([0.0; 4], [0; 2]);
        assert_eq!(solve_system(matrix.view(), right.view(), &mut lu, &mut pivots, &mut x), 0);
        assert_eq!((x, determinant(by_columns(&lu, 2), &pivots)), ([1.0, 2.0], -6.0));
        let singular = ndarray::arr2(&[[1.0, 2.0], [2.0, 4.0]]);
        assert_eq!(solve_system(singular.view(), right.view(), &mut lu, &mut pivots, &mut x), 2);
    }

    #[test]
    fn both_ways_exchange_the_same_rows_and_leave_the_same_triangles() {
        for (rows, columns) in [(40, 40), (90, 30), (30, 90)] {
            // No two numbers of a column come near each other on the way: roundings choose no rows.
            let angle = |row: usize, column: usize| row * 29 + column * column * 17 + row * column * 13;
            let number = |(row, column): (usize, usize)| (angle(row, column) as f64).sin();
            let matrix = Array2::from_shape_fn((rows, columns), number);
            let (triangles, pivots) = factored(matrix.view());
            let (mut plain, mut exchanged) = (super::super::laid(matrix.view()), vec![0; pivots.len()]);
            plainly(&mut plain, rows, true, &mut exchanged);
            assert_eq!(pivots, exchanged);
            assert!(triangles.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-9), "{rows} {columns}");
        }
    }

    #[test]
    fn a_column_of_zeros_is_left_where_it_is() {
        let mut matrix =
            Array2::from_shape_fn((40, 40), |(row, column)| ((row * 7 + column * 11) % 13) as f64);
        matrix.column_mut(5).fill(0.0);
        let (triangles, _) = factored(matrix.view());
        assert!(are_finite(&triangles));
        assert_eq!(first_zero(by_columns(&triangles, 40)), 6);
    }
}
