//! Distances and their gradients against what a matrix of differences gives.

use super::*;
use crate::kernels::testing::{at_thread_counts, written};
use ndarray::{Array1, Array2};

const NORMS: [Norm; 3] = [Norm::Sum, Norm::Root, Norm::Greatest];

fn matrix(rows: usize, width: usize, seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, width), |(i, j)| ((i * 7 + j * 3 + seed) as f64).sin())
}

fn length(apart: &Array1<f64>, norm: Norm) -> f64 {
    match norm {
        Norm::Sum => apart.iter().map(|x| x.abs()).sum(),
        Norm::Root => apart.dot(apart).sqrt(),
        Norm::Greatest => apart.iter().fold(0.0, |most, x| x.abs().max(most)),
    }
}

/// The slope of the length by the first number of a difference.
fn slope(apart: f64, length: f64, norm: Norm) -> f64 {
    if norm == Norm::Sum { apart.signum() } else { apart / length }
}

#[test]
fn each_row_is_as_far_from_the_others_as_its_difference_is_long() {
    for (rows, count, width) in [(3, 2, 4), (40, 600, 20), (1, 5, 0), (0, 3, 2), (2, 77, 3)] {
        let (a, b) = (matrix(rows, width, 1), matrix(count, width, 2));
        let numbers: Vec<f64> = a.iter().copied().collect();
        for norm in NORMS {
            let [one, two, four] =
                at_thread_counts(|| written(rows * count, |out| distances(&numbers, b.view(), norm, out)));
            assert!(one == two && one == four);
            for (place, found) in one.iter().enumerate() {
                let apart = &a.row(place / count) - &b.row(place % count);
                assert!((found - length(&apart, norm)).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn pairs_of_rows_are_as_far_apart_as_in_a_table_of_all() {
    for (count, width) in [(0, 3), (1, 3), (2, 1), (37, 5), (150, 3), (9, 0)] {
        let a = matrix(count, width, 5);
        let numbers: Vec<f64> = a.iter().copied().collect();
        for norm in NORMS {
            let all = written(count * count, |out| distances(&numbers, a.view(), norm, out));
            let pairs = count * count.saturating_sub(1) / 2;
            let [one, two, four] =
                at_thread_counts(|| written(pairs, |out| distances_within(a.view(), norm, out)));
            assert!(one == two && one == four);
            let expected = (0..count).flat_map(|i| (i + 1..count).map(move |j| i * count + j));
            assert_eq!(one, expected.map(|place| all[place]).collect::<Vec<_>>());
        }
    }
}

#[test]
fn gradients_are_sums_of_the_slopes_of_all_differences() {
    let (rows, width) = (41, 6);
    let a = matrix(rows, width, 1);
    let numbers: Vec<f64> = a.iter().copied().collect();
    for norm in [Norm::Sum, Norm::Root] {
        let b = matrix(53, width, 2);
        let given: Vec<f64> = (0..rows * 53).map(|place| (place as f64).cos()).collect();
        let y = written(rows * 53, |out| distances(&numbers, b.view(), norm, out));
        let [one, two, four] = at_thread_counts(|| {
            written(rows * width, |out| gradients(&numbers, b.view(), norm, [&y, &given], out))
        });
        assert!(one == two && one == four);
        for (place, found) in one.iter().enumerate() {
            let (row, column) = (place / width, place % width);
            let terms = (0..53).map(|other| {
                let beside = row * 53 + other;
                given[beside] * slope(a[[row, column]] - b[[other, column]], y[beside], norm)
            });
            assert!((found - terms.sum::<f64>()).abs() < 1e-12);
        }
        let pairs = rows * (rows - 1) / 2;
        let y = written(pairs, |out| distances_within(a.view(), norm, out));
        let mut expected = vec![0.0; rows * width];
        let all = (0..rows).flat_map(|i| (i + 1..rows).map(move |j| (i, j)));
        for (place, (i, j)) in all.enumerate() {
            for column in 0..width {
                let term = given[place] * slope(a[[i, column]] - a[[j, column]], y[place], norm);
                expected[i * width + column] += term;
                expected[j * width + column] -= term;
            }
        }
        let [one, two, four] = at_thread_counts(|| {
            written(rows * width, |out| gradients_within(a.view(), norm, [&y, &given[..pairs]], out))
        });
        assert!(one == two && one == four);
        assert!(one.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12));
    }
}
