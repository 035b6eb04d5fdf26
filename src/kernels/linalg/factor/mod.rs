//! Matrices factored. What goes in is a view of a matrix that lies in any way, what comes out lies column by
//! column, as LAPACK leaves it. Small matrices are factored by plain loops, which also say what becomes of matrices
//! that have no factors; others by the library `faer`, behind `library`: see Note [Where a library ends].

mod apart;
mod bidiagonal;
mod blocks;
pub mod cholesky;
mod columns;
pub mod elimination;
pub mod exponential;
pub mod indefinite;
mod lanes;
mod library;
pub mod nearest;
pub mod orthogonal;
mod positive;
mod quotients;
mod reflected;
mod rotations;
mod schur;
mod single;
pub mod triangles;
mod tridiagonal;
pub mod values;

use faer::traits::ComplexField;
use ndarray::{ArrayView2, Axis};

use crate::dtype::{Complex, Element, Real, Ring};
use crate::kernels::geometry::moves;
use crate::kernels::interrupt;
use crate::kernels::linalg::gemm;
use crate::kernels::parallel::parallel_items;
use crate::kernels::simd::vectorised;

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

/// Numbers that the library knows, and those of double precision that small matrices are turned in.
pub trait Known: Field + ComplexField<Real: Element> {
    /// In double precision.
    type Wide: Field;
    /// Eigenvalues of a square matrix that lies column by column, and if wanted eigenvectors of any length, by the
    /// library; `None` if it finds none.
    fn spectrum(matrix: &[Self], n: usize, vectors: bool) -> Option<Spectrum<Complex<f64>>>;
    /// The product of square matrices that lie row by row.
    fn product(a: &[Self], b: &[Self], n: usize, into: &mut [Self]) {
        // What lies row by row is transposed for the library, and so is the product.
        library::product(b, a, (n, n, n), into);
    }
    /// Writes the triangle of a matrix of so many rows and columns that lies column by column, and if wanted the columns
    /// at right angles; whether that is a way for it.
    fn decompose(
        _matrix: &[Self],
        _size: (usize, usize),
        _triangle: &mut [Self],
        _orthogonal: Option<&mut [Self]>,
    ) -> bool {
        false
    }
    /// `cholesky::cholesky` in the lower half of a matrix that lies column by column and is not small; whether it was
    /// found.
    fn factor(matrix: &mut [Self], n: usize) -> bool {
        library::cholesky(matrix, n)
    }
    /// `cholesky::pull_back`, of a gradient that lies column by column; whether that is a way for it.
    fn pull_back(_triangle: &[Self], _gradient: &mut [Self], _n: usize) -> bool {
        false
    }
    /// Eigenvalues of a matrix that is its own adjoint and lies column by column, the least first, and if wanted
    /// vectors as columns; whether they were found.
    fn symmetric(matrix: &[Self], n: usize, values: &mut [Self::Real], vectors: Option<&mut [Self]>) -> bool;
    /// Singular values of a matrix of so many rows and columns, the greatest first, and if wanted as many vectors of both
    /// sides, as columns, as there is room for; whether they were found.
    fn singular(
        matrix: ArrayView2<'_, Self>,
        values: &mut [Self::Real],
        vectors: Option<(&mut [Self], &mut [Self])>,
    ) -> bool;
}

/// The real numbers of the precision of others.
pub type Part<T> = <T as ComplexField>::Real;

/// Eigenvalues, and eigenvectors.
pub struct Spectrum<T> {
    /// The values.
    pub values: Vec<T>,
    /// The vectors, one after the other.
    pub vectors: Vec<T>,
}

impl<T: Real> Field for T {
    #[inline]
    fn div(self, other: Self) -> Self {
        self / other
    }
    #[inline]
    fn magnitude(self) -> f64 {
        self.abs().as_()
    }
    #[inline]
    fn weight(self) -> f64 {
        self.abs().as_()
    }
    #[inline]
    fn conj(self) -> Self {
        self
    }
    #[inline]
    fn real(self) -> f64 {
        self.as_()
    }
    #[inline]
    fn of(real: f64) -> Self {
        T::from_f64(real)
    }
    #[inline]
    fn direction(self) -> (Self, f64) {
        (T::ONE, self.as_())
    }
    #[inline]
    fn root(self) -> Option<Self> {
        (self > T::ZERO).then(|| self.sqrt())
    }
}

