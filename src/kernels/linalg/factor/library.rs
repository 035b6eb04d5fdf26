//! What the library `faer` computes: factors of matrices that are not small. Always one thread a matrix, since how
//! many there are would show in the bits. Matrices lie column by column. See Note [Where a library ends].

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt;
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::householder;
use faer::linalg::lu::partial_pivoting as lu;
use faer::linalg::matmul::matmul;
use faer::linalg::qr::no_pivoting::{self, factor::QrParams};
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::linalg::triangular_solve as triangular;
use faer::perm::PermRef;
use faer::traits::RealField;
use faer::{Accum, Auto, Conj, MatMut, MatRef, Par, Spec};
use ndarray::ArrayView2;

use super::apart::{COLUMNS, answer_apart, few_at_a_time, writable};
use super::{Field, Known, Spectrum, interrupt, zeros};
use crate::dtype::{Complex, Element};
use crate::storage::Reserve;

const ALONE: Par = Par::Seq;

/// Reflections that are applied together to what is left of a matrix, and to that of one with more rows and columns than
/// so many.
const REFLECTIONS: [usize; 2] = [16, 64];
const LARGE: usize = 512;

/// By so many columns at most it rounds up.
const OVER: usize = 128;

/// Room to work in.
fn room(needed: StackReq) -> MemBuffer {
    let bytes = needed.size_bytes();
    MemBuffer::try_new(needed).unwrap_or_else(|_| interrupt::exhausted(bytes))
}

/// Holds memory for products of factors that are as high as that and have so many columns together.
fn reserve_for_high<T>(rows: usize, columns: usize) -> Reserve {
    interrupt::reserve(rows.saturating_mul(columns + OVER).saturating_mul(size_of::<T>()))
}

fn matrix<T>(numbers: &[T], rows: usize, columns: usize) -> MatRef<'_, T> {
    MatRef::from_column_major_slice(numbers, rows, columns)
}

/// A matrix of as many columns as there are.
fn in_columns<T>(numbers: &mut [T], rows: usize) -> MatMut<'_, T> {
    let count = numbers.len() / rows.max(1);
    writable(numbers, rows, count)
}

/// `elimination::eliminate` in place.
pub(super) fn eliminate<T: Known>(
    numbers: &mut [T],
    rows: usize,
    columns: usize,
    pivots: &mut [i32],
) -> bool {
    let (mut order, mut places): (Vec<usize>, Vec<usize>) = (zeros(rows), zeros(rows));
    let mut memory =
        room(lu::factor::lu_in_place_scratch::<usize, T>(rows, columns, ALONE, Default::default()));
    let done = answer_apart(numbers.len() * rows.min(columns), [], [numbers], move |[], [numbers]| {
        let (matrix, memory) = (writable(numbers, rows, columns), MemStack::new(&mut memory));
        lu::factor::lu_in_place(matrix, &mut order, &mut places, ALONE, memory, Default::default());
        (order, places)
    });
    let Some((order, mut places)) = done else { return false };
    // From the order in which rows stand, with which one each was exchanged in its turn.
    let mut standing = interrupt::collected(0..rows);
    places.iter_mut().enumerate().for_each(|(row, place)| *place = row);
    for (step, pivot) in pivots.iter_mut().enumerate() {
        let (from, row) = (places[order[step]], standing[step]);
        standing.swap(step, from);
        (places[order[step]], places[row]) = (step, from);
        *pivot = from as i32 + 1;
    }
    true
}

/// `elimination::invert`.
pub(super) fn invert<T: Known>(triangles: &[T], pivots: &[i32], inverse: &mut [T]) -> bool {
    let n = pivots.len();
    let mut order = interrupt::collected(0..n);
    pivots.iter().enumerate().for_each(|(step, &pivot)| order.swap(step, pivot as usize - 1));
    let mut places = zeros(n);
    order.iter().enumerate().for_each(|(place, &row)| places[row] = place);
    let mut memory = room(lu::inverse::inverse_scratch::<usize, T>(n, ALONE));
    let done = answer_apart(triangles.len() * n, [triangles], [inverse], move |[triangles], [inverse]| {
        let order = PermRef::new_checked(&order, &places, n);
        let (triangles, memory) = (matrix(triangles, n, n), MemStack::new(&mut memory));
        lu::inverse::inverse(writable(inverse, n, n), triangles, triangles, order, ALONE, memory);
    });
    done.is_some()
}

