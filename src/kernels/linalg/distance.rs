//! Distances of rows of one matrix from rows of another, or from each other, and the gradients of that.

use std::mem::MaybeUninit;

use ndarray::ArrayView2;
use num_traits::Float;

use crate::dtype::Real;
use crate::kernels::geometry::moves;
use crate::kernels::interrupt;
use crate::kernels::lanes;
use crate::kernels::parallel::{parallel_items, parallel_parts};
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::simd::{Calculation, calculated};

/// Distances that are summed together: their sums stay in registers.
const WIDTH: usize = 64;

/// As many of what is left over.
const NARROW: usize = 16;

/// So few numbers are put into lines one by one.
const SMALL: usize = 1 << 10;

/// Distances from so few rows are summed one by one, where these lie.
const FEW: usize = 4;

/// Differences that are worth a turn of a thread.
const TURN: usize = 1 << 17;

/// What is measured of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// The sum of the magnitudes.
    Sum,
    /// The root of the sum of the squares.
    Root,
    /// The greatest magnitude.
    Greatest,
}

/// Rows that a thread takes at a turn, of those of `width` numbers that are compared with so many others.
fn rows_of_turn(others: usize, width: usize) -> usize {
    (TURN / (others * width).max(1)).max(1)
}

impl Norm {
    /// The norm of an order that has such loops.
    pub fn of_order(order: f64) -> Option<Norm> {
        match order {
            1.0 => Some(Norm::Sum),
            2.0 => Some(Norm::Root),
            f64::INFINITY => Some(Norm::Greatest),
            _ => None,
        }
    }
}

/// Rows of numbers, number by number: each stands beside those of the other rows, and zeros behind the last ones.
struct Lines<T> {
    numbers: Vec<T>,
    count: usize,
    /// Numbers from one line to the next.
    stride: usize,
}

impl<T: Real> Lines<T> {
    fn new(rows: ArrayView2<'_, T>) -> Lines<T> {
        let (count, width) = rows.dim();
        let stride = count.next_multiple_of(NARROW).max(NARROW);
        let mut numbers = interrupt::filled(stride * width, T::ZERO);
        if let (true, Some(own)) = (numbers.len() <= SMALL, rows.as_slice()) {
            for (row, own) in own.chunks_exact(width.max(1)).enumerate() {
                numbers[row..].iter_mut().step_by(stride).zip(own).for_each(|(number, own)| *number = *own);
            }
        } else if stride == count {
            moves::move_into(moves::ordered(&[width, count], &mut numbers), rows.t().into_dyn());
        } else {
            let own = moves::gathered(&rows.t().into_dyn());
            let lines = numbers.chunks_exact_mut(stride).zip(own.chunks_exact(count.max(1)));
            lines.for_each(|(line, own)| line[..count].copy_from_slice(own));
        }
        Lines { numbers, count, stride }
    }

    /// The distances of a row from those from `first` on.
    fn distances(&self, row: &[T], first: usize, norm: Norm, out: &mut [MaybeUninit<T>]) {
        calculated(Distances { row, lines: self, first, norm, out });
    }
}

/// The distances of rows of `width` numbers of one matrix from those of another, row by row.
pub fn distances<T: Real>(a: &[T], b: ArrayView2<'_, T>, norm: Norm, out: &mut [MaybeUninit<T>]) {
    let (count, width) = b.dim();
    if out.is_empty() {
        return;
    }
    if let (true, Some(b)) = (count <= FEW, b.as_slice()) {
        return parallel_parts(out, rows_of_turn(count, width) * count, |start, out| {
            calculated(One { a: &a[start / count * width..], b, sizes: [count, width], norm, out });
        });
    }
    let lines = Lines::new(b);
    parallel_parts(out, rows_of_turn(count, width) * count, |start, part| {
        for (row, part) in part.chunks_exact_mut(count).enumerate() {
            lines.distances(&a[(start / count + row) * width..][..width], 0, norm, part);
        }
    });
}

/// The distances of all pairs of rows of `width` numbers, each pair once.
pub fn distances_within<T: Real>(a: ArrayView2<'_, T>, norm: Norm, out: &mut [MaybeUninit<T>]) {
    let (count, width) = a.dim();
    let own = moves::gathered(&a.into_dyn());
    let lines = Lines::new(a);
    let mut rest = out;
    let pairs = (0..count.saturating_sub(1)).map(|row| {
        let (part, behind) = std::mem::take(&mut rest).split_at_mut(count - 1 - row);
        rest = behind;
        (row, part)
    });
    let rows = (2 * TURN / (count * width).max(1)).max(1);
    parallel_items(pairs, rows, |(row, part)| {
        lines.distances(&own[row * width..][..width], row + 1, norm, part);
    });
}

