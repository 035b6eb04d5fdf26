//! Reductions against naive loops over every subset of axes and several layouts.

use super::*;
use crate::dtype::Bool;
use crate::kernels::testing::{at_thread_counts, written};
use ndarray::{ArrayD, Axis, IxDyn, Slice};

fn numbers(shape: &[usize]) -> ArrayD<f64> {
    let len: usize = shape.iter().product();
    let values = (0..len).map(|index| ((index * 7919) % 1009) as f64 * 0.25 - 100.0).collect();
    ArrayD::from_shape_vec(shape, values).unwrap()
}

/// The elements behind every result, by brute force.
fn groups(view: &ArrayViewD<'_, f64>, axes: &[usize]) -> Vec<Vec<f64>> {
    let kept: Vec<usize> = (0..view.ndim()).filter(|axis| !axes.contains(axis)).collect();
    let count = kept.iter().map(|&axis| view.shape()[axis]).product();
    let mut groups = vec![Vec::new(); count];
    for (index, &value) in view.indexed_iter() {
        let position = kept.iter().fold(0, |position, &axis| position * view.shape()[axis] + index[axis]);
        groups[position].push(value);
    }
    groups
}

fn subsets(ndim: usize) -> Vec<Vec<usize>> {
    (0..1usize << ndim).map(|mask| (0..ndim).filter(|axis| mask >> axis & 1 == 1).collect()).collect()
}

#[test]
fn every_set_of_axes_and_layout_reduces_like_the_naive_loop() {
    let mut cases = 0;
    for shape in
        [&[][..], &[1], &[7], &[3, 4], &[2, 3, 4, 5], &[300, 70], &[2, 5000, 3], &[9, 1, 600], &[70, 700]]
    {
        let a = numbers(shape);
        let mut views = vec![a.view(), a.t()];
        if let Some(axis) = (0..shape.len()).find(|&axis| shape[axis] > 1) {
            let mut flipped = a.view();
            flipped.invert_axis(Axis(axis));
            let mut part = a.view();
            part.slice_axis_inplace(Axis(shape.len() - 1), Slice::from(..).step_by(2));
            views.extend([flipped, part]);
        }
        for view in views {
            for axes in subsets(view.ndim()) {
                let groups = groups(&view, &axes);
                let results = written(groups.len(), |out| sum::<f64>(view.view(), &axes, out));
                for (&result, group) in results.iter().zip(&groups) {
                    let expected: f64 = group.iter().sum();
                    assert!((result - expected).abs() <= 1e-9 * group.len() as f64, "{shape:?} {axes:?}");
                }
                let greatest = written(groups.len(), |out| max(view.view(), &axes, out));
                let least = written(groups.len(), |out| min(view.view(), &axes, out));
                for ((&greatest, &least), group) in greatest.iter().zip(&least).zip(&groups) {
                    assert_eq!(greatest, group.iter().copied().fold(f64::MIN, f64::max));
                    assert_eq!(least, group.iter().copied().fold(f64::MAX, f64::min));
                }
                cases += 1;
            }
        }
    }
    assert!(cases > 100);
}

#[test]
fn empty_reductions_give_the_identity_and_empty_results_nothing() {
    let a = ArrayD::<f32>::zeros(IxDyn(&[3, 0]));
    assert_eq!(written(3, |out| sum::<f32>(a.view(), &[1], out)), [0.0; 3]);
    assert_eq!(written(3, |out| prod::<f32>(a.view(), &[1], out)), [1.0; 3]);
    assert_eq!(written(3, |out| logsumexp(a.view(), &[1], out)), [f32::NEG_INFINITY; 3]);
    assert!(written(3, |out| mean(a.view(), &[1], out)).iter().all(|mean| mean.is_nan()));
    assert!(written(0, |out| sum::<f32>(a.view(), &[0], out)).is_empty());
    assert!(written(1, |out| all(a.view(), &[0, 1], out))[0].get());
}

#[test]
fn the_bits_are_the_same_at_any_number_of_threads() {
    let a = numbers(&[300, 7, 400]).mapv(|x| (x * 0.37).sin() as f32);
    let [one, two, four] = at_thread_counts(|| {
        let mut results = Vec::new();
        for axes in subsets(3) {
            let len = groups(&numbers(&[300, 7, 400]).view(), &axes).len();
            results.extend(written(len, |out| sum::<f32>(a.view(), &axes, out)));
            results.extend(written(len, |out| logsumexp(a.view(), &axes, out)));
            let mut mean = written(len, |_| {}).into_iter().map(MaybeUninit::new).collect::<Vec<_>>();
            results.extend(written(len, |out| var_mean(a.view(), &axes, 1.0, out, &mut mean)));
        }
        results.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    });
    assert!(one.len() > 800_000);
    assert!(one == two && one == four);
}

