//! Matrices factored, in row-major order: by elimination with pivots, and into a triangle times its
//! transpose. Factors that are at right angles stand in the files below.

pub mod exponential;
pub mod orthogonal;
pub mod rotations;
pub mod spectrum;

use crate::dtype::{Complex, Real, Ring};

/// Numbers that matrices are factored over.
pub trait Field: Ring {
    /// a / b
    fn div(self, other: Self) -> Self;
    /// |a|
    fn magnitude(self) -> f64;
    /// |Re a| + |Im a|, by which LAPACK chooses what to divide by.
    fn weight(self) -> f64;
    /// The conjugate.
    fn conj(self) -> Self;
    /// The real part.
    fn real(self) -> f64;
    /// The number with that real part.
    fn of(real: f64) -> Self;
    /// The number as a direction of magnitude one, and how far to go in it. Real numbers go both ways in
    /// the one direction that they have.
    fn direction(self) -> (Self, f64);
    /// √a of a number that is real and positive, and `None` for every other.
    fn root(self) -> Option<Self>;
}

impl<T: Real> Field for T {
    fn div(self, other: Self) -> Self {
        self / other
    }
    fn magnitude(self) -> f64 {
        self.abs().as_()
    }
    fn weight(self) -> f64 {
        self.abs().as_()
    }
    fn conj(self) -> Self {
        self
    }
    fn real(self) -> f64 {
        self.as_()
    }
    fn of(real: f64) -> Self {
        T::from_f64(real)
    }
    fn direction(self) -> (Self, f64) {
        (T::ONE, self.as_())
    }
    fn root(self) -> Option<Self> {
        (self > T::ZERO).then(|| self.sqrt())
    }
}

impl Field for Complex<f64> {
    fn div(self, other: Self) -> Self {
        self / other
    }
    fn magnitude(self) -> f64 {
        self.norm()
    }
    fn weight(self) -> f64 {
        self.re.abs() + self.im.abs()
    }
    fn conj(self) -> Self {
        Complex::conj(&self)
    }
    fn real(self) -> f64 {
        self.re
    }
    fn of(real: f64) -> Self {
        Complex::new(real, 0.0)
    }
    fn direction(self) -> (Self, f64) {
        let length = self.norm();
        if length == 0.0 { (Self::ONE, 0.0) } else { (self / length, length) }
    }
    fn root(self) -> Option<Self> {
        (self.re > 0.0).then(|| Complex::new(self.re.sqrt(), 0.0))
    }
}

/// A matrix as the product of triangles, rows exchanged.
pub struct Factors<T> {
    /// Below the diagonal the left triangle, of whose diagonal are ones; the right one above.
    pub triangles: Vec<T>,
    /// Which row stands at each place.
    pub rows: Vec<usize>,
    /// With which row, from itself on, each one was exchanged in its turn.
    pub pivots: Vec<usize>,
    /// Whether an odd number of rows was exchanged.
    pub odd: bool,
}

/// Eliminates below the diagonal of a square matrix, the largest element of each column first.
pub fn eliminate<T: Field>(matrix: &[T], n: usize) -> Factors<T> {
    eliminate_columns(matrix, n, n, true)
}

/// Eliminates below the diagonal, the largest element of each column first if rows are exchanged.
pub fn eliminate_columns<T: Field>(matrix: &[T], height: usize, width: usize, exchange: bool) -> Factors<T> {
    let mut triangles = matrix.to_vec();
    let mut rows: Vec<usize> = (0..height).collect();
    let mut pivots: Vec<usize> = (0..height.min(width)).collect();
    let mut odd = false;
    for (step, pivot) in pivots.iter_mut().enumerate() {
        for row in step + 1..height {
            let (here, best) = (triangles[row * width + step], triangles[*pivot * width + step]);
            if exchange && here.weight() > best.weight() {
                *pivot = row;
            }
        }
        if *pivot != step {
            for column in 0..width {
                triangles.swap(step * width + column, *pivot * width + column);
            }
            rows.swap(step, *pivot);
            odd = !odd;
        }
        let head = triangles[step * width + step];
        if head == T::ZERO {
            continue;
        }
        for row in step + 1..height {
            let factor = triangles[row * width + step].div(head);
            triangles[row * width + step] = factor;
            for column in step + 1..width {
                let above = triangles[step * width + column];
                triangles[row * width + column] = triangles[row * width + column].sub(factor.mul(above));
            }
        }
    }
    Factors { triangles, rows, pivots, odd }
}

