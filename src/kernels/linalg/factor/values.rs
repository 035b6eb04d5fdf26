//! Singular values, and eigenvalues of matrices that are their own adjoints and of others, with the vectors that go
//! with them.

use ndarray::ArrayView2;

use super::{Field, Known, Spectrum, are_finite, laid, lay, rotations, zeros};
use crate::dtype::{Complex, Element};
use crate::kernels::interrupt;

/// Matrices whose smaller side is less than this are turned by rotations, in double precision.
const SMALL: usize = 4;

/// Whether numbers were found, all of them.
fn all_finite<R: Element>(values: &[R]) -> bool {
    values.iter().all(|x| x.to_f64().is_finite())
}

/// Writes the singular values of a matrix of finite numbers, the greatest first, and if wanted vectors as columns on
/// the left, and on the right their conjugates as rows: all, or as many as there are values.
pub fn singular<T: Known>(
    matrix: ArrayView2<'_, T>,
    values: &mut [T::Real],
    vectors: Option<(&mut [T], &mut [T])>,
) {
    let Some((left, right)) = vectors else {
        let found = values.len() >= SMALL && T::singular(matrix, values, None) && all_finite(values);
        if !found {
            turned(matrix, values, None);
        }
        return;
    };
    if values.len() < SMALL {
        return turned(matrix, values, Some((left, right)));
    }
    let columns = matrix.ncols();
    let high = right.len() / columns.max(1);
    let mut turned_right = zeros(right.len());
    let found = T::singular(matrix, values, Some((left, &mut turned_right))) && all_finite(values);
    if !found {
        return turned(matrix, values, Some((left, right)));
    }
    let turned_right = ArrayView2::from_shape((high, columns), &turned_right)
        .unwrap_or_else(|_| unreachable!("there are so many numbers"));
    lay(turned_right, right);
    if !T::IS_REAL {
        right.iter_mut().for_each(|x| *x = Field::conj(*x));
    }
}

/// `singular` by rotations.
fn turned<T: Known>(
    matrix: ArrayView2<'_, T>,
    values: &mut [T::Real],
    vectors: Option<(&mut [T], &mut [T])>,
) {
    let (rows, columns) = matrix.dim();
    let wide: Vec<T::Wide> = interrupt::collected(matrix.iter().map(|x| x.convert()));
    let full = vectors
        .as_ref()
        .is_some_and(|(left, right)| left.len() == rows * rows && right.len() == columns * columns);
    let found = rotations::singular(&wide, rows, columns, full);
    values.iter_mut().zip(&found.values).for_each(|(value, &x)| *value = <T::Real as Element>::from_f64(x));
    if let Some((left, right)) = vectors {
        left.iter_mut().zip(&found.left).for_each(|(place, x)| *place = x.convert());
        let wide = right.len() / columns.max(1);
        for (place, right) in right.iter_mut().enumerate() {
            *right = found.right[place % wide * columns + place / wide].conj().convert();
        }
    }
}

/// A matrix that is its own adjoint, column by column, of which one triangle is read.
pub(super) fn mirrored<T: Field>(matrix: ArrayView2<'_, T>, upper: bool) -> Vec<T> {
    let mut whole = laid(matrix);
    let n = matrix.nrows();
    for column in 0..n {
        whole[column * n + column] = T::of(whole[column * n + column].real());
        for row in column + 1..n {
            let (below, above) = (column * n + row, row * n + column);
            let (from, to) = if upper { (above, below) } else { (below, above) };
            whole[to] = whole[from].conj();
        }
    }
    whole
}

/// Writes the eigenvalues of a matrix that is its own adjoint, the least first, and if wanted vectors as columns. Of
/// the matrix the upper triangle is read, or the lower one.
pub fn symmetric<T: Known>(
    matrix: ArrayView2<'_, T>,
    upper: bool,
    values: &mut [T::Real],
    mut vectors: Option<&mut [T]>,
) {
    let n = matrix.nrows();
    let whole = mirrored(matrix, upper);
    if let [number] = &whole[..] {
        // Also one that is infinite.
        values[0] = <T::Real as Element>::from_f64(number.real());
        return vectors.into_iter().for_each(|vectors| vectors[0] = T::ONE);
    }
    if !are_finite(&whole) {
        values.fill(<T::Real as Element>::from_f64(f64::NAN));
        return vectors.into_iter().for_each(|vectors| vectors.fill(T::of(f64::NAN)));
    }
    if n >= SMALL && T::symmetric(&whole, n, values, vectors.as_deref_mut()) && all_finite(values) {
        return;
    }
    // Rotations read rows, so that of complex numbers the conjugates are turned.
    let wide: Vec<T::Wide> = interrupt::collected(whole.iter().map(|x| Field::conj(*x).convert()));
    let found = rotations::symmetric(&wide, n, vectors.is_some());
    values.iter_mut().zip(&found.values).for_each(|(value, &x)| *value = <T::Real as Element>::from_f64(x));
    if let Some(vectors) = vectors {
        vectors.iter_mut().zip(&found.vectors).for_each(|(place, x)| *place = x.convert());
    }
}

