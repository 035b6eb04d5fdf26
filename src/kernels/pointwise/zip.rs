//! Elementwise kernels of two and three arguments of the same shape (broadcast dimensions have
//! stride 0). Functions of one argument are in `map`.

use ndarray::ArrayViewD;
use std::mem::MaybeUninit;

use crate::kernels::blocks;
pub use crate::kernels::blocks::Pair;
use crate::kernels::pointwise::apply;

/// `out[i] = f(a[i], b[i])`
#[inline]
pub fn zip_slice<A: Copy + Sync, B: Copy + Sync, U: Copy + Send>(
    a: &[A],
    b: &[B],
    out: &mut [MaybeUninit<U>],
    f: impl Fn(A, B) -> U + Copy + Sync,
) {
    apply::each_slice_2(out, a, b, move |out, a, b| {
        out.write(f(a, b));
    });
}

/// `out[i] = f(a[i], b[i])`
pub fn zip<A: Copy + Send + Sync + 'static, B: Copy + Send + Sync + 'static, U: Copy + Send>(
    a: ArrayViewD<'_, A>,
    b: ArrayViewD<'_, B>,
    out: &mut [MaybeUninit<U>],
    f: impl Fn(A, B) -> U + Copy + Sync,
) {
    blocks::each_2(out, a, b, move |out, a, b| {
        out.write(f(a, b));
    });
}

/// Calls `visit` with parts of the destination and what belongs there of both operands: with one element for many only if
/// it takes such.
pub fn zip_blocks<A: Copy + Send + Sync + 'static, B: Copy + Send + Sync + 'static, U: Copy + Send>(
    a: ArrayViewD<'_, A>,
    b: ArrayViewD<'_, B>,
    out: &mut [MaybeUninit<U>],
    takes_one: bool,
    visit: blocks::Visit2<'_, MaybeUninit<U>, A, B>,
) {
    blocks::each_pair(out, a, b, takes_one, visit);
}

/// `a[i] = f(a[i], b[i])`
pub fn zip_in_place<A: Copy + Send, B: Copy + Send + Sync + 'static>(
    a: &mut [A],
    b: ArrayViewD<'_, B>,
    f: impl Fn(A, B) -> A + Copy + Sync,
) {
    blocks::each_1(a, b, move |a, b| *a = f(*a, b));
}

/// `a[i] = f(a[i], b[i])`
#[inline]
pub fn zip_slice_in_place<A: Copy + Send, B: Copy + Sync>(
    a: &mut [A],
    b: &[B],
    f: impl Fn(A, B) -> A + Copy + Sync,
) {
    apply::each_slice_1(a, b, move |a, b| *a = f(*a, b));
}

/// `out[i] = f(a[i], b[i], c[i])`
pub fn zip3<
    A: Copy + Send + Sync + 'static,
    B: Copy + Send + Sync + 'static,
    C: Copy + Send + Sync + 'static,
    U: Copy + Send,
