//! The exponential of a square matrix: a series for a matrix so small that it ends soon, squared as
//! often as the matrix was halved.

fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let mut result = vec![0.0; n * n];
    if n == 0 {
        return result;
    }
    for (row, out) in a.chunks_exact(n).zip(result.chunks_exact_mut(n)) {
        for (&factor, line) in row.iter().zip(b.chunks_exact(n)) {
            out.iter_mut().zip(line).for_each(|(sum, &x)| *sum += factor * x);
        }
    }
    result
}

/// Terms of the series: what follows is less than the last bit, for matrices of norm one half.
const TERMS: usize = 15;

/// The exponential of a matrix.
pub fn exponential(matrix: &[f64], n: usize) -> Vec<f64> {
    if matrix.iter().any(|x| !x.is_finite()) {
        return vec![f64::NAN; n * n];
    }
    let sums = (0..n).map(|row| matrix[row * n..][..n].iter().map(|x| x.abs()).sum::<f64>());
    let norm = sums.fold(0.0, f64::max);
    let halvings = if norm > 0.5 { (norm * 2.0).log2().ceil() as i32 } else { 0 };
    let scale = 0.5_f64.powi(halvings);
    let small: Vec<f64> = matrix.iter().map(|x| x * scale).collect();
    let with_unit = |mut matrix: Vec<f64>| {
        (0..n).for_each(|place| matrix[place * n + place] += 1.0);
        matrix
    };
    let mut result = with_unit(vec![0.0; n * n]);
    for term in (1..=TERMS).rev() {
        let next = product(&small, &result, n);
        result = with_unit(next.into_iter().map(|x| x / term as f64).collect());
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
        let made = exponential(&[0.0, -3.0, 3.0, 0.0], 2);
        let (sine, cosine) = 3.0_f64.sin_cos();
        for (made, wanted) in made.iter().zip([cosine, -sine, sine, cosine]) {
            assert!((made - wanted).abs() < 1e-13);
        }
    }
}
