//! Singular values of real matrices, and vectors: reflections from both sides leave two diagonals, which `quotients`
//! has the values of; for vectors rotations of neighbours leave one. Matrices lie column by column; of two diagonals
//! the one in the middle is `d`, the one above it `e`, both in double precision whatever the matrix is of.

use pulp::{Arch, Simd, WithSimd};

use super::columns::{
    MANY, Turns, add, dot, gather, lines, of, onto, onto_axis, pass, room_of, roomy, scale, vector_of,
};
use super::reflected::Reflections;
use super::{quotients, zeros};
use crate::kernels::interrupt::{self, Steps};
use crate::kernels::wide::Wide;

/// Up to how many rows matrices are worth it, if vectors are wanted, and if they are not: the library finds the vectors
/// of larger ones by halves.
pub(super) const MOST_VECTORS: usize = 96;
pub(super) const MOST_VALUES: usize = 512;

/// Sweeps after which it is given up, for each value.
const SWEEPS: usize = 40;

/// The singular values of a matrix that has no more columns than rows, the greatest first, and if wanted as many
/// vectors of both sides as there is room for; whether they were found.
pub(super) fn singular<T: Wide>(
    matrix: &[T],
    (rows, columns): (usize, usize),
    values: &mut [T],
    vectors: Option<(&mut [T], &mut [T])>,
) -> bool {
    let (scale, back) = scale(matrix);
    let mut all = Diagonals::new(matrix, (rows, columns), T::from_f64(scale), vectors.is_some());
    Arch::new().dispatch(Reduce(&mut all));
    let (mut d, mut e) = (std::mem::take(&mut all.d), std::mem::take(&mut all.e));
    let Some((left, right)) = vectors else {
        let found = quotients::singular(&mut d, &e[..columns - 1]);
        values.iter_mut().zip(&d).for_each(|(value, &x)| *value = T::from_f64(x * back));
        return found;
    };
    let (left_room, right_room) = (all.left.room, all.right.room);
    let mut u = all.left.product(left.len() / rows);
    let mut v = all.right.product(columns);
    let precision: f64 = (T::epsilon() / (T::ONE + T::ONE)).as_();
    let (mut u_turns, mut v_turns) = (Turns::new(columns), Turns::new(columns));
    let turned = |u_sweep: &[_], v_sweep: &[_], last| {
        u_turns.take(u_sweep, last, &mut u, left_room);
        v_turns.take(v_sweep, last, &mut v, right_room);
    };
    if !rotate(&mut d, &mut e, precision, turned) {
        return false;
    }
    u_turns.apply(&mut u, left_room);
    v_turns.apply(&mut v, right_room);
    let mut order = interrupt::collected(0..columns);
    order.sort_by(|&a, &b| d[b].abs().total_cmp(&d[a].abs()));
    let places = left.chunks_exact_mut(rows).enumerate();
    for (place, into) in places {
        let at = order.get(place).copied().unwrap_or(place);
        into.copy_from_slice(&u[at * left_room..][..rows]);
    }
    for ((value, into), &at) in values.iter_mut().zip(right.chunks_exact_mut(columns)).zip(&order) {
        *value = T::from_f64(d[at].abs() * back);
        let sign = T::from_f64(1f64.copysign(d[at]));
        into.iter_mut().zip(&v[at * right_room..]).for_each(|(place, &x)| *place = x * sign);
    }
    true
}

/// A matrix, and what becomes of it: the vectors of the reflections of columns, and those of rows, each in the column
/// of the number that it leaves.
struct Diagonals<T> {
    left: Reflections<T>,
    right: Reflections<T>,
    d: Vec<f64>,
    e: Vec<f64>,
}

impl<T: Wide> Diagonals<T> {
    fn new(matrix: &[T], (rows, columns): (usize, usize), scale: T, keeps: bool) -> Self {
        let (numbers, room) = roomy(matrix, rows, scale);
        let across = room_of::<T>(columns);
        Diagonals {
            left: Reflections { numbers, scales: zeros(columns), rows, columns, room },
            right: Reflections {
                numbers: zeros(if keeps { across * columns } else { 0 }),
                scales: zeros(columns),
                rows: columns,
                columns,
                room: across,
            },
            d: zeros(columns),
            e: zeros(columns),
        }
    }
}

/// Leaves two diagonals of a matrix. What reflections take from all columns is taken in the pass over them that the
/// next one needs.
struct Reduce<'a, T>(&'a mut Diagonals<T>);

