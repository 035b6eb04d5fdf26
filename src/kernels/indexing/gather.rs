//! Reading and writing elements by index. The caller has checked every index with `first_bad`;
//! an index below zero counts from the end where the caller allows it. Writes go in the order of
//! the index on one thread, so that repeated indices give the same bits every time.

mod truths;
mod within;

use ndarray::{ArrayViewD, ArrayViewMutD};
use std::mem::MaybeUninit;

use crate::dtype::Element;
use crate::kernels::geometry::dense::{Extent, dense, with_dense};
use crate::kernels::geometry::moves::move_slice;
use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
pub use truths::{count_true, flat_nonzero, nonzero};
pub use within::{counted, first_bad};

/// Elements that are looked for, moved or combined before anybody asks whether to go on.
const RUN: usize = 1024;

/// Elements that are worth another thread: they come from anywhere.
const FETCHED: usize = GRAIN / 4;

/// `out[i][j][k] = source[i][index[i][j][k]][k]` for `axis` 1; `out` has the shape of `index`, which
/// may be smaller than the source along the other axes.
pub fn gather<T: Element>(
    source: ArrayViewD<'_, T>,
    axis: usize,
    index: ArrayViewD<'_, i64>,
    out: &mut [MaybeUninit<T>],
) {
    let places = Places::new(source.shape(), index.shape(), axis);
    let (source, index) = (dense(&source), dense(&index));
    let grain = if places.row < FETCHED { FETCHED / places.row * places.row } else { FETCHED };
    parallel_parts(out, grain, |start, part| {
        let mut steps = Steps::default();
        if let Some(len) = places.row_of_array() {
            steps.take(part.len());
            let rows = index[start..]
                .chunks_exact(places.row)
                .zip(source[start / places.row * len..].chunks_exact(len));
            for (out, (index, source)) in part.chunks_exact_mut(places.row).zip(rows) {
                out.iter_mut().zip(index).for_each(|(out, &index)| {
                    out.write(source[index as usize]);
                });
            }
            return;
        }
        let (mut row, mut column) = (start / places.row, start % places.row);
        let (mut out, mut index) = (part, &index[start..]);
        while !out.is_empty() {
            let count = (places.row - column).min(out.len()).min(RUN);
            let (now, rest) = out.split_at_mut(count);
            let (places_of, later) = index.split_at(count);
            steps.take(count);
            let source = &source[places.base(row) + column * places.column_stride..];
            let at = now.iter_mut().zip(places_of);
            match (places.column_stride, places.axis_stride) {
                (0, 1) => at.for_each(|(out, &index)| {
                    out.write(source[index as usize]);
                }),
                _ => at.enumerate().for_each(|(column, (out, &index))| {
                    out.write(source[places.at(column, index)]);
                }),
            }
            (out, index, column) = (rest, later, column + count);
            if column == places.row {
                (row, column) = (row + 1, 0);
            }
        }
    });
}

/// Combines each value into the element that `gather` with the same index would read: `|_, value|
/// value` scatters, addition accumulates. `values` has the shape of `index`.
pub fn scatter<T: Element>(
    target: ArrayViewMutD<'_, T>,
    axis: usize,
    index: ArrayViewD<'_, i64>,
    values: ArrayViewD<'_, T>,
    combine: impl Fn(T, T) -> T + Sync,
) {
    scatter_runs(target, axis, index, values, &Each(combine));
}

/// The loops that combine elements, which are all that is compiled for each way to do so.
trait Combine<T>: Sync {
    /// Into elements that an index names, the first column of which begins the target.
    fn run(&self, target: &mut [T], places: &Places, index: &[i64], values: &[T]);
    /// Into rows of `len` elements, in each of which as many as this are named.
    fn rows(&self, target: &mut [T], len: usize, index: &[i64], values: &[T], named: usize);
    /// Into elements that lie as the values do.
    fn row(&self, target: &mut [T], values: &[T]);
}