/// The gradients of rows of `width` numbers from those of their distances, which are given row by row, from `b`.
pub fn gradients<T: Real>(
    a: &[T],
    b: ArrayView2<'_, T>,
    norm: Norm,
    [distances, given]: [&[T]; 2],
    out: &mut [MaybeUninit<T>],
) {
    let (count, _) = b.dim();
    each_gradient(a, b, norm, out, &|row, shares| {
        let beside = row * count..(row + 1) * count;
        calculated(Shares { norm, rows: [&distances[beside.clone()], &given[beside]], out: shares });
    });
}

/// The gradients of rows from those of the distances of all pairs of them.
pub fn gradients_within<T: Real>(
    a: ArrayView2<'_, T>,
    norm: Norm,
    [distances, given]: [&[T]; 2],
    out: &mut [MaybeUninit<T>],
) {
    let count = a.nrows();
    let own = moves::gathered(&a.into_dyn());
    let mut all = interrupt::filled(given.len(), T::ZERO);
    parallel_parts(&mut all, TURN, |start, out| {
        let rows = [distances, given].map(|row| &row[start..][..out.len()]);
        calculated(Shares { norm, rows, out });
    });
    each_gradient(&own, a, norm, out, &|row, shares| {
        let mut place = row.wrapping_sub(1);
        for (other, share) in shares[..row].iter_mut().enumerate() {
            *share = all[place];
            place = place.wrapping_add(count - 2 - other);
        }
        shares[row] = T::ZERO;
        let start = row * (2 * count - row - 1) / 2;
        shares[row + 1..].copy_from_slice(&all[start..][..count - row - 1]);
    });
}

/// The gradients of rows, each the sum of the slopes of its differences times what `fill` says.
fn each_gradient<T: Real>(
    a: &[T],
    b: ArrayView2<'_, T>,
    norm: Norm,
    out: &mut [MaybeUninit<T>],
    fill: &(impl Fn(usize, &mut [T]) + Sync),
) {
    let (count, width) = b.dim();
    if out.is_empty() {
        return;
    }
    let lines = Lines::new(b);
    parallel_parts(out, rows_of_turn(count, width) * width, |start, part| {
        let mut shares = interrupt::filled(count, T::ZERO);
        for (row, part) in (start / width..).zip(part.chunks_exact_mut(width)) {
            fill(row, &mut shares);
            calculated(Slopes {
                row: &a[row * width..][..width],
                lines: &lines,
                norm,
                shares: &shares,
                out: part,
            });
        }
    });
}

impl Norm {
    /// What there is of a difference when another number of it is seen.
    #[inline(always)]
    fn with<A: Arithmetic>(self, before: A, apart: A) -> A {
        let size = apart.abs();
        match self {
            Norm::Sum => before + size,
            Norm::Root => apart.times_plus(apart, before),
            // What is no number stays.
            Norm::Greatest => {
                if size <= before || Float::is_nan(before.get()) {
                    before
                } else {
                    size
                }
            }
        }
    }
}

/// The distances of a row from some of the others.
struct Distances<'a, 'o, T> {
    row: &'a [T],
    lines: &'a Lines<T>,
    first: usize,
    norm: Norm,
    out: &'o mut [MaybeUninit<T>],
}

/// The distances from rows that stand side by side. Loops go by places: those of iterators are not always compiled into
/// the function that calls them.
#[inline(always)]
fn measured<A: Arithmetic, const L: usize>(
    row: &[A::Plain],
    lines: &Lines<A::Plain>,
    first: usize,
    norm: Norm,
    out: &mut [A::Plain; L],
) {
    let mut found = [A::from_f64(0.0); L];
    for (&x, line) in row.iter().zip(lines.numbers.chunks_exact(lines.stride)) {
        let Some(line) = line[first..].first_chunk::<L>() else { unreachable!("lines go on with zeros") };
        for lane in 0..L {
            found[lane] = norm.with(found[lane], A::new(x) - A::new(line[lane]));
        }
    }
    for lane in 0..L {
        out[lane] = if norm == Norm::Root { found[lane].sqrt().get() } else { found[lane].get() };
    }
}

