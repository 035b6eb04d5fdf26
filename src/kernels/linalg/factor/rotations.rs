//! Eigenvalues of symmetric matrices (of complex ones, those that are their own
//! adjoints) and singular values of any, by rotations of two axes at a time until nothing is left to
//! turn (Jacobi). Small values keep their precision.

use super::Field;
use crate::kernels::interrupt::{Steps, collected, filled, room};

/// Values, and the vectors that go with them.
pub(super) struct Spectrum<T> {
    /// The values.
    pub(super) values: Vec<f64>,
    /// The vectors, one after the other.
    pub(super) vectors: Vec<T>,
}

/// Values and vectors on both sides: `left` and `right` hold vectors one after the other.
pub(super) struct Singular<T> {
    /// The values, the greatest first.
    pub(super) values: Vec<f64>,
    /// Vectors as long as the matrix has rows.
    pub(super) left: Vec<T>,
    /// Vectors as long as the matrix has columns.
    pub(super) right: Vec<T>,
}

const ROUNDS: usize = 60;

fn identity<T: Field>(n: usize) -> Vec<T> {
    collected((0..n * n).map(|place| if place / n == place % n { T::ONE } else { T::ZERO }))
}

/// The transposed matrix with conjugates.
fn adjoint<T: Field>(matrix: &[T], rows: usize, columns: usize) -> Vec<T> {
    collected((0..columns * rows).map(|place| matrix[place % rows * columns + place / rows].conj()))
}

/// The product of the conjugates of one vector with another.
#[inline]
fn dot<T: Field>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::ZERO, |sum, (a, &b)| sum.add(a.conj().mul(b)))
}