/// Loops over a function of an element and a value.
struct Each<F>(F);

impl<T: Element, F: Fn(T, T) -> T + Sync> Combine<T> for Each<F> {
    fn run(&self, target: &mut [T], places: &Places, index: &[i64], values: &[T]) {
        let at = index.iter().zip(values);
        match (places.column_stride, places.axis_stride) {
            (0, 1) => at.for_each(|(&index, &value)| {
                let slot = &mut target[index as usize];
                *slot = self.0(*slot, value);
            }),
            _ => at.enumerate().for_each(|(column, (&index, &value))| {
                let slot = &mut target[places.at(column, index)];
                *slot = self.0(*slot, value);
            }),
        }
    }

    fn rows(&self, target: &mut [T], len: usize, index: &[i64], values: &[T], named: usize) {
        let rows = index.chunks_exact(named).zip(values.chunks_exact(named));
        for (target, (index, values)) in target.chunks_exact_mut(len).zip(rows) {
            for (&index, &value) in index.iter().zip(values) {
                let slot = &mut target[index as usize];
                *slot = self.0(*slot, value);
            }
        }
    }

    fn row(&self, target: &mut [T], values: &[T]) {
        target.iter_mut().zip(values).for_each(|(slot, &value)| *slot = self.0(*slot, value));
    }
}

#[inline(never)] // Once, and not for every way to combine.
fn scatter_runs<T: Element>(
    target: ArrayViewMutD<'_, T>,
    axis: usize,
    index: ArrayViewD<'_, i64>,
    values: ArrayViewD<'_, T>,
    combine: &dyn Combine<T>,
) {
    let places = Places::new(target.shape(), index.shape(), axis);
    let (shape, is_last) = (target.shape(), axis + 1 == target.ndim());
    let own = if is_last && shape[..axis] == index.shape()[..axis] { shape[axis] } else { 0 };
    let (index, values) = (dense(&index), dense(&values));
    with_dense(target, |target| {
        if own > 0 && !index.is_empty() {
            return scatter_rows(target, own, &places, (&index, &values), combine);
        }
        let mut steps = Steps::default();
        for (row, (index, values)) in index.chunks(places.row).zip(values.chunks(places.row)).enumerate() {
            let target = &mut target[places.base(row)..];
            for (column, (index, values)) in index.chunks(RUN).zip(values.chunks(RUN)).enumerate() {
                steps.take(index.len());
                combine.run(&mut target[column * RUN * places.column_stride..], &places, index, values);
            }
        }
    });
}

/// `scatter` into rows of so many elements, each of which has a row of the index of its own: threads share them.
fn scatter_rows<T: Element>(
    target: &mut [T],
    len: usize,
    places: &Places,
    (index, values): (&[i64], &[T]),
    combine: &dyn Combine<T>,
) {
    let row = index.len() / (target.len() / len);
    parallel_parts(target, (FETCHED / len.max(row)).max(1) * len, |start, part| {
        let (first, mut steps) = (start / len * row, Steps::default());
        let together = (RUN / row).max(1);
        let rows = index[first..].chunks(row * together).zip(values[first..].chunks(row * together));
        for (target, (index, values)) in part.chunks_mut(len * together).zip(rows) {
            if row <= RUN {
                steps.take(index.len());
                combine.rows(target, len, index, values, row);
                continue;
            }
            for (index, values) in index.chunks(RUN).zip(values.chunks(RUN)) {
                steps.take(index.len());
                combine.run(target, places, index, values);
            }
        }
    });
}

/// Where in the memory of a row-major array the elements lie that an index along one axis names.
struct Places {
    /// Elements of a row of the index, at least 1.
    row: usize,
    /// Axes of the index before the last: length, and stride in the array (0 for the axis indexed).
    outer: Vec<(usize, usize)>,
    column_stride: usize,
    axis_stride: usize,
}

