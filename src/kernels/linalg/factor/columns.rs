//! Columns with room for whole vectors, of which several are gone over at a time: what reflections and rotations of
//! real matrices are made of.

use pulp::{Arch, Simd, WithSimd};

use super::zeros;
use crate::kernels::interrupt;
use crate::kernels::wide::{Wide, lanes};

/// Columns that are gone over together.
pub(super) const MANY: usize = 4;

/// The power of two that brings numbers to about one, as far as there is one, and back.
pub(super) fn scale<T: Wide>(matrix: &[T]) -> (f64, f64) {
    let most = matrix.iter().fold(0.0, |most: f64, &x| most.max(x.abs().as_()));
    let limit = if size_of::<T>() == 8 { 1000 } else { 120 };
    // The bits of a number say it: neither logarithms nor powers have to be calculated.
    let (bits, is_power) = (most.to_bits(), most.to_bits() << 12 == 0);
    let exponent = ((bits >> 52) as i64 - 1022 - i64::from(is_power)).clamp(-limit, limit);
    let power = |exponent: i64| f64::from_bits(((1023 + exponent) as u64) << 52);
    if most > 0.0 { (power(-exponent), power(exponent)) } else { (1.0, 1.0) }
}

/// Columns of `n` numbers each, times a scale, with room for whole vectors and for more columns behind; and how many
/// numbers a column has with its room.
pub(super) fn roomy<T: Wide>(given: &[T], n: usize, scale: T) -> (Vec<T>, usize) {
    let room = room_of::<T>(n);
    let mut matrix = zeros(room * (given.len() / n.max(1) + MANY - 1));
    let columns = matrix.chunks_exact_mut(room.max(1)).zip(given.chunks_exact(n.max(1)));
    columns
        .flat_map(|(place, column)| place.iter_mut().zip(column))
        .for_each(|(place, &x)| *place = x * scale);
    (matrix, room)
}

/// How many numbers a column of so many has with its room: whole vectors, and some more where the same rows of many
/// columns would share few places of the nearest memory.
pub(super) fn room_of<T: Wide>(n: usize) -> usize {
    let vectors = n.div_ceil(T::LANES);
    let apart = if vectors >= 16 && vectors.is_multiple_of(8) { MANY } else { 0 };
    (vectors + apart) * T::LANES
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

/// Squares that are less than this have no inverse.
const LEAST: f64 = 1e-290;

/// The cosine and sine that turn (a, b), of numbers about one or less, onto its first axis, and its length.
#[inline(always)]
pub(super) fn onto(a: f64, b: f64) -> (f64, f64, f64) {
    let square = a * a + b * b;
    let length = square.sqrt();
    if square > LEAST {
        // The quotient does not wait for the root.
        let inverse = length * (1.0 / square);
        return (a * inverse, b * inverse, length);
    }
    if length == 0.0 { (1.0, 0.0, 0.0) } else { (a / length, b / length, length) }
}

/// Makes a vector of a line of which nothing is before `head`, the axis that it is turned onto: what is left of it
/// there, and how much of itself the vector takes from what it is applied to.
#[inline(always)]
pub(super) fn onto_axis<T: Wide, S: Simd>(simd: S, line: &mut [T], head: usize, end: usize) -> (f64, T) {
    let here: f64 = line[head].as_();
    line[head] = T::ZERO;
    let first = vector_of::<T>(head);
    let square: f64 = dot(simd, &line[first..], &line[first..]).as_();
    let (mut left, mut scale) = (here, T::ZERO);
    if square > 0.0 {
        left = -(here * here + square).sqrt().copysign(here);
        let factor = T::from_f64(1.0 / (here - left));
        line[head + 1..end].iter_mut().for_each(|x| *x = *x * factor);
        scale = T::from_f64((left - here) / left);
    }
    line[head] = T::ONE;
    (left, scale)
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

/// Adds what two vectors make, `v wᵀ + w vᵀ`, to columns, and answers their products with another.
#[inline(always)]
pub(super) fn pass<T: Wide, S: Simd>(
    simd: S,
    [a, b, c, d]: [&mut [T::Of<S>]; MANY],
    [v, w, along]: [&[T::Of<S>]; 3],
    (v_here, w_here): (&[T; MANY], &[T; MANY]),
) -> [T; MANY] {
    let (v_here, w_here) = (splats(simd, v_here), splats(simd, w_here));
    let mut sums = [T::splat(simd, T::ZERO); MANY];
    let columns = a.iter_mut().zip(b).zip(c).zip(d);
    for ((((((a, b), c), d), &v), &w), &along) in columns.zip(v).zip(w).zip(along) {
        for (at, x) in [a, b, c, d].into_iter().enumerate() {
            *x = T::times_plus(simd, w_here[at], v, T::times_plus(simd, v_here[at], w, *x));
            sums[at] = T::times_plus(simd, *x, along, sums[at]);
        }
    }
    totals(simd, sums)
}

/// `line + Σ factor · column`
#[inline(always)]
pub(super) fn gather<T: Wide, S: Simd>(
    simd: S,
    line: &mut [T::Of<S>],
    [a, b, c, d]: [&mut [T::Of<S>]; MANY],
    factors: &[T; MANY],
) {
    let factors = splats(simd, factors);
    for ((((sum, &mut a), &mut b), &mut c), &mut d) in line.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        for (x, &factor) in [a, b, c, d].into_iter().zip(&factors) {
            *sum = T::times_plus(simd, factor, x, *sum);
        }
    }
}

/// Reflects columns that lie beside each other, in whole vectors of rows.
#[inline(always)]
pub(super) fn beside<T: Wide, S: Simd, const H: usize>(
    simd: S,
    columns: &mut [T],
    room: usize,
    [top, end]: [usize; 2],
    (vector, taken): ([T; H], [T; H]),
) {
    let (mut factors, mut less) = ([T::splat(simd, T::ZERO); H], [T::splat(simd, T::ZERO); H]);
    for at in 0..H {
        (factors[at], less[at]) = (T::splat(simd, vector[at]), T::splat(simd, taken[at]));
    }
    let (a, rest) = columns.split_at_mut(room);
    let (b, rest) = rest.split_at_mut(room);
    let whole = end.next_multiple_of(const { lanes::<T, S>() });
    let a = T::vectors_mut::<S>(&mut a[top..whole]).0;
    let b = T::vectors_mut::<S>(&mut b[top..whole]).0;
    if const { H == 3 } {
        let c = T::vectors_mut::<S>(&mut rest[top..whole]).0;
        for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
            let sum = T::times_plus(simd, factors[H - 1], *c, T::times_plus(simd, factors[1], *b, *a));
            *a = T::minus_times(simd, less[0], sum, *a);
            *b = T::minus_times(simd, less[1], sum, *b);
            *c = T::minus_times(simd, less[H - 1], sum, *c);
        }
    } else {
        for (a, b) in a.iter_mut().zip(b) {
            let sum = T::times_plus(simd, factors[1], *b, *a);
            *a = T::minus_times(simd, less[0], sum, *a);
            *b = T::minus_times(simd, less[1], sum, *b);
        }
    }
}

