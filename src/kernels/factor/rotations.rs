//! Eigenvalues of symmetric matrices and singular values of any, by rotations of two axes at a time
//! until nothing is left to turn (Jacobi). Small values keep their precision.

/// Values, and the vectors that go with them.
pub struct Spectrum {
    /// The values.
    pub values: Vec<f64>,
    /// The vectors, one after the other.
    pub vectors: Vec<f64>,
}

/// Values and vectors on both sides: `left` and `right` hold vectors one after the other.
pub struct Singular {
    /// The values, the greatest first.
    pub values: Vec<f64>,
    /// Vectors as long as the matrix has rows.
    pub left: Vec<f64>,
    /// Vectors as long as the matrix has columns.
    pub right: Vec<f64>,
}

const ROUNDS: usize = 60;

fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|place| if place / n == place % n { 1.0 } else { 0.0 }).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The cosine and sine that turn the coupling of two axes to nothing.
fn angle(first: f64, second: f64, coupling: f64) -> (f64, f64) {
    let slope = (second - first) / (2.0 * coupling);
    let tangent = 1.0_f64.copysign(slope) / (slope.abs() + slope.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    (cosine, cosine * tangent)
}

/// Two of the rows turned into each other.
fn turn(rows: &mut [f64], width: usize, first: usize, second: usize, (cosine, sine): (f64, f64)) {
    let (head, tail) = rows.split_at_mut(second * width);
    let first = &mut head[first * width..][..width];
    for (a, b) in first.iter_mut().zip(&mut tail[..width]) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
}

/// The eigenvalues of a symmetric matrix, the least first, and its eigenvectors.
pub fn symmetric(matrix: &[f64], n: usize) -> Spectrum {
    if matrix.iter().any(|x| !x.is_finite()) {
        return Spectrum { values: vec![f64::NAN; n], vectors: vec![f64::NAN; n * n] };
    }
    let (mut a, mut vectors) = (matrix.to_vec(), identity(n));
    for _ in 0..ROUNDS {
        let mut turned = false;
        for first in 0..n {
            for second in first + 1..n {
                let coupling = a[first * n + second];
                let (x, y) = (a[first * n + first], a[second * n + second]);
                if coupling.abs() <= f64::EPSILON * f64::EPSILON * (x.abs() + y.abs()) || coupling == 0.0 {
                    continue;
                }
                turned = true;
                let by = angle(x, y, coupling);
                turn(&mut a, n, first, second, by);
                for row in a.chunks_exact_mut(n) {
                    (row[first], row[second]) =
                        (by.0 * row[first] - by.1 * row[second], by.1 * row[first] + by.0 * row[second]);
                }
                turn(&mut vectors, n, first, second, by);
            }
        }
        if !turned {
            break;
        }
    }
    let values: Vec<f64> = (0..n).map(|place| a[place * n + place]).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let vectors = order.iter().flat_map(|&at| vectors[at * n..][..n].iter().copied()).collect();
    Spectrum { values: order.iter().map(|&at| values[at]).collect(), vectors }
}

/// More vectors, up to `count`, of that length and at right angles to each other and the others.
fn complete(vectors: &mut Vec<f64>, length: usize, count: usize) {
    let mut axis = 0;
    while vectors.len() < count * length && axis < length {
        let mut next = vec![0.0; length];
        next[axis] = 1.0;
        axis += 1;
        // Once is not enough: what is left after the first time may be small and inexact.
        for _ in 0..2 {
            for other in vectors.chunks_exact(length) {
                let along = dot(other, &next);
                next.iter_mut().zip(other).for_each(|(x, &o)| *x -= along * o);
            }
        }
        let norm = dot(&next, &next).sqrt();
        if norm > 0.5 / (length as f64).sqrt() {
            vectors.extend(next.iter().map(|x| x / norm));
        }
    }
}

/// The singular values of a matrix, with all vectors of both sides if `full`, else as many as values.
pub fn singular(matrix: &[f64], rows: usize, columns: usize, full: bool) -> Singular {
    if rows < columns {
        let turned: Vec<f64> =
            (0..columns * rows).map(|place| matrix[place % rows * columns + place / rows]).collect();
        let Singular { values, left, right } = singular(&turned, columns, rows, full);
        return Singular { values, left: right, right: left };
    }
    let mut lines: Vec<f64> =
        (0..columns * rows).map(|place| matrix[place % rows * columns + place / rows]).collect();
    let mut right = identity(columns);
    for _ in 0..ROUNDS {
        let mut turned = false;
        for first in 0..columns {
            for second in first + 1..columns {
                let (a, b) = (&lines[first * rows..][..rows], &lines[second * rows..][..rows]);
                let (x, y, coupling) = (dot(a, a), dot(b, b), dot(a, b));
                if coupling.abs() <= f64::EPSILON * (x * y).sqrt() {
                    continue;
                }
                turned = true;
                let by = angle(x, y, coupling);
                turn(&mut lines, rows, first, second, by);
                turn(&mut right, columns, first, second, by);
            }
        }
        if !turned {
            break;
        }
    }
    let norms: Vec<f64> =
        (0..columns).map(|at| &lines[at * rows..][..rows]).map(|line| dot(line, line).sqrt()).collect();
    let mut order: Vec<usize> = (0..columns).collect();
    order.sort_by(|&a, &b| norms[b].total_cmp(&norms[a]));
    let values: Vec<f64> = order.iter().map(|&at| norms[at]).collect();
    let least = values.first().copied().unwrap_or(0.0) * f64::EPSILON * rows as f64;
    let mut left = Vec::with_capacity(rows * if full { rows } else { columns });
    for &at in order.iter().take_while(|&&at| norms[at] > least) {
        left.extend(lines[at * rows..][..rows].iter().map(|x| x / norms[at]));
    }
    complete(&mut left, rows, if full { rows } else { columns });
    let right = order.iter().flat_map(|&at| right[at * columns..][..columns].iter().copied()).collect();
    Singular { values, left, right }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_vectors_of_a_symmetric_matrix_make_it_again() {
        let matrix = [2.0, 1.0, 0.0, 1.0, 3.0, -1.0, 0.0, -1.0, 5.0];
        let Spectrum { values, vectors } = symmetric(&matrix, 3);
        assert!(values.is_sorted());
        for (place, &element) in matrix.iter().enumerate() {
            let (row, column) = (place / 3, place % 3);
            let made: f64 =
                (0..3).map(|at| values[at] * vectors[at * 3 + row] * vectors[at * 3 + column]).sum();
            assert!((made - element).abs() < 1e-12);
        }
    }

    #[test]
    fn a_matrix_without_full_rank_has_a_basis_all_the_same() {
        for (rows, columns) in [(3, 2), (2, 3)] {
            let matrix = [1.0, 2.0, 2.0, 1.0, 2.0, 2.0];
            let Singular { values, left, right } = singular(&matrix, rows, columns, true);
            assert_eq!((left.len(), right.len()), (rows * rows, columns * columns));
            for (basis, n) in [(&left, rows), (&right, columns)] {
                for (place, unit) in identity(n).into_iter().enumerate() {
                    let made = dot(&basis[place / n * n..][..n], &basis[place % n * n..][..n]);
                    assert!((made - unit).abs() < 1e-12);
                }
            }
            assert!(values.is_sorted_by(|a, b| a >= b));
        }
    }
}