impl Places {
    fn new(array: &[usize], index: &[usize], axis: usize) -> Places {
        let strides = (0..array.len()).map(|axis| array[axis + 1..].iter().product::<usize>());
        let mut strides: Vec<usize> = strides.collect();
        let axis_stride = strides.get(axis).copied().unwrap_or(1);
        if let Some(stride) = strides.get_mut(axis) {
            *stride = 0;
        }
        let row = index.last().copied().unwrap_or(1).max(1);
        let column_stride = strides.pop().unwrap_or(0);
        let outer = index.iter().copied().zip(strides).collect();
        Places { row, outer, column_stride, axis_stride }
    }

    /// How many elements a row of the array has, if each has a short row of the index to itself.
    fn row_of_array(&self) -> Option<usize> {
        match self.outer[..] {
            [(_, len)] if self.row < RUN && (self.column_stride, self.axis_stride) == (0, 1) && len > 0 => {
                Some(len)
            }
            _ => None,
        }
    }

    /// The place of index 0 in the first column of a row.
    fn base(&self, mut row: usize) -> usize {
        let Some((&(_, first), behind)) = self.outer.split_first() else { return 0 };
        let mut base = 0;
        for &(len, stride) in behind.iter().rev() {
            base += row % len * stride;
            row /= len;
        }
        base + row * first
    }

    /// How far behind the first column of a row, and index 0, an index names an element.
    #[inline(always)]
    fn at(&self, column: usize, index: i64) -> usize {
        column * self.column_stride + index as usize * self.axis_stride
    }
}

/// Whole slices of `axis` in the order of `index`.
pub fn index_select<T: Element>(
    source: ArrayViewD<'_, T>,
    axis: usize,
    index: &[i64],
    out: &mut [MaybeUninit<T>],
) {
    select(&dense(&source), Extent::new(source.shape(), axis), index, out);
}

/// Combines the slices of `values` into the slices of `axis` that `index` names, in that order.
/// `values` has the shape of `target` but for `axis`, which is as long as `index`.
pub fn index_combine<T: Element>(
    target: ArrayViewMutD<'_, T>,
    axis: usize,
    index: &[i64],
    values: ArrayViewD<'_, T>,
    combine: impl Fn(T, T) -> T + Copy + Sync,
) {
    let extent = Extent::new(target.shape(), axis);
    merge_into(target, extent, index, &dense(&values), &Each(combine));
}