impl<T: Real> Distances<'_, '_, T> {
    /// All of them, in a loop for this norm.
    #[inline(always)]
    fn of<A: Arithmetic<Plain = T>>(self, norm: Norm) {
        let Distances { row, lines, first, out, .. } = self;
        // The first ones are taken with those before them, so that all lie where the lines have as many more.
        let (mut place, mut out) = (first - first % NARROW, out);
        let mut skip = first % NARROW;
        let (mut wide, mut narrow) = ([T::ZERO; WIDTH], [T::ZERO; NARROW]);
        while !out.is_empty() {
            let is_wide = skip == 0 && out.len() >= WIDTH;
            let found = if is_wide {
                measured::<A, WIDTH>(row, lines, place, norm, &mut wide);
                &wide[..]
            } else {
                measured::<A, NARROW>(row, lines, place, norm, &mut narrow);
                &narrow[skip..]
            };
            let (here, rest) = out.split_at_mut(found.len().min(out.len()));
            for (place, found) in here.iter_mut().zip(found) {
                place.write(*found);
            }
            (place, out, skip) = (place + if is_wide { WIDTH } else { NARROW }, rest, 0);
        }
    }
}

impl<T: Real> Calculation<T> for Distances<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        match self.norm {
            Norm::Sum => self.of::<A>(Norm::Sum),
            Norm::Root => self.of::<A>(Norm::Root),
            Norm::Greatest => self.of::<A>(Norm::Greatest),
        }
    }
}

/// The distances of rows from a few others, each by itself.
struct One<'a, 'o, T> {
    a: &'a [T],
    b: &'a [T],
    /// How many others there are, and how many numbers of each.
    sizes: [usize; 2],
    norm: Norm,
    out: &'o mut [MaybeUninit<T>],
}

impl<T: Real> Calculation<T> for One<'_, '_, T> {
    type Output = ();

    const WIDEST: bool = false;

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let One { a, b, sizes: [count, width], norm, out } = self;
        for (row, out) in out.chunks_exact_mut(count).enumerate() {
            let row = &a[row * width..][..width];
            for (other, out) in out.iter_mut().enumerate() {
                let mut found = A::from_f64(0.0);
                for (&x, &y) in row.iter().zip(&b[other * width..][..width]) {
                    found = norm.with(found, A::new(x) - A::new(y));
                }
                out.write(if norm == Norm::Root { found.sqrt().get() } else { found.get() });
            }
        }
    }
}

/// What the slopes of differences of these lengths are multiplied by, given the gradients of the lengths.
struct Shares<'a, 'o, T> {
    norm: Norm,
    /// The lengths, and their gradients.
    rows: [&'a [T]; 2],
    out: &'o mut [T],
}

impl<T: Real> Calculation<T> for Shares<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        if self.norm != Norm::Root {
            return self.out.copy_from_slice(self.rows[1]);
        }
        let none = A::from_f64(0.0);
        lanes::visit(
            self.rows,
            self.out,
            #[inline(always)]
            |share, [length, gradient]: [A; 2]| {
                *share = if length == none { none.get() } else { (gradient / length).get() };
            },
        );
    }
}

/// The gradient of a row: sums over the others of shares times the slopes of differences.
struct Slopes<'a, 'o, T> {
    row: &'a [T],
    lines: &'a Lines<T>,
    norm: Norm,
    shares: &'a [T],
    out: &'o mut [MaybeUninit<T>],
}

impl<T: Real> Calculation<T> for Slopes<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Slopes { row, lines, norm, shares, out } = self;
        for ((out, &x), line) in out.iter_mut().zip(row).zip(lines.numbers.chunks_exact(lines.stride)) {
            let (x, rows) = (A::new(x), [&line[..lines.count], shares]);
            let [sum] = match norm {
                Norm::Root => lanes::sums(
                    rows,
                    #[inline(always)]
                    |[y, share]: [A; 2]| [(x - y) * share],
                ),
                _ => lanes::sums(
                    rows,
                    #[inline(always)]
                    |[y, share]: [A; 2]| {
                        let apart = x - y;
                        let sign =
                            if apart == A::from_f64(0.0) { apart } else { A::from_f64(1.0).copysign(apart) };
                        // What is no number has no sign.
                        [if Float::is_nan(apart.get()) { apart } else { sign * share }]
                    },
                ),
            };
            out.write(sum.get());
        }
    }
}

#[cfg(test)]
mod tests;