impl<T: Wide> WithSimd for Reduce<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Diagonals { left, right, d, e } = self.0;
        let (rows, columns, room) = (left.rows, left.columns, left.room);
        let across = right.room;
        // What is taken from all: u zᵀ and w vᵀ, of which z and w have their signs.
        let [mut u, mut w, mut u_next]: [Vec<T>; 3] = [(); 3].map(|()| zeros(room));
        let [mut z, mut v, mut z_next, mut v_next]: [Vec<T>; 4] = [(); 4].map(|()| zeros(across + MANY));
        let mut steps = Steps::default();
        for step in 0..columns {
            steps.take(2 * (rows - step) * (columns - step));
            let column = &mut left.numbers[step * room..][..room];
            let here = vector_of::<T>(step);
            add(simd, &mut column[here..], z[step], &u[here..]);
            add(simd, &mut column[here..], v[step], &w[here..]);
            u_next[..step].fill(T::ZERO);
            u_next[step..rows].copy_from_slice(&column[step..rows]);
            (d[step], left.scales[step]) = onto_axis(simd, &mut u_next, step, rows);
            column[step..rows].copy_from_slice(&u_next[step..rows]);
            if step + 1 == columns {
                return;
            }
            let whole = [&u, &w, &u_next].map(|line| T::vectors::<S>(&line[here..]).0);
            for place in (step + 1..columns).step_by(MANY) {
                let lines = lines::<T, S>(&mut left.numbers[place * room..], room, here);
                let products = pass::<T, S>(simd, lines, whole, (of(&v, place), of(&z, place)));
                z_next[place..place + MANY].copy_from_slice(&products);
            }
            z_next[..=step].fill(T::ZERO);
            z_next[columns..].fill(T::ZERO);
            let scale = left.scales[step];
            z_next[step + 1..columns].iter_mut().for_each(|z| *z = -(scale * *z));
            v_next[..=step].fill(T::ZERO);
            let row = left.numbers[step..].iter().step_by(room).skip(step + 1);
            for ((v, &z), &x) in v_next[step + 1..columns].iter_mut().zip(&z_next[step + 1..]).zip(row) {
                *v = x + z;
            }
            (e[step], right.scales[step + 1]) = onto_axis(simd, &mut v_next[..across], step + 1, columns);
            let scale = right.scales[step + 1];
            if let Some(column) = right.numbers.get_mut((step + 1) * across..(step + 2) * across) {
                column[step + 1..columns].copy_from_slice(&v_next[step + 1..columns]);
            }
            w.fill(T::ZERO);
            for place in (step + 1..columns).step_by(MANY) {
                let lines = lines::<T, S>(&mut left.numbers[place * room..], room, here);
                gather::<T, S>(simd, T::vectors_mut::<S>(&mut w[here..]).0, lines, of(&v_next, place));
            }
            let first = vector_of::<T>(step + 1);
            let along = dot(simd, &z_next[first..across], &v_next[first..across]);
            add(simd, &mut w[here..], along, &u_next[here..]);
            w[..=step].fill(T::ZERO);
            w[step + 1..].iter_mut().for_each(|w| *w = -(scale * *w));
            std::mem::swap(&mut u, &mut u_next);
            std::mem::swap(&mut z, &mut z_next);
            std::mem::swap(&mut v, &mut v_next);
        }
    }
}

/// What a sweep takes: the lesser value of the two by two at the beginning, or nothing where that would not be seen, or
/// where there is a zero on the diagonal, which then comes to the beginning.
fn shift(d: &[f64], e: &[f64], precision: f64) -> f64 {
    let most = d.iter().chain(e).fold(0.0, |most: f64, x| most.max(x.abs()));
    if d.iter().any(|x| x.abs() <= precision * most) {
        return 0.0;
    }
    let (a, b, c) = (d[0], e[0], d[1]);
    let sum = (a + c).hypot(b) + (a - c).hypot(b);
    2.0 * (a * c).abs() / sum
}

