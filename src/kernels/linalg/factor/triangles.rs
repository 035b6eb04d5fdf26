//! Equations whose matrix is a triangle.

use ndarray::ArrayView2;

use super::{Field, Known, are_finite, laid, lay, library};

/// Triangles with fewer rows than this are solved by a plain loop.
const SMALL: usize = 6;

/// Replaces columns by the solutions of equations with them on the right. Of the triangle the half above the
/// diagonal is read, or the other one; if it is `unit`, ones stand on its diagonal.
pub(super) fn solve<T: Known>(triangle: ArrayView2<'_, T>, columns: &mut [T], upper: bool, unit: bool) {
    let n = triangle.nrows();
    if n == 0 || columns.is_empty() {
        return;
    }
    // The library multiplies by inverses, which is another thing where there are none.
    let divides = || {
        let inverse = |&head: &T| head != T::ZERO && are_finite(&[Field::div(T::ONE, head)]);
        unit || triangle.diag().iter().all(inverse)
    };
    if n < SMALL || !divides() || !library::solve_triangle(triangle, columns, upper, unit) {
        match triangle.reversed_axes().to_slice() {
            Some(numbers) => plainly(numbers, n, columns, upper, unit),
            None => plainly(&laid(triangle), n, columns, upper, unit),
        }
    }
}

/// Writes the solutions of equations with columns on the right: see `solve`.
pub fn solve_right<T: Known>(
    triangle: ArrayView2<'_, T>,
    right: ArrayView2<'_, T>,
    solutions: &mut [T],
    upper: bool,
    unit: bool,
) {
    lay(right, solutions);
    solve(triangle, solutions, upper, unit);
}

fn plainly<T: Field>(triangle: &[T], n: usize, columns: &mut [T], upper: bool, unit: bool) {
    for x in columns.chunks_exact_mut(n) {
        for turn in 0..n {
            let step = if upper { n - 1 - turn } else { turn };
            let factors = &triangle[step * n..][..n];
            if !unit {
                x[step] = x[step].div(factors[step]);
            }
            let known = x[step];
            let others = if upper { 0..step } else { step + 1..n };
            for (x, factor) in x[others.clone()].iter_mut().zip(&factors[others]) {
                *x = x.sub(factor.mul(known));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn small_and_large_triangles_give_back_what_they_were_multiplied_with() {
        for n in [3, 70] {
            let number = |(row, column): (usize, usize)| {
                let number = ((row * 5 + column * 3) % 7) as f64 / n as f64;
                if row == column { 2.0 + number } else { number }
            };
            let matrix = Array2::from_shape_fn((n, n), number);
            for (upper, unit) in [(false, false), (false, true), (true, false), (true, true)] {
                let wanted: Vec<f64> = (0..n).map(|at| (at as f64).sin()).collect();
                let read = |row: usize, column: usize| match (row == column, (column > row) == upper) {
                    (true, _) if unit => 1.0,
                    (true, _) | (_, true) => matrix[(row, column)],
                    _ => 0.0,
                };
                let sum = |row: usize| (0..n).map(|column| read(row, column) * wanted[column]).sum();
                let mut x: Vec<f64> = (0..n).map(sum).collect();
                solve(matrix.view(), &mut x, upper, unit);
                assert!(x.iter().zip(&wanted).all(|(x, wanted)| (x - wanted).abs() < 1e-10), "{n}");
            }
        }
    }
}
