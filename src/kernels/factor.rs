//! Square matrices factored, in row-major order: by elimination with pivots, and into a triangle
//! times its transpose.

use crate::dtype::{Real, Ring};

/// A matrix as the product of triangles, rows exchanged.
pub struct Factors<T> {
    /// Below the diagonal the left triangle, of whose diagonal are ones; the right one above.
    pub triangles: Vec<T>,
    /// Which row stands at each place.
    pub rows: Vec<usize>,
    /// Whether an odd number of rows was exchanged.
    pub odd: bool,
}

/// Eliminates below the diagonal, the largest element of each column first.
pub fn eliminate<T: Real>(matrix: &[T], n: usize) -> Factors<T> {
    let mut triangles = matrix.to_vec();
    let mut rows: Vec<usize> = (0..n).collect();
    let mut odd = false;
    for step in 0..n {
        let mut pivot = step;
        for row in step + 1..n {
            if triangles[row * n + step].abs() > triangles[pivot * n + step].abs() {
                pivot = row;
            }
        }
        if pivot != step {
            for column in 0..n {
                triangles.swap(step * n + column, pivot * n + column);
            }
            rows.swap(step, pivot);
            odd = !odd;
        }
        let head = triangles[step * n + step];
        if head == T::ZERO {
            continue;
        }
        for row in step + 1..n {
            let factor = triangles[row * n + step] / head;
            triangles[row * n + step] = factor;
            for column in step + 1..n {
                let above = triangles[step * n + column];
                triangles[row * n + column] = triangles[row * n + column] - factor * above;
            }
        }
    }
    Factors { triangles, rows, odd }
}

impl<T: Real> Factors<T> {
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
                    x[row * columns + column] =
                        x[row * columns + column] - factor * x[above * columns + column];
                }
            }
        }
        for row in (0..n).rev() {
            for below in row + 1..n {
                let factor = self.triangles[row * n + below];
                for column in 0..columns {
                    x[row * columns + column] =
                        x[row * columns + column] - factor * x[below * columns + column];
                }
            }
            let head = self.triangles[row * n + row];
            for column in 0..columns {
                x[row * columns + column] = x[row * columns + column] / head;
            }
        }
        x
    }

    /// The determinant's sign and the logarithm of its magnitude.
    pub fn sign_and_logarithm(&self) -> (T, T) {
        let n = self.rows.len();
        let mut sign = if self.odd { -T::ONE } else { T::ONE };
        let mut sum = T::ZERO;
        for step in 0..n {
            let head = self.triangles[step * n + step];
            sign = if head == T::ZERO { T::ZERO } else { sign * head.signum() };
            sum = sum + head.abs().ln();
        }
        (sign, sum)
    }

    /// The determinant.
    pub fn determinant(&self) -> T {
        let n = self.rows.len();
        let sign = if self.odd { -T::ONE } else { T::ONE };
        (0..n).fold(sign, |product, step| product * self.triangles[step * n + step])
    }
}

/// The lower triangle whose product with its transpose is the matrix, of which the lower half is
/// read; or the number of the first row at which there is none.
pub fn cholesky<T: Real>(matrix: &[T], n: usize) -> Result<Vec<T>, usize> {
    let mut triangle = vec![T::ZERO; n * n];
    for row in 0..n {
        for column in 0..=row {
            let mut rest = matrix[row * n + column];
            for before in 0..column {
                rest = rest - triangle[row * n + before] * triangle[column * n + before];
            }
            if row == column {
                if rest <= T::ZERO || Ring::is_nan(rest) {
                    return Err(row + 1);
                }
                triangle[row * n + column] = rest.sqrt();
            } else {
                triangle[row * n + column] = rest / triangle[column * n + column];
            }
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
