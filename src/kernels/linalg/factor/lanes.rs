//! Many small matrices of one shape at once, each in a lane of its own. The arithmetic is that of the plain loops for
//! one matrix, number by number, so that nobody can tell what a matrix was factored with.
//!
//! Matrices without factors are not for this file: where there is one among those of a group, the group is taken one by
//! one.

use ndarray::ArrayView2;

use super::Field;
use crate::kernels::interrupt;
use crate::kernels::parallel::parallel_items;
use crate::kernels::simd::vectorised;

/// Matrices with more rows or columns than this are taken one by one.
pub(super) const MOST: usize = 16;

/// Fewer matrices than this are taken one by one.
const FEW: usize = 4;

/// What a function makes of a group of as many matrices as there are lanes for their numbers.
macro_rules! in_lanes {
    ($T:ty, $function:ident($($argument:expr),*)) => {
        if size_of::<$T>() == 4 { $function::<$T, 16>($($argument),*) } else { $function::<$T, 8>($($argument),*) }
    };
}
pub(super) use in_lanes;

/// Multiplications of each lane that are worth a turn of a thread, and what a group takes besides.
const TURN: usize = 1 << 12;
const BESIDES: usize = 1 << 8;

/// Calls `group` with as many items as there are lanes, and `one` with each of a group for which that answers that it
/// cannot be done so; if matrices are too large or too few, with each item.
pub(super) fn each<T, I: Send>(
    items: impl Iterator<Item = I>,
    (count, rows, columns): (usize, usize, usize),
    group: impl Fn(&mut [I]) -> bool + Sync,
    one: impl Fn(&mut I) + Sync,
) {
    if count < FEW || rows.max(columns) > MOST {
        return super::each(items, (count, rows, columns), |mut item| one(&mut item));
    }
    let mut items = interrupt::gathered(items);
    let groups = items.chunks_mut(if size_of::<T>() == 4 { 16 } else { 8 });
    let grain = (TURN / (rows * columns * rows.min(columns) + BESIDES)).max(1);
    let body = |items: &mut [I]| {
        if !group(items) {
            items.iter_mut().for_each(&one);
        }
    };
    match groups.len() <= grain {
        true => groups.for_each(body),
        false => parallel_items(groups, grain, body),
    }
}

/// Numbers of as many matrices as there are lanes, each column by column.
pub(super) struct Lanes<T, const L: usize> {
    numbers: Vec<[T; L]>,
    rows: usize,
}

impl<T: Field, const L: usize> Lanes<T, L> {
    /// The matrices, and some of them once more where lanes are left over.
    #[inline(always)]
    pub(super) fn gather<'a>(views: impl Iterator<Item = ArrayView2<'a, T>> + Clone) -> Self {
        let (rows, columns) = views.clone().next().map_or((0, 0), |view| view.dim());
        let mut numbers = interrupt::filled(rows * columns, [T::ZERO; L]);
        for (lane, view) in views.clone().chain(views.cycle()).take(L).enumerate() {
            match (view.to_slice(), view.reversed_axes().to_slice()) {
                (_, Some(given)) => {
                    numbers.iter_mut().zip(given).for_each(|(place, &x)| place[lane] = x);
                }
                (Some(given), _) => {
                    for (row, line) in given.chunks_exact(columns.max(1)).enumerate() {
                        for (place, &x) in numbers[row..].iter_mut().step_by(rows).zip(line) {
                            place[lane] = x;
                        }
                    }
                }
                _ => {
                    for ((row, column), &x) in view.indexed_iter() {
                        numbers[column * rows + row][lane] = x;
                    }
                }
            }
        }
        Lanes { numbers, rows }
    }

    /// Writes the matrices.
    #[inline(always)]
    pub(super) fn scatter<'a>(&self, places: impl Iterator<Item = &'a mut [T]>) {
        for (lane, places) in places.enumerate() {
            for (place, x) in places.iter_mut().zip(&self.numbers) {
                *place = x[lane];
            }
        }
    }

    /// `elimination::plainly`, with rows exchanged. False if there is nothing to divide by in some matrix.
    pub(super) fn eliminate(&mut self, pivots: &mut [[i32; L]]) -> bool {
        vectorised(
            usize::MAX,
            #[inline(always)]
            || eliminate(&mut self.numbers, self.rows, pivots),
        )
    }

    /// Exchanges rows as those of a matrix were, or undoes it.
    pub(super) fn exchange(&mut self, pivots: &[[i32; L]], back: bool) {
        for column in self.numbers.chunks_exact_mut(self.rows.max(1)) {
            for turn in 0..pivots.len() {
                let step = if back { pivots.len() - 1 - turn } else { turn };
                for (lane, &pivot) in pivots[step].iter().enumerate() {
                    exchange(column, step, pivot as usize - 1, lane);
                }
            }
        }
    }

    /// Replaces columns by the solutions of equations with them on the right and triangles, transposed or not, on the
    /// left: see `triangles::solve`.
    pub(super) fn solve(&mut self, triangles: &Self, transposed: bool, upper: bool, unit: bool) {
        vectorised(
            usize::MAX,
            #[inline(always)]
            || solve(&triangles.numbers, &mut self.numbers, self.rows, (transposed, upper, unit)),
        );
    }

    /// `cholesky::plainly`, with zeros above the diagonal. False if some matrix is not positive.
    pub(super) fn cholesky(&mut self) -> bool {
        vectorised(
            usize::MAX,
            #[inline(always)]
            || cholesky(&mut self.numbers, self.rows),
        )
    }

    /// Unit matrices of the size of these.
    pub(super) fn unit(&self) -> Self {
        let mut numbers = interrupt::filled(self.numbers.len(), [T::ZERO; L]);
        numbers.iter_mut().step_by(self.rows + 1).for_each(|x| *x = [T::ONE; L]);
        Lanes { numbers, rows: self.rows }
    }
}

