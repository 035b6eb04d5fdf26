//! Products by plain loops: little ones, and those of integers.

use std::mem::MaybeUninit;

use ndarray::ArrayView2;

use crate::dtype::Ring;
use crate::kernels::interrupt::Steps;
use crate::kernels::simd::vectorised;

/// Columns that are computed together, if there are so many, and if there are few.
const STRETCH: usize = 32;
const SHORT: usize = 4;

/// The product of little squares, added up in the order of `plain`.
#[inline]
pub(super) fn square<T: Ring, const N: usize>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: &mut [MaybeUninit<T>],
) {
    let [a, b] = [a, b].map(|matrix| {
        let mut numbers = [[T::ZERO; N]; N];
        for (row, numbers) in numbers.iter_mut().enumerate() {
            for (column, number) in numbers.iter_mut().enumerate() {
                *number = matrix[[row, column]];
            }
        }
        numbers
    });
    for row in 0..N {
        let mut sums = [T::ZERO; N];
        for p in 0..N {
            for column in 0..N {
                sums[column] = sums[column].add(a[row][p].mul(b[p][column]));
            }
        }
        for column in 0..N {
            out[row * N + column].write(sums[column]);
        }
    }
}

/// The product of little matrices that lie row by row, the right one with so many columns, added up in the order of
/// `plain`.
#[inline]
pub(super) fn little<T: Ring>(a: &[T], b: &[T], columns: usize, out: &mut [MaybeUninit<T>]) {
    let depth = b.len() / columns;
    for (row, out) in out.chunks_exact_mut(columns).enumerate() {
        let row = &a[row * depth..][..depth];
        for (column, out) in out.iter_mut().enumerate() {
            let line = b[column.min(b.len())..].iter().step_by(columns);
            out.write(row.iter().zip(line).fold(T::ZERO, |sum, (&x, &y)| sum.add(x.mul(y))));
        }
    }
}

/// One product without packing, whose rows are given.
pub(super) fn plain<'a, T: Ring>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: impl Iterator<Item = &'a mut [MaybeUninit<T>]>,
) {
    if b.ncols() <= SHORT {
        return stretches::<T, SHORT>(a, b, out);
    }
    vectorised(
        a.len() * b.ncols(),
        #[inline(always)]
        || stretches::<T, STRETCH>(a, b, out),
    );
}

/// Every row of the product in stretches that fit into registers.
#[inline(always)]
fn stretches<'a, T: Ring, const WIDTH: usize>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: impl Iterator<Item = &'a mut [MaybeUninit<T>]>,
) {
    let mut steps = Steps::default();
    for (row, out) in a.outer_iter().zip(out) {
        steps.take(row.len() * out.len());
        for (stretch, out) in out.chunks_mut(WIDTH).enumerate() {
            let (first, width) = (stretch * WIDTH, out.len());
            let mut sums = [T::ZERO; WIDTH];
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