#[test]
fn the_sum_of_everything_has_the_bits_of_a_sum_over_all_axes() {
    for shape in [&[][..], &[0], &[5], &[2, 31], &[3, 0], &[70, 333], &[9, 1, 6000]] {
        let a = numbers(shape).mapv(|x| x / 7.0);
        let axes: Vec<usize> = (0..shape.len()).collect();
        let over_axes = written(1, |out| sum::<f64>(a.view(), &axes, out))[0];
        assert_eq!(total(a.as_slice().unwrap()).to_bits(), over_axes.to_bits(), "{shape:?}");
    }
}

#[test]
fn long_single_precision_sums_stay_accurate() {
    let a = ArrayD::from_elem(IxDyn(&[3_000_000]), 0.1f32);
    let total = written(1, |out| sum::<f32>(a.view(), &[0], out))[0];
    assert!((total - 300_000.0).abs() < 0.1, "{total}");
    let tall = a.to_shape((1_000_000, 3)).unwrap().into_owned().into_dyn();
    let totals = written(3, |out| sum::<f32>(tall.view(), &[0], out));
    assert!(totals.iter().all(|total| (total - 100_000.0).abs() < 0.1), "{totals:?}");
}

#[test]
fn truth_values_are_counted_and_joined() {
    let truths = ArrayD::from_shape_fn(IxDyn(&[10]), |index| Bool::new(index[0] < 3));
    assert_eq!(written(1, |out| count_nonzero(truths.view(), &[0], out)), [3]);
    assert!(written(1, |out| any(truths.view(), &[0], out))[0].get());
    assert!(!written(1, |out| all(truths.view(), &[0], out))[0].get());
}

#[test]
fn nan_wins_and_the_first_of_equals_counts() {
    let mut a = numbers(&[500, 300]);
    a.mapv_inplace(|x| (x / 50.0).floor());
    a[[400, 7]] = f64::NAN;
    a[[450, 7]] = f64::NAN;
    for view in [a.view(), a.t()] {
        for axis in [0, 1] {
            for greatest in [true, false] {
                let groups = groups(&view, &[axis]);
                let mut values = vec![MaybeUninit::new(0.0); groups.len()];
                let indices = written(groups.len(), |out| {
                    extreme_with_index(view.view(), axis, greatest, &mut values, out)
                });
                assert_eq!(
                    indices,
                    written(groups.len(), |out| arg_extreme(view.view(), axis, greatest, out))
                );
                for (&index, group) in indices.iter().zip(&groups) {
                    let mut best = 0;
                    for (position, &x) in group.iter().enumerate() {
                        let better = if greatest { x > group[best] } else { x < group[best] };
                        if !group[best].is_nan() && (better || x.is_nan()) {
                            best = position;
                        }
                    }
                    assert_eq!(index, best as i64);
                }
            }
        }
    }
    assert!(written(1, |out| max(a.view(), &[0, 1], out))[0].is_nan());
}

#[test]
fn variance_keeps_its_digits_around_a_large_mean() {
    let a = numbers(&[40, 50, 6]).mapv(|x| (x as f32) * 0.01 + 10_000.0);
    let exact = a.mapv(f64::from);
    for axes in subsets(3).into_iter().skip(1) {
        let groups = groups(&exact.view(), &axes);
        let mut means = vec![MaybeUninit::new(0.0); groups.len()];
        let vars = written(groups.len(), |out| var_mean(a.view(), &axes, 1.0, out, &mut means));
        for (&var, group) in vars.iter().zip(&groups) {
            let mean = group.iter().sum::<f64>() / group.len() as f64;
            let expected =
                group.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (group.len() as f64 - 1.0);
            assert!((f64::from(var) - expected).abs() <= 1e-6 * expected, "{axes:?} {var} {expected}");
        }
    }
    let mut mean = [MaybeUninit::new(0.0)];
    let single = ArrayD::from_elem(IxDyn(&[1]), 3.0f64);
    assert!(written(1, |out| var_mean(single.view(), &[0], 1.0, out, &mut mean))[0].is_nan());
}

