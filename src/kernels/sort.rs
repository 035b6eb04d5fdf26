//! Sorting along an axis. NaN is greater than every number, and equal elements keep their order.

use ndarray::ArrayViewD;
use std::cmp::Ordering;
use std::mem::MaybeUninit;

use super::along::along;
use super::dense::{Extent, dense};
use super::interrupt;
use crate::dtype::Ordered;

/// The indices that sort `axis`; with `descending`, equal elements keep their order as well.
pub fn argsort<T: Ordered>(
    view: ArrayViewD<'_, T>,
    axis: usize,
    descending: bool,
    out: &mut [MaybeUninit<i64>],
) {
    let extent = Extent::new(view.shape(), axis);
    along([&dense(&view)], extent, extent.len, out, |[lane], out| {
        let mut pairs = numbered(lane);
        if descending {
            pairs.sort_by(|a, b| order(b.0, a.0));
        } else {
            pairs.sort_by(|a, b| order(a.0, b.0));
        }
        out.iter_mut().zip(pairs).for_each(|(out, (_, index))| *out = index);
    });
}

/// The indices of the `count` greatest (or least) elements along `axis`, the most extreme first;
/// of equal elements the earlier ones.
pub fn argtopk<T: Ordered>(
    view: ArrayViewD<'_, T>,
    axis: usize,
    count: usize,
    greatest: bool,
    out: &mut [MaybeUninit<i64>],
) {
    let rank = |a: &(T, i64), b: &(T, i64)| {
        let by_value = if greatest { order(b.0, a.0) } else { order(a.0, b.0) };
        by_value.then(a.1.cmp(&b.1))
    };
    along([&dense(&view)], Extent::new(view.shape(), axis), count, out, |[lane], out| {
        let mut pairs = numbered(lane);
        if count < pairs.len() {
            pairs.select_nth_unstable_by(count, rank);
            pairs.truncate(count);
        }
        pairs.sort_unstable_by(rank);
        out.iter_mut().zip(pairs).for_each(|(out, (_, index))| *out = index);
    });
}

fn numbered<T: Ordered>(lane: &[T]) -> Vec<(T, i64)> {
    let mut pairs = interrupt::room(lane.len());
    pairs.extend(lane.iter().copied().zip(0..));
    pairs
}

/// The total order: numbers, then NaN.
#[inline]
pub(super) fn order<T: Ordered>(a: T, b: T) -> Ordering {
    let is_nan = |x: T| x.partial_cmp(&x).is_none();
    a.partial_cmp(&b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Bool;
    use crate::kernels::testing::{at_thread_counts, written};
    use ndarray::{ArrayD, IxDyn};

    const NAN: f64 = f64::NAN;

    fn row(elements: &[f64]) -> ArrayD<f64> {
        ArrayD::from_shape_vec(IxDyn(&[elements.len()]), elements.to_vec()).unwrap()
    }

    #[test]
    fn nan_is_greatest_and_equal_elements_keep_their_order() {
        let a = row(&[2.0, NAN, 1.0, 2.0, f64::INFINITY, NAN, 1.0]);
        assert_eq!(written(7, |out| argsort(a.view(), 0, false, out)), [2, 6, 0, 3, 4, 1, 5]);
        assert_eq!(written(7, |out| argsort(a.view(), 0, true, out)), [1, 5, 4, 0, 3, 2, 6]);
        assert_eq!(written(3, |out| argtopk(a.view(), 0, 3, true, out)), [1, 5, 4]);
        assert_eq!(written(3, |out| argtopk(a.view(), 0, 3, false, out)), [2, 6, 0]);
        assert_eq!(written(7, |out| argtopk(a.view(), 0, 7, false, out)), [2, 6, 0, 3, 4, 1, 5]);
        let truths = ArrayD::from_shape_fn(IxDyn(&[4]), |index| Bool::new(index[0] % 2 == 0));
        assert_eq!(written(4, |out| argsort(truths.view(), 0, false, out)), [1, 3, 0, 2]);
    }

    #[test]
    fn every_lane_of_every_axis_is_sorted_by_itself() {
        let a = ArrayD::from_shape_fn(IxDyn(&[6, 40, 35]), |index| {
            (index[0] * 31 + index[1] * 17 + index[2] * 7) as i64 % 41
        });
        for view in [a.view(), a.t()] {
            for axis in 0..3 {
                let indices = written(a.len(), |out| argsort(view.view(), axis, false, out));
                let indices = ArrayD::from_shape_vec(view.shape(), indices).unwrap();
                let axis = ndarray::Axis(axis);
                for (lane, order) in view.lanes(axis).into_iter().zip(indices.lanes(axis)) {
                    let sorted: Vec<_> = order.iter().map(|&index| (lane[index as usize], index)).collect();
                    assert!(sorted.is_sorted());
                }
            }
        }
    }

    #[test]
    fn empty_lanes_and_single_numbers_have_their_order() {
        assert!(written(0, |out| argsort(row(&[]).view(), 0, false, out)).is_empty());
        assert!(written(0, |out| argtopk(row(&[1.0]).view(), 0, 0, true, out)).is_empty());
        let single = ArrayD::from_elem(IxDyn(&[]), 4.0f32);
        assert_eq!(written(1, |out| argsort(single.view(), 0, true, out)), [0]);
    }

    #[test]
    fn the_order_is_the_same_at_any_number_of_threads() {
        let a = ArrayD::from_shape_fn(IxDyn(&[500, 400]), |index| (index[0] * 7 + index[1] * 13) % 97)
            .mapv(|x| x as f32);
        let [one, two, four] = at_thread_counts(|| written(a.len(), |out| argsort(a.view(), 1, true, out)));
        assert!(one == two && one == four);
    }
}
