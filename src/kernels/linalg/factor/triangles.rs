//! Equations whose matrix is a triangle.

use ndarray::ArrayView2;

use super::lanes::{self, Lanes, in_lanes};
use super::{Field, Known, are_finite, laid, lay, library};

/// Triangles with fewer rows than this are solved by a plain loop, alone and with others.
const SMALL: usize = lanes::MOST + 1;

/// A triangle, right sides, and room for the solutions.
pub struct Equations<'a, T> {
    pub triangle: ArrayView2<'a, T>,
    pub right: ArrayView2<'a, T>,
    pub solutions: &'a mut [T],
}

/// Writes the solutions of equations of many triangles, so many as there are, of so many rows and right sides: see
/// `solve`.
pub fn solve_each<'a, T: Known>(
    items: impl Iterator<Item = Equations<'a, T>>,
    (upper, unit): (bool, bool),
    size: (usize, usize, usize),
) {
    let one = |of: &mut Equations<'a, T>| {
        lay(of.right, of.solutions);
        solve(of.triangle, of.solutions, upper, unit);
    };
    lanes::each::<T, _>(items, size, |items| in_lanes!(T, solved(items, upper, unit)), one);
}

fn solved<T: Known, const L: usize>(items: &mut [Equations<'_, T>], upper: bool, unit: bool) -> bool {
    let triangles = Lanes::<T, L>::gather(items.iter().map(|of| of.triangle));
    let mut solutions = Lanes::gather(items.iter().map(|of| of.right));
    solutions.solve(&triangles, false, upper, unit);
    solutions.scatter(items.iter_mut().map(|of| &mut *of.solutions));
    true
}

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
