//! Eigenvalues of symmetric real matrices, and vectors: reflections leave three diagonals, rotations of neighbours one.
//! Matrices lie column by column; of three diagonals the middle one is `d`, the one beside it `e`, both in double
//! precision whatever the matrix is of.

use pulp::{Arch, Simd, WithSimd};

use super::columns::{
    MANY, Turns, add, dot, lines, of, onto, onto_axis, pass, reflect, roomy, scale, vector_of,
};
use super::zeros;
use crate::kernels::interrupt::{self, Steps};
use crate::kernels::wide::Wide;

/// Up to how many rows matrices are worth it, if vectors are wanted, and if they are not: the library finds the vectors
/// of larger ones by halves.
pub(super) const MOST_VECTORS: usize = 256;
pub(super) const MOST_VALUES: usize = 512;

/// Sweeps after which it is given up, for each value.
const SWEEPS: usize = 40;

/// What is left of couplings that count as none though their values are as small, of numbers about one.
const NOTHING: f64 = 1e-36;

/// The eigenvalues, the least first, and if wanted vectors; whether they were found.
pub(super) fn symmetric<T: Wide>(
    matrix: &[T],
    n: usize,
    values: &mut [T],
    vectors: Option<&mut [T]>,
) -> bool {
    let (scale, back) = scale(matrix);
    let mut all = Reflections::new(matrix, n, T::from_f64(scale));
    Arch::new().dispatch(Reduce(&mut all));
    let (mut d, mut e) = (std::mem::take(&mut all.d), std::mem::take(&mut all.e));
    let precision: f64 = (T::epsilon() / (T::ONE + T::ONE)).as_();
    let Some(vectors) = vectors else {
        if !roots(&mut d, &mut e, precision) {
            return false;
        }
        d.sort_unstable_by(f64::total_cmp);
        values.iter_mut().zip(&d).for_each(|(value, &x)| *value = T::from_f64(x * back));
        return true;
    };
    let (mut basis, room) = (all.product(), all.room);
    let mut turns = Turns::new(n);
    if !rotate(&mut d, &mut e, precision, |sweep, last| turns.take(sweep, last, &mut basis, room)) {
        return false;
    }
    turns.apply(&mut basis, room);
    let mut order = interrupt::collected(0..n);
    order.sort_by(|&a, &b| d[a].total_cmp(&d[b]));
    for ((value, vector), &at) in values.iter_mut().zip(vectors.chunks_exact_mut(n)).zip(&order) {
        *value = T::from_f64(d[at] * back);
        vector.copy_from_slice(&basis[at * room..][..n]);
    }
    true
}

/// A matrix whose columns have room for whole vectors, with more columns behind, and what becomes of it: below the
/// diagonal the vectors of reflections, without their heads, which are one.
pub(super) struct Reflections<T> {
    pub(super) matrix: Vec<T>,
    pub(super) n: usize,
    /// Elements of a column with its room.
    pub(super) room: usize,
    d: Vec<f64>,
    e: Vec<f64>,
    /// How much of itself a vector takes from what it is applied to, twice over its square.
    pub(super) scales: Vec<T>,
}

impl<T: Wide> Reflections<T> {
    pub(super) fn new(given: &[T], n: usize, scale: T) -> Self {
        let (matrix, room) = roomy(given, n, scale);
        Reflections { matrix, n, room, d: zeros(n), e: zeros(n), scales: zeros(n) }
    }

    /// The product of all, in columns as long.
    pub(super) fn product(&self) -> Vec<T> {
        let mut basis = zeros(self.matrix.len());
        Arch::new().dispatch(Product { all: self, basis: &mut basis });
        basis
    }
}

/// Leaves three diagonals of a matrix. What a reflection takes from all columns is taken in the pass over them that the
/// next one needs.
struct Reduce<'a, T>(&'a mut Reflections<T>);

impl<T: Wide> WithSimd for Reduce<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Reflections { matrix, n, room, d, e, scales } = self.0;
        let (n, room) = (*n, *room);
        // Behind each line is room for what the columns behind the matrix would have.
        let [mut v, mut w, mut next, mut sums]: [Vec<T>; 4] = [(); 4].map(|()| zeros(room + MANY));
        let mut steps = Steps::default();
        for step in 0..n {
            steps.take((n - step) * (n - step));
            let column = &mut matrix[step * room..][..room];
            let here = vector_of::<T>(step);
            let (v_here, w_here) = (v[step], w[step]);
            add(simd, &mut column[here..], v_here, &w[here..room]);
            add(simd, &mut column[here..], w_here, &v[here..room]);
            d[step] = column[step].as_();
            if step + 1 == n {
                return;
            }
            let first = vector_of::<T>(step + 1);
            next[..=step].fill(T::ZERO);
            next[step + 1..n].copy_from_slice(&column[step + 1..n]);
            (e[step], scales[step]) = onto_axis(simd, &mut next[..room], step + 1, n);
            column[step + 2..n].copy_from_slice(&next[step + 2..n]);
            let whole = [&v, &w, &next].map(|line| T::vectors::<S>(&line[first..room]).0);
            for place in (step + 1..n).step_by(MANY) {
                let columns = lines::<T, S>(&mut matrix[place * room..], room, first);
                let products = pass::<T, S>(simd, columns, whole, (of(&v, place), of(&w, place)));
                sums[place..place + MANY].copy_from_slice(&products);
            }
            sums[first..=step].fill(T::ZERO);
            sums[n..].fill(T::ZERO);
            let scale = scales[step];
            let along = dot(simd, &sums[first..room], &next[first..room]);
            let half = T::from_f64(-0.5) * scale * along;
            w[..=step].fill(T::ZERO);
            for ((w, &sum), &v) in w[step + 1..n].iter_mut().zip(&sums[step + 1..n]).zip(&next[step + 1..n]) {
                *w = -(scale * (half * v + sum));
            }
            std::mem::swap(&mut v, &mut next);
        }
    }
}