/// `out[p] = source[indices[0][p], indices[1][p], ...]`: the leading axes of `source` are indexed,
/// those that follow are taken whole. All indices have the same shape and may be negative.
pub fn take<T: Element>(
    source: ArrayViewD<'_, T>,
    indices: &[ArrayViewD<'_, i64>],
    out: &mut [MaybeUninit<T>],
) {
    let (positions, extent) = positions(source.shape(), indices);
    select(&dense(&source), extent, &positions, out);
}

/// Combines `values` into the elements that `take` with the same indices would read, in that order.
pub fn put<T: Element>(
    target: ArrayViewMutD<'_, T>,
    indices: &[ArrayViewD<'_, i64>],
    values: ArrayViewD<'_, T>,
    combine: impl Fn(T, T) -> T + Copy + Sync,
) {
    let (positions, extent) = positions(target.shape(), indices);
    merge_into(target, extent, &positions, &dense(&values), &Each(combine));
}

/// `merge` wherever the elements lie.
#[inline(never)] // Once, and not for every way to combine.
fn merge_into<T: Element>(
    target: ArrayViewMutD<'_, T>,
    extent: Extent,
    index: &[i64],
    values: &[T],
    combine: &dyn Combine<T>,
) {
    with_dense(target, |target| merge(target, extent, index, values, combine));
}

/// The leading axes as one, and where along it the indices point.
fn positions(shape: &[usize], indices: &[ArrayViewD<'_, i64>]) -> (Vec<i64>, Extent) {
    let (leading, rest) = shape.split_at(indices.len());
    let count = indices.first().map_or(1, |index| index.len());
    let mut positions = interrupt::filled(count, 0);
    let mut steps = Steps::default();
    for (&size, index) in leading.iter().zip(indices) {
        let size = size as i64;
        for (position, &index) in positions.iter_mut().zip(&*dense(index)) {
            steps.take(0);
            *position = *position * size + if index < 0 { index + size } else { index };
        }
    }
    (positions, Extent { outer: 1, len: leading.iter().product(), inner: rest.iter().product() })
}

fn select<T: Element>(source: &[T], extent: Extent, index: &[i64], out: &mut [MaybeUninit<T>]) {
    let Extent { len, inner, .. } = extent;
    if out.is_empty() {
        return;
    }
    parallel_parts(out, (FETCHED / inner).max(1) * inner, |start, part| {
        let row = start / inner;
        let (mut block, mut first, mut out) = (row / index.len(), row % index.len(), part);
        while !out.is_empty() {
            let count = (index.len() - first).min(out.len() / inner);
            let (now, rest) = out.split_at_mut(count * inner);
            pick(&source[block * len * inner..], &index[first..first + count], inner, now);
            (block, first, out) = (block + 1, 0, rest);
        }
    });
}

/// Rows of so many elements in the order of an index.
fn pick<T: Element>(source: &[T], index: &[i64], inner: usize, out: &mut [MaybeUninit<T>]) {
    if inner == 1 {
        return out.iter_mut().zip(index).for_each(|(out, &index)| {
            out.write(source[index as usize]);
        });
    }
    for (out, &index) in out.chunks_exact_mut(inner).zip(index) {
        move_slice(out, &source[index as usize * inner..][..inner], |out, element| {
            out.write(element);
        });
    }
}

fn merge<T: Element>(
    target: &mut [T],
    Extent { outer, len, inner }: Extent,
    index: &[i64],
    values: &[T],
    combine: &dyn Combine<T>,
) {
    if len * inner == 0 || index.is_empty() {
        return;
    }
    if outer == 1 && inner >= LONG {
        return merge_rows(target, inner, index, values, combine);
    }
    let mut steps = Steps::default();
    let places = Places::new(&[len], &[index.len()], 0);
    let blocks = target.chunks_exact_mut(len * inner).zip(values.chunks_exact(index.len() * inner));
    for (target, values) in blocks.take(outer) {
        if inner == 1 {
            for (index, values) in index.chunks(RUN).zip(values.chunks(RUN)) {
                steps.take(index.len());
                combine.run(target, &places, index, values);
            }
            continue;
        }
        for (&index, values) in index.iter().zip(values.chunks_exact(inner)) {
            steps.take(inner);
            combine.row(&mut target[index as usize * inner..][..inner], values);
        }
    }
}

/// Rows of so many elements are worth looking through the index for them.
const LONG: usize = 64;

/// `merge` into rows of so many elements. Whoever has some of them looks through the whole index, so that what goes into
/// one of them goes there in order.
fn merge_rows<T: Element>(
    target: &mut [T],
    inner: usize,
    index: &[i64],
    values: &[T],
    combine: &dyn Combine<T>,
) {
    let rows = target.len() / inner;
    let parts = (index.len() * inner).div_ceil(FETCHED);
    parallel_parts(target, rows.div_ceil(parts).max(rows.div_ceil(LONG)) * inner, |start, part| {
        let (first, count, mut steps) = (start / inner, part.len() / inner, Steps::default());
        for (&index, values) in index.iter().zip(values.chunks_exact(inner)) {
            let row = (index as usize).wrapping_sub(first);
            if row >= count {
                continue;
            }
            steps.take(inner);
            combine.row(&mut part[row * inner..][..inner], values);
        }
    });
}

#[cfg(test)]
mod tests;