/// The numbers of a line that belong to columns.
#[inline(always)]
pub(super) fn of<T: Wide>(line: &[T], place: usize) -> &[T; MANY] {
    line[place..].first_chunk().unwrap_or_else(|| unreachable!("lines have room for more columns"))
}

/// Rotations of neighbours among vectors that wait until there are many of them: some rows of all vectors then stay in
/// the nearest memory for all of them.
pub(super) struct Turns<T> {
    /// Cosines and sines, sweep by sweep.
    all: Vec<(T, T)>,
    /// How many there are in a sweep, which begins with the last of so many vectors and the one before.
    sweeps: Vec<(usize, usize)>,
}

/// Rotations that are many.
const MANY_TURNS: usize = 4096;

/// Vectors of so many bytes stay there anyway.
const NEAR: usize = 1 << 16;

impl<T: Wide> Turns<T> {
    /// For so many vectors.
    pub(super) fn new(n: usize) -> Self {
        let most = MANY_TURNS.min(n * n);
        Turns { all: interrupt::room(most + n), sweeps: interrupt::room(most + 1) }
    }

    /// Takes the cosines and sines of a sweep, from the last neighbour on down.
    pub(super) fn take(&mut self, sweep: &[(f64, f64)], last: usize, basis: &mut [T], room: usize) {
        self.all.extend(sweep.iter().map(|&(cosine, sine)| (T::from_f64(cosine), T::from_f64(sine))));
        self.sweeps.push((sweep.len(), last));
        if self.all.len() >= MANY_TURNS || size_of_val(basis) <= NEAR {
            self.apply(basis, room);
        }
    }

    /// Turns vectors of so many numbers with their room by all that waits.
    pub(super) fn apply(&mut self, basis: &mut [T], room: usize) {
        Arch::new().dispatch(Turn { turns: self, basis, room });
        self.all.clear();
        self.sweeps.clear();
    }
}

struct Turn<'a, T> {
    turns: &'a Turns<T>,
    basis: &'a mut [T],
    room: usize,
}

impl<T: Wide> WithSimd for Turn<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Turn { turns, basis, room } = self;
        let (basis, width) = (T::vectors_mut::<S>(basis).0, room * size_of::<T>() / size_of::<T::Of<S>>());
        let mut row = 0;
        while row < width {
            let rows = &mut basis[row..];
            row += match width - row {
                MANY.. => sweep_rows::<T, S, MANY>(simd, turns, rows, width),
                _ => sweep_rows::<T, S, 1>(simd, turns, rows, width),
            };
        }
    }
}

#[inline(always)]
fn rows_at<T: Wide, S: Simd, const L: usize>(basis: &[T::Of<S>], place: usize) -> [T::Of<S>; L] {
    *basis[place..].first_chunk().unwrap_or_else(|| unreachable!("there are so many rows"))
}

/// Turns so many rows, and says how many. The vector that a rotation leaves for the next one stays in registers.
#[inline(always)]
fn sweep_rows<T: Wide, S: Simd, const L: usize>(
    simd: S,
    turns: &Turns<T>,
    basis: &mut [T::Of<S>],
    width: usize,
) -> usize {
    let mut done = 0;
    for &(count, last) in &turns.sweeps {
        let turns = &turns.all[done..done + count];
        done += count;
        let mut kept = rows_at::<T, S, L>(basis, last * width);
        for (at, &(cosine, sine)) in (0..last).rev().zip(turns) {
            let (cosine, sine) = (T::splat(simd, cosine), T::splat(simd, sine));
            let other = rows_at::<T, S, L>(basis, at * width);
            let into = &mut basis[(at + 1) * width..][..L];
            for lane in 0..L {
                into[lane] = T::times_plus(simd, sine, other[lane], T::times(simd, cosine, kept[lane]));
                kept[lane] = T::minus_times(simd, sine, kept[lane], T::times(simd, cosine, other[lane]));
            }
        }
        basis[(last - count) * width..][..L].copy_from_slice(&kept);
    }
    L
}