/// `triangles::solve`.
pub(super) fn solve_triangle<T: Known>(
    triangle: ArrayView2<'_, T>,
    columns: &mut [T],
    upper: bool,
    unit: bool,
) -> bool {
    let n = triangle.nrows();
    let laid;
    let triangle = match (triangle.to_slice(), triangle.reversed_axes().to_slice()) {
        (_, Some(numbers)) => matrix(numbers, n, n),
        (Some(numbers), _) => matrix(numbers, n, n).transpose(),
        _ => {
            laid = super::laid(triangle);
            matrix(&laid, n, n)
        }
    };
    few_at_a_time(columns, n, |columns| match (upper, unit) {
        (false, false) => triangular::solve_lower_triangular_in_place(triangle, columns, ALONE),
        (false, true) => triangular::solve_unit_lower_triangular_in_place(triangle, columns, ALONE),
        (true, false) => triangular::solve_upper_triangular_in_place(triangle, columns, ALONE),
        (true, true) => triangular::solve_unit_upper_triangular_in_place(triangle, columns, ALONE),
    })
}

/// `cholesky::cholesky` in place, in the lower half.
pub(super) fn cholesky<T: Known>(numbers: &mut [T], n: usize) -> bool {
    let mut memory = room(llt::factor::cholesky_in_place_scratch::<T>(n, ALONE, Default::default()));
    let done = answer_apart(numbers.len() * n, [], [numbers], move |[], [numbers]| {
        let (matrix, memory) = (writable(numbers, n, n), MemStack::new(&mut memory));
        llt::factor::cholesky_in_place(matrix, Default::default(), ALONE, memory, Default::default()).is_ok()
    });
    done == Some(true)
}

/// The lower half of the inverse of a lower triangle times its adjoint.
pub(super) fn invert_positive<T: Known>(triangle: &[T], n: usize, inverse: &mut [T]) -> bool {
    let mut memory = room(llt::inverse::inverse_scratch::<T>(n, ALONE));
    let done = answer_apart(triangle.len() * n, [triangle], [inverse], move |[triangle], [inverse]| {
        let memory = MemStack::new(&mut memory);
        llt::inverse::inverse(writable(inverse, n, n), matrix(triangle, n, n), ALONE, memory);
    });
    done.is_some()
}

/// The product of matrices of (m, k) and (k, n) numbers.
pub(super) fn product<T: Known>(left: &[T], right: &[T], (m, k, n): (usize, usize, usize), into: &mut [T]) {
    let (left, right) = (matrix(left, m, k), matrix(right, k, n));
    matmul(writable(into, m, n), Accum::Replace, left, right, T::one_impl(), ALONE);
}

/// Reflections of a matrix, in their place below the diagonal of a triangle.
pub(super) struct Reflected<T> {
    /// The vectors, and the triangle on the diagonal and above it.
    pub(super) packed: Vec<T>,
    /// What the library needs to apply many at a time.
    factors: Vec<T>,
    /// How many it applies at a time.
    block: usize,
    rows: usize,
    columns: usize,
}

/// The reflections that turn a matrix into a triangle. `None` also where a column depends on others exactly: the library
/// leaves such columns in a form of its own.
pub(super) fn reflect<T: Known>(packed: Vec<T>, rows: usize, columns: usize) -> Option<Reflected<T>> {
    let least = rows.min(columns);
    let block = REFLECTIONS[usize::from(least > LARGE)].min(least).max(1);
    let mut all = Reflected { packed, factors: zeros(block * least), block, rows, columns };
    // The library would go on in blocks inside of these.
    let mut one_by_one: QrParams = Auto::<T>::auto();
    one_by_one.blocking_threshold = usize::MAX;
    let how = Spec::new(one_by_one);
    let mut memory = room(no_pivoting::factor::qr_in_place_scratch::<T>(rows, columns, block, ALONE, how));
    answer_apart::<T, _, 0, 0>(all.packed.len() * least, [], [], move |[], []| {
        let (packed, factors) =
            (writable(&mut all.packed, rows, columns), writable(&mut all.factors, block, least));
        let memory = MemStack::new(&mut memory);
        let _products = reserve_for_high::<T>(rows, block + columns);
        let info = no_pivoting::factor::qr_in_place(packed, factors, ALONE, memory, how);
        (info.rank == least).then_some(all)
    })?
}