#[inline(always)]
fn exchange<T: Copy, const L: usize>(column: &mut [[T; L]], a: usize, b: usize, lane: usize) {
    if a != b {
        (column[a][lane], column[b][lane]) = (column[b][lane], column[a][lane]);
    }
}

/// `x - factor · y` in all lanes
#[inline(always)]
fn less<T: Field, const L: usize>(x: &mut [T; L], factor: &[T; L], y: &[T; L]) {
    for lane in 0..L {
        x[lane] = x[lane].sub(factor[lane].mul(y[lane]));
    }
}

/// `x / y` in all lanes
#[inline(always)]
fn over<T: Field, const L: usize>(x: &mut [T; L], y: &[T; L]) {
    for lane in 0..L {
        x[lane] = x[lane].div(y[lane]);
    }
}

#[inline(always)]
fn eliminate<T: Field, const L: usize>(numbers: &mut [[T; L]], rows: usize, pivots: &mut [[i32; L]]) -> bool {
    for (step, pivots) in pivots.iter_mut().enumerate() {
        for (lane, pivot) in pivots.iter_mut().enumerate() {
            let known = &numbers[step * rows..][..rows];
            let (mut best, mut most) = (step, known[step][lane].weight());
            for (row, x) in known.iter().enumerate().skip(step + 1) {
                if x[lane].weight() > most {
                    (best, most) = (row, x[lane].weight());
                }
            }
            *pivot = best as i32 + 1;
            if most == 0.0 || !most.is_finite() {
                return false;
            }
            if best != step {
                numbers.chunks_exact_mut(rows).for_each(|column| exchange(column, step, best, lane));
            }
        }
        let (known, others) = numbers[step * rows..].split_at_mut(rows);
        let (head, known) = known[step..].split_at_mut(1);
        for x in &mut *known {
            over(x, &head[0]);
        }
        for column in others.chunks_exact_mut(rows) {
            let (above, below) = column[step..].split_at_mut(1);
            for (x, factor) in below.iter_mut().zip(&*known) {
                less(x, factor, &above[0]);
            }
        }
    }
    true
}

#[inline(always)]
fn solve<T: Field, const L: usize>(
    triangles: &[[T; L]],
    columns: &mut [[T; L]],
    n: usize,
    (transposed, upper, unit): (bool, bool, bool),
) {
    let factor = |row: usize, column: usize| {
        let (row, column) = if transposed { (column, row) } else { (row, column) };
        &triangles[column * n + row]
    };
    for x in columns.chunks_exact_mut(n.max(1)) {
        for turn in 0..n {
            let step = if upper { n - 1 - turn } else { turn };
            if !unit {
                over(&mut x[step], factor(step, step));
            }
            let known = x[step];
            for row in if upper { 0..step } else { step + 1..n } {
                less(&mut x[row], factor(row, step), &known);
            }
        }
    }
}

#[inline(always)]
fn cholesky<T: Field, const L: usize>(numbers: &mut [[T; L]], n: usize) -> bool {
    for step in 0..n {
        let (known, column) = numbers.split_at_mut(step * n);
        let column = &mut column[..n];
        column[step].iter_mut().for_each(|x| *x = T::of(x.real()));
        for before in known.chunks_exact(n) {
            let factor = before[step].map(|x| x.conj());
            // The head takes the product with the conjugate of what the others are multiplied by.
            less(&mut column[step], &factor, &before[step]);
            for (x, y) in column[step + 1..].iter_mut().zip(&before[step + 1..]) {
                less(x, y, &factor);
            }
        }
        for x in &mut column[step] {
            let Some(root) = x.root() else { return false };
            *x = root;
        }
        let (head, below) = column[step..].split_at_mut(1);
        for x in below {
            over(x, &head[0]);
        }
        column[..step].fill([T::ZERO; L]);
    }
    true
}