#[test]
fn logsumexp_neither_overflows_nor_turns_infinities_into_nan() {
    let infinity = f64::INFINITY;
    for (row, expected) in [
        ([1000.0, 1000.0], 1000.0 + 2f64.ln()),
        ([-1000.0, -1000.0], -1000.0 + 2f64.ln()),
        ([-infinity, -infinity], -infinity),
        ([-infinity, 3.0], 3.0),
        ([infinity, 3.0], infinity),
    ] {
        let a = ArrayD::from_shape_vec(IxDyn(&[2]), row.to_vec()).unwrap();
        assert_eq!(written(1, |out| logsumexp(a.view(), &[0], out)), [expected]);
        let column = ArrayD::from_shape_fn(IxDyn(&[2, 3]), |index| row[index[0]]);
        assert_eq!(written(3, |out| logsumexp(column.view(), &[0], out)), [expected; 3]);
    }
}

#[test]
fn every_norm_is_the_one_of_its_definition() {
    let a = ArrayD::from_shape_vec(IxDyn(&[4]), vec![3.0f64, 0.0, -4.0, 1.0]).unwrap();
    for (p, expected) in [
        (0.0, 3.0),
        (1.0, 8.0),
        (2.0, 26f64.sqrt()),
        (3.0, 92f64.cbrt()),
        (f64::INFINITY, 4.0),
        (f64::NEG_INFINITY, 0.0),
    ] {
        let result = written(1, |out| norm(a.view(), &[0], p, out))[0];
        assert!((result - expected).abs() < 1e-12, "p = {p}: {result}");
    }
}

#[test]
fn truths_are_counted_however_many_there_are() {
    for len in [0, 1, 127, 128, 40_000, 70_000] {
        let all = vec![Bool::new(true); len];
        assert_eq!(truths(&all), len as i64);
        let some: Vec<Bool> = (0..len).map(|index| Bool::new(index % 3 == 0)).collect();
        assert_eq!(truths(&some), len.div_ceil(3) as i64);
    }
}

#[test]
fn rows_that_are_short_are_what_each_is_by_itself() {
    for (count, len) in [(8, 2), (9, 3), (128, 16), (129, 37), (500, 63)] {
        let mut a = numbers(&[count, len]);
        a[[5, 1]] = f64::NAN;
        let each =
            |f: fn(&[f64]) -> f64| a.outer_iter().map(|row| f(row.as_slice().unwrap())).collect::<Vec<_>>();
        let sums = written(count, |out| sum::<f64>(a.view(), &[1], out));
        let greatest = written(count, |out| max(a.view(), &[1], out));
        let greatest_of =
            |row: &[f64]| row.iter().copied().reduce(|a, b| if b > a || b.is_nan() { b } else { a }).unwrap();
        for (row, (sum, expected)) in sums.iter().zip(each(|row| row.iter().sum())).enumerate() {
            assert!((sum - expected).abs() <= 1e-9 * len as f64 || row == 5 && sum.is_nan());
        }
        for (row, (found, expected)) in greatest.iter().zip(each(greatest_of)).enumerate() {
            assert!(*found == expected || row == 5 && found.is_nan());
        }
        let whole = a.mapv(|x| if x.is_nan() { 7 } else { x as i64 });
        let found = written(count, |out| sum::<i64>(whole.view(), &[1], out));
        assert!(found.iter().zip(whole.outer_iter()).all(|(found, row)| *found == row.sum()));
    }
}

#[test]
fn rows_of_any_length_have_the_bits_of_a_row_alone_whatever_lies_beside_them() {
    for len in (30..140).chain([511, 512, 513, 700]) {
        let mut rows: Vec<f32> =
            (0..3 * len).map(|index| ((index * 7919) % 1009) as f32 * 0.3 - 100.0).collect();
        rows[len..2 * len].fill(f32::NAN);
        let view = ArrayViewD::from_shape(IxDyn(&[3, len]), &rows).unwrap();
        let sums = written(3, |out| sum::<f32>(view.view(), &[1], out));
        let greatest = written(3, |out| norm(view.view(), &[1], f64::INFINITY, out));
        for (at, row) in [(0, &rows[..len]), (2, &rows[2 * len..])] {
            assert_eq!(sums[at].to_bits(), total(row).to_bits(), "{len}");
            assert_eq!(greatest[at], row.iter().fold(0.0, |most: f32, x| most.max(x.abs())), "{len}");
        }
        assert!(sums[1].is_nan() && greatest[1].is_nan());
    }
}
