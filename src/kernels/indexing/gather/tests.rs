//! Indexed reads and writes against loops over coordinates.

use super::*;
use crate::kernels::testing::{at_thread_counts, written};
use ndarray::{ArrayD, Axis, IxDyn};

fn numbers(shape: &[usize]) -> ArrayD<i32> {
    let mut next = 0;
    ArrayD::from_shape_simple_fn(shape, || {
        next += 1;
        next
    })
}

fn indices(shape: &[usize], size: usize) -> ArrayD<i64> {
    numbers(shape).mapv(|x| i64::from(x) * 7 % size as i64)
}

#[test]
fn gather_and_scatter_follow_the_coordinates_along_every_axis() {
    let a = numbers(&[4, 5, 6]);
    for view in [a.view(), a.view().permuted_axes(vec![2, 0, 1])] {
        for axis in 0..3 {
            let index = indices(&[3, 4, 4], view.shape()[axis]);
            for index in [index.view(), index.view().permuted_axes(vec![0, 2, 1])] {
                let result = written(48, |out| gather(view.view(), axis, index.view(), out));
                let mut scattered = ArrayD::<i32>::zeros(view.raw_dim());
                let mut expected = scattered.clone();
                let values = ArrayD::from_shape_vec(index.shape(), result.clone()).unwrap();
                for ((place, &along), result) in index.indexed_iter().zip(result) {
                    let mut place = place.clone();
                    place[axis] = along as usize;
                    assert_eq!(result, view[&place]);
                    expected[&place] += result;
                }
                scatter(
                    scattered.view_mut().reversed_axes().reversed_axes(),
                    axis,
                    index,
                    values.view(),
                    |a, b| a + b,
                );
                assert_eq!(scattered, expected);
            }
        }
    }
}

#[test]
fn writes_into_strided_memory_leave_the_gaps_alone() {
    let mut a = ArrayD::<i32>::zeros(IxDyn(&[4, 6]));
    let mut half = a.view_mut();
    half.slice_axis_inplace(ndarray::Axis(1), ndarray::Slice::from(..).step_by(2));
    let index = indices(&[4, 3], 4);
    scatter(half.reversed_axes(), 1, index.t(), numbers(&[3, 4]).view(), |_, value| value);
    assert!(a.indexed_iter().all(|(place, &x)| place[1] % 2 == 0 || x == 0));
    assert!(a.iter().any(|&x| x != 0));
}

#[test]
fn the_last_of_repeated_indices_stays() {
    let mut a = ArrayD::<i32>::zeros(IxDyn(&[3]));
    let index = ArrayD::from_shape_vec(IxDyn(&[4]), vec![1i64, 1, 2, 1]).unwrap();
    scatter(a.view_mut(), 0, index.view(), numbers(&[4]).view(), |_, value| value);
    assert_eq!(a.as_slice().unwrap(), [0, 4, 3]);
    put(a.view_mut(), &[index.view()], numbers(&[4]).view(), |old, value| old + value);
    assert_eq!(a.as_slice().unwrap(), [0, 11, 6]);
}

#[test]
fn whole_slices_are_selected_and_added() {
    let a = numbers(&[3, 4, 5]);
    let index = [2, 0, 2, 1];
    for view in [a.view(), a.t()] {
        for axis in 0..3 {
            let mut shape = view.shape().to_vec();
            shape[axis] = 4;
            let len = shape.iter().product();
            let selected = written(len, |out| index_select(view.view(), axis, &index, out));
            let selected = ArrayD::from_shape_vec(shape, selected).unwrap();
            assert_eq!(selected, view.select(ndarray::Axis(axis), &index.map(|index| index as usize)));
            let mut sums = ArrayD::<i32>::zeros(view.raw_dim());
            index_combine(sums.view_mut(), axis, &index, selected.view(), |a, b| a + b);
            for (place, &sum) in sums.indexed_iter() {
                let times = index.iter().filter(|&&index| index as usize == place[axis]).count() as i32;
                assert_eq!(sum, times * view[&place]);
            }
        }
    }
    assert!(written(0, |out| index_select(a.view(), 0, &[], out)).is_empty());
}

