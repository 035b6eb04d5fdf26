//! Real matrices that are not large as reflections and a triangle: see `orthogonal`, whose signs are these.

use pulp::{Arch, Simd, WithSimd};

use super::columns::{MANY, dot, lines, reflect, roomy, scale, vector_of};
use super::zeros;
use crate::kernels::wide::Wide;

/// Matrices of more numbers than this are better left to the library.
const MOST: usize = 64 * 64;

/// So many times the least normal number is too little for a square whose root is taken.
const SAFE: f64 = 1e12;

/// Writes a triangle of so many rows as there is room for and, if wanted, columns whose product with it is the matrix,
/// which lies column by column. Answers whether it did: it does not where squares of numbers are too small or too
/// large.
pub(super) fn decompose<T: Wide>(
    matrix: &[T],
    (rows, columns): (usize, usize),
    triangle: &mut [T],
    orthogonal: Option<&mut [T]>,
) -> bool {
    if rows * columns > MOST || matrix.is_empty() {
        return false;
    }
    let (scale, back) = scale(matrix);
    if rows.max(columns) <= LITTLE {
        return little(matrix, (rows, columns), [scale, back].map(T::from_f64), triangle, orthogonal);
    }
    let (numbers, room) = roomy(matrix, rows, T::from_f64(scale));
    let mut all = Reflections { numbers, scales: zeros(rows.min(columns)), rows, columns, room };
    if !Arch::new().dispatch(Reduce(&mut all)) {
        return false;
    }
    let (height, back) = (triangle.len() / columns, T::from_f64(back));
    for (column, into) in triangle.chunks_exact_mut(height).enumerate() {
        let above = (column + 1).min(height);
        let given = &all.numbers[column * room..][..above];
        into[..above].iter_mut().zip(given).for_each(|(place, &x)| *place = x * back);
        into[above..].fill(T::ZERO);
    }
    let Some(orthogonal) = orthogonal else { return true };
    let basis = all.product(orthogonal.len() / rows);
    let columns = orthogonal.chunks_exact_mut(rows).zip(basis.chunks_exact(all.room));
    columns.for_each(|(into, column)| into.copy_from_slice(&column[..rows]));
    true
}

/// So few rows and columns need no memory but the stack's.
const LITTLE: usize = 4;

/// Columns less their part along a vector.
#[inline]
fn turn<T: Wide>(columns: &mut [[T; LITTLE]], vector: &[T; LITTLE], scale: T) {
    for column in columns {
        let mut along = T::ZERO;
        for row in 0..LITTLE {
            along = along + vector[row] * column[row];
        }
        for row in 0..LITTLE {
            column[row] = column[row] - scale * along * vector[row];
        }
    }
}

/// `decompose` of a little matrix, times a scale, and back.
fn little<T: Wide>(
    matrix: &[T],
    (rows, columns): (usize, usize),
    [scale, back]: [T; 2],
    triangle: &mut [T],
    orthogonal: Option<&mut [T]>,
) -> bool {
    let least = SAFE * T::min_positive_value().as_();
    let mut numbers = [[T::ZERO; LITTLE]; LITTLE];
    for (column, given) in numbers.iter_mut().zip(matrix.chunks_exact(rows)) {
        column.iter_mut().zip(given).for_each(|(place, &x)| *place = x * scale);
    }
    let mut vectors = [([T::ZERO; LITTLE], T::ZERO); LITTLE];
    let count = rows.min(columns);
    for (step, (vector, scale)) in vectors.iter_mut().enumerate().take(count) {
        let (head, below) = (numbers[step][step].as_(), &mut numbers[step][step + 1..]);
        if below.iter().all(|&x| x == T::ZERO) {
            continue;
        }
        let square: f64 = below.iter().fold(T::ZERO, |sum, &x| sum + x * x).as_();
        if !(least..f64::INFINITY).contains(&square) {
            return false;
        }
        let turned = -f64::copysign((head * head + square).sqrt(), head);
        let factor = T::from_f64(1.0 / (head - turned));
        vector[step] = T::ONE;
        vector[step + 1..].iter_mut().zip(below).for_each(|(place, x)| *place = *x * factor);
        *scale = T::from_f64((turned - head) / turned);
        numbers[step][step] = T::from_f64(turned);
        turn(&mut numbers[step + 1..columns.max(step + 1)], vector, *scale);
    }
    let height = triangle.len() / columns;
    for (column, (into, numbers)) in triangle.chunks_exact_mut(height).zip(&numbers).enumerate() {
        for (row, place) in into.iter_mut().enumerate() {
            *place = if row > column { T::ZERO } else { numbers[row] * back };
        }
    }
    let Some(orthogonal) = orthogonal else { return true };
    let mut basis = [[T::ZERO; LITTLE]; LITTLE];
    (0..LITTLE).for_each(|place| basis[place][place] = T::ONE);
    for (step, (vector, scale)) in vectors.iter().enumerate().take(count).rev() {
        turn(&mut basis[step..], vector, *scale);
    }
    for (into, column) in orthogonal.chunks_exact_mut(rows).zip(&basis) {
        into.copy_from_slice(&column[..rows]);
    }
    true
}