/// Eigenvalues of a square matrix of finite numbers, and if wanted vectors of length one, of each of which the greatest
/// element is real; no numbers if they are not found. Of two eigenvalues of a real matrix that are conjugates the one
/// above the real line comes first.
pub fn general<T: Known>(matrix: ArrayView2<'_, T>, vectors: bool) -> Spectrum<Complex<f64>> {
    let n = matrix.nrows();
    let found = T::spectrum(&laid(matrix), n, vectors);
    let nan = Complex::new(f64::NAN, f64::NAN);
    let mut found = found.unwrap_or_else(|| Spectrum {
        values: interrupt::filled(n, nan),
        vectors: interrupt::filled(if vectors { n * n } else { 0 }, nan),
    });
    found.vectors.chunks_exact_mut(n.max(1)).for_each(settle);
    found
}

/// Makes a vector one of length one whose greatest element is real.
fn settle(vector: &mut [Complex<f64>]) {
    let length = vector.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
    let zero = Complex::default();
    let head = vector.iter().fold(zero, |most, &x| if x.norm_sqr() > most.norm_sqr() { x } else { most });
    let (direction, _) = head.direction();
    let factor = direction.conj() / length;
    vector.iter_mut().for_each(|x| *x *= factor);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn matrix(rows: usize, columns: usize) -> Array2<Complex<f64>> {
        Array2::from_shape_fn((rows, columns), |(row, column)| {
            Complex::new(((row * 7 + column * 3) as f64).sin(), ((row * column) as f64).cos())
        })
    }

    /// Small matrices and those of the library.
    const SIDES: [(usize, usize); 4] = [(5, 3), (3, 5), (40, 60), (70, 30)];

    #[test]
    fn singular_vectors_and_values_make_the_matrix_again() {
        for (rows, columns) in SIDES {
            let (matrix, least) = (matrix(rows, columns), rows.min(columns));
            let mut values = vec![0.0; least];
            for full in [false, true] {
                let (high, wide) = if full { (rows, columns) } else { (least, least) };
                let (mut u, mut vh) =
                    (vec![Complex::default(); rows * high], vec![Complex::default(); wide * columns]);
                singular(matrix.view(), &mut values, Some((&mut u, &mut vh)));
                for ((row, column), x) in matrix.indexed_iter() {
                    let term = |at: usize| u[at * rows + row] * values[at] * vh[column * wide + at];
                    let made: Complex<f64> = (0..least).map(term).sum();
                    assert!((made - x).norm() < 1e-10, "{rows} {columns}");
                }
            }
            let mut alone = vec![0.0; least];
            singular(matrix.view(), &mut alone, None);
            assert!(alone.iter().zip(&values).all(|(a, b)| (a - b).abs() < 1e-10));
        }
    }

    #[test]
    fn either_triangle_of_a_matrix_has_its_eigenvectors() {
        for n in [4, 50] {
            let matrix = matrix(n, n);
            for upper in [false, true] {
                let (mut values, mut vectors) = (vec![0.0; n], vec![Complex::default(); n * n]);
                symmetric(matrix.view(), upper, &mut values, Some(&mut vectors));
                assert!(values.is_sorted());
                let read = |row: usize, column: usize| match (row == column, (row < column) == upper) {
                    (true, _) => Complex::new(matrix[(row, row)].re, 0.0),
                    (_, true) => matrix[(row, column)],
                    _ => matrix[(column, row)].conj(),
                };
                for (at, vector) in vectors.chunks_exact(n).enumerate() {
                    for row in 0..n {
                        let product: Complex<f64> =
                            (0..n).map(|column| read(row, column) * vector[column]).sum();
                        assert!((product - vector[row] * values[at]).norm() < 1e-10, "{n} {upper}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_real_matrix_has_its_eigenvectors_in_pairs() {
        for n in [5, 60] {
            let matrix = matrix(n, n).mapv(|x| x.re + x.im);
            let Spectrum { values, vectors } = general(matrix.view(), true);
            let alone = general(matrix.view(), false).values;
            assert!(alone.iter().zip(&values).all(|(a, b)| (a - b).norm() < 1e-9));
            for (at, vector) in vectors.chunks_exact(n).enumerate() {
                for row in 0..n {
                    let product: Complex<f64> =
                        (0..n).map(|column| vector[column] * matrix[(row, column)]).sum();
                    assert!((product - vector[row] * values[at]).norm() < 1e-9, "{n}");
                }
            }
            let above = values.iter().position(|x| x.im != 0.0).unwrap_or_default();
            assert!(values[above].im > 0.0 && values[above + 1] == values[above].conj());
        }
    }
}
