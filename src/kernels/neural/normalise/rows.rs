//! Rows that lie one after another, each of which has a mean and a deviation of its own.

use std::mem::MaybeUninit;

use super::Places;
use super::short::Short;
use crate::dtype::Real;
use crate::kernels::interrupt;
use crate::kernels::lanes::{sums, visit};
use crate::kernels::parallel::{parallel_items, parallel_parts};
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::simd::{Calculation, calculated};
use crate::kernels::turned::A_FEW;

/// In so many parts at the most are sums over all rows made, each of which takes memory as large as a row.
const PARTS: usize = 16;

/// So many rows are added one after another, then such sums.
const TOGETHER: usize = 64;

/// Rows up to this length are turned to lie side by side, if there are a few of them.
const SHORT: usize = 40;

/// Rows, one at least and not empty, and what their elements are weighed by.
#[derive(Clone, Copy)]
pub struct Rows<'a, T> {
    /// The elements of all rows.
    pub x: &'a [T],
    /// How many a row has.
    pub len: usize,
    /// What is added to variances.
    pub eps: f64,
    /// What the elements of each row are multiplied by.
    pub weight: Option<&'a [T]>,
}

impl<T> Rows<'_, T> {
    /// Whether they are to be turned.
    fn are_short(&self) -> bool {
        self.len <= SHORT && self.x.len() / self.len >= A_FEW
    }
}

/// The mean of a row, and one over its deviation.
#[inline(always)]
fn moments<A: Arithmetic>(x: &[A::Plain], eps: f64) -> [A; 2] {
    let count = A::from_f64(x.len() as f64);
    let [sum] = sums([x], |[x]: [A; 1]| [x]);
    let mean = sum / count;
    let [squares] = sums([x], |[x]: [A; 1]| [(x - mean) * (x - mean)]);
    [mean, A::from_f64(1.0) / (squares / count + A::from_f64(eps)).sqrt()]
}

/// The rows normalised.
pub fn rows<T: Real>(rows: Rows<'_, T>, bias: Option<&[T]>, out: &mut [MaybeUninit<T>]) {
    let ones;
    let weight = match (rows.weight, bias) {
        (None, Some(bias)) => {
            ones = interrupt::filled(bias.len(), T::ONE);
            Some(ones.as_slice())
        }
        (weight, _) => weight,
    };
    let is_short = rows.are_short();
    parallel_parts(out, (GRAIN / 4 / rows.len).max(1) * rows.len, |start, out| {
        let x = &rows.x[start..start + out.len()];
        let part = Forward { rows: Rows { x, weight, ..rows }, bias, out };
        if is_short { calculated(Short(part)) } else { calculated(part) }
    });
}

/// Some of the rows, to be normalised.
pub(super) struct Forward<'a, T> {
    pub(super) rows: Rows<'a, T>,
    /// Not without a weight.
    pub(super) bias: Option<&'a [T]>,
    pub(super) out: &'a mut [MaybeUninit<T>],
}

impl<T: Real> Calculation<T> for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Rows { x, len, eps, weight } = self.rows;
        for (x, out) in x.chunks_exact(len).zip(self.out.chunks_exact_mut(len)) {
            let [mean, scale]: [A; 2] = moments(x, eps);
            match (weight, self.bias) {
                (Some(weight), Some(bias)) => {
                    visit([x, weight, bias], out, |out: &mut MaybeUninit<T>, [x, weight, bias]: [A; 3]| {
                        out.write(((x - mean) * scale).times_plus(weight, bias).get());
                    });
                }
                (Some(weight), None) => {
                    visit([x, weight], out, |out: &mut MaybeUninit<T>, [x, weight]: [A; 2]| {
                        out.write(((x - mean) * scale * weight).get());
                    });
                }
                _ => visit([x], out, |out: &mut MaybeUninit<T>, [x]: [A; 1]| {
                    out.write(((x - mean) * scale).get());
                }),
            }
        }
    }
}