#[test]
fn several_indices_name_elements_or_slices_and_count_from_the_end() {
    let a = numbers(&[4, 5, 6]);
    let (i, j) = (indices(&[2, 3], 4), indices(&[2, 3], 5).mapv(|index| index - 5));
    let taken = written(36, |out| take(a.view(), &[i.view(), j.view()], out));
    for (position, (&i, &j)) in i.iter().zip(&j).enumerate() {
        for k in 0..6 {
            assert_eq!(taken[position * 6 + k], a[[i as usize, (j + 5) as usize, k]]);
        }
    }
    let whole = written(120, |out| take(a.view(), &[], out));
    assert_eq!(whole, a.as_slice().unwrap());
    let mut b = a.clone();
    put(b.view_mut(), &[i.view(), j.view()], ArrayD::zeros(IxDyn(&[2, 3, 6])).view(), |_, value| value);
    assert_eq!(b.iter().filter(|&&x| x == 0).count(), 36);
}

#[test]
fn the_first_bad_index_is_found() {
    let index = ArrayD::from_shape_vec(IxDyn(&[4]), vec![0i64, -3, 3, -4]).unwrap();
    assert_eq!(first_bad(index.view(), 3, false), Some(-3));
    assert_eq!(first_bad(index.view(), 3, true), Some(3));
    assert_eq!(first_bad(index.view(), 4, true), None);
}

#[test]
fn nonzero_lists_coordinates_in_row_major_order() {
    let a = ArrayD::from_shape_vec(IxDyn(&[2, 3]), vec![0.0, 1.0, f64::NAN, -2.0, 0.0, -0.0]).unwrap();
    let count = count_true(&a.view());
    assert_eq!(written(2 * count, |out| nonzero(a.view(), count, out)), [0, 0, 1, 1, 2, 0]);
    assert_eq!(flat_nonzero(a.t()).unwrap(), [1, 2, 4]);
    assert_eq!(count_true(&ArrayD::from_elem(IxDyn(&[]), 1.0).view()), 1);
}

#[test]
fn the_result_is_the_same_at_any_number_of_threads() {
    let a = numbers(&[500, 300]);
    let index = indices(&[500, 400], 300);
    let rows: Vec<i64> = (0..700).map(|row| row * 13 % 500).collect();
    let values = ArrayD::from_shape_fn(IxDyn(&[700, 300]), |index| 0.1 * (index[0] * 7 + index[1]) as f64);
    let [one, two, four] = at_thread_counts(|| {
        let gathered = written(200_000, |out| gather(a.view(), 1, index.view(), out));
        let mut added = ArrayD::<f64>::zeros(IxDyn(&[500, 300]));
        index_combine(added.view_mut(), 0, &rows, values.view(), |a, b| a + b);
        (gathered, written(210_000, |out| index_select(a.view(), 0, &rows, out)), added)
    });
    assert!(one == two && one == four);
    let mut expected = ArrayD::<f64>::zeros(IxDyn(&[500, 300]));
    for (&row, values) in rows.iter().zip(values.outer_iter()) {
        expected.index_axis_mut(Axis(0), row as usize).zip_mut_with(&values, |sum, value| *sum += value);
    }
    assert_eq!(one.2, expected);
}

#[test]
fn a_bad_index_is_found_among_many() {
    let mut index = ArrayD::<i64>::zeros(IxDyn(&[100_000]));
    assert_eq!(first_bad(index.view(), 7, false), None);
    for (place, bad) in [(99_999, 7), (70_000, i64::MAX), (40_000, i64::MIN), (5, -8)] {
        index[[place]] = bad;
        assert_eq!(first_bad(index.view(), 7, false), Some(bad));
        assert_eq!(first_bad(index.view(), 7, true), Some(bad));
    }
    index.fill(-7);
    assert_eq!((first_bad(index.view(), 7, true), first_bad(index.view(), 7, false)), (None, Some(-7)));
}
