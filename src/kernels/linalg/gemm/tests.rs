use super::*;
use crate::dtype::Complex;
use crate::kernels::testing::{at_thread_counts, written};
use ndarray::{Array3, s};

fn numbers(m: usize, n: usize, seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((m, n), |(i, j)| ((i * 31 + j * 17 + seed) % 23) as f64 - 11.0)
}

fn naive<T: Ring>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> Vec<T> {
    let cell = |i, j| (0..a.ncols()).fold(T::ZERO, |sum, k| sum.add(a[[i, k]].mul(b[[k, j]])));
    (0..a.nrows()).flat_map(|i| (0..b.ncols()).map(move |j| (i, j))).map(|(i, j)| cell(i, j)).collect()
}

fn product<T: Ring>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> Vec<T> {
    written(a.nrows() * b.ncols(), |out| matmul(a, b, out))
}

#[test]
fn every_size_and_layout_multiplies_like_the_naive_loop() {
    let sizes = [0, 1, 2, 3, 8, 9, 33, 130];
    let mut cases = 0;
    for (m, k, n) in sizes.iter().flat_map(|&m| sizes.iter().map(move |&k| (m, k, (m + 2 * k) % 37))) {
        let (a, b) = (numbers(m, k, 1), numbers(k, n, 2));
        let expected = naive(a.view(), b.view());
        assert_eq!(product(a.view(), b.view()), expected, "{m} {k} {n}");
        let (at, bt) = (a.t().as_standard_layout().into_owned(), b.t().as_standard_layout().into_owned());
        assert_eq!(product(at.t(), b.view()), expected);
        assert_eq!(product(a.view(), bt.t()), expected);
        assert_eq!(product(at.t(), bt.t()), expected);
        let complex = |x: &Array2<f64>| x.mapv(|x| Complex::new(x, 1.0 - x));
        assert_eq!(
            product(complex(&a).view(), complex(&bt).t()),
            naive(complex(&a).view(), complex(&b).view())
        );
        let single = |x: &Array2<f64>| x.mapv(|x| x as f32);
        let expected: Vec<f32> = expected.iter().map(|&x| x as f32).collect();
        assert_eq!(product(single(&a).view(), single(&b).view()), expected);
        let bytes = |x: &Array2<f64>| x.mapv(|x| x as i8);
        assert_eq!(product(bytes(&a).view(), bytes(&b).view()), naive(bytes(&a).view(), bytes(&b).view()));
        let wholes = |x: &Array2<f64>| x.mapv(|x| x as i64);
        assert_eq!(product(wholes(&at).t(), wholes(&bt).t()), naive(wholes(&a).view(), wholes(&b).view()));
        cases += 1;
    }
    assert_eq!(cases, 64);
}

#[test]
fn vectors_multiply_from_both_sides_whatever_the_layout() {
    for (k, n) in [(1, 40), (40, 1), (300, 70), (70, 1300), (5000, 3)] {
        let (x, b) = (numbers(1, k, 1), numbers(k, n, 2));
        let expected = naive(x.view(), b.view());
        let columns = b.t().as_standard_layout().into_owned();
        let spread = numbers(2 * k, 2 * n, 3);
        let spread = spread.slice(s![..;2, ..;2]);
        for b in [b.view(), columns.t()] {
            assert_eq!(product(x.view(), b), expected);
            assert_eq!(product(b.t(), x.t()), expected);
        }
        assert_eq!(product(x.view(), spread), naive(x.view(), spread));
        assert_eq!(dot(&vec![2i64; k], &vec![3; k]), 6 * k as i64);
    }
}

#[test]
fn a_factor_that_is_repeated_multiplies_like_any_other() {
    let mut cases = 0;
    for (m, k, n) in [(1, 40, 7), (4, 9, 33), (5, 1, 40), (8, 64, 250), (13, 17, 100), (300, 90, 130)] {
        let (b, columns) = (numbers(k, n, 2), numbers(n, k, 3));
        for b in [b.view(), columns.t()] {
            let repeated = Repeated::new(b, m);
            for seed in [1, 4] {
                let a = numbers(m, k, seed);
                let product = written(m * n, |out| repeated.product(a.view(), out));
                assert_eq!(product, naive(a.view(), b), "{m} {k} {n}");
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 24);
}

#[test]
fn flipped_and_stepped_views_are_multiplied_as_they_are() {
    let (a, b) = (numbers(80, 90, 3), numbers(45, 70, 4));
    let a = a.slice(s![..;-2, ..;2]);
    let b = b.slice(s![.., ..;-1]);
    assert_eq!(product(a, b), naive(a, b));
}

#[test]
fn batches_may_repeat_a_matrix() {
    let a = Array3::from_shape_fn((5, 20, 30), |(b, i, j)| ((b + i * 3 + j) % 7) as f64);
    let b = numbers(30, 10, 5);
    let repeated = b.broadcast((5, 30, 10)).unwrap();
    let result = written(5 * 20 * 10, |out| batched_matmul(a.view(), repeated, out));
    let expected: Vec<f64> = a.axis_iter(Axis(0)).flat_map(|a| naive(a, b.view())).collect();
    assert_eq!(result, expected);
}

#[test]
fn infinities_and_nan_pass_through() {
    let mut a = numbers(20, 20, 6);
    a[[3, 4]] = f64::NAN;
    a[[5, 6]] = f64::INFINITY;
    let result = product(a.view(), numbers(20, 20, 7).mapv(f64::abs).view());
    assert!(result[3 * 20].is_nan());
    assert!(result[5 * 20 + 1].is_infinite());
    assert!(result[7 * 20].is_finite());
}

#[test]
fn the_bits_are_the_same_at_any_number_of_threads() {
    let a = numbers(700, 150, 8).mapv(|x| (x * 0.7).sin() as f32);
    let b = numbers(150, 90, 9).mapv(|x| (x * 0.3).cos() as f32);
    let batch = a.broadcast((3, 700, 150)).unwrap();
    let other = b.broadcast((3, 150, 90)).unwrap();
    let [one, two, four] = at_thread_counts(|| {
        let mut results = product(a.view(), b.view());
        results.extend(written(3 * 700 * 90, |out| batched_matmul(batch, other, out)));
        results.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    });
    assert!(one == two && one == four);
}
