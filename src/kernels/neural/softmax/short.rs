//! What is done with short rows, many of them at a time: see `turned`.

use std::mem::MaybeUninit;

use super::Rows;
use super::formulas::{Backward, Formula, Forward, LogSumExp, finite};
use crate::dtype::{DType, Number, Real};
use crate::kernels::lanes::visit;
use crate::kernels::merge::{Greater, Merge};
use crate::kernels::pointwise::math::{Arithmetic, exp, ln};
use crate::kernels::simd::Calculation;
use crate::kernels::turned::{Line, SIDE, each_block, each_block_of_columns};

/// A function along rows of `N` arrays that may be short.
pub(super) trait Turned<const N: usize>: Formula<N> {
    /// Rows up to this length are turned to lie side by side, if there are a few of them.
    const SHORT: usize;

    /// Whether rows of this length are.
    fn is_short<T: Real>(self, len: usize) -> bool {
        len <= Self::SHORT
    }

    /// Of rows side by side.
    fn lines<A: Arithmetic>(self, inputs: [&[Line<A::Plain>]; N], out: &mut [Line<A::Plain>]);

    /// Of rows that are short.
    #[inline(always)]
    fn short<A: Arithmetic>(
        self,
        inputs: [&[A::Plain]; N],
        sizes: [usize; 2],
        out: &mut [MaybeUninit<A::Plain>],
    ) {
        there_and_back::<A, _, N>(self, inputs, sizes, out);
    }
}

/// Rows are turned, and what comes of them is turned back.
#[inline(always)]
fn there_and_back<A: Arithmetic, F: Turned<N>, const N: usize>(
    formula: F,
    inputs: [&[A::Plain]; N],
    sizes: [usize; 2],
    out: &mut [MaybeUninit<A::Plain>],
) {
    each_block(
        inputs,
        sizes,
        out,
        #[inline(always)]
        |inputs, out, _| formula.lines::<A>(inputs, out),
    );
}

/// Some rows that are short.
pub(super) struct Short<'a, F, T, const N: usize>(pub(super) Rows<'a, F, T, N>);

impl<F: Turned<N>, T: Real, const N: usize> Calculation<T> for Short<'_, F, T, N> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Rows { formula, inputs, len, lines, out } = self.0;
        let count = out.len() / lines * len;
        formula.short::<A>(inputs.map(|input| &input[..count]), [len, lines], out);
    }
}

/// Some matrices whose columns are short and few.
pub(super) struct Beside<'a, F, T, const N: usize> {
    pub(super) rows: Rows<'a, F, T, N>,
    pub(super) columns: usize,
}

impl<F: Turned<N>, T: Real, const N: usize> Calculation<T> for Beside<'_, F, T, N> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Rows { formula, inputs, len, lines, out } = self.rows;
        each_block_of_columns(
            inputs,
            [len, lines, self.columns],
            out,
            #[inline(always)]
            |inputs, out| formula.lines::<A>(inputs, out),
        );
    }
}

/// The greatest elements of rows.
#[inline(always)]
fn greatest<A: Arithmetic>(x: &[Line<A::Plain>]) -> Line<A> {
    let mut greatest = [A::new(<A::Plain as Number>::LOWEST); SIDE];
    for line in x {
        for lane in 0..SIDE {
            greatest[lane] = A::new(Greater.two(greatest[lane].get(), line[lane]));
        }
    }
    greatest
}

/// Σ e^(x - shift) of rows.
#[inline(always)]
fn sums_of_powers<A: Arithmetic>(x: &[Line<A::Plain>], shift: &Line<A>) -> Line<A> {
    let mut total = [A::from_f64(0.0); SIDE];
    for line in x {
        for lane in 0..SIDE {
            total[lane] = total[lane] + exp(A::new(line[lane]) - shift[lane]);
        }
    }
    total
}

/// Rows of logarithms up to this length are turned too, but not back: what was found of them is taken from them as they
/// lie. Those of single precision are small enough to be turned back.
const SHORT_LOGS: usize = 128;

impl Forward {
    /// What is taken from the elements of rows.
    #[inline(always)]
    fn shift<A: Arithmetic>(self, x: &[Line<A::Plain>]) -> Line<A> {
        let (zero, lowest) = (A::from_f64(0.0), A::new(<A::Plain as Number>::LOWEST));
        let mut shift: Line<A> = greatest(x);
        if self.safe {
            for shift in &mut shift {
                *shift = if *shift == lowest { zero } else { *shift };
            }
        }
        shift
    }

