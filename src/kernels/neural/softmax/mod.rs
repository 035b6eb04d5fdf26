//! Softmax and its logarithm along an axis, what their derivatives make of a gradient, and the logarithm of sums of
//! exponentials: how the work is shared.
//! Rows that lie one after another are taken one by one, those that lie side by side many at a time.

mod formulas;
mod short;

use ndarray::ArrayViewD;
use std::mem::MaybeUninit;
use std::ops::{Range, RangeInclusive};

use crate::dtype::Real;
use crate::kernels::geometry::dense::{Extent, dense};
use crate::kernels::geometry::moves;
use crate::kernels::interrupt;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::simd::{Calculation, calculated};
use crate::kernels::turned::A_FEW;
use formulas::{Backward, Formula, Forward, Lines, LogSumExp, Tile};
use short::{Beside, Short, Turned};

/// Columns of a tile, at the least and at the most; in between, what stays in near memory.
const WIDTHS: [usize; 2] = [64, 512];

/// So many columns of few rows are taken as they stand, several matrices together.
const BESIDE: RangeInclusive<usize> = 8..=32;

/// So few columns are turned to be rows, if they are no more elements than these.
const NARROW: usize = 32;
const TURNED: usize = 1 << 20;

/// Elements that are worth another thread: each is raised to a power, most are read more than once.
const WORTH: usize = GRAIN / 4;

/// `exp(x) / sum(exp(x))`; where all elements are infinitely small, zeros if that is to be `safe`.
pub fn softmax<T: Real>(view: ArrayViewD<'_, T>, axis: usize, safe: bool, out: &mut [MaybeUninit<T>]) {
    along(Forward { log: false, safe }, [&dense(&view)], Extent::new(view.shape(), axis), out);
}

/// `x - log(sum(exp(x)))`
pub fn log_softmax<T: Real>(view: ArrayViewD<'_, T>, axis: usize, out: &mut [MaybeUninit<T>]) {
    along(Forward { log: true, safe: false }, [&dense(&view)], Extent::new(view.shape(), axis), out);
}

/// `y * (g - sum(g * y))` for the result `y` of `softmax` and its gradient `g`.
pub fn softmax_backward<T: Real>(
    gradient: ArrayViewD<'_, T>,
    result: ArrayViewD<'_, T>,
    axis: usize,
    out: &mut [MaybeUninit<T>],
) {
    let extent = Extent::new(result.shape(), axis);
    along(Backward { log: false }, [&dense(&gradient), &dense(&result)], extent, out);
}

/// `g - exp(y) * sum(g)` for the result `y` of `log_softmax` and its gradient `g`.
pub fn log_softmax_backward<T: Real>(
    gradient: ArrayViewD<'_, T>,
    result: ArrayViewD<'_, T>,
    axis: usize,
    out: &mut [MaybeUninit<T>],
) {
    let extent = Extent::new(result.shape(), axis);
    along(Backward { log: true }, [&dense(&gradient), &dense(&result)], extent, out);
}

/// `log(sum(exp(x)))` over neighbouring axes, from `axes.start` to before `axes.end`, which are not empty.
pub fn logsumexp<T: Real>(view: ArrayViewD<'_, T>, axes: Range<usize>, out: &mut [MaybeUninit<T>]) {
    let size = |axes: &[usize]| axes.iter().product();
    let shape = view.shape();
    let (outer, inner) = (size(&shape[..axes.start]), size(&shape[axes.end..]));
    along(LogSumExp, [&dense(&view)], Extent { outer, len: size(&shape[axes]), inner }, out);
}

/// A part of an array from some element on.
#[inline(always)]
fn from<T, const N: usize>(mut inputs: [&[T]; N], start: usize) -> [&[T]; N] {
    for input in &mut inputs {
        *input = &input[start..];
    }
    inputs
}

