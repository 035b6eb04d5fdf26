//! Where along an axis the extreme element is. The first of equal elements counts, and a NaN is
//! more extreme than any number. The extreme itself is folded like every reduction.

use ndarray::ArrayViewD;
use std::mem::MaybeUninit;

use super::leaves::{Extreme, Leaves, Merge, greater, less};
use super::rows::{A_FEW, SHORT, fold_short, short_rows};
use super::{Fold, reduce_with};
use crate::dtype::Number;
use crate::kernels::geometry::dense::{Extent, dense};
use crate::kernels::interrupt;
use crate::kernels::parallel::{parallel_items, parallel_parts};
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::pointwise::map;
use crate::kernels::simd::vectorised;

/// Elements compared before looking whether one was found.
const STEP: usize = 256;

/// So many short rows are searched together.
const TOGETHER: usize = 4;

/// Rows of few columns are taken several at a time, if there are so many of these.
const MANY: usize = 8;

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
    let (extent, elements) = (Extent::new(view.shape(), axis), dense(&view));
    let Extent { outer, len, inner } = extent;
    if inner == 1 && (2..SHORT).contains(&len) && outer >= A_FEW {
        locate_short(&elements, len, greatest, &mut extremes, indices);
        return extremes;
    }
    let axes = if view.ndim() == 0 { &[][..] } else { &[axis][..] };
    let put = |out: &mut T, extreme| *out = extreme;
    if greatest {
        extremes_with::<T, T, Extreme<true>>(view.view(), axes, &mut extremes, T::LOWEST, greater, put);
    } else {
        extremes_with::<T, T, Extreme<false>>(view.view(), axes, &mut extremes, T::HIGHEST, less, put);
    }
    if inner > 1 {
        first_equal_rows(&elements, extent, &extremes, indices);
        return extremes;
    }
    parallel_parts(indices, (GRAIN / 4 / len.max(1)).max(1), |start, part| {
        let rows = elements[start * len..].chunks_exact(len);
        part.iter_mut().zip(rows).zip(&extremes[start..]).for_each(|((out, row), &extreme)| {
            out.write(first_equal(row, extreme));
        });
    });
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

/// The extremes of short rows and their places, several rows at a time: what is found in one need not wait for that of
/// another.
fn locate_short<T: Number>(
    elements: &[T],
    len: usize,
    greatest: bool,
    extremes: &mut [T],
    indices: &mut [MaybeUninit<i64>],
) {
    let grain = (GRAIN / 4 / len).next_multiple_of(TOGETHER);
    let parts = extremes.chunks_mut(grain).zip(indices.chunks_mut(grain)).zip(elements.chunks(grain * len));
    parallel_items(parts, 1, |((extremes, indices), elements)| {
        let (groups, rest) = extremes.as_chunks_mut::<TOGETHER>();
        let (whole, single) = elements.split_at(groups.len() * TOGETHER * len);
        let (places, left) = indices.split_at_mut(groups.len() * TOGETHER);
        let rows = whole.chunks_exact(TOGETHER * len).zip(places.as_chunks_mut::<TOGETHER>().0);
        for (extremes, (rows, places)) in groups.iter_mut().zip(rows) {
            first_extremes(rows, greatest, extremes, places);
        }
        let rows = single.chunks_exact(len).zip(left.as_chunks_mut::<1>().0);
        for (extreme, (row, place)) in rest.as_chunks_mut::<1>().0.iter_mut().zip(rows) {
            first_extremes(row, greatest, extreme, place);
        }
    });
}

/// The extremes of `N` rows that follow one another, and their places.
#[inline(always)]
fn first_extremes<T: Number, const N: usize>(
    elements: &[T],
    greatest: bool,
    extremes: &mut [T; N],
    indices: &mut [MaybeUninit<i64>; N],
) {
    let len = elements.len() / N;
    let elements: [&[T]; N] = std::array::from_fn(|row| &elements[row * len..(row + 1) * len]);
    let (mut best, mut places) = (elements.map(|row| row[0]), [0; N]);
    for place in 1..len {
        for ((row, best), found) in elements.iter().zip(&mut best).zip(&mut places) {
            let x = row[place];
            let beats = if greatest { x > *best } else { x < *best };
            let beats = beats | (x.is_nan() & !best.is_nan());
            *best = if beats { x } else { *best };
            *found = if beats { place as i64 } else { *found };
        }
    }
    *extremes = best;
    *indices = places.map(MaybeUninit::new);
}

/// As `first_equal` along an axis that other axes follow: from the last row to the first, so that
/// the first one stays.
fn first_equal_rows<T: Number>(
    elements: &[T],
    Extent { len, inner, .. }: Extent,
    extremes: &[T],
    indices: &mut [MaybeUninit<i64>],
) {
    /// Behind all rows, with room for those beside one.
    const NOWHERE: i64 = i64::MAX - STEP as i64;

    parallel_parts(indices, (GRAIN / len.max(1)).max(STEP), |mut position, mut part| {
        while !part.is_empty() {
            let (outer, column) = (position / inner, position % inner);
            let width = part.len().min(inner - column).min(STEP);
            let elements = &elements[outer * len * inner + column..];
            let beside = if width == inner { (STEP / inner).min(len / MANY).max(1) } else { 1 };
            let (mut near, mut found) = ([T::ZERO; STEP], [NOWHERE; STEP]);
            let (near, found) = (&mut near[..beside * width], &mut found[..beside * width]);
            let extremes = &extremes[position..position + width];
            near.chunks_exact_mut(width).for_each(|near| near.copy_from_slice(extremes));
            let whole = len - len % beside;
            vectorised(
                near.len(),
                #[inline(always)]
                || {
                    for row in (0..whole).step_by(beside).rev() {
                        let elements = &elements[row * inner..][..near.len()];
                        for ((index, &x), &extreme) in found.iter_mut().zip(elements).zip(&*near) {
                            *index = if hits(x, extreme) { row as i64 } else { *index };
                        }
                    }
                },
            );
            let (done, rest) = part.split_at_mut(width);
            for (column, (out, &extreme)) in done.iter_mut().zip(extremes).enumerate() {
                let places = (0..).zip(found[column..].iter().step_by(width));
                let first = places.map(|(behind, row)| row + behind).fold(NOWHERE, i64::min);
                let left = || (whole..len).find(|row| hits(elements[row * inner + column], extreme));
                let first = if first < NOWHERE { first } else { left().unwrap_or(0) as i64 };
                out.write(first);
            }
            (position, part) = (position + width, rest);
        }
    });
}
