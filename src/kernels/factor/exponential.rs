//! The exponential of a square matrix: a series for a matrix so small that it ends soon, squared as
//! often as the matrix was halved.

use super::Field;

fn product<T: Field>(a: &[T], b: &[T], n: usize) -> Vec<T> {
    let mut result = vec![T::ZERO; n * n];
    if n == 0 {
        return result;
    }
    for (row, out) in a.chunks_exact(n).zip(result.chunks_exact_mut(n)) {
        for (&factor, line) in row.iter().zip(b.chunks_exact(n)) {
            out.iter_mut().zip(line).for_each(|(sum, &x)| *sum = sum.add(factor.mul(x)));
        }
    }
    result
}

/// Terms of the series: what follows is less than the last bit, for matrices of norm one half.
const TERMS: usize = 15;

/// The exponential of a matrix.
pub fn exponential<T: Field>(matrix: &[T], n: usize) -> Vec<T> {
    if matrix.iter().any(|x| !x.magnitude().is_finite()) {
        return vec![T::of(f64::NAN); n * n];
    }
    let sums = (0..n).map(|row| matrix[row * n..][..n].iter().map(|x| x.magnitude()).sum::<f64>());
    let norm = sums.fold(0.0, f64::max);
    let halvings = if norm > 0.5 { (norm * 2.0).log2().ceil() as i32 } else { 0 };
    let scale = 0.5_f64.powi(halvings);
    let small: Vec<T> = matrix.iter().map(|x| x.mul(T::of(scale))).collect();
    let with_unit = |mut matrix: Vec<T>| {
        (0..n).for_each(|place| matrix[place * n + place] = matrix[place * n + place].add(T::ONE));
        matrix
    };
    let mut result = with_unit(vec![T::ZERO; n * n]);
    for term in (1..=TERMS).rev() {
        let next = product(&small, &result, n);
        result = with_unit(next.into_iter().map(|x| x.div(T::of(term as f64))).collect());
    }
    for _ in 0..halvings {
        result = product(&result, &result, n);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_of_a_turn_is_a_rotation() {
        let made = exponential(&[0.0_f64, -3.0, 3.0, 0.0], 2);
        let (sine, cosine) = 3.0_f64.sin_cos();
        for (made, wanted) in made.iter().zip([cosine, -sine, sine, cosine]) {
            assert!((made - wanted).abs() < 1e-13);
        }
    }
}