/// The function along the rows of row-major arrays, which have the shape of `extent`.
fn along<T: Real, F: Turned<N>, const N: usize>(
    formula: F,
    inputs: [&[T]; N],
    Extent { len, inner, .. }: Extent,
    out: &mut [MaybeUninit<T>],
) {
    if out.is_empty() {
        return;
    }
    let (block, lines) = (len * inner, if F::SINGLE { 1 } else { len });
    let (block_out, count) = (lines * inner, out.len() / (lines * inner));
    let several = (WORTH / block).max(1) * block_out;
    let from_block = |start: usize| from(inputs, start / block_out * block);
    if inner == 1 {
        let is_short = formula.is_short::<T>(len) && count >= A_FEW;
        return parallel_parts(out, several, |start, out| {
            Rows { formula, inputs: from_block(start), len, lines, out }.calculate(is_short);
        });
    }
    // Sums are rarely asked for of so few.
    if const { !F::SINGLE } && BESIDE.contains(&inner) && formula.is_short::<T>(len) {
        return parallel_parts(out, several, |start, out| {
            let rows = Rows { formula, inputs: from_block(start), len, lines, out };
            calculated(Beside { rows, columns: inner });
        });
    }
    if block <= TURNED && inner < NARROW {
        return parallel_parts(out, several, |start, out| {
            turned(
                formula,
                from_block(start),
                Extent { outer: out.len() / block_out, len, inner },
                lines,
                out,
            );
        });
    }
    if inner < WIDTHS[0] {
        return parallel_parts(out, several, |start, out| {
            for (index, out) in out.chunks_mut(block_out).enumerate() {
                let tile = Tile { inputs: from(from_block(start), index * block), len, stride: inner };
                let mut lines = interrupt::collected(out.chunks_mut(inner));
                calculated(Columns { formula, tile, out: &mut lines });
            }
        });
    }
    let width = (GRAIN / len).clamp(WIDTHS[0], WIDTHS[1]);
    let width = width - width % WIDTHS[0];
    let tiles = count * inner.div_ceil(width);
    let (mut places, mut starts) = (interrupt::room(tiles * lines), interrupt::room(tiles));
    for (index, out) in out.chunks_mut(block_out).enumerate() {
        let mut rest = interrupt::collected(out.chunks_mut(inner));
        for column in (0..inner).step_by(width) {
            starts.push(index * block + column);
            let part = ..width.min(inner - column);
            places.extend(rest.iter_mut().map(|line| line.split_off_mut(part).unwrap_or_default()));
        }
    }
    let together = (GRAIN / (len * width)).max(1);
    parallel_parts(&mut places, together * lines, |start, places| {
        for (index, out) in places.chunks_mut(lines).enumerate() {
            let tile = Tile { inputs: from(inputs, starts[start / lines + index]), len, stride: inner };
            calculated(Columns { formula, tile, out });
        }
    });
}

/// The function along columns, which are turned to be rows and back.
fn turned<T: Real, F: Turned<N>, const N: usize>(
    formula: F,
    inputs: [&[T]; N],
    Extent { outer, len, inner }: Extent,
    lines: usize,
    out: &mut [MaybeUninit<T>],
) {
    let block = len * inner;
    let turned = inputs.map(|input| {
        let mut rows = interrupt::filled(outer * block, T::ZERO);
        for (rows, columns) in rows.chunks_exact_mut(block).zip(input.chunks_exact(block)) {
            moves::turn(columns, [len, inner], rows, moves::put);
        }
        rows
    });
    let mut results = interrupt::filled(out.len(), MaybeUninit::uninit());
    let (is_short, inputs) =
        (formula.is_short::<T>(len) && outer * inner >= A_FEW, turned.each_ref().map(Vec::as_slice));
    Rows { formula, inputs, len, lines, out: &mut results }.calculate(is_short);
    for (columns, rows) in out.chunks_exact_mut(lines * inner).zip(results.chunks_exact(lines * inner)) {
        moves::turn(rows, [inner, lines], columns, moves::put);
    }
}

/// Some rows that lie one after another.
struct Rows<'a, F, T, const N: usize> {
    formula: F,
    inputs: [&'a [T]; N],
    len: usize,
    /// How many numbers come of a row.
    lines: usize,
    out: &'a mut [MaybeUninit<T>],
}

impl<F: Turned<N>, T: Real, const N: usize> Rows<'_, F, T, N> {
    fn calculate(self, are_short: bool) {
        if are_short { calculated(Short(self)) } else { calculated(self) }
    }
}

impl<F: Formula<N>, T: Real, const N: usize> Calculation<T> for Rows<'_, F, T, N> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let mut room = interrupt::filled(if F::ROOM { self.len } else { 0 }, T::ZERO);
        for (row, out) in self.out.chunks_exact_mut(self.lines).enumerate() {
            let mut rows = from(self.inputs, row * self.len);
            for row in &mut rows {
                *row = &row[..self.len];
            }
            self.formula.row::<A>(rows, &mut room, out);
        }
    }
}

/// Rows that lie side by side.
struct Columns<'a, 'l, 'o, F, T, const N: usize> {
    formula: F,
    tile: Tile<'a, T, N>,
    out: Lines<'l, 'o, MaybeUninit<T>>,
}

