//! Where along an axis the extreme element is. The first of equal elements counts, and a NaN is
//! more extreme than any number. The extreme itself is folded like every reduction.

use ndarray::ArrayViewD;
use std::mem::MaybeUninit;

use super::leaves::{Extreme, Leaves, Merge};
use super::named::{greater, less};
use super::rows::{fold_short, short_rows};
use super::{Fold, reduce_with};
use crate::dtype::Number;
use crate::kernels::geometry::dense::{Extent, dense};
use crate::kernels::interrupt;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::pointwise::map;
use crate::kernels::simd::vectorised;

/// Elements compared before looking whether one was found.
const STEP: usize = 256;

/// Of so few elements all are compared, the last one first.
const FEW: usize = 32;

/// Index of the greatest (or least) element along `axis`, which is not empty.
pub fn arg_extreme<T: Number>(
    view: ArrayViewD<'_, T>,
    axis: usize,
    greatest: bool,
    out: &mut [MaybeUninit<i64>],
) {
    locate(view, axis, greatest, out);
}

/// The greatest (or least) elements along `axis`, which is not empty, with their indices.
pub fn extreme_with_index<T: Number>(
    view: ArrayViewD<'_, T>,
    axis: usize,
    greatest: bool,
    values: &mut [MaybeUninit<T>],
    indices: &mut [MaybeUninit<i64>],
) {
    map::map_slice(&locate(view, axis, greatest, indices), values, |x| x);
}

/// What is left of elements of which `merge` leaves one of two.
pub(super) fn extremes_with<T: Number, V: Send, M: Merge>(
    view: ArrayViewD<'_, T>,
    axes: &[usize],
    out: &mut [V],
    identity: T,
    merge: impl Fn(T, T) -> T + Copy + Sync,
    put: impl Fn(&mut V, T) + Copy + Sync,
) {
    if let Some(leaves) = Leaves::new::<M>(&view, axes) {
        return leaves.fold(out, put);
    }
    let fold = Fold { identity, map: std::convert::identity, merge };
    match short_rows(&view, axes) {
        Some((elements, len)) => fold_short(elements, len, out, fold, put),
        None => reduce_with(view, axes, out, fold, put),
    }
}

/// Writes the indices and returns the extremes.
fn locate<T: Number>(
    view: ArrayViewD<'_, T>,
    axis: usize,
    greatest: bool,
    indices: &mut [MaybeUninit<i64>],
) -> Vec<T> {
    let mut extremes = interrupt::filled(indices.len(), T::ZERO);
    let axes = if view.ndim() == 0 { &[][..] } else { &[axis][..] };
    let put = |out: &mut T, extreme| *out = extreme;
    if greatest {
        extremes_with::<T, T, Extreme<true>>(view.view(), axes, &mut extremes, T::LOWEST, greater, put);
    } else {
        extremes_with::<T, T, Extreme<false>>(view.view(), axes, &mut extremes, T::HIGHEST, less, put);
    }
    let extent = Extent::new(view.shape(), axis);
    let elements = dense(&view);
    if extent.inner == 1 {
        parallel_parts(indices, (GRAIN / 4 / extent.len.max(1)).max(1), |start, part| {
            let rows = elements[start * extent.len..].chunks_exact(extent.len);
            let rows = part.iter_mut().zip(rows).zip(&extremes[start..]);
            if extent.len > FEW {
                return rows.for_each(|((out, row), &extreme)| {
                    out.write(first_equal(row, extreme));
                });
            }
            for ((out, row), &extreme) in rows {
                let back = row.iter().enumerate().rev();
                out.write(back.fold(0, |place, (at, &x)| if hits(x, extreme) { at as i64 } else { place }));
            }
        });
    } else {
        first_equal_rows(&elements, extent, &extremes, indices);
    }
    extremes
}

/// Whether an element is the extreme one; if that is NaN, any NaN is.
#[inline]
fn hits<T: Number>(element: T, extreme: T) -> bool {
    element == extreme || (element.is_nan() && extreme.is_nan())
}

/// The place of the first element that is the extreme one.
fn first_equal<T: Number>(row: &[T], extreme: T) -> i64 {
    // Whether it is among many is found at once, where it is among few one by one.
    let mut passed = 0;
    for step in row.chunks(STEP) {
        let is_here = vectorised(
            step.len(),
            #[inline(always)]
            || step.iter().fold(false, |is_here, &x| is_here | hits(x, extreme)),
        );
        if is_here {
            let place = step.iter().position(|&x| hits(x, extreme));
            return passed + place.unwrap_or_default() as i64;
        }
        passed += step.len() as i64;
    }
    0
}

/// As `first_equal` along an axis that other axes follow: from the last row to the first, so that
/// the first one stays.
fn first_equal_rows<T: Number>(
    elements: &[T],
    Extent { len, inner, .. }: Extent,
    extremes: &[T],
    indices: &mut [MaybeUninit<i64>],
) {
    parallel_parts(indices, (GRAIN / len.max(1)).max(STEP), |mut position, mut part| {
        while !part.is_empty() {
            let (outer, column) = (position / inner, position % inner);
            let width = part.len().min(inner - column).min(STEP);
            let mut found = [0i64; STEP];
            let extremes = &extremes[position..position + width];
            vectorised(
                width,
                #[inline(always)]
                || {
                    for row in (0..len).rev() {
                        let elements = &elements[(outer * len + row) * inner + column..][..width];
                        for ((index, &x), &extreme) in found.iter_mut().zip(elements).zip(extremes) {
                            *index = if hits(x, extreme) { row as i64 } else { *index };
                        }
                    }
                },
            );
            let (done, rest) = part.split_at_mut(width);
            done.iter_mut().zip(found).for_each(|(out, index)| {
                out.write(index);
            });
            (position, part) = (position + width, rest);
        }
    });
}