>(
    a: ArrayViewD<'_, A>,
    b: ArrayViewD<'_, B>,
    c: ArrayViewD<'_, C>,
    out: &mut [MaybeUninit<U>],
    f: impl Fn(A, B, C) -> U + Copy + Sync,
) {
    blocks::each_3(out, a, b, c, move |out, a, b, c| {
        out.write(f(a, b, c));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Bool;
    use crate::kernels::testing::{at_thread_counts, written};
    use ndarray::{ArrayD, IxDyn, s};

    fn numbers(shape: &[usize], seed: usize) -> ArrayD<f64> {
        let len: usize = shape.iter().product();
        let values = (0..len).map(|index| ((index * 31 + seed) % 977) as f64 * 0.5 - 200.0).collect();
        ArrayD::from_shape_vec(shape, values).unwrap()
    }

    fn zipped(a: ArrayViewD<'_, f64>, b: ArrayViewD<'_, f64>) -> Vec<f64> {
        written(a.len(), |out| zip(a.view(), b.view(), out, |a, b| a * 3.0 - b))
    }

    #[test]
    fn every_pair_of_layouts_zips_like_the_naive_loop() {
        let mut pairs = 0;
        for (left, right, shape) in [
            (&[][..], &[][..], &[][..]),
            (&[0], &[0], &[0]),
            (&[4], &[4], &[4]),
            (&[200, 300], &[300], &[200, 300]),
            (&[200, 1], &[300], &[200, 300]),
            (&[200, 300], &[200, 1], &[200, 300]),
            (&[2, 40, 30, 40], &[40, 1, 1], &[2, 40, 30, 40]),
            (&[90_000, 2], &[2], &[90_000, 2]),
            (&[1], &[90_000], &[90_000]),
            // Rows of a block each, and rows of several blocks of which the last is shorter.
            (&[70, 1024], &[1024], &[70, 1024]),
            (&[30, 2500], &[2500], &[30, 2500]),
            (&[30, 2500], &[30, 1], &[30, 2500]),
            (&[30, 1], &[2500], &[30, 2500]),
            (&[30_000, 3], &[3], &[30_000, 3]),
            (&[30_000, 3], &[30_000, 1], &[30_000, 3]),
            // Runs that are shorter and longer than blocks, behind an axis that repeats them.
            (&[9, 7, 40, 40], &[7, 1, 1], &[9, 7, 40, 40]),
            (&[5, 200, 6, 7], &[200, 1, 1], &[5, 200, 6, 7]),
            (&[9, 7, 1, 40], &[1, 7, 40, 1], &[9, 7, 40, 40]),
            // Axes that are repeated in one operand and not in the other, in turns, in one block and in many.
            (&[6, 1, 7, 1], &[1, 5, 1, 9], &[6, 5, 7, 9]),
            (&[40, 1, 40, 1], &[1, 40, 1, 40], &[40, 40, 40, 40]),
            (&[5, 1, 5, 1, 5], &[1, 5, 1, 5, 1], &[5, 5, 5, 5, 5]),
            (&[50, 1, 50], &[50, 50, 1], &[50, 50, 50]),
            (&[3, 2, 1, 17], &[3, 1, 200, 1], &[3, 2, 200, 17]),
            (&[3, 0], &[1], &[3, 0]),
        ] {
            let (a, b) = (numbers(left, 1), numbers(right, 2));
            let (a, b) = (a.broadcast(IxDyn(shape)).unwrap(), b.broadcast(IxDyn(shape)).unwrap());
            let expected: Vec<f64> = a.iter().zip(b.iter()).map(|(a, b)| a * 3.0 - b).collect();
            assert_eq!(zipped(a.view(), b.view()), expected, "{left:?} {right:?}");
            let expected: Vec<f64> = a.t().iter().zip(b.t().iter()).map(|(a, b)| a * 3.0 - b).collect();
            assert_eq!(zipped(a.t(), b.t()), expected, "{left:?} {right:?} transposed");
            let dense = a.t().as_standard_layout().into_owned();
            assert_eq!(zipped(dense.view(), b.t()), expected, "{left:?} {right:?} crosswise");
            pairs += 1;
        }
        assert_eq!(pairs, 24);
    }

    #[test]
    fn rows_are_zipped_where_they_lie() {
        for (rows, columns) in [(1, 90), (70, 40), (7, 33), (300, 700)] {
            let all = numbers(&[2, rows, columns], 5);
            let (left, right) = (all.slice(s![0, .., 1..]), all.slice(s![1, .., ..-1]));
            let shape = left.dim();
            let bias = numbers(&[columns - 1], 6);
            let bias = bias.broadcast(shape).unwrap();
            let dense = right.as_standard_layout().into_owned();
            for [a, b] in [[left, right], [left, dense.view()], [bias, left]] {
                let expected: Vec<f64> = a.iter().zip(b.iter()).map(|(a, b)| a * 3.0 - b).collect();
                let [one, two, four] = at_thread_counts(|| zipped(a.into_dyn(), b.into_dyn()));
                assert_eq!(one, expected, "{rows} {columns}");
                assert_eq!([&two, &four], [&one; 2]);
            }
            let both = all.slice(s![.., .., 1..]);
            let expected: Vec<f64> = both.iter().map(|a| a * 3.0 - a).collect();
            assert_eq!(zipped(both.into_dyn(), both.into_dyn()), expected, "{rows} {columns}");
        }
    }

    #[test]
    fn an_element_goes_with_a_row_where_it_is_repeated() {
        for (left, right, shape) in [
            (&[200, 300][..], &[200, 1][..], &[200, 300][..]),
            (&[200, 1], &[300], &[200, 300]),
            (&[3, 40, 300], &[40, 1], &[3, 40, 300]),
            (&[3, 1, 1], &[3, 40, 300], &[3, 40, 300]),
            (&[3, 40, 30], &[40, 1], &[3, 40, 30]),
            (&[300, 300], &[300], &[300, 300]),
        ] {
            let (a, b) = (numbers(left, 1), numbers(right, 2));
            let (a, b) = (a.broadcast(IxDyn(shape)).unwrap(), b.broadcast(IxDyn(shape)).unwrap());
            let expected: Vec<f64> = a.iter().zip(b.iter()).map(|(a, b)| a * 3.0 - b).collect();
            let found = at_thread_counts(|| {
                written(a.len(), |out| {
                    zip_blocks(a.view(), b.view(), out, true, &|out, pair| match pair {
                        Pair::Both(a, b) => zip_slice(a, b, out, |a, b| a * 3.0 - b),
                        Pair::Beside(a, b) => apply::each_slice_1(out, a, |out, a| {
                            out.write(a * 3.0 - b);
                        }),
                        Pair::Behind(a, b) => apply::each_slice_1(out, b, |out, b| {
                            out.write(a * 3.0 - b);
                        }),
                    });
                })
            });
            assert!(found.iter().all(|found| *found == expected), "{left:?} {right:?}");
        }
    }

    #[test]
    fn the_bits_are_the_same_at_any_number_of_threads() {
        let (a, b) = (numbers(&[500, 400], 3), numbers(&[400, 500], 4));
        let [one, two, four] = at_thread_counts(|| zipped(a.view(), b.t()));
        assert_eq!(one, two);
        assert_eq!(one, four);
    }

    #[test]
    fn the_destination_in_place_is_the_first_argument() {
        let mut a = numbers(&[100, 120], 5);
        let b = numbers(&[120], 6);
        let b = b.broadcast(IxDyn(&[100, 120])).unwrap();
        let expected = &a - &b;
        let Some(elements) = a.as_slice_mut() else { panic!("an owned array is in order") };
        zip_in_place(elements, b, |a, b| a - b);
        assert_eq!(a, expected);
    }

    #[test]
    fn three_arguments_of_different_types_choose_by_the_first() {
        let condition = ArrayD::from_shape_fn(IxDyn(&[60, 70]), |index| Bool::new(index[1] % 3 == 0));
        let (a, b) = (numbers(&[60, 70], 8), numbers(&[1], 9));
        let b = b.broadcast(IxDyn(&[60, 70])).unwrap();
        let choose = |c: Bool, a, b| if c.get() { a } else { b };
        let out = written(60 * 70, |out| zip3(condition.view(), a.view(), b.view(), out, choose));
        for (index, &value) in out.iter().enumerate() {
            let expected = if index % 70 % 3 == 0 { a.as_slice().unwrap()[index] } else { -195.5 };
            assert_eq!(value, expected);
        }
    }
}
