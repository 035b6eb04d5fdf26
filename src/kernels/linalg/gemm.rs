//! Matrix products: floating-point ones through the `gemm` crate, integer ones by a plain loop,
//! small ones of both by a plain loop too. Any strides, so transposed views are not copied.
//!
//! Large products are cut into blocks of rows of a fixed size, so the number of threads never shows
//! in the bits.

mod vector;

pub use vector::dot;

use gemm::Parallelism;
use ndarray::{ArrayView2, ArrayView3};
use std::mem::MaybeUninit;

use crate::dtype::Number;
use crate::kernels::interrupt;
use crate::kernels::parallel::parallel_items;

/// Products with at most this many multiplications skip packing.
const SMALL: usize = 5 * 5 * 5;

/// Columns that the plain loop computes together.
const STRETCH: usize = 32;

/// Rows of one block of a large product, where that is not too much to do without looking up.
const ROWS: usize = 256;

/// Multiplications of one block, some tens of milliseconds; a block has `FEW_ROWS` in any case, since
/// each block prepares the second matrix for itself.
const BLOCK: usize = 1 << 31;
const FEW_ROWS: usize = 64;

/// Multiplications between which one can give up, some milliseconds, and the columns that are computed
/// together in any case.
const PIECE: usize = 1 << 27;
const FEW_COLUMNS: usize = 128;

/// Multiplications below which a product is not shared between threads.
const SHARED: usize = 1 << 20;

/// `out = a b` for matrices of shapes (m, k) and (k, n).
pub fn matmul<T: Number>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, out: &mut [MaybeUninit<T>]) {
    let (m, k, n) = (a.nrows(), a.ncols(), b.ncols());
    if m * k * n < SHARED || m <= ROWS {
        return stretches(a, b, out);
    }
    let rows = (BLOCK / (k * n)).clamp(FEW_ROWS, ROWS);
    let blocks = a.axis_chunks_iter(ndarray::Axis(0), rows).zip(out.chunks_mut(rows * n)).collect();
    parallel_items(blocks, 1, |(a, out): (ArrayView2<'_, T>, &mut [MaybeUninit<T>])| stretches(a, b, out));
}

/// `block`, some columns at a time where all would take long: between them one can give up.
fn stretches<T: Number>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, out: &mut [MaybeUninit<T>]) {
    let ((m, k), n) = (a.dim(), b.ncols());
    let width = (PIECE / (m * k).max(1)).max(FEW_COLUMNS);
    if width >= n {
        return block(a, b, out);
    }
    let mut part = interrupt::filled(m * width, MaybeUninit::uninit());
    for (stretch, columns) in b.axis_chunks_iter(ndarray::Axis(1), width).enumerate() {
        interrupt::unwind_if_due();
        let (first, width) = (stretch * width, columns.ncols());
        let part = &mut part[..m * width];
        block(a, columns, part);
        for (from, to) in part.chunks_exact(width).zip(out.chunks_exact_mut(n)) {
            to[first..first + width].copy_from_slice(from);
        }
    }
}

/// `out[i] = a[i] b[i]` for batches of matrices of shapes (batch, m, k) and (batch, k, n); a batch
/// stride of 0 repeats a matrix.
pub fn batched_matmul<T: Number>(a: ArrayView3<'_, T>, b: ArrayView3<'_, T>, out: &mut [MaybeUninit<T>]) {
    let (_, m, k) = a.dim();
    let n = b.dim().2;
    if m * n == 0 {
        return;
    }
    let work = (m * k * n).max(1);
    if work >= SHARED {
        let products = a.outer_iter().zip(b.outer_iter()).zip(out.chunks_exact_mut(m * n));
        return products.for_each(|((a, b), out)| matmul(a, b, out));
    }
    let products = a.outer_iter().zip(b.outer_iter()).zip(out.chunks_exact_mut(m * n));
    parallel_items(interrupt::collected(products), SHARED.div_ceil(work), |((a, b), out)| block(a, b, out));
}

/// One product on this thread.
fn block<T: Number>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, out: &mut [MaybeUninit<T>]) {
    let ((m, k), n) = (a.dim(), b.ncols());
    if m * n == 0 {
        return;
    }
    if m * k * n <= SMALL {
        return plain(a, b, out);
    }
    let done = match (m, n) {
        (_, 1) => vector::times_matrix(b.column(0), a.t(), out),
        (1, _) => vector::times_matrix(a.row(0), b, out),
        _ => false,
    };
    if done {
        return;
    }
    if !T::DTYPE.is_float() {
        return plain(a, b, out);
    }
    assert!(out.len() == m * n && b.nrows() == k, "the caller has checked the shapes");
    let ([a_row, a_column], [b_row, b_column]) =
        ([0, 1].map(|axis| a.strides()[axis]), [0, 1].map(|axis| b.strides()[axis]));
    // SAFETY: the views are readable at every index below their shapes with these strides, `out`
    // has m * n elements that nothing else refers to, it is only written (`read_dst` is false), and
    // `T` is `f32` or `f64`, of which `MaybeUninit` has the layout.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr().cast::<T>(),
            1,
            n as isize,
            false,
            a.as_ptr(),
            a_column,
            a_row,
            b.as_ptr(),
            b_column,
            b_row,
            T::ZERO,
            T::ONE,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// One product without packing: every row of `out` in stretches that fit into registers.
fn plain<T: Number>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, out: &mut [MaybeUninit<T>]) {
    let n = b.ncols();
    for (row, out) in a.outer_iter().zip(out.chunks_exact_mut(n)) {
        for (stretch, out) in out.chunks_mut(STRETCH).enumerate() {
            let (first, width) = (stretch * STRETCH, out.len());
            let mut sums = [T::ZERO; STRETCH];
            for (&x, line) in row.iter().zip(b.outer_iter()) {
                match line.as_slice() {
                    Some(line) => {
                        let line = &line[first..first + width];
                        sums.iter_mut().zip(line).for_each(|(sum, &y)| *sum = sum.add(x.mul(y)));
                    }
                    None => {
                        let line = line.iter().skip(first);
                        sums[..width].iter_mut().zip(line).for_each(|(sum, &y)| *sum = sum.add(x.mul(y)));
                    }
                }
            }
            out.iter_mut().zip(sums).for_each(|(out, sum)| {
                out.write(sum);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};
    use ndarray::{Array2, Array3, Axis, s};

    fn numbers(m: usize, n: usize, seed: usize) -> Array2<f64> {
        Array2::from_shape_fn((m, n), |(i, j)| ((i * 31 + j * 17 + seed) % 23) as f64 - 11.0)
    }

    fn naive<T: Number>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> Vec<T> {
        let cell = |i, j| (0..a.ncols()).fold(T::ZERO, |sum, k| sum.add(a[[i, k]].mul(b[[k, j]])));
        (0..a.nrows()).flat_map(|i| (0..b.ncols()).map(move |j| (i, j))).map(|(i, j)| cell(i, j)).collect()
    }

    fn product<T: Number>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> Vec<T> {
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
            let single = |x: &Array2<f64>| x.mapv(|x| x as f32);
            let expected: Vec<f32> = expected.iter().map(|&x| x as f32).collect();
            assert_eq!(product(single(&a).view(), single(&b).view()), expected);
            let bytes = |x: &Array2<f64>| x.mapv(|x| x as i8);
            assert_eq!(
                product(bytes(&a).view(), bytes(&b).view()),
                naive(bytes(&a).view(), bytes(&b).view())
            );
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
}