impl<F: Formula<N>, T: Real, const N: usize> Calculation<T> for Columns<'_, '_, '_, F, T, N> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        self.formula.columns::<A, _>(self.tile, self.out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};
    use ndarray::{ArrayD, Axis, IxDyn};

    fn numbers(shape: &[usize]) -> ArrayD<f64> {
        let mut next = 0.0;
        ArrayD::from_shape_simple_fn(shape, || {
            next += 1.7;
            f64::sin(next) * 3.0
        })
    }

    fn result(
        view: &ArrayViewD<'_, f64>,
        kernel: impl Fn(ArrayViewD<'_, f64>, &mut [MaybeUninit<f64>]),
    ) -> ArrayD<f64> {
        let elements = written(view.len(), |out| kernel(view.view(), out));
        ArrayD::from_shape_vec(view.shape(), elements).unwrap()
    }

    #[test]
    fn both_forms_and_their_backward_follow_their_formulas_along_every_axis() {
        let (a, b) = (numbers(&[5, 67, 78]), numbers(&[3, 20, 9]));
        let (c, d) = (numbers(&[7, 3, 16]), numbers(&[2, 12, 31]));
        for view in [a.view(), a.t(), b.view(), c.view(), d.view()] {
            for axis in 0..3 {
                let sum = |x: &ArrayD<f64>| x.sum_axis(Axis(axis)).insert_axis(Axis(axis));
                let exp = view.mapv(f64::exp);
                let logs = sum(&exp).mapv(f64::ln);
                let found = written(logs.len(), |out| logsumexp(view.view(), axis..axis + 1, out));
                assert!(found.iter().zip(&logs).all(|(a, b)| (a - b).abs() < 1e-12));
                let soft = &exp / &sum(&exp);
                let close = |a: &ArrayD<f64>, b: &ArrayD<f64>| (a - b).iter().all(|x| x.abs() < 1e-12);
                assert!(close(&result(&view, |x, out| softmax(x, axis, false, out)), &soft));
                let log = soft.mapv(f64::ln);
                assert!(close(&result(&view, |x, out| log_softmax(x, axis, out)), &log));
                let g = numbers(view.shape());
                let expected = &soft * &(&g - &sum(&(&g * &soft)));
                let back = result(&g.view(), |g, out| softmax_backward(g, soft.view(), axis, out));
                assert!(close(&back, &expected));
                let expected = &g - &(&soft * &sum(&g));
                let back = result(&g.view(), |g, out| log_softmax_backward(g, log.view(), axis, out));
                assert!(close(&back, &expected));
            }
        }
    }

    #[test]
    fn large_numbers_do_not_overflow_and_a_row_of_minus_infinity_is_undefined() {
        let a = ArrayD::from_shape_vec(IxDyn(&[3]), vec![1000.0f32, 1000.0, -1000.0]).unwrap();
        assert_eq!(written(3, |out| softmax(a.view(), 0, false, out)), [0.5, 0.5, 0.0]);
        let nothing = ArrayD::from_elem(IxDyn(&[3]), f32::NEG_INFINITY);
        assert!(written(3, |out| softmax(nothing.view(), 0, false, out)).iter().all(|x| x.is_nan()));
        assert_eq!(written(3, |out| softmax(nothing.view(), 0, true, out)), [0.0; 3]);
        let partly = ArrayD::from_shape_vec(IxDyn(&[2]), vec![f32::NEG_INFINITY, f32::NAN]).unwrap();
        assert!(written(2, |out| softmax(partly.view(), 0, true, out)).iter().all(|x| x.is_nan()));
        let single = ArrayD::from_elem(IxDyn(&[]), 4.0f32);
        assert_eq!(written(1, |out| softmax(single.view(), 0, false, out)), [1.0]);
        let empty = ArrayD::<f32>::zeros(IxDyn(&[3, 0]));
        assert!(written(0, |out| log_softmax(empty.view(), 1, out)).is_empty());
    }

    #[test]
    fn infinite_numbers_have_a_logarithm_of_their_sum() {
        let infinity = f64::INFINITY;
        for (row, expected) in [
            ([1.0, -infinity, -infinity], 1.0),
            ([-infinity; 3], -infinity),
            ([infinity, 0.0, -infinity], infinity),
            ([1000.0; 3], 1000.0 + f64::ln(3.0)),
        ] {
            let a = ArrayD::from_shape_vec(IxDyn(&[3]), row.to_vec()).unwrap();
            let wide = a.insert_axis(Axis(1)).broadcast(IxDyn(&[3, 70])).unwrap().to_owned();
            for (view, axis) in [(wide.view(), 0), (wide.t(), 1)] {
                assert_eq!(written(70, |out| logsumexp(view.view(), axis..axis + 1, out)), [expected; 70]);
            }
        }
    }

    #[test]
    fn the_bits_are_the_same_at_any_number_of_threads() {
        let a = numbers(&[60, 50, 170, 7]);
        let [one, two, four] = at_thread_counts(|| {
            [0, 1, 2, 3].map(|axis| result(&a.view(), |x, out| softmax(x, axis, false, out)))
        });
        assert!(one == two && one == four);
    }
}
