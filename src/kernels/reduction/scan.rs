//! Running results along an axis: cumulative sums, products and extremes.

use ndarray::ArrayViewD;
use std::mem::MaybeUninit;

use crate::dtype::{Element, Number, Ring};
use crate::kernels::geometry::dense::{Extent, dense};
use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::{parallel_items, parallel_parts};
use crate::kernels::pointwise::apply::GRAIN;

/// A way along an axis: from the first element to the last, or back.
#[derive(Clone, Copy, Debug)]
pub struct Along {
    /// The axis.
    pub axis: usize,
    /// Whether it is from the last to the first.
    pub backward: bool,
}

impl Along {
    /// From the first element to the last.
    pub fn forward(axis: usize) -> Along {
        Along { axis, backward: false }
    }

    /// The place that a step comes to.
    #[inline(always)]
    fn place(self, step: usize, len: usize) -> usize {
        if self.backward { len - 1 - step } else { step }
    }
}

/// So many rows are gone along together: a step of one need not wait for that of another.
const TOGETHER: usize = 4;

/// Goes along an axis with a state: `step` takes in an element and how many were before it, `emit` says what the
/// result is at that place.
pub fn scan<T, S, U>(
    view: ArrayViewD<'_, T>,
    along: Along,
    out: &mut [MaybeUninit<U>],
    initial: S,
    step: impl Fn(S, T, usize) -> S + Copy + Sync,
    emit: impl Fn(S) -> U + Copy + Sync,
) where
    T: Copy + Default + Send + Sync + 'static,
    S: Copy + Send + Sync,
    U: Send,
{
    let Extent { len, inner, .. } = Extent::new(view.shape(), along.axis);
    let block = len * inner;
    if block == 0 {
        return;
    }
    let elements = dense(&view);
    parallel_parts(out, (GRAIN / block).max(1) * block, |start, part| {
        let mut steps = Steps::default();
        if inner == 1 {
            let elements = elements[start..].chunks(TOGETHER * len);
            for (out, elements) in part.chunks_mut(TOGETHER * len).zip(elements) {
                if out.len() == TOGETHER * len {
                    scan_rows::<T, S, U, TOGETHER>(elements, along, out, initial, &mut steps, step, emit);
                    continue;
                }
                for (out, elements) in out.chunks_exact_mut(len).zip(elements.chunks_exact(len)) {
                    scan_rows::<T, S, U, 1>(elements, along, out, initial, &mut steps, step, emit);
                }
            }
            return;
        }
        let blocks = part.chunks_exact_mut(block).zip(elements[start..].chunks_exact(block));
        if const { size_of::<T>() >= 4 } && inner == 2 {
            return blocks.for_each(|(out, elements)| {
                scan_pairs(elements, along, out, initial, &mut steps, step, emit);
            });
        }
        let mut states = interrupt::filled(inner, initial);
        for (out, elements) in blocks {
            states.fill(initial);
            for index in 0..len {
                steps.take(inner);
                let row = along.place(index, len) * inner;
                let (out, elements) = (&mut out[row..][..inner], &elements[row..][..inner]);
                for ((state, &element), out) in states.iter_mut().zip(elements).zip(out) {
                    *state = step(*state, element, index);
                    out.write(emit(*state));
                }
            }
        }
    });
}

/// Goes along `N` rows that follow one another, with states that stay in registers.
#[inline]
fn scan_rows<T: Copy, S: Copy, U, const N: usize>(
    elements: &[T],
    along: Along,
    out: &mut [MaybeUninit<U>],
    initial: S,
    steps: &mut Steps,
    step: impl Fn(S, T, usize) -> S + Copy,
    emit: impl Fn(S) -> U + Copy,
) {
    let len = out.len() / N;
    let mut states = [initial; N];
    for first in (0..len).step_by(GRAIN) {
        let count = (len - first).min(GRAIN);
        let low = if along.backward { len - first - count } else { first };
        steps.take(count * N);
        let rows: [&[T]; N] = std::array::from_fn(|row| &elements[row * len + low..][..count]);
        let parts = rows_of::<_, N>(out, len).map(|part| &mut part[low..][..count]);
        for index in 0..count {
            let place = along.place(index, count);
            for (row, state) in states.iter_mut().enumerate() {
                *state = step(*state, rows[row][place], first + index);
                parts[row][place].write(emit(*state));
            }
        }
    }
}