/// The cosine and sine that turn the coupling of two axes to nothing.
#[inline]
fn angle(first: f64, second: f64, coupling: f64) -> (f64, f64) {
    let slope = (second - first) / (2.0 * coupling);
    // Of slopes whose square is infinite the coupling is none.
    let tangent = 1.0_f64.copysign(slope) / (slope.abs() + (slope * slope + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    (cosine, cosine * tangent)
}

/// Two numbers turned into each other, the second after it was multiplied.
#[inline]
fn turned<T: Field>(a: T, b: T, factor: T, (cosine, sine): (f64, f64)) -> (T, T) {
    let (b, cosine, sine) = (factor.mul(b), T::of(cosine), T::of(sine));
    (cosine.mul(a).sub(sine.mul(b)), sine.mul(a).add(cosine.mul(b)))
}

/// Two of the rows turned into each other, the second after it was multiplied.
#[inline]
fn turn<T: Field>(rows: &mut [T], width: usize, first: usize, second: usize, factor: T, by: (f64, f64)) {
    let (head, tail) = rows.split_at_mut(second * width);
    let first = &mut head[first * width..][..width];
    for (a, b) in first.iter_mut().zip(&mut tail[..width]) {
        (*a, *b) = turned(*a, *b, factor, by);
    }
}

/// Whether a coupling moves eigenvalues of these sizes, which are about those on the diagonal, by less than their last
/// bits, also the smaller one.
#[inline]
fn is_nothing(coupling: f64, x: f64, y: f64) -> bool {
    coupling <= f64::EPSILON * f64::max(x.min(y), f64::EPSILON * (x + y)) || coupling == 0.0
}

/// The eigenvalues of a symmetric matrix, the least first, and if wanted its eigenvectors.
pub(super) fn symmetric<T: Field>(matrix: &[T], n: usize, with_vectors: bool) -> Spectrum<T> {
    let high = if with_vectors { n } else { 0 };
    if matrix.iter().any(|x| !x.magnitude().is_finite()) {
        return Spectrum { values: filled(n, f64::NAN), vectors: filled(n * high, T::of(f64::NAN)) };
    }
    let (mut a, mut vectors) = (collected(matrix.iter().copied()), identity::<T>(high));
    let mut steps = Steps::default();
    for _ in 0..ROUNDS {
        let mut any = false;
        for first in 0..n {
            for second in first + 1..n {
                steps.take(4 * n);
                let (direction, coupling) = a[first * n + second].direction();
                let (x, y) = (a[first * n + first].real(), a[second * n + second].real());
                if is_nothing(coupling.abs(), x.abs(), y.abs()) {
                    continue;
                }
                any = true;
                let by = angle(x, y, coupling);
                turn(&mut a, n, first, second, direction, by);
                for row in a.chunks_exact_mut(n) {
                    (row[first], row[second]) = turned(row[first], row[second], direction.conj(), by);
                }
                if with_vectors {
                    turn(&mut vectors, n, first, second, direction.conj(), by);
                }
            }
        }
        if !any {
            break;
        }
    }
    let mut values: Vec<f64> = collected((0..n).map(|place| a[place * n + place].real()));
    if !with_vectors {
        values.sort_unstable_by(f64::total_cmp);
        return Spectrum { values, vectors };
    }
    let mut order = collected(0..n);
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    Spectrum { values: collected(order.iter().map(|&at| values[at])), vectors: ordered(&order, &vectors, n) }
}

/// The vectors of this length in that order.
fn ordered<T: Field>(order: &[usize], vectors: &[T], length: usize) -> Vec<T> {
    let mut all = room(order.len() * length);
    order.iter().for_each(|&at| all.extend_from_slice(&vectors[at * length..][..length]));
    all
}

/// More vectors, up to `count`, of that length and at right angles to each other and the others.
fn complete<T: Field>(vectors: &mut Vec<T>, length: usize, count: usize) {
    let (mut axis, mut steps) = (0, Steps::default());
    while vectors.len() < count * length && axis < length {
        let mut next = filled(length, T::ZERO);
        next[axis] = T::ONE;
        axis += 1;
        steps.take(2 * vectors.len());
        // Once is not enough: what is left after the first time may be small and inexact.
        for _ in 0..2 {
            for other in vectors.chunks_exact(length) {
                let along = dot(other, &next);
                next.iter_mut().zip(other).for_each(|(x, &o)| *x = x.sub(along.mul(o)));
            }
        }
        let norm = dot(&next, &next).real().sqrt();
        if norm > 0.5 / (length as f64).sqrt() {
            vectors.extend(next.iter().map(|x| x.div(T::of(norm))));
        }
    }
}

/// The singular values of a matrix, with all vectors of both sides if `full`, else as many as values.
pub(super) fn singular<T: Field>(matrix: &[T], rows: usize, columns: usize, full: bool) -> Singular<T> {
    if rows < columns {
        let turned = adjoint(matrix, rows, columns);
        let Singular { values, left, right } = singular(&turned, columns, rows, full);
        return Singular { values, left: right, right: left };
    }
    let mut lines = collected((0..columns * rows).map(|place| matrix[place % rows * columns + place / rows]));
    let mut right = identity::<T>(columns);
    let mut steps = Steps::default();
    for _ in 0..ROUNDS {
        let mut any = false;
        for first in 0..columns {
            for second in first + 1..columns {
                steps.take(4 * rows);
                let (a, b) = (&lines[first * rows..][..rows], &lines[second * rows..][..rows]);
                let (x, y) = (dot(a, a).real(), dot(b, b).real());
                let (direction, coupling) = dot(a, b).direction();
                if coupling.abs() <= f64::EPSILON * (x * y).sqrt() {
                    continue;
                }
                any = true;
                let by = angle(x, y, coupling);
                turn(&mut lines, rows, first, second, direction.conj(), by);
                turn(&mut right, columns, first, second, direction.conj(), by);
            }
        }
        if !any {
            break;
        }
    }
    let length = |line: &[T]| dot(line, line).real().sqrt();
    let norms: Vec<f64> = collected((0..columns).map(|at| length(&lines[at * rows..][..rows])));
    let mut order = collected(0..columns);
    order.sort_by(|&a, &b| norms[b].total_cmp(&norms[a]));
    let values: Vec<f64> = collected(order.iter().map(|&at| norms[at]));
    let least = values.first().copied().unwrap_or(0.0) * f64::EPSILON * rows as f64;
    let mut left = room(rows * if full { rows } else { columns });
    for &at in order.iter().take_while(|&&at| norms[at] > least) {
        left.extend(lines[at * rows..][..rows].iter().map(|x| x.div(T::of(norms[at]))));
    }
    complete(&mut left, rows, if full { rows } else { columns });
    Singular { values, left, right: ordered(&order, &right, columns) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_vectors_of_a_symmetric_matrix_make_it_again() {
        let matrix = [2.0_f64, 1.0, 0.0, 1.0, 3.0, -1.0, 0.0, -1.0, 5.0];
        let Spectrum { values, vectors } = symmetric(&matrix, 3, true);
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
            let matrix = [1.0_f64, 2.0, 2.0, 1.0, 2.0, 2.0];
            let Singular { values, left, right } = singular(&matrix, rows, columns, true);
            assert_eq!((left.len(), right.len()), (rows * rows, columns * columns));
            for (basis, n) in [(&left, rows), (&right, columns)] {
                for (place, unit) in identity::<f64>(n).into_iter().enumerate() {
                    let made = dot(&basis[place / n * n..][..n], &basis[place % n * n..][..n]);
                    assert!((made - unit).abs() < 1e-12);
                }
            }
            assert!(values.is_sorted_by(|a, b| a >= b));
        }
    }
}