/// The product of all reflections.
struct Product<'a, T> {
    all: &'a Reflections<T>,
    basis: &'a mut [T],
}

impl<T: Wide> WithSimd for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Reflections { ref matrix, n, room, ref scales, .. } = *self.all;
        let (mut steps, mut vector) = (Steps::default(), zeros::<T>(room));
        (0..n).for_each(|place| self.basis[place * (room + 1)] = T::ONE);
        for step in (0..n.saturating_sub(1)).rev() {
            let first = vector_of::<T>(step + 1);
            steps.take((n - step) * (n - step));
            vector[step + 1] = T::ONE;
            vector[step + 2..n].copy_from_slice(&matrix[step * room..][step + 2..n]);
            let vector = T::vectors::<S>(&vector[first..]).0;
            for place in (step + 1..n).step_by(MANY) {
                let columns = lines::<T, S>(&mut self.basis[place * room..], room, first);
                reflect::<T, S>(simd, columns, vector, scales[step]);
            }
        }
    }
}

/// The length of (a, b), of numbers about one or less.
fn length(a: f64, b: f64) -> f64 {
    (a * a + b * b).sqrt()
}

/// Where the part that begins at `first` ends: at the first coupling behind it that is nothing.
fn end(first: usize, d: &[f64], square: impl Fn(usize) -> f64, precision: f64) -> usize {
    let couples = |at: &usize| square(*at) > precision * precision * (d[*at] * d[at + 1]).abs() + NOTHING;
    (first..d.len() - 1).find(|at| !couples(at)).unwrap_or(d.len() - 1)
}

/// What is taken from all values of a part while it is turned: the eigenvalue that is nearer to its first one, of the
/// two by two at its beginning.
fn shift(d: &[f64], first: usize, coupling: f64) -> f64 {
    let slope = (d[first + 1] - d[first]) / (2.0 * coupling);
    d[first] - coupling / (slope + length(slope, 1.0).copysign(slope))
}

/// Turns neighbours until nothing couples them. `turn` is given the cosines and sines of a sweep and the last of the
/// neighbours, from which they go down.
fn rotate(d: &mut [f64], e: &mut [f64], precision: f64, mut turn: impl FnMut(&[(f64, f64)], usize)) -> bool {
    let n = d.len();
    let (mut steps, mut left) = (Steps::default(), SWEEPS * n);
    let mut turns = interrupt::room(n);
    for first in 0..n {
        loop {
            let last = end(first, d, |at| e[at] * e[at], precision);
            if last == first {
                break;
            }
            if left == 0 {
                return false;
            }
            left -= 1;
            steps.take(n * (last - first));
            turns.clear();
            let (mut bulge, mut cosine, mut sine, mut taken) =
                (d[last] - shift(d, first, e[first]), 1.0, 1.0, 0.0);
            for at in (first..last).rev() {
                let (across, along) = (sine * e[at], cosine * e[at]);
                (cosine, sine, e[at + 1]) = onto(bulge, across);
                let head = d[at + 1] - taken;
                let moved = (d[at] - head) * sine + 2.0 * cosine * along;
                taken = sine * moved;
                d[at + 1] = head + taken;
                bulge = cosine * moved - along;
                turns.push((cosine, sine));
            }
            d[first] -= taken;
            e[first] = bulge;
            e[last] = 0.0;
            turn(&turns, last);
        }
    }
    true
}

/// `rotate` of values alone, which needs the squares of couplings and no roots.
fn roots(d: &mut [f64], e: &mut [f64], precision: f64) -> bool {
    let n = d.len();
    e.iter_mut().for_each(|x| *x *= *x);
    let (mut steps, mut left) = (Steps::default(), SWEEPS * n);
    for first in 0..n {
        loop {
            let last = end(first, d, |at| e[at], precision);
            if last == first {
                break;
            }
            if left == 0 {
                return false;
            }
            left -= 1;
            steps.take(last - first);
            let taken = shift(d, first, e[first].sqrt());
            let (mut cosine, mut sine, mut rest) = (1.0, 0.0, d[last] - taken);
            let mut square = rest * rest;
            for at in (first..last).rev() {
                let coupling = e[at];
                let whole = square + coupling;
                if at + 1 < last {
                    e[at + 1] = sine * whole;
                }
                let before = cosine;
                // Also what one divides by next, so that no division waits for another.
                let spread = whole / square;
                (cosine, sine) = if whole == 0.0 { (1.0, 0.0) } else { (square / whole, coupling / whole) };
                let (old, head) = (rest, d[at]);
                rest = cosine * (head - taken) - sine * old;
                d[at + 1] = old + (head - rest);
                square = if spread.is_finite() { rest * rest * spread } else { before * coupling };
            }
            e[first] = sine * square;
            d[first] = taken + rest;
            e[last] = 0.0;
        }
    }
    true
}
