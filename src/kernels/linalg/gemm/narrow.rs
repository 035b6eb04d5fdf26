//! Products of few columns, where vectors of a row would be nearly empty: sums go along the depth if the left factor lies
//! row by row, and along its rows if it lies column by column.

use std::mem::MaybeUninit;

use ndarray::ArrayView2;

use crate::dtype::Ring;
use crate::kernels::simd::vectorised;

/// Numbers that are calculated with together, and twice as many of those that take half the room.
const LANES: usize = 8;
const MANY: usize = 16;

/// So many columns are few.
const MOST: usize = 4;

/// How deep a product may be: so much of the right factor is laid out anew.
const DEEP: usize = 64;

/// Writes `a b` if it is such a product, and says whether it was.
pub(super) fn narrow<T: Ring>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: &mut [MaybeUninit<T>],
) -> bool {
    let ((rows, depth), columns) = (a.dim(), b.ncols());
    if !(2..=MOST).contains(&columns) || rows <= columns || depth > DEEP || !T::DTYPE.is_float() {
        return false;
    }
    let Some((left, by_columns)) =
        a.to_slice().map(|left| (left, false)).or_else(|| Some((a.reversed_axes().to_slice()?, true)))
    else {
        return false;
    };
    vectorised(
        rows * depth * columns,
        #[inline(always)]
        || match (by_columns, columns, size_of::<T>()) {
            (false, 2, 4) => along_depth::<T, 2, MANY>(left, b, out),
            (false, 2, _) => along_depth::<T, 2, LANES>(left, b, out),
            (false, 3, 4) => along_depth::<T, 3, MANY>(left, b, out),
            (false, 3, _) => along_depth::<T, 3, LANES>(left, b, out),
            (false, _, 4) => along_depth::<T, 4, MANY>(left, b, out),
            (false, ..) => along_depth::<T, 4, LANES>(left, b, out),
            (true, 2, _) => along_rows::<T, 2>(left, b, out),
            (true, 3, _) => along_rows::<T, 3>(left, b, out),
            (true, ..) => along_rows::<T, 4>(left, b, out),
        },
    );
    true
}

/// The columns of a matrix, one after the other, and zeros behind them.
#[inline(always)]
fn columns_of<T: Ring, const C: usize>(b: ArrayView2<'_, T>) -> [[T; DEEP]; C] {
    let mut columns = [[T::ZERO; DEEP]; C];
    for (place, line) in b.outer_iter().enumerate() {
        for (column, &number) in columns.iter_mut().zip(line) {
            column[place] = number;
        }
    }
    columns
}

/// `sums += x y`, lane by lane.
#[inline(always)]
fn add_products<T: Ring, const L: usize>(sums: &mut [T; L], x: &[T; L], y: &[T; L]) {
    for lane in 0..L {
        sums[lane] = sums[lane].add(x[lane].mul(y[lane]));
    }
}

/// What there is of so many numbers, and zeros behind them.
#[inline(always)]
fn padded<T: Ring, const L: usize>(numbers: &[T]) -> [T; L] {
    match numbers.first_chunk() {
        Some(all) => *all,
        None => {
            let mut padded = [T::ZERO; L];
            padded[..numbers.len()].copy_from_slice(numbers);
            padded
        }
    }
}

/// Of a left factor that lies row by row.
#[inline(always)]
fn along_depth<T: Ring, const C: usize, const L: usize>(
    left: &[T],
    b: ArrayView2<'_, T>,
    out: &mut [MaybeUninit<T>],
) {
    let (right, depth) = (columns_of::<T, C>(b), b.nrows());
    for (line, out) in left.chunks_exact(depth).zip(out.as_chunks_mut::<C>().0) {
        let mut sums = [[T::ZERO; L]; C];
        for place in (0..depth).step_by(L) {
            let x = padded(&line[place..]);
            for column in 0..C {
                if let Some(y) = right[column][place..].first_chunk() {
                    add_products::<T, L>(&mut sums[column], &x, y);
                }
            }
        }
        let mut half = L / 2;
        while half > 0 {
            for sums in &mut sums {
                for lane in 0..half {
                    sums[lane] = sums[lane].add(sums[lane + half]);
                }
            }
            half /= 2;
        }
        for column in 0..C {
            out[column].write(sums[column][0]);
        }
    }
}

/// Of a left factor that lies column by column.
#[inline(always)]
fn along_rows<T: Ring, const C: usize>(left: &[T], b: ArrayView2<'_, T>, out: &mut [MaybeUninit<T>]) {
    let right = columns_of::<T, C>(b);
    let rows = left.len() / b.nrows();
    for (first, out) in (0..rows).step_by(LANES).zip(out.chunks_mut(LANES * C)) {
        let mut sums = [[T::ZERO; LANES]; C];
        for (place, column) in left.chunks_exact(rows).enumerate() {
            let x = padded(&column[first..rows.min(first + LANES)]);
            for (sums, column) in sums.iter_mut().zip(&right) {
                add_products(sums, &x, &[column[place]; LANES]);
            }
        }
        for (lane, out) in out.as_chunks_mut::<C>().0.iter_mut().enumerate() {
            for column in 0..C {
                out[column].write(sums[column][lane]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::written;
    use ndarray::Array2;

    #[test]
    fn few_columns_multiply_like_the_naive_loop_whatever_the_layout() {
        let number = |(i, j)| ((i * 31 + j * 17) % 23) as f64 - 11.0;
        let numbers = |m: usize, n: usize| Array2::from_shape_fn((m, n), number);
        let sizes =
            [5, 8, 9, 33].into_iter().flat_map(|rows| [1, 7, 8, 16, 33, 64].map(|depth| (rows, depth)));
        for (rows, depth, columns) in sizes.flat_map(|(rows, depth)| [2, 3, 4].map(|n| (rows, depth, n))) {
            let (a, b) = (numbers(rows, depth), numbers(depth, columns));
            let expected: Vec<f64> = a.dot(&b).into_iter().collect();
            let (at, bt) = (a.t().as_standard_layout().into_owned(), b.t().as_standard_layout().into_owned());
            for (a, b) in [(a.view(), b.view()), (at.t(), b.view()), (a.view(), bt.t()), (at.t(), bt.t())] {
                assert_eq!(written(rows * columns, |out| assert!(narrow(a, b, out))), expected);
            }
        }
    }
}
