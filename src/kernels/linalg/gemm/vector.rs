//! Products with a vector. They read the matrix once, so packing it would only cost.

use ndarray::{ArrayView1, ArrayView2};
use std::mem::MaybeUninit;

use crate::dtype::Number;
use crate::kernels::interrupt;
use crate::kernels::simd::vectorised;

/// Sums that run side by side.
const LANES: usize = 32;

/// Elements that a lane's sum is carried over.
const LEAF: usize = 4096;

/// Columns summed together: the sums stay in the first-level cache.
const WIDTH: usize = 512;

/// The sum of the products of two slices of the same length.
pub fn dot<T: Number>(a: &[T], b: &[T]) -> T {
    let leaves = a.chunks(LEAF).zip(b.chunks(LEAF));
    leaves.fold(T::ZERO, |sum, (a, b)| sum.add(vectorised(a.len(), || leaf(a, b))))
}

#[inline(always)]
fn leaf<T: Number>(a: &[T], b: &[T]) -> T {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [T::ZERO; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] = sums[lane].add(a[lane].mul(b[lane]));
        }
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            sums[lane] = sums[lane].add(sums[lane + width]);
        }
    }
    a_rest.iter().zip(b_rest).fold(sums[0], |sum, (&a, &b)| sum.add(a.mul(b)))
}

/// `out = x matrix`, if the matrix is contiguous along one of its axes; says whether it was.
pub(super) fn times_matrix<T: Number>(
    x: ArrayView1<'_, T>,
    matrix: ArrayView2<'_, T>,
    out: &mut [MaybeUninit<T>],
) -> bool {
    let (rows, columns) = matrix.dim();
    let along_columns = rows == 1 || matrix.strides()[0] == 1;
    if !along_columns && columns > 1 && matrix.strides()[1] != 1 {
        return false;
    }
    let copy;
    let x = match x.as_slice() {
        Some(x) => x,
        None => {
            copy = interrupt::collected(x.iter().copied());
            &copy
        }
    };
    if along_columns {
        for (column, out) in matrix.columns().into_iter().zip(out) {
            let Some(column) = column.as_slice() else { unreachable!("columns have stride 1") };
            out.write(dot(x, column));
        }
        return true;
    }
    for (block, out) in out.chunks_mut(WIDTH).enumerate() {
        let (first, width) = (block * WIDTH, out.len());
        let mut sums = [T::ZERO; WIDTH];
        vectorised(width, || {
            for (&x, row) in x.iter().zip(matrix.rows()) {
                let Some(row) = row.as_slice() else { unreachable!("rows have stride 1") };
                let row = &row[first..first + width];
                sums.iter_mut().zip(row).for_each(|(sum, &y)| *sum = sum.add(x.mul(y)));
            }
        });
        out.iter_mut().zip(sums).for_each(|(out, sum)| {
            out.write(sum);
        });
    }
    true
}