/// The gradients of the rows, of their weight and of a bias, from that of the rows normalised.
pub fn rows_backward<T: Real>(rows: Rows<'_, T>, gradient: &[T], places: Places<'_, T>) {
    let [input, weight, bias] = places;
    let Rows { x, len, .. } = rows;
    let count = x.len() / len;
    let part = (GRAIN / 4 / len).max(count.div_ceil(PARTS)).max(1);
    let width = |place: &Option<&mut [MaybeUninit<T>]>| if place.is_some() { len } else { 0 };
    let widths = [width(&weight), width(&bias)];
    let parts = count.div_ceil(part);
    let mut totals = interrupt::filled(parts * (widths[0] + widths[1]), T::ZERO);
    let mut items = interrupt::room(parts);
    let (mut to_input, mut to_totals) = (input.unwrap_or_default(), totals.as_mut_slice());
    for (x, gradient) in x.chunks(part * len).zip(gradient.chunks(part * len)) {
        let totals = widths.map(|width| to_totals.split_off_mut(..width).unwrap_or_default());
        let input = to_input.split_off_mut(..x.len()).unwrap_or_default();
        items.push(Backward { rows: Rows { x, ..rows }, gradient, input, totals });
    }
    let is_short = rows.are_short();
    parallel_items(items, 1, |part| if is_short { calculated(Short(part)) } else { calculated(part) });
    let step = widths[0] + widths[1];
    for (place, first) in [(weight, 0), (bias, widths[0])] {
        for (index, place) in place.into_iter().flatten().enumerate() {
            let column = totals[first + index..].iter().step_by(step);
            place.write(column.fold(T::ZERO, |sum, &part| sum + part));
        }
    }
}

/// Some of the rows, of which gradients are wanted where there is room for them.
pub(super) struct Backward<'a, T> {
    pub(super) rows: Rows<'a, T>,
    pub(super) gradient: &'a [T],
    pub(super) input: &'a mut [MaybeUninit<T>],
    /// The sums over these rows that are the gradients of weight and bias.
    pub(super) totals: [&'a mut [T]; 2],
}

impl<T: Real> Calculation<T> for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Backward { rows: Rows { x, len, eps, weight }, gradient, mut input, mut totals } = self;
        let count = x.len() / len;
        let room = |total: &&mut [T]| if count > TOGETHER { total.len() } else { 0 };
        let mut recent = totals.each_ref().map(|total| interrupt::filled(room(total), T::ZERO));
        for (row, (x, g)) in x.chunks_exact(len).zip(gradient.chunks_exact(len)).enumerate() {
            let [mean, scale]: [A; 2] = moments(x, eps);
            if let Some(out) = input.split_off_mut(..len) {
                match weight {
                    Some(weight) => {
                        pass([x, g, weight], out, [mean, scale], |[x, g, weight]: [A; 3]| [x, g * weight]);
                    }
                    None => pass([x, g], out, [mean, scale], |[x, g]: [A; 2]| [x, g]),
                }
            }
            let [to_weight, to_bias] = match count > TOGETHER {
                true => recent.each_mut().map(Vec::as_mut_slice),
                false => totals.each_mut().map(|total| &mut **total),
            };
            visit([x, g], to_weight, |sum: &mut T, [x, g]: [A; 2]| {
                *sum = g.times_plus((x - mean) * scale, A::new(*sum)).get();
            });
            visit([g], to_bias, |sum: &mut T, [g]: [A; 1]| *sum = (A::new(*sum) + g).get());
            if count > TOGETHER && ((row + 1) % TOGETHER == 0 || row + 1 == count) {
                for (total, recent) in totals.iter_mut().zip(&mut recent) {
                    visit([recent], total, |sum: &mut T, [part]: [A; 1]| *sum = (A::new(*sum) + part).get());
                    recent.fill(T::ZERO);
                }
            }
        }
    }
}

/// The gradient of a row of which `see` shows an element and what reaches it, weighed.
#[inline(always)]
fn pass<A: Arithmetic, const N: usize>(
    rows: [&[A::Plain]; N],
    out: &mut [MaybeUninit<A::Plain>],
    [mean, scale]: [A; 2],
    see: impl Fn([A; N]) -> [A; 2] + Copy,
) {
    let found: [A; 2] = sums(rows, move |row: [A; N]| {
        let [x, h] = see(row);
        [h, h * ((x - mean) * scale)]
    });
    let count = A::from_f64(out.len() as f64);
    let (level, slope) = (found[0] / count, found[1] / count);
    visit(rows, out, move |out: &mut MaybeUninit<A::Plain>, row: [A; N]| {
        let [x, h] = see(row);
        let standard = (x - mean) * scale;
        out.write(((-standard).times_plus(slope, h - level) * scale).get());
    });
}
