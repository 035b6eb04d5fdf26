//! Running results along an axis: cumulative sums, products and extremes.

use ndarray::ArrayViewD;
use std::mem::MaybeUninit;

use crate::dtype::{Element, Number, Ring};
use crate::kernels::geometry::dense::{Extent, dense};
use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;

/// Goes along `axis` with a state: `step` takes in an element and its index, `emit` says what the
/// result is at that place.
pub fn scan<T, S, U>(
    view: ArrayViewD<'_, T>,
    axis: usize,
    out: &mut [MaybeUninit<U>],
    initial: S,
    step: impl Fn(S, T, usize) -> S + Copy + Sync,
    emit: impl Fn(S) -> U + Copy + Sync,
) where
    T: Copy + Default + Send + Sync,
    S: Copy + Send + Sync,
    U: Send,
{
    let Extent { len, inner, .. } = Extent::new(view.shape(), axis);
    let block = len * inner;
    if block == 0 {
        return;
    }
    let elements = dense(&view);
    parallel_parts(out, (GRAIN / block).max(1) * block, |start, part| {
        let mut states = interrupt::filled(inner, initial);
        let mut steps = Steps::default();
        let blocks = elements[start..].chunks_exact(block);
        for (out, elements) in part.chunks_exact_mut(block).zip(blocks) {
            if inner == 1 {
                // One state stays in a register.
                let (mut state, mut index) = (initial, 0);
                for (out, elements) in out.chunks_mut(GRAIN).zip(elements.chunks(GRAIN)) {
                    steps.take(out.len());
                    for (out, &element) in out.iter_mut().zip(elements) {
                        state = step(state, element, index);
                        index += 1;
                        out.write(emit(state));
                    }
                }
                continue;
            }
            states.fill(initial);
            let rows = out.chunks_exact_mut(inner).zip(elements.chunks_exact(inner));
            for (index, (out, elements)) in rows.enumerate() {
                steps.take(inner);
                for ((state, &element), out) in states.iter_mut().zip(elements).zip(out) {
                    *state = step(*state, element, index);
                    out.write(emit(*state));
                }
            }
        }
    });
}

/// Cumulative sum; `S` accumulates (`f64` for floating-point elements, as torch does).
pub fn cumsum<T: Element, S: Ring, U: Element>(
    view: ArrayViewD<'_, T>,
    axis: usize,
    out: &mut [MaybeUninit<U>],
) {
    scan(view, axis, out, S::ZERO, |sum: S, x, _| sum.add(x.convert()), S::convert);
}

/// Cumulative product; `S` accumulates.
pub fn cumprod<T: Element, S: Ring, U: Element>(
    view: ArrayViewD<'_, T>,
    axis: usize,
    out: &mut [MaybeUninit<U>],
) {
    scan(view, axis, out, S::ONE, |product: S, x, _| product.mul(x.convert()), S::convert);
}

/// Cumulative maximum (or minimum) and where it was last attained. A NaN stays.
pub fn cumulative_extreme<T: Number>(
    view: ArrayViewD<'_, T>,
    axis: usize,
    greatest: bool,
    values: &mut [MaybeUninit<T>],
    indices: &mut [MaybeUninit<i64>],
) {
    let step = move |(best, place): (T, i64), x: T, index: usize| {
        let beats = if greatest { x >= best } else { x <= best };
        if x.is_nan() || (beats && !best.is_nan()) || index == 0 { (x, index as i64) } else { (best, place) }
    };
    scan(view.view(), axis, values, (T::ZERO, 0), step, |(best, _)| best);
    scan(view, axis, indices, (T::ZERO, 0), step, |(_, place)| place);
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
                let result: Vec<i64> = written(120, |out| cumsum::<i32, i64, i64>(view.view(), axis, out));
                assert_eq!(result, expected.iter().copied().collect::<Vec<_>>(), "axis {axis}");
            }
        }
    }

    #[test]
    fn empty_axes_and_single_numbers_are_scanned_too() {
        let empty = ArrayD::<f32>::zeros(IxDyn(&[2, 0, 3]));
        assert!(written(0, |out| cumsum::<f32, f64, f32>(empty.view(), 1, out)).is_empty());
        let single = ArrayD::from_elem(IxDyn(&[]), 5.0f32);
        assert_eq!(written(1, |out| cumprod::<f32, f64, f32>(single.view(), 0, out)), [5.0]);
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
            [0, 1, 2].map(|axis| written(180_000, |out| cumsum::<f32, f64, f32>(a.view(), axis, out)))
        });
        assert!(one == two && one == four);
    }
}