/// The solutions of a triangle times `x` is `right`, of that many columns. Of the triangle the half
/// above the diagonal is read, or the other one; if it is `unit`, ones stand on its diagonal.
pub fn solve_triangle<T: Field>(
    triangle: &[T],
    n: usize,
    right: &[T],
    columns: usize,
    upper: bool,
    unit: bool,
) -> Vec<T> {
    let mut x = right.to_vec();
    for step in 0..n {
        let row = if upper { n - 1 - step } else { step };
        let known = if upper { row + 1..n } else { 0..row };
        for other in known {
            let factor = triangle[row * n + other];
            for column in 0..columns {
                let known = factor.mul(x[other * columns + column]);
                x[row * columns + column] = x[row * columns + column].sub(known);
            }
        }
        if !unit {
            let head = triangle[row * n + row];
            x[row * columns..(row + 1) * columns].iter_mut().for_each(|x| *x = x.div(head));
        }
    }
    x
}

impl<T: Field> Factors<T> {
    /// The first step at which nothing was left to divide by.
    pub fn singular(&self) -> Option<usize> {
        let n = self.rows.len();
        (0..n).find(|&step| self.triangles[step * n + step] == T::ZERO)
    }

    /// Solves for `columns` right sides beside each other.
    pub fn solve(&self, right: &[T], columns: usize) -> Vec<T> {
        let n = self.rows.len();
        let mut x: Vec<T> = self
            .rows
            .iter()
            .flat_map(|&row| right[row * columns..(row + 1) * columns].iter().copied())
            .collect();
        for row in 0..n {
            for above in 0..row {
                let factor = self.triangles[row * n + above];
                for column in 0..columns {
                    let known = factor.mul(x[above * columns + column]);
                    x[row * columns + column] = x[row * columns + column].sub(known);
                }
            }
        }
        for row in (0..n).rev() {
            for below in row + 1..n {
                let factor = self.triangles[row * n + below];
                for column in 0..columns {
                    let known = factor.mul(x[below * columns + column]);
                    x[row * columns + column] = x[row * columns + column].sub(known);
                }
            }
            let head = self.triangles[row * n + row];
            for column in 0..columns {
                x[row * columns + column] = x[row * columns + column].div(head);
            }
        }
        x
    }

    /// One, or minus one where an odd number of rows was exchanged.
    fn parity(&self) -> T {
        if self.odd { T::ZERO.sub(T::ONE) } else { T::ONE }
    }

    /// The determinant's sign and the logarithm of its magnitude.
    pub fn sign_and_logarithm(&self) -> (T, f64) {
        let n = self.rows.len();
        let (mut sign, mut sum) = (self.parity(), 0.0);
        for step in 0..n {
            let head = self.triangles[step * n + step];
            let magnitude = head.magnitude();
            sign = if head == T::ZERO { T::ZERO } else { sign.mul(head.div(T::from_f64(magnitude))) };
            sum += magnitude.ln();
        }
        (sign, sum)
    }

    /// The determinant.
    pub fn determinant(&self) -> T {
        let n = self.rows.len();
        (0..n).fold(self.parity(), |product, step| product.mul(self.triangles[step * n + step]))
    }
}

/// The lower triangle whose product with its transpose, conjugated, is the matrix, of which the lower half is
/// read; or the number of the first row at which there is none.
pub fn cholesky<T: Field>(matrix: &[T], n: usize) -> Result<Vec<T>, usize> {
    let mut triangle = vec![T::ZERO; n * n];
    for row in 0..n {
        for column in 0..=row {
            let mut rest = matrix[row * n + column];
            for before in 0..column {
                rest = rest.sub(triangle[row * n + before].mul(triangle[column * n + before].conj()));
            }
            triangle[row * n + column] = match row == column {
                true => rest.root().ok_or(row + 1)?,
                false => rest.div(triangle[column * n + column]),
            };
        }
    }
    Ok(triangle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved_and_its_determinant_known() {
        let factors = eliminate(&[0.0, 2.0, 3.0, 1.0], 2);
        assert_eq!(factors.solve(&[4.0, 5.0], 1), [1.0, 2.0]);
        assert_eq!(factors.determinant(), -6.0);
        assert!(eliminate(&[1.0, 2.0, 2.0, 4.0], 2).singular().is_some());
    }

    #[test]
    fn a_matrix_is_a_triangle_times_its_transpose_if_it_is_positive() {
        assert_eq!(cholesky(&[4.0, 2.0, 2.0, 5.0], 2), Ok(vec![2.0, 0.0, 1.0, 2.0]));
        assert_eq!(cholesky(&[1.0, 2.0, 2.0, 1.0], 2), Err(2));
    }
}