/// The vectors of reflections, below a diagonal, without their heads, which are one, and the triangle above it.
pub(super) struct Reflections<T> {
    pub(super) numbers: Vec<T>,
    /// How much of itself a vector takes from what it is applied to, twice over its square.
    pub(super) scales: Vec<T>,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Numbers of a column with its room.
    pub(super) room: usize,
}

impl<T: Wide> Reflections<T> {
    /// So many of the first columns of their product, with room.
    pub(super) fn product(&self, width: usize) -> Vec<T> {
        let mut basis = zeros(self.room * (width + MANY - 1));
        Arch::new().dispatch(Product { all: self, basis: &mut basis, width });
        basis
    }
}

/// Turns column after column onto its axis.
struct Reduce<'a, T>(&'a mut Reflections<T>);

impl<T: Wide> WithSimd for Reduce<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Reflections { numbers, scales, rows, columns, room } = self.0;
        let (rows, columns, room) = (*rows, *columns, *room);
        let least = SAFE * T::min_positive_value().as_();
        let mut vector = zeros::<T>(room);
        for (step, scale) in scales.iter_mut().enumerate() {
            let first = vector_of::<T>(step);
            let column = &mut numbers[step * room..][..room];
            vector[..=step].fill(T::ZERO);
            vector[step + 1..rows].copy_from_slice(&column[step + 1..rows]);
            let square: f64 = dot(simd, &vector[first..], &vector[first..]).as_();
            if vector[first..].iter().all(|&x| x == T::ZERO) {
                continue;
            }
            if !(least..f64::INFINITY).contains(&square) {
                return false;
            }
            let head: f64 = column[step].as_();
            let turned = -(head * head + square).sqrt().copysign(head);
            let factor = T::from_f64(1.0 / (head - turned));
            vector[step + 1..rows].iter_mut().for_each(|x| *x = *x * factor);
            column[step + 1..rows].copy_from_slice(&vector[step + 1..rows]);
            column[step] = T::from_f64(turned);
            vector[step] = T::ONE;
            *scale = T::from_f64((turned - head) / turned);
            let vector = T::vectors::<S>(&vector[first..]).0;
            for place in (step + 1..columns).step_by(MANY) {
                reflect(simd, lines::<T, S>(&mut numbers[place * room..], room, first), vector, *scale);
            }
        }
        true
    }
}

/// The first columns of the product of reflections.
struct Product<'a, T> {
    all: &'a Reflections<T>,
    basis: &'a mut [T],
    width: usize,
}

impl<T: Wide> WithSimd for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Reflections { ref numbers, ref scales, rows, room, .. } = *self.all;
        let mut vector = zeros::<T>(room);
        (0..self.width).for_each(|place| self.basis[place * (room + 1)] = T::ONE);
        for (step, &scale) in scales.iter().enumerate().rev() {
            let first = vector_of::<T>(step);
            vector[step] = T::ONE;
            vector[step + 1..rows].copy_from_slice(&numbers[step * room..][step + 1..rows]);
            let vector = T::vectors::<S>(&vector[first..]).0;
            for place in (step..self.width).step_by(MANY) {
                reflect(simd, lines::<T, S>(&mut self.basis[place * room..], room, first), vector, scale);
            }
        }
    }
}