    /// What is taken from the elements of rows, and what is then taken from them again.
    #[inline(always)]
    fn logs<A: Arithmetic>(self, x: &[Line<A::Plain>]) -> [Line<A>; 2] {
        let shift: Line<A> = self.shift(x);
        let mut log = sums_of_powers(x, &shift);
        for log in &mut log {
            *log = ln(*log);
        }
        [shift, log]
    }
}

impl Turned<1> for Forward {
    const SHORT: usize = 48;

    fn is_short<T: Real>(self, len: usize) -> bool {
        let is_single = const { matches!(T::DTYPE, DType::Float32) };
        len <= if self.log || is_single { SHORT_LOGS } else { Self::SHORT }
    }

    #[inline(always)]
    fn short<A: Arithmetic>(
        self,
        [x]: [&[A::Plain]; 1],
        [len, made]: [usize; 2],
        out: &mut [MaybeUninit<A::Plain>],
    ) {
        if len <= Self::SHORT || !self.log {
            return there_and_back::<A, _, 1>(self, [x], [len, made], out);
        }
        let (mut x_rest, mut out_rest) = (x, out);
        each_block(
            [x],
            [len, made],
            &mut [],
            #[inline(always)]
            |[lines], _, width| {
                let [shift, log]: [Line<A>; 2] = self.logs(lines);
                for lane in 0..width {
                    let (shift, log) = (shift[lane], log[lane]);
                    let x = x_rest.split_off(..len).unwrap_or_default();
                    let out = out_rest.split_off_mut(..len).unwrap_or_default();
                    visit([x], out, |out: &mut MaybeUninit<A::Plain>, [x]: [A; 1]| {
                        out.write(((x - shift) - log).get());
                    });
                }
            },
        );
    }

    #[inline(always)]
    fn lines<A: Arithmetic>(self, [x]: [&[Line<A::Plain>]; 1], out: &mut [Line<A::Plain>]) {
        if self.log {
            let [shift, log]: [Line<A>; 2] = self.logs(x);
            for (line, out) in x.iter().zip(out) {
                for lane in 0..SIDE {
                    out[lane] = ((A::new(line[lane]) - shift[lane]) - log[lane]).get();
                }
            }
            return;
        }
        let (zero, shift): (_, Line<A>) = (A::from_f64(0.0), self.shift(x));
        let mut total = [zero; SIDE];
        for (line, out) in x.iter().zip(&mut *out) {
            for lane in 0..SIDE {
                let y = exp(A::new(line[lane]) - shift[lane]);
                out[lane] = y.get();
                total[lane] = total[lane] + y;
            }
        }
        for total in &mut total {
            let is_nothing = self.safe && *total == zero;
            *total = if is_nothing { zero } else { A::from_f64(1.0) / *total };
        }
        for out in out {
            for lane in 0..SIDE {
                out[lane] = (A::new(out[lane]) * total[lane]).get();
            }
        }
    }
}

impl Turned<1> for LogSumExp {
    const SHORT: usize = 128;

    #[inline(always)]
    fn lines<A: Arithmetic>(self, [x]: [&[Line<A::Plain>]; 1], out: &mut [Line<A::Plain>]) {
        let mut shift: Line<A> = greatest(x);
        for shift in &mut shift {
            *shift = finite(*shift);
        }
        let total = sums_of_powers(x, &shift);
        for lane in 0..SIDE {
            out[0][lane] = (ln(total[lane]) + shift[lane]).get();
        }
    }
}

impl Turned<2> for Backward {
    const SHORT: usize = 32;

    #[inline(always)]
    fn lines<A: Arithmetic>(self, [g, y]: [&[Line<A::Plain>]; 2], out: &mut [Line<A::Plain>]) {
        let mut total = [A::from_f64(0.0); SIDE];
        for (g, y) in g.iter().zip(y) {
            for lane in 0..SIDE {
                let (g, y) = (A::new(g[lane]), A::new(y[lane]));
                total[lane] = total[lane] + if self.log { g } else { g * y };
            }
        }
        for ((g, y), out) in g.iter().zip(y).zip(out) {
            for lane in 0..SIDE {
                let (g, y) = (A::new(g[lane]), A::new(y[lane]));
                let passed = match self.log {
                    true => (-exp(y)).times_plus(total[lane], g),
                    false => y * (g - total[lane]),
                };
                out[lane] = passed.get();
            }
        }
    }
}