/// Goes along pairs, such as the parts of complex numbers.
fn scan_pairs<T: Copy, S: Copy, U>(
    elements: &[T],
    along: Along,
    out: &mut [MaybeUninit<U>],
    initial: S,
    steps: &mut Steps,
    step: impl Fn(S, T, usize) -> S + Copy,
    emit: impl Fn(S) -> U + Copy,
) {
    let (pairs, (out, _)) = (elements.as_chunks::<2>().0, out.as_chunks_mut::<2>());
    let mut states = [initial; 2];
    for first in (0..out.len()).step_by(GRAIN) {
        let end = out.len().min(first + GRAIN);
        steps.take(2 * (end - first));
        for index in first..end {
            let place = along.place(index, out.len());
            let pair = pairs[place];
            states = [step(states[0], pair[0], index), step(states[1], pair[1], index)];
            out[place] = states.map(|state| MaybeUninit::new(emit(state)));
        }
    }
}

/// Cumulative sum; `S` accumulates (`f64` for floating-point elements, as torch does).
pub fn cumsum<T: Element, S: Ring, U: Element>(
    view: ArrayViewD<'_, T>,
    along: Along,
    out: &mut [MaybeUninit<U>],
) {
    scan(view, along, out, S::ZERO, |sum: S, x, _| sum.add(x.convert()), S::convert);
}

/// Cumulative product; `S` accumulates.
pub fn cumprod<T: Element, S: Ring, U: Element>(
    view: ArrayViewD<'_, T>,
    along: Along,
    out: &mut [MaybeUninit<U>],
) {
    scan(view, along, out, S::ONE, |product: S, x, _| product.mul(x.convert()), S::convert);
}

/// Cumulative maximum (or minimum) and where it was last attained. A NaN stays.
pub fn cumulative_extreme<T: Number>(
    view: ArrayViewD<'_, T>,
    axis: usize,
    greatest: bool,
    values: &mut [MaybeUninit<T>],
    indices: &mut [MaybeUninit<i64>],
) {
    // What is no number is no less than the best either, and stays as nothing reaches it.
    match greatest {
        true => running_best(view, axis, values, indices, |x, best| (x >= best) | x.is_nan()),
        false => running_best(view, axis, values, indices, |x, best| (x <= best) | x.is_nan()),
    }
}

/// The last elements that beat all before them, and where they are.
fn running_best<T: Number>(
    view: ArrayViewD<'_, T>,
    axis: usize,
    values: &mut [MaybeUninit<T>],
    indices: &mut [MaybeUninit<i64>],
    beats: impl Fn(T, T) -> bool + Copy + Sync,
) {
    let Extent { len, inner, .. } = Extent::new(view.shape(), axis);
    let block = len * inner;
    if block == 0 {
        return;
    }
    let elements = dense(&view);
    let part = (GRAIN / block).max(1) * block;
    let parts = values.chunks_mut(part).zip(indices.chunks_mut(part)).zip(elements.chunks(part));
    parallel_items(parts, 1, |((values, indices), elements)| {
        let mut steps = Steps::default();
        if inner == 1 {
            let size = TOGETHER * len;
            let rows = values.chunks_mut(size).zip(indices.chunks_mut(size)).zip(elements.chunks(size));
            for ((values, indices), elements) in rows {
                steps.take(elements.len());
                match elements.len() == size {
                    true => best_of_rows::<T, TOGETHER>(elements, values, indices, beats),
                    false => {
                        let rows = values.chunks_mut(len).zip(indices.chunks_mut(len));
                        for ((values, indices), elements) in rows.zip(elements.chunks(len)) {
                            best_of_rows::<T, 1>(elements, values, indices, beats);
                        }
                    }
                }
            }
            return;
        }
        let blocks = values.chunks_mut(block).zip(indices.chunks_mut(block));
        for ((values, indices), elements) in blocks.zip(elements.chunks(block)) {
            let (mut best, mut places) =
                (interrupt::collected(elements[..inner].iter().copied()), interrupt::filled(inner, 0));
            let rows = values.chunks_exact_mut(inner).zip(indices.chunks_exact_mut(inner));
            for (row, ((values, indices), elements)) in rows.zip(elements.chunks_exact(inner)).enumerate() {
                steps.take(inner);
                let states = best.iter_mut().zip(&mut places).zip(elements);
                for (((best, place), &x), (value, index)) in states.zip(values.iter_mut().zip(indices)) {
                    let is_new = beats(x, *best);
                    *best = if is_new { x } else { *best };
                    *place = if is_new { row as i64 } else { *place };
                    value.write(*best);
                    index.write(*place);
                }
            }
        }
    });
}

