//! Eigenvalues and eigenvectors of any square matrix: first a matrix with nothing below its first
//! subdiagonal, then a triangle, both by rotations of two neighbouring axes (the shifted QR method).

use super::Field;
use crate::dtype::Complex;
use crate::kernels::interrupt::Steps;

type Number = Complex<f64>;

const ZERO: Number = Number::new(0.0, 0.0);
const ONE: Number = Number::new(1.0, 0.0);

/// How often an eigenvalue is approached before it is given up.
const ROUNDS: usize = 60;

/// A rotation of two axes: (a b; -b̄ ā).
#[derive(Clone, Copy)]
struct Rotation {
    a: Number,
    b: Number,
}

impl Rotation {
    /// The one that leaves nothing of the second number.
    fn clearing(first: Number, second: Number) -> Rotation {
        let length = first.norm().hypot(second.norm());
        if length == 0.0 {
            return Rotation { a: ONE, b: ZERO };
        }
        Rotation { a: first.conj() / length, b: second.conj() / length }
    }

    /// Two rows, from a column on.
    fn rows(self, matrix: &mut [Number], n: usize, row: usize, from: usize) {
        for column in from..n {
            let (x, y) = (matrix[row * n + column], matrix[(row + 1) * n + column]);
            matrix[row * n + column] = self.a * x + self.b * y;
            matrix[(row + 1) * n + column] = self.a.conj() * y - self.b.conj() * x;
        }
    }

    /// Two columns with the rotation's adjoint, up to a row.
    fn columns(self, matrix: &mut [Number], n: usize, column: usize, to: usize) {
        for row in 0..to {
            let (x, y) = (matrix[row * n + column], matrix[row * n + column + 1]);
            matrix[row * n + column] = x * self.a.conj() + y * self.b.conj();
            matrix[row * n + column + 1] = y * self.a - x * self.b;
        }
    }
}

/// The eigenvalue of the last two rows and columns that is next to the last element.
fn shift(matrix: &[Number], n: usize, last: usize) -> Number {
    let at = |row: usize, column: usize| matrix[row * n + column];
    let (a, d) = (at(last - 1, last - 1), at(last, last));
    let product = at(last - 1, last) * at(last, last - 1);
    let half = (a - d) / 2.0;
    let root = (half * half + product).sqrt();
    let (plus, minus) = (half + root, half - root);
    let larger = if plus.norm() > minus.norm() { plus } else { minus };
    if larger == ZERO { d } else { d - product / larger }
}

/// A matrix as a triangle in another basis, whose vectors are columns.
fn triangle(mut matrix: Vec<Number>, n: usize) -> Option<(Vec<Number>, Vec<Number>)> {
    let mut basis = vec![ZERO; n * n];
    (0..n).for_each(|place| basis[place * n + place] = ONE);
    let mut steps = Steps::default();
    for column in 0..n.saturating_sub(2) {
        for row in (column + 1..n - 1).rev() {
            steps.take(4 * n);
            let below = matrix[(row + 1) * n + column];
            if below != ZERO {
                let turn = Rotation::clearing(matrix[row * n + column], below);
                turn.rows(&mut matrix, n, row, column);
                turn.columns(&mut matrix, n, row, n);
                turn.columns(&mut basis, n, row, n);
                matrix[(row + 1) * n + column] = ZERO;
            }
        }
    }
    let norm = matrix.iter().map(|x| x.norm()).fold(0.0, f64::max);
    let (mut last, mut rounds) = (n.saturating_sub(1), 0);
    while last > 0 {
        let size = |at: usize| matrix[at * n + at].norm();
        let small = |at: &usize| {
            let beside = size(at - 1) + size(*at);
            matrix[at * n + at - 1].norm() <= f64::EPSILON * if beside == 0.0 { norm } else { beside }
        };
        let first = (1..=last).rev().find(small).unwrap_or(0);
        if first > 0 {
            matrix[first * n + first - 1] = ZERO;
        }
        if first == last {
            (last, rounds) = (last - 1, 0);
            continue;
        }
        rounds += 1;
        if rounds > ROUNDS {
            return None;
        }
        let by = match rounds % 10 {
            // Something else from time to time, for matrices that the shift does not move.
            0 => matrix[last * n + last] + 0.75 * matrix[last * n + last - 1].norm(),
            _ => shift(&matrix, n, last),
        };
        (first..=last).for_each(|at| matrix[at * n + at] -= by);
        let mut turns = Vec::with_capacity(last - first);
        for row in first..last {
            steps.take(n);
            let turn = Rotation::clearing(matrix[row * n + row], matrix[(row + 1) * n + row]);
            turn.rows(&mut matrix, n, row, row);
            turns.push(turn);
        }
        for (column, turn) in (first..).zip(turns) {
            steps.take(2 * n);
            turn.columns(&mut matrix, n, column, (column + 2).min(last + 1));
            turn.columns(&mut basis, n, column, n);
        }
        (first..=last).for_each(|at| matrix[at * n + at] += by);
    }
    Some((matrix, basis))
}

/// The eigenvector of a triangle for the eigenvalue at a place of its diagonal.
fn vector(triangle: &[Number], n: usize, place: usize, least: f64) -> Vec<Number> {
    let mut vector = vec![ZERO; n];
    vector[place] = ONE;
    let value = triangle[place * n + place];
    for row in (0..place).rev() {
        let sum = (row + 1..=place).fold(ZERO, |sum, at| sum + triangle[row * n + at] * vector[at]);
        let apart = triangle[row * n + row] - value;
        vector[row] = -sum / if apart.norm() < least { Complex::new(least, 0.0) } else { apart };
    }
    vector
}

/// Eigenvalues of a matrix, and vectors of length one for them, one after the other, of each of which the
/// greatest element is real; `None` if they are not found.
pub fn eigen(matrix: &[Number], n: usize) -> Option<(Vec<Number>, Vec<Number>)> {
    let (triangle, basis) = triangle(matrix.to_vec(), n)?;
    let norm = triangle.iter().map(|x| x.norm()).fold(f64::MIN_POSITIVE, f64::max);
    let mut vectors = Vec::with_capacity(n * n);
    let mut steps = Steps::default();
    for place in 0..n {
        steps.take(n * n);
        let inner = vector(&triangle, n, place, norm * f64::EPSILON);
        let row = |row: usize| (0..=place).map(|at| basis[row * n + at] * inner[at]).sum::<Number>();
        let found: Vec<Number> = (0..n).map(row).collect();
        let length = found.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
        let head = found.iter().fold(ZERO, |most, &x| if x.norm() > most.norm() { x } else { most });
        let (direction, _) = head.direction();
        vectors.extend(found.iter().map(|x| x * direction.conj() / length));
    }
    let values = (0..n).map(|place| triangle[place * n + place]).collect();
    Some((values, vectors))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_a_vector_is_the_vector_times_its_value() {
        let matrix = [0.5, -2.0, 1.0, 3.0, 3.0, 0.25, -1.0, 0.5, 2.0, 1.0, 0.0, -4.0, 1.5, 2.5, 0.75, 1.0];
        let n = 4;
        let matrix = matrix.map(|x| Complex::new(x, 0.0));
        let Some((values, vectors)) = eigen(&matrix, n) else { unreachable!("it ends") };
        for (value, vector) in values.iter().zip(vectors.chunks_exact(n)) {
            for row in 0..n {
                let product: Number = (0..n).map(|at| vector[at] * matrix[row * n + at]).sum();
                assert!((product - vector[row] * value).norm() < 1e-12);
            }
        }
    }
}
