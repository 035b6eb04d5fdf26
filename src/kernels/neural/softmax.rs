//! Softmax and its logarithm along an axis, and what their derivatives make of a gradient.

use ndarray::ArrayViewD;
use std::mem::MaybeUninit;

use crate::dtype::{Real, Ring};
use crate::kernels::geometry::dense::{Extent, dense};
use crate::kernels::pointwise::math::exp;
use crate::kernels::reduction::along::along;
use crate::kernels::reduction::reduce::{Fold, fold_slice, greater};
use crate::kernels::simd::vectorised;

/// `exp(x) / sum(exp(x))`; where all elements are infinitely small, zeros if that is to be `safe`.
pub fn softmax<T: Real>(view: ArrayViewD<'_, T>, axis: usize, safe: bool, out: &mut [MaybeUninit<T>]) {
    let extent = Extent::new(view.shape(), axis);
    along([&dense(&view)], extent, extent.len, out, |[x], y| {
        let shift = greatest(x);
        if safe && shift == T::LOWEST {
            return y.fill(T::ZERO);
        }
        rewrite(y, x, |_, x| exp(x - shift));
        let total = total(y);
        vectorised(y.len(), || y.iter_mut().for_each(|y| *y = *y / total));
    });
}

/// `x - log(sum(exp(x)))`
pub fn log_softmax<T: Real>(view: ArrayViewD<'_, T>, axis: usize, out: &mut [MaybeUninit<T>]) {
    let extent = Extent::new(view.shape(), axis);
    along([&dense(&view)], extent, extent.len, out, |[x], y| {
        let shift = greatest(x);
        rewrite(y, x, |_, x| exp(x - shift));
        let log = total(y).ln();
        rewrite(y, x, |_, x| x - shift - log);
    });
}

/// `y * (g - sum(g * y))` for the result `y` of `softmax` and its gradient `g`.
pub fn softmax_backward<T: Real>(
    gradient: ArrayViewD<'_, T>,
    result: ArrayViewD<'_, T>,
    axis: usize,
    out: &mut [MaybeUninit<T>],
) {
    let extent = Extent::new(result.shape(), axis);
    along([&dense(&gradient), &dense(&result)], extent, extent.len, out, |[g, y], out| {
        out.copy_from_slice(g);
        rewrite(out, y, |g, y| g * y);
        let total = total(out);
        out.copy_from_slice(g);
        rewrite(out, y, |g, y| y * (g - total));
    });
}

/// `g - exp(y) * sum(g)` for the result `y` of `log_softmax` and its gradient `g`.
pub fn log_softmax_backward<T: Real>(
    gradient: ArrayViewD<'_, T>,
    result: ArrayViewD<'_, T>,
    axis: usize,
    out: &mut [MaybeUninit<T>],
) {
    let extent = Extent::new(result.shape(), axis);
    along([&dense(&gradient), &dense(&result)], extent, extent.len, out, |[g, y], out| {
        let total = total(g);
        out.copy_from_slice(g);
        rewrite(out, y, |g, y| g - exp(y) * total);
    });
}

fn greatest<T: Real>(x: &[T]) -> T {
    fold_slice(x, Fold { identity: T::LOWEST, map: std::convert::identity, merge: greater })
}

fn total<T: Real>(x: &[T]) -> T {
    fold_slice(x, Fold { identity: T::ZERO, map: std::convert::identity, merge: <T as Ring>::add })
}

/// `out[i] = f(out[i], x[i])`
fn rewrite<T: Real>(out: &mut [T], x: &[T], f: impl Fn(T, T) -> T + Copy) {
    vectorised(x.len(), || out.iter_mut().zip(x).for_each(|(out, &x)| *out = f(*out, x)));
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
        let a = numbers(&[5, 33, 18]);
        for view in [a.view(), a.t()] {
            for axis in 0..3 {
                let sum = |x: &ArrayD<f64>| x.sum_axis(Axis(axis)).insert_axis(Axis(axis));
                let exp = view.mapv(f64::exp);
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
    fn the_bits_are_the_same_at_any_number_of_threads() {
        let a = numbers(&[60, 50, 70]);
        let [one, two, four] = at_thread_counts(|| {
            [0, 1, 2].map(|axis| result(&a.view(), |x, out| softmax(x, axis, false, out)))
        });
        assert!(one == two && one == four);
    }
}
