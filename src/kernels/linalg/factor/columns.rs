//! Columns with room for whole vectors, of which several are gone over at a time: what reflections of real matrices are
//! made of.

use pulp::Simd;

use super::zeros;
use crate::kernels::wide::Wide;

/// Columns that are gone over together.
pub(super) const MANY: usize = 4;

/// The power of two that brings numbers to about one, as far as there is one, and back.
pub(super) fn scale<T: Wide>(matrix: &[T]) -> (f64, f64) {
    let most = matrix.iter().fold(0.0, |most: f64, &x| most.max(x.abs().as_()));
    let limit = if size_of::<T>() == 8 { 1000.0 } else { 120.0 };
    let exponent = if most > 0.0 { most.log2().ceil().clamp(-limit, limit) } else { 0.0 };
    (exponent.exp2().recip(), exponent.exp2())
}

/// Columns of `n` numbers each, times a scale, with room for whole vectors and for more columns behind; and how many
/// numbers a column has with its room.
pub(super) fn roomy<T: Wide>(given: &[T], n: usize, scale: T) -> (Vec<T>, usize) {
    let room = n.next_multiple_of(T::LANES);
    let mut matrix = zeros(room * (given.len() / n.max(1) + MANY - 1));
    let columns = matrix.chunks_exact_mut(room.max(1)).zip(given.chunks_exact(n.max(1)));
    columns
        .flat_map(|(place, column)| place.iter_mut().zip(column))
        .for_each(|(place, &x)| *place = x * scale);
    (matrix, room)
}

/// Where the vector begins in which a row is.
pub(super) fn vector_of<T: Wide>(row: usize) -> usize {
    row / T::LANES * T::LANES
}

/// Columns one after the other, of each of which vectors are taken from a row on.
#[inline(always)]
pub(super) fn lines<T: Wide, S: Simd>(
    columns: &mut [T],
    room: usize,
    first: usize,
) -> [&mut [T::Of<S>]; MANY] {
    let columns = columns.chunks_exact_mut(room);
    let mut lines = [(); MANY].map(|()| Default::default());
    for (line, column) in lines.iter_mut().zip(columns) {
        *line = T::vectors_mut::<S>(&mut column[first..]).0;
    }
    lines
}

/// The sum of the products of two lines of whole vectors.
#[inline(always)]
pub(super) fn dot<T: Wide, S: Simd>(simd: S, a: &[T], b: &[T]) -> T {
    let mut sum = T::splat(simd, T::ZERO);
    for (&a, &b) in T::vectors::<S>(a).0.iter().zip(T::vectors::<S>(b).0) {
        sum = T::times_plus(simd, a, b, sum);
    }
    T::total(simd, sum)
}

/// `line + factor · other`, of lines of whole vectors.
#[inline(always)]
pub(super) fn add<T: Wide, S: Simd>(simd: S, line: &mut [T], factor: T, other: &[T]) {
    let factor = T::splat(simd, factor);
    for (x, &y) in T::vectors_mut::<S>(line).0.iter_mut().zip(T::vectors::<S>(other).0) {
        *x = T::times_plus(simd, factor, y, *x);
    }
}

/// The sums of the places of vectors.
#[inline(always)]
pub(super) fn totals<T: Wide, S: Simd>(simd: S, sums: [T::Of<S>; MANY]) -> [T; MANY] {
    // A closure, as `map` takes it, would be compiled for another processor.
    let mut all = [T::ZERO; MANY];
    for (total, sum) in all.iter_mut().zip(sums) {
        *total = T::total(simd, sum);
    }
    all
}

/// Vectors of a number each.
#[inline(always)]
pub(super) fn splats<T: Wide, S: Simd>(simd: S, numbers: &[T; MANY]) -> [T::Of<S>; MANY] {
    let mut all = [T::splat(simd, T::ZERO); MANY];
    for (vector, &x) in all.iter_mut().zip(numbers) {
        *vector = T::splat(simd, x);
    }
    all
}

/// Columns less their part along a vector, so many times.
#[inline(always)]
pub(super) fn reflect<T: Wide, S: Simd>(
    simd: S,
    [a, b, c, d]: [&mut [T::Of<S>]; MANY],
    vector: &[T::Of<S>],
    scale: T,
) {
    let mut sums = [T::splat(simd, T::ZERO); MANY];
    for ((((&a, &b), &c), &d), &vector) in a.iter().zip(&*b).zip(&*c).zip(&*d).zip(vector) {
        for (sum, x) in sums.iter_mut().zip([a, b, c, d]) {
            *sum = T::times_plus(simd, x, vector, *sum);
        }
    }
    let along = splats(simd, &totals(simd, sums).map(|sum| scale * sum));
    for ((((a, b), c), d), &vector) in a.iter_mut().zip(b).zip(c).zip(d).zip(vector) {
        for (x, &along) in [a, b, c, d].into_iter().zip(&along) {
            *x = T::minus_times(simd, along, vector, *x);
        }
    }
}