impl<T: Known> Reflected<T> {
    /// The element of the triangle.
    pub(super) fn at(&self, row: usize, column: usize) -> T {
        self.packed[column * self.rows + row]
    }

    /// Applies all reflections to columns, or undoes them if `back`.
    pub(super) fn apply(&self, columns: &mut [T], back: bool) -> bool {
        let least = self.rows.min(self.columns);
        let count = (columns.len() / self.rows).min(COLUMNS);
        let basis = matrix(&self.packed, self.rows, self.columns).get(.., ..least);
        let factors = matrix(&self.factors, self.block, least);
        let mut memory =
            room(householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(
                self.rows, self.block, count,
            ));
        few_at_a_time(columns, self.rows, |columns| {
            let _products = reserve_for_high::<T>(self.rows, self.block + count);
            match back {
                false => householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
                    basis,
                    factors,
                    Conj::No,
                    columns,
                    ALONE,
                    MemStack::new(&mut memory),
                ),
                true => {
                    householder::apply_block_householder_sequence_transpose_on_the_left_in_place_with_conj(
                        basis,
                        factors,
                        Conj::Yes,
                        columns,
                        ALONE,
                        MemStack::new(&mut memory),
                    )
                }
            }
        })
    }

    /// Replaces columns by the solutions of equations with them on the right and the triangle on the left, or its
    /// adjoint.
    pub(super) fn solve(&self, columns: &mut [T], adjoined: bool) -> bool {
        let least = self.rows.min(self.columns);
        let triangle = matrix(&self.packed, self.rows, self.columns).get(..least, ..least);
        few_at_a_time(columns, least, |columns| match adjoined {
            false => triangular::solve_upper_triangular_in_place(triangle, columns, ALONE),
            true => triangular::solve_lower_triangular_in_place_with_conj(
                triangle.transpose(),
                Conj::Yes,
                columns,
                ALONE,
            ),
        })
    }
}

/// The singular values of a matrix, and if wanted as many vectors of both sides as there are columns in `left` and
/// `right`.
pub(super) fn singular<T: Known>(
    numbers: &[T],
    (rows, columns): (usize, usize),
    values: &mut [T::Real],
    vectors: Option<(&mut [T], &mut [T])>,
) -> bool {
    let mut wide: Vec<T> = zeros(values.len());
    let kind = |count: Option<usize>, side: usize| match count {
        None => ComputeSvdVectors::No,
        Some(count) if count == side * side => ComputeSvdVectors::Full,
        Some(_) => ComputeSvdVectors::Thin,
    };
    let is_wanted = vectors.is_some();
    let (left, right) = vectors.unwrap_or_default();
    let count = |vectors: &[T]| is_wanted.then_some(vectors.len());
    let kinds = (kind(count(left), rows), kind(count(right), columns));
    let needed = svd::svd_scratch::<T>(rows, columns, kinds.0, kinds.1, ALONE, Default::default());
    let mut memory = room(needed);
    let products = numbers.len() * rows.min(columns);
    let done = answer_apart(products, [numbers], [left, right], move |[numbers], [left, right]| {
        let sides = is_wanted.then(|| (in_columns(left, rows), in_columns(right, columns))).unzip();
        let values = DiagMut::from_slice_mut(&mut wide);
        let (matrix, memory) = (matrix(numbers, rows, columns), MemStack::new(&mut memory));
        let found = svd::svd(matrix, values, sides.0, sides.1, ALONE, memory, Default::default());
        found.is_ok().then_some(wide)
    });
    let Some(wide) = done.flatten() else { return false };
    values.iter_mut().zip(&wide).for_each(|(value, x)| *value = <T::Real as Element>::from_f64(x.real()));
    true
}

