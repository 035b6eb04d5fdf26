//! Products of integers: tiles of rows and columns whose sums stay in registers. The right factor is laid out in panels
//! as wide as a tile, rows of the left one number by number, so that both may lie in any way.

use std::mem::MaybeUninit;

use ndarray::{ArrayView2, s};

use crate::dtype::Ring;
use crate::kernels::interrupt::{self, Steps};
use crate::kernels::simd::vectorised;

/// Rows of a tile, and its columns, and those where there are no more anyway. Of fewer the compiler makes numbers of
/// their own, which do not fit into registers.
const ROWS: usize = 4;
const ACROSS: usize = 32;
const NARROW: usize = 8;

/// The product of a matrix of at least so many rows is made in tiles.
pub(super) const LEAST_ROWS: usize = ROWS;

/// One product, whose rows are given.
pub(super) fn tiled<'a, T: Ring>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: impl Iterator<Item = &'a mut [MaybeUninit<T>]>,
) {
    let is_narrow = b.ncols() <= NARROW;
    vectorised(
        a.len() * b.ncols(),
        #[inline(always)]
        || if is_narrow { tiles::<T, NARROW>(a, b, out) } else { tiles::<T, ACROSS>(a, b, out) },
    );
}

/// Every product, `ROWS` rows and `WIDTH` columns at a time; what is missing of the last ones is zeros.
#[inline(always)]
fn tiles<'a, T: Ring, const WIDTH: usize>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    mut out: impl Iterator<Item = &'a mut [MaybeUninit<T>]>,
) {
    let ((rows, depth), columns) = (a.dim(), b.ncols());
    let panels = panels::<T, WIDTH>(b);
    let (mut turned, mut steps) = (interrupt::filled(depth, [T::ZERO; ROWS]), Steps::default());
    for first in (0..rows).step_by(ROWS) {
        let own = ROWS.min(rows - first);
        steps.take(own * depth * columns);
        for (row, line) in a.slice(s![first..first + own, ..]).outer_iter().enumerate() {
            match line.to_slice() {
                Some(line) => turned.iter_mut().zip(line).for_each(|(to, &x)| to[row] = x),
                None => turned.iter_mut().zip(line).for_each(|(to, &x)| to[row] = x),
            }
        }
        let mut lines: [&mut [MaybeUninit<T>]; ROWS] = [(); ROWS].map(|()| &mut [][..]);
        lines.iter_mut().take(own).zip(&mut out).for_each(|(place, line)| *place = line);
        for (panel, from) in panels.chunks_exact(depth.max(1)).zip((0..columns).step_by(WIDTH)) {
            let sums = tile(&turned, panel);
            for (line, sums) in lines.iter_mut().zip(&sums) {
                for (place, &sum) in line.iter_mut().skip(from).zip(sums) {
                    place.write(sum);
                }
            }
        }
    }
}

/// The right factor in panels of so many columns, one after the other, and zeros behind the last column.
#[inline(always)]
fn panels<T: Ring, const WIDTH: usize>(b: ArrayView2<'_, T>) -> Vec<[T; WIDTH]> {
    let (depth, columns) = b.dim();
    let mut panels = interrupt::filled(depth * columns.div_ceil(WIDTH), [T::ZERO; WIDTH]);
    for (panel, first) in panels.chunks_exact_mut(depth.max(1)).zip((0..columns).step_by(WIDTH)) {
        let own = b.slice(s![.., first..columns.min(first + WIDTH)]);
        if own.strides()[1] == 1 {
            for (to, line) in panel.iter_mut().zip(own.outer_iter()) {
                match line.to_slice().map(|line| (line.first_chunk(), line)) {
                    Some((Some(whole), _)) => *to = *whole,
                    Some((None, line)) => to[..line.len()].copy_from_slice(line),
                    None => to.iter_mut().zip(line).for_each(|(to, &x)| *to = x),
                }
            }
        } else {
            for (column, line) in own.columns().into_iter().enumerate() {
                match line.to_slice() {
                    Some(line) => panel.iter_mut().zip(line).for_each(|(to, &x)| to[column] = x),
                    None => panel.iter_mut().zip(line).for_each(|(to, &x)| to[column] = x),
                }
            }
        }
    }
    panels
}

/// The products of a panel with some rows, number by number.
#[inline(always)]
fn tile<T: Ring, const WIDTH: usize>(turned: &[[T; ROWS]], panel: &[[T; WIDTH]]) -> [[T; WIDTH]; ROWS] {
    // Loops count, and do not zip: what is not inlined here would keep sums in memory.
    #![allow(clippy::needless_range_loop)]
    let mut sums = [[T::ZERO; WIDTH]; ROWS];
    let turned = &turned[..panel.len()];
    for p in 0..panel.len() {
        let (factors, near) = (turned[p], panel[p]);
        for row in 0..ROWS {
            for column in 0..WIDTH {
                sums[row][column] = sums[row][column].add(factors[row].mul(near[column]));
            }
        }
    }
    sums
}