/// The complex numbers of one precision, and what the library knows of the real ones.
macro_rules! field {
    ($T:ident) => {
        impl Field for Complex<$T> {
            #[inline]
            fn div(self, other: Self) -> Self {
                self / other
            }
            #[inline]
            fn magnitude(self) -> f64 {
                self.norm().into()
            }
            #[inline]
            fn weight(self) -> f64 {
                (self.re.abs() + self.im.abs()).into()
            }
            #[inline]
            fn conj(self) -> Self {
                Complex::conj(&self)
            }
            #[inline]
            fn real(self) -> f64 {
                self.re.into()
            }
            #[inline]
            fn of(real: f64) -> Self {
                Complex::new(real as $T, 0.0)
            }
            #[inline]
            fn direction(self) -> (Self, f64) {
                let length = self.norm();
                if length == 0.0 { (Self::ONE, 0.0) } else { (self / length, length.into()) }
            }
            #[inline]
            fn root(self) -> Option<Self> {
                (self.re > 0.0).then(|| Complex::new(self.re.sqrt(), 0.0))
            }
        }
        impl Known for $T {
            type Wide = f64;
            fn spectrum(matrix: &[Self], n: usize, vectors: bool) -> Option<Spectrum<Complex<f64>>> {
                match n <= schur::MOST {
                    true => schur::spectrum(matrix, n, vectors),
                    false => None,
                }
                .or_else(|| library::real_spectrum(matrix, n, vectors))
            }
            fn product(a: &[$T], b: &[$T], n: usize, into: &mut [$T]) {
                gemm::matmul_into(square(a, n), square(b, n), into);
            }
            fn decompose(
                matrix: &[$T],
                size: (usize, usize),
                triangle: &mut [$T],
                orthogonal: Option<&mut [$T]>,
            ) -> bool {
                reflected::decompose(matrix, size, triangle, orthogonal)
            }
            fn factor(matrix: &mut [$T], n: usize) -> bool {
                if n <= positive::MOST { positive::cholesky(matrix, n) } else { library::cholesky(matrix, n) }
            }
            fn pull_back(triangle: &[$T], gradient: &mut [$T], n: usize) -> bool {
                positive::pull_back(triangle, gradient, n);
                true
            }
            fn symmetric(matrix: &[$T], n: usize, values: &mut [$T], mut vectors: Option<&mut [$T]>) -> bool {
                let ours =
                    if vectors.is_some() { tridiagonal::MOST_VECTORS } else { tridiagonal::MOST_VALUES };
                n <= ours && tridiagonal::symmetric(matrix, n, values, vectors.as_deref_mut())
                    || library::symmetric(matrix, n, values, vectors)
            }
            fn singular(
                matrix: ArrayView2<'_, $T>,
                values: &mut [$T],
                mut vectors: Option<(&mut [$T], &mut [$T])>,
            ) -> bool {
                let (rows, columns) = matrix.dim();
                let ours = match &vectors {
                    Some(_) => bidiagonal::MOST_VECTORS,
                    None => bidiagonal::MOST_VALUES,
                };
                let given = vectors.as_mut().map(|(left, right)| (&mut **left, &mut **right));
                // A wide one is another one lying down.
                let (tall, given) = match rows < columns {
                    true => (matrix.reversed_axes(), given.map(|(left, right)| (right, left))),
                    false => (matrix, given),
                };
                rows.max(columns) <= ours && bidiagonal::singular(&laid(tall), tall.dim(), values, given)
                    || library::singular(&laid(matrix), (rows, columns), values, vectors)
            }
        }
    };
}
field!(f32);
field!(f64);

