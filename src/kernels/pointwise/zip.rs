//! Elementwise kernels of two and three arguments of the same shape (broadcast dimensions have
//! stride 0). Functions of one argument are in `map`.

use std::mem::MaybeUninit;

use crate::kernels::blocks;
pub use crate::kernels::blocks::Pair;
use crate::kernels::geometry::strided::Strided;
use crate::kernels::pointwise::apply;
pub use crate::kernels::pointwise::apply::Rows;

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

/// `zip_slice` of rows of so many elements.
#[inline]
pub fn zip_rows<A: Copy + Sync, B: Copy + Sync, U: Copy + Send>(
    len: usize,
    a: Rows<'_, A>,
    b: Rows<'_, B>,
    out: &mut [MaybeUninit<U>],
    f: impl Fn(A, B) -> U + Copy + Sync,
) {
    apply::each_row_2(out, len, a, b, move |out, a, b| {
        out.write(f(a, b));
    });
}

/// The same where the second operand is one element for a row.
#[inline]
pub fn zip_beside<A: Copy + Sync, B: Copy + Sync, U: Copy + Send>(
    len: usize,
    a: Rows<'_, A>,
    b: Rows<'_, B>,
    out: &mut [MaybeUninit<U>],
    f: impl Fn(A, B) -> U + Copy + Sync,
) {
    apply::each_row_beside(out, len, a, b, move |out, a, b| {
        out.write(f(a, b));
    });
}

/// The same where the first operand is one element for a row.
#[inline]
pub fn zip_behind<A: Copy + Sync, B: Copy + Sync, U: Copy + Send>(
    len: usize,
    a: Rows<'_, A>,
    b: Rows<'_, B>,
    out: &mut [MaybeUninit<U>],
    f: impl Fn(A, B) -> U + Copy + Sync,
) {
    zip_beside(len, b, a, out, move |b, a| f(a, b));
}

/// Visits rows of so many elements one by one, with the number of each.
pub fn each_row<U: Send>(
    len: usize,
    out: &mut [MaybeUninit<U>],
    visit: &(dyn Fn(usize, &mut [MaybeUninit<U>]) + Sync),
) {
    if out.len() <= len {
        return visit(0, out);
    }
    apply::each_row(out, len, &|(first, _, out): apply::RowsOf<'_, MaybeUninit<U>>| {
        (first..).zip(out.chunks_mut(len)).for_each(|(row, out)| visit(row, out));
    });
}

/// `out[i] = f(a[i], b[i])`
pub fn zip<A: Copy + Send + Sync + 'static, B: Copy + Send + Sync + 'static, U: Copy + Send>(
    a: &Strided<'_, A>,
    b: &Strided<'_, B>,
    out: &mut [MaybeUninit<U>],
    f: impl Fn(A, B) -> U + Copy + Sync,
) {
    blocks::each_2(out, a, b, move |out, a, b| {
        out.write(f(a, b));
    });
}

/// Calls `visit` with parts of the destination and the rows that belong there of both operands: with one element for a row
/// only if it takes such.
pub fn zip_blocks<A: Copy + Send + Sync + 'static, B: Copy + Send + Sync + 'static, U: Copy + Send>(
    a: &Strided<'_, A>,
    b: &Strided<'_, B>,
    out: &mut [MaybeUninit<U>],
    takes_one: bool,
    visit: blocks::Visit2<'_, MaybeUninit<U>, A, B>,
) {
    blocks::each_pair(out, a, b, takes_one, visit);
}