/// Turns neighbours until nothing couples them. `turned` is given the cosines and sines of a sweep for vectors of the
/// left and the right side, and the last of the neighbours, from which they go down.
fn rotate(
    d: &mut [f64],
    e: &mut [f64],
    precision: f64,
    mut turned: impl FnMut(&[(f64, f64)], &[(f64, f64)], usize),
) -> bool {
    let n = d.len();
    let most = d.iter().chain(&*e).fold(0.0, |most: f64, x| most.max(x.abs()));
    let (mut steps, mut left) = (Steps::default(), SWEEPS * n);
    let (mut u_turns, mut v_turns) = (interrupt::room(n), interrupt::room(n));
    for first in 0..n {
        loop {
            let nothing = |at: &usize| {
                e[*at].abs() <= precision * (0.5 * (d[*at].abs() + d[at + 1].abs())).max(1e-3 * most)
            };
            let last = (first..n - 1).find(nothing).unwrap_or(n - 1);
            if last == first {
                break;
            }
            if left == 0 {
                return false;
            }
            left -= 1;
            steps.take(2 * n * (last - first));
            u_turns.clear();
            v_turns.clear();
            let taken = shift(&d[first..=last], &e[first..last], precision);
            let mut f = match taken == 0.0 {
                true => d[last],
                false => (d[last].abs() - taken) * (1f64.copysign(d[last]) + taken / d[last]),
            };
            let mut g = e[last - 1];
            for at in (first + 1..=last).rev() {
                let (cosine, sine, length) = onto(f, g);
                if at < last {
                    e[at] = length;
                }
                u_turns.push((cosine, sine));
                f = cosine * d[at] + sine * e[at - 1];
                e[at - 1] = cosine * e[at - 1] - sine * d[at];
                g = sine * d[at - 1];
                d[at - 1] *= cosine;
                let (cosine, sine, length) = onto(f, g);
                v_turns.push((cosine, sine));
                d[at] = length;
                f = cosine * e[at - 1] + sine * d[at - 1];
                d[at - 1] = cosine * d[at - 1] - sine * e[at - 1];
                if at > first + 1 {
                    g = sine * e[at - 2];
                    e[at - 2] *= cosine;
                }
            }
            e[first] = f;
            turned(&u_turns, &v_turns, last);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far the vectors are from making the matrix again, and from being at right angles to each other.
    fn apart(matrix: &[f64], (rows, columns): (usize, usize), high: usize) -> f64 {
        let (mut values, mut alone) = (vec![0.0; columns], vec![0.0; columns]);
        let (mut left, mut right) = (vec![0.0; rows * high], vec![0.0; columns * columns]);
        assert!(singular(matrix, (rows, columns), &mut values, Some((&mut left, &mut right))));
        assert!(singular(matrix, (rows, columns), &mut alone, None));
        assert!(values.is_sorted_by(|a, b| a >= b) && alone.is_sorted_by(|a, b| a >= b));
        let same = values.iter().zip(&alone).map(|(a, b)| (a - b).abs());
        let made = (0..rows * columns).map(|place| {
            let (column, row) = (place / rows, place % rows);
            let term = |at: usize| left[at * rows + row] * values[at] * right[at * columns + column];
            ((0..columns).map(term).sum::<f64>() - matrix[place]).abs()
        });
        let angles = [(&left, rows), (&right, columns)].into_iter().flat_map(|(basis, n)| {
            let of = move |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
            let vectors: Vec<&[f64]> = basis.chunks_exact(n).collect();
            let pairs = (0..vectors.len()).flat_map(|a| (0..=a).map(move |b| (a, b)));
            let unit = |a, b| f64::from(u8::from(a == b));
            pairs.map(|(a, b)| (of(vectors[a], vectors[b]) - unit(a, b)).abs()).collect::<Vec<_>>()
        });
        same.chain(made).chain(angles).fold(0.0, f64::max)
    }

    #[test]
    fn values_and_vectors_of_both_sides_make_the_matrix_again() {
        for (rows, columns) in [(1, 1), (2, 1), (4, 4), (5, 3), (16, 16), (40, 30), (64, 64), (130, 7)] {
            let matrix: Vec<f64> = (0..rows * columns).map(|at| ((at * at) as f64 * 0.37).sin()).collect();
            assert!(apart(&matrix, (rows, columns), columns) < 1e-13 * rows as f64, "{rows} {columns}");
            assert!(apart(&matrix, (rows, columns), rows) < 1e-13 * rows as f64, "{rows} {columns}");
        }
    }

    #[test]
    fn matrices_without_full_rank_have_vectors_all_the_same() {
        let rank_one: Vec<f64> = (0..12 * 9).map(|at| ((at / 12 + 1) * (at % 12)) as f64).collect();
        for matrix in [rank_one, vec![0.0; 12 * 9]] {
            assert!(apart(&matrix, (12, 9), 9) < 1e-11);
        }
        let identity: Vec<f64> = (0..64).map(|at| if at % 9 == 0 { 1.0 } else { 0.0 }).collect();
        assert!(apart(&identity, (8, 8), 8) < 1e-14);
    }

    #[test]
    fn numbers_of_single_precision_have_its_precision() {
        let matrix: Vec<f32> = (0..50 * 20).map(|at| ((at * at) as f32 * 0.37).sin()).collect();
        let wide: Vec<f64> = matrix.iter().map(|&x| f64::from(x)).collect();
        let (mut values, mut expected) = (vec![0f32; 20], vec![0f64; 20]);
        assert!(singular(&matrix, (50, 20), &mut values, None));
        assert!(singular(&wide, (50, 20), &mut expected, None));
        assert!(values.iter().zip(&expected).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-5));
    }
}