impl Known for Complex<f64> {
    type Wide = Complex<f64>;
    fn spectrum(matrix: &[Self], n: usize, vectors: bool) -> Option<Spectrum<Complex<f64>>> {
        library::complex_spectrum(matrix, n, vectors)
    }
    fn symmetric(matrix: &[Self], n: usize, values: &mut [f64], vectors: Option<&mut [Self]>) -> bool {
        library::symmetric(matrix, n, values, vectors)
    }
    fn singular(
        matrix: ArrayView2<'_, Self>,
        values: &mut [f64],
        vectors: Option<(&mut [Self], &mut [Self])>,
    ) -> bool {
        library::singular(&laid(matrix), matrix.dim(), values, vectors)
    }
}

/// A square matrix that lies row by row.
fn square<T>(numbers: &[T], n: usize) -> ArrayView2<'_, T> {
    ArrayView2::from_shape((n, n), numbers).unwrap_or_else(|_| unreachable!("there are so many numbers"))
}

/// A matrix column by column.
#[inline]
fn lay<T: Copy + Send + 'static>(matrix: ArrayView2<'_, T>, into: &mut [T]) {
    let (rows, columns) = matrix.dim();
    if into.is_empty() {
        return;
    }
    match (matrix.to_slice(), matrix.reversed_axes().to_slice()) {
        (_, Some(columns)) => into.copy_from_slice(columns),
        (Some(numbers), _) => moves::turn(numbers, [rows, columns], into, moves::put),
        _ => {
            for (column, into) in matrix.axis_iter(Axis(1)).zip(into.chunks_exact_mut(rows)) {
                into.iter_mut().zip(column).for_each(|(place, &x)| *place = x);
            }
        }
    }
}

/// `lay` in memory of its own.
fn laid<T: Copy + Default + Send + 'static>(matrix: ArrayView2<'_, T>) -> Vec<T> {
    let mut columns = zeros(matrix.len());
    lay(matrix, &mut columns);
    columns
}

/// So many zeros. Unwinds if there is no memory for them.
fn zeros<T: Copy + Default>(count: usize) -> Vec<T> {
    let mut zeros = interrupt::room(count);
    zeros.resize(count, T::default());
    zeros
}

/// Sums that are made side by side: none waits for another.
const SIDES: usize = 16;

/// Whether no number is infinite, or none at all.
pub fn are_finite<T: Field>(numbers: &[T]) -> bool {
    vectorised(
        numbers.len(),
        #[inline(always)]
        || {
            // What is not finite stays so in a sum of differences with itself, which needs no branch.
            let (chunks, rest) = numbers.as_chunks::<SIDES>();
            let mut sums = [T::ZERO; SIDES];
            for chunk in chunks {
                for side in 0..SIDES {
                    sums[side] = sums[side].add(chunk[side].sub(chunk[side]));
                }
            }
            rest.iter().chain(&sums).fold(T::ZERO, |sum, &x| sum.add(x.sub(x))) == T::ZERO
        },
    )
}

/// Multiplications that are worth a turn of a thread, and what a matrix takes besides.
const TURN: usize = 1 << 17;
const BESIDES: usize = 1 << 10;

/// Calls `body` once with each of what belongs to so many matrices, of that many rows and columns, on several threads
/// if there is enough to do.
pub fn each<I: Send>(
    items: impl Iterator<Item = I>,
    (count, rows, columns): (usize, usize, usize),
    body: impl Fn(I) + Sync,
) {
    let work = rows.saturating_mul(columns).saturating_mul(rows.min(columns));
    let grain = (TURN / work.saturating_add(BESIDES)).max(1);
    match count <= grain {
        true => items.for_each(body),
        false => parallel_items(items, grain, body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn matrices_that_lie_in_any_way_are_laid_column_by_column() {
        let whole = Array2::from_shape_fn((40, 50), |(row, column)| row * 50 + column);
        for view in [whole.view(), whole.t(), whole.slice(ndarray::s![1..;2, ..;3])] {
            let rows = view.nrows();
            let columns = laid(view);
            assert!(view.indexed_iter().all(|((row, column), x)| columns[column * rows + row] == *x));
        }
    }

    #[test]
    fn numbers_are_finite_or_not() {
        assert!(are_finite(&[1e308, -1e308, 0.0]) && are_finite::<f32>(&[]));
        assert!(!are_finite(&[1.0, f64::NAN, 2.0]) && !are_finite(&[f32::INFINITY, f32::INFINITY]));
    }
}