/// `running_best` of `N` rows that follow one another: what is the best of one need not wait for that of another.
fn best_of_rows<T: Number, const N: usize>(
    elements: &[T],
    values: &mut [MaybeUninit<T>],
    indices: &mut [MaybeUninit<i64>],
    beats: impl Fn(T, T) -> bool,
) {
    let len = elements.len() / N;
    let rows: [&[T]; N] = std::array::from_fn(|row| &elements[row * len..][..len]);
    let (values, indices) = (rows_of::<_, N>(values, len), rows_of::<_, N>(indices, len));
    let (mut best, mut places) = (rows.map(|row| row[0]), [0; N]);
    for place in 0..len {
        for row in 0..N {
            let x = rows[row][place];
            let is_new = beats(x, best[row]);
            best[row] = if is_new { x } else { best[row] };
            places[row] = if is_new { place as i64 } else { places[row] };
            values[row][place].write(best[row]);
            indices[row][place].write(places[row]);
        }
    }
}

/// Rows of so many elements that follow one another, as slices of one length: places in them are checked once.
#[inline(always)]
fn rows_of<V, const N: usize>(all: &mut [V], len: usize) -> [&mut [V]; N] {
    let mut rows = all.chunks_exact_mut(len);
    std::array::from_fn(|_| rows.next().unwrap_or_else(|| unreachable!("there are so many rows")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};
    use ndarray::{ArrayD, IxDyn};

    #[test]
    fn running_sums_agree_with_the_naive_ones_along_every_axis() {
        let a =
            ArrayD::from_shape_fn(IxDyn(&[4, 5, 6]), |index| (index[0] * 7 + index[1] * 3 + index[2]) as i32);
        for view in [a.view(), a.t()] {
            for axis in 0..3 {
                let mut expected = view.mapv(i64::from);
                expected.accumulate_axis_inplace(ndarray::Axis(axis), |&earlier, now| *now += earlier);
                let along = Along::forward(axis);
                let result: Vec<i64> = written(120, |out| cumsum::<i32, i64, i64>(view.view(), along, out));
                assert_eq!(result, expected.iter().copied().collect::<Vec<_>>(), "axis {axis}");
                let (axis, mut turned) = (ndarray::Axis(axis), view.view());
                turned.invert_axis(axis);
                let mut expected = turned.mapv(i64::from);
                expected.accumulate_axis_inplace(axis, |&earlier, now| *now += earlier);
                expected.invert_axis(axis);
                let back = Along { backward: true, ..along };
                let result: Vec<i64> = written(120, |out| cumsum::<i32, i64, i64>(view.view(), back, out));
                assert_eq!(result, expected.iter().copied().collect::<Vec<_>>(), "axis {axis:?} backward");
            }
        }
    }

    #[test]
    fn empty_axes_and_single_numbers_are_scanned_too() {
        let empty = ArrayD::<f32>::zeros(IxDyn(&[2, 0, 3]));
        assert!(written(0, |out| cumsum::<f32, f64, f32>(empty.view(), Along::forward(1), out)).is_empty());
        let single = ArrayD::from_elem(IxDyn(&[]), 5.0f32);
        assert_eq!(written(1, |out| cumprod::<f32, f64, f32>(single.view(), Along::forward(0), out)), [5.0]);
    }

    #[test]
    fn running_extremes_point_at_the_last_of_equals_and_keep_nan() {
        let a = ArrayD::from_shape_vec(IxDyn(&[6]), vec![1.0, 3.0, 3.0, 2.0, f64::NAN, 9.0]).unwrap();
        let mut values = vec![MaybeUninit::new(0.0); 6];
        let indices = written(6, |out| cumulative_extreme(a.view(), 0, true, &mut values, out));
        assert_eq!(indices, [0, 1, 2, 2, 4, 4]);
        let running =
            written(6, |out| cumulative_extreme(a.view(), 0, true, out, &mut [MaybeUninit::new(0); 6]));
        assert_eq!(running[..4], [1.0, 3.0, 3.0, 3.0]);
        assert!(running[4].is_nan() && running[5].is_nan());
    }

    #[test]
    fn the_bits_are_the_same_at_any_number_of_threads() {
        let a = ArrayD::from_shape_fn(IxDyn(&[300, 20, 30]), |index| {
            (index[0] as f32 * 0.3 + index[2] as f32).sin()
        });
        let [one, two, four] = at_thread_counts(|| {
            [0, 1, 2].map(|axis| {
                written(180_000, |out| cumsum::<f32, f64, f32>(a.view(), Along::forward(axis), out))
            })
        });
        assert!(one == two && one == four);
    }
}