/// `a[i] = f(a[i], b[i])`
pub fn zip_in_place<A: Copy + Send, B: Copy + Send + Sync + 'static>(
    a: &mut [A],
    b: &Strided<'_, B>,
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
    a: &Strided<'_, A>,
    b: &Strided<'_, B>,
    c: &Strided<'_, C>,
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
    use crate::kernels::testing::strided;
    use crate::kernels::testing::{at_thread_counts, written};
    use ndarray::{ArrayD, IxDyn, s};

    fn numbers(shape: &[usize], seed: usize) -> ArrayD<f64> {
        let len: usize = shape.iter().product();
        let values = (0..len).map(|index| ((index * 31 + seed) % 977) as f64 * 0.5 - 200.0).collect();
        ArrayD::from_shape_vec(shape, values).unwrap()
    }

    fn zipped(a: &Strided<'_, f64>, b: &Strided<'_, f64>) -> Vec<f64> {
        written(a.shape().iter().product(), |out| zip(a, b, out, |a, b| a * 3.0 - b))
    }

    /// All memory that an array has.
    fn all_of<T>(array: &ArrayD<T>) -> &[T] {
        array.as_slice_memory_order().unwrap_or_default()
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
            let (left_numbers, right_numbers) = (numbers(left, 1), numbers(right, 2));
            let a = left_numbers.broadcast(IxDyn(shape)).unwrap();
            let b = right_numbers.broadcast(IxDyn(shape)).unwrap();
            let lying = |view, array| strided(&view, all_of(array));
            let expected: Vec<f64> = a.iter().zip(b.iter()).map(|(a, b)| a * 3.0 - b).collect();
            let found = zipped(&lying(a.view(), &left_numbers), &lying(b.view(), &right_numbers));
            assert_eq!(found, expected, "{left:?} {right:?}");
            let expected: Vec<f64> = a.t().iter().zip(b.t().iter()).map(|(a, b)| a * 3.0 - b).collect();
            let right_turned = lying(b.t(), &right_numbers);
            let found = zipped(&lying(a.t(), &left_numbers), &right_turned);
            assert_eq!(found, expected, "{left:?} {right:?} transposed");
            let dense = a.t().as_standard_layout().into_owned();
            let found = zipped(&lying(dense.view(), &dense), &right_turned);
            assert_eq!(found, expected, "{left:?} {right:?} crosswise");
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
            let biases = numbers(&[columns - 1], 6);
            let bias = biases.broadcast(shape).unwrap();
            let dense = right.as_standard_layout().into_owned().into_dyn();
            let left = (left.into_dyn(), all_of(&all));
            let right = (right.into_dyn(), all_of(&all));
            let (bias, dense) = ((bias.into_dyn(), all_of(&biases)), (dense.view(), all_of(&dense)));
            for [a, b] in [[&left, &right], [&left, &dense], [&bias, &left]] {
                let expected: Vec<f64> = a.0.iter().zip(b.0.iter()).map(|(a, b)| a * 3.0 - b).collect();
                let (a, b) = (strided(&a.0, a.1), strided(&b.0, b.1));
                let [one, two, four] = at_thread_counts(|| zipped(&a, &b));
                assert_eq!(one, expected, "{rows} {columns}");
                assert_eq!([&two, &four], [&one; 2]);
            }
            let both = all.slice(s![.., .., 1..]).into_dyn();
            let expected: Vec<f64> = both.iter().map(|a| a * 3.0 - a).collect();
            let both = strided(&both, all_of(&all));
            assert_eq!(zipped(&both, &both), expected, "{rows} {columns}");
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
            let (left_numbers, right_numbers) = (numbers(left, 1), numbers(right, 2));
            let a = left_numbers.broadcast(IxDyn(shape)).unwrap();
            let b = right_numbers.broadcast(IxDyn(shape)).unwrap();
            let expected: Vec<f64> = a.iter().zip(b.iter()).map(|(a, b)| a * 3.0 - b).collect();
            let (a, b) = (strided(&a, all_of(&left_numbers)), strided(&b, all_of(&right_numbers)));
            let found = at_thread_counts(|| {
                written(expected.len(), |out| {
                    zip_blocks(&a, &b, out, true, &|out, len, pair| match pair {
                        Pair::Both(a, b) => zip_rows(len, a, b, out, |a, b| a * 3.0 - b),
                        Pair::Beside(a, b) => zip_beside(len, a, b, out, |a, b| a * 3.0 - b),
                        Pair::Behind(a, b) => zip_behind(len, a, b, out, |a, b| a * 3.0 - b),
                    });
                })
            });
            assert!(found.iter().all(|found| *found == expected), "{left:?} {right:?}");
        }
    }

    #[test]
    fn the_bits_are_the_same_at_any_number_of_threads() {
        let (a, b) = (numbers(&[500, 400], 3), numbers(&[400, 500], 4));
        let (a, b) = (strided(&a.view(), all_of(&a)), strided(&b.t(), all_of(&b)));
        let [one, two, four] = at_thread_counts(|| zipped(&a, &b));
        assert_eq!(one, two);
        assert_eq!(one, four);
    }

    #[test]
    fn the_destination_in_place_is_the_first_argument() {
        let mut a = numbers(&[100, 120], 5);
        let row = numbers(&[120], 6);
        let b = row.broadcast(IxDyn(&[100, 120])).unwrap();
        let expected = &a - &b;
        let b = strided(&b, all_of(&row));
        let Some(elements) = a.as_slice_mut() else { panic!("an owned array is in order") };
        zip_in_place(elements, &b, |a, b| a - b);
        assert_eq!(a, expected);
    }

    #[test]
    fn three_arguments_of_different_types_choose_by_the_first() {
        let condition = ArrayD::from_shape_fn(IxDyn(&[60, 70]), |index| Bool::new(index[1] % 3 == 0));
        let (a, number) = (numbers(&[60, 70], 8), numbers(&[1], 9));
        let b = number.broadcast(IxDyn(&[60, 70])).unwrap();
        let (first, second) = (strided(&a.view(), all_of(&a)), strided(&b, all_of(&number)));
        let condition = strided(&condition.view(), all_of(&condition));
        let choose = |c: Bool, a, b| if c.get() { a } else { b };
        let out = written(60 * 70, |out| zip3(&condition, &first, &second, out, choose));
        for (index, &value) in out.iter().enumerate() {
            let expected = if index % 70 % 3 == 0 { a.as_slice().unwrap()[index] } else { -195.5 };
            assert_eq!(value, expected);
        }
    }
}
