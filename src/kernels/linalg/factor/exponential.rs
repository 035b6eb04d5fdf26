//! The exponential of a square matrix: a series for a matrix so small that it ends soon, squared as
//! often as the matrix was halved.

use std::mem::swap;

use ndarray::ArrayView2;

use super::{Field, Known, lay, library, zeros};
use crate::dtype::Ring;

/// Terms of the series: what follows is less than the last bit, for matrices of norm one half.
const TERMS: usize = 15;

/// Writes the exponential of a matrix, row by row.
pub fn exponential<T: Known>(matrix: ArrayView2<'_, T>, into: &mut [T]) {
    let n = matrix.nrows();
    if n == 0 {
        return;
    }
    if matrix.iter().any(|x| !x.magnitude().is_finite()) {
        return into.fill(T::of(f64::NAN));
    }
    let sums = matrix.rows().into_iter().map(|row| row.iter().map(|x| x.magnitude()).sum::<f64>());
    let norm = sums.fold(0.0, f64::max);
    let halvings = if norm > 0.5 { (norm * 2.0).log2().ceil() as i32 } else { 0 };
    let scale = T::of(0.5_f64.powi(halvings));
    let mut small = zeros(n * n);
    // Row by row is column by column of what is transposed.
    lay(matrix.reversed_axes(), &mut small);
    small.iter_mut().for_each(|x| *x = Ring::mul(*x, scale));
    let with_unit = |matrix: &mut [T]| {
        matrix.iter_mut().step_by(n + 1).for_each(|x| *x = Ring::add(*x, T::ONE));
    };
    let (mut result, mut next) = (zeros(n * n), zeros(n * n));
    with_unit(&mut result);
    for term in (1..=TERMS).rev() {
        // Of powers of one matrix the order does not matter.
        library::product(&small, &result, (n, n, n), &mut next);
        next.iter_mut().for_each(|x| *x = Field::div(*x, T::of(term as f64)));
        with_unit(&mut next);
        swap(&mut result, &mut next);
    }
    for _ in 0..halvings {
        library::product(&result, &result, (n, n, n), &mut next);
        swap(&mut result, &mut next);
    }
    into.copy_from_slice(&result);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_of_a_turn_is_a_rotation() {
        let mut made = [0.0; 4];
        exponential(ndarray::arr2(&[[0.0, -3.0], [3.0, 0.0]]).view(), &mut made);
        let (sine, cosine) = 3.0_f64.sin_cos();
        for (made, wanted) in made.iter().zip([cosine, -sine, sine, cosine]) {
            assert!((made - wanted).abs() < 1e-13);
        }
    }
}