/// The eigenvalues of a matrix that is its own adjoint, of which the lower half is read, and if wanted its
/// eigenvectors.
pub(super) fn symmetric<T: Known>(
    numbers: &[T],
    n: usize,
    values: &mut [T::Real],
    vectors: Option<&mut [T]>,
) -> bool {
    let mut wide: Vec<T> = zeros(n);
    let kind = if vectors.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let mut memory = room(evd::self_adjoint_evd_scratch::<T>(n, kind, ALONE, Default::default()));
    let (is_wanted, vectors) = (vectors.is_some(), vectors.unwrap_or_default());
    let done = answer_apart(n * n * n, [numbers], [vectors], move |[numbers], [vectors]| {
        let vectors = is_wanted.then(|| writable(vectors, n, n));
        let values = DiagMut::from_slice_mut(&mut wide);
        let (matrix, memory) = (matrix(numbers, n, n), MemStack::new(&mut memory));
        let found = evd::self_adjoint_evd(matrix, values, vectors, ALONE, memory, Default::default());
        found.is_ok().then_some(wide)
    });
    let Some(wide) = done.flatten() else { return false };
    values.iter_mut().zip(&wide).for_each(|(value, x)| *value = <T::Real as Element>::from_f64(x.real()));
    true
}

/// Whether eigenvectors are wanted, and room for them.
fn wanted<T: Copy + Default>(n: usize, vectors: bool) -> (ComputeEigenvectors, Vec<T>) {
    match vectors {
        true => (ComputeEigenvectors::Yes, zeros(n * n)),
        false => (ComputeEigenvectors::No, Vec::new()),
    }
}

/// `Known::spectrum` of complex matrices.
pub(super) fn complex_spectrum(
    numbers: &[Complex<f64>],
    n: usize,
    vectors: bool,
) -> Option<Spectrum<Complex<f64>>> {
    let (mut values, (kind, mut columns)) = (zeros(n), wanted(n, vectors));
    let needed =
        evd::evd_scratch::<Complex<f64>>(n, ComputeEigenvectors::No, kind, ALONE, Default::default());
    let mut memory = room(needed);
    let done = answer_apart(n * n * n, [numbers], [], move |[numbers], []| {
        let into = vectors.then(|| writable(&mut columns, n, n));
        let diagonal = DiagMut::from_slice_mut(&mut values);
        let (matrix, memory) = (matrix(numbers, n, n), MemStack::new(&mut memory));
        let found = evd::evd_cplx(matrix, diagonal, None, into, ALONE, memory, Default::default());
        found.is_ok().then_some((values, columns))
    });
    let (values, vectors) = done.flatten()?;
    Some(Spectrum { values, vectors })
}

/// `Known::spectrum` of real matrices. Of two values that are conjugates the library writes the real parts of a
/// vector, and its imaginary parts beside them.
pub(super) fn real_spectrum<R: RealField + Known>(
    numbers: &[R],
    n: usize,
    vectors: bool,
) -> Option<Spectrum<Complex<f64>>> {
    let (mut real, mut imaginary): (Vec<R>, Vec<R>) = (zeros(n), zeros(n));
    let (kind, mut columns): (_, Vec<R>) = wanted(n, vectors);
    let needed = evd::evd_scratch::<R>(n, ComputeEigenvectors::No, kind, ALONE, Default::default());
    let mut memory = room(needed);
    let done = answer_apart(n * n * n, [numbers], [], move |[numbers], []| {
        let into = vectors.then(|| writable(&mut columns, n, n));
        let parts = (DiagMut::from_slice_mut(&mut real), DiagMut::from_slice_mut(&mut imaginary));
        let (matrix, memory) = (matrix(numbers, n, n), MemStack::new(&mut memory));
        let found = evd::evd_real(matrix, parts.0, parts.1, None, into, ALONE, memory, Default::default());
        found.is_ok().then_some((real, imaginary, columns))
    });
    let (real, imaginary, columns) = done.flatten()?;
    let number = |(re, im): (&R, &R)| Complex::new(re.to_f64(), im.to_f64());
    let mut all = Spectrum {
        values: interrupt::collected(real.iter().zip(&imaginary).map(number)),
        vectors: interrupt::collected(columns.iter().map(|x| x.to_complex())),
    };
    let mut at = 0;
    while at + 1 < n {
        if all.values[at].im == 0.0 {
            at += 1;
            continue;
        }
        let pair = if vectors { &mut all.vectors[at * n..(at + 2) * n] } else { &mut [] };
        let (first, second) = pair.split_at_mut(pair.len() / 2);
        for (x, y) in first.iter_mut().zip(second) {
            (*x, *y) = (Complex::new(x.re, y.re), Complex::new(x.re, -y.re));
        }
        if all.values[at].im < 0.0 {
            all.values[at..at + 2].iter_mut().chain(pair).for_each(|x| *x = x.conj());
        }
        at += 2;
    }
    Some(all)
}
