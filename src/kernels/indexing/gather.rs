//! Reading and writing elements by index. The caller has checked every index with `first_bad`;
//! an index below zero counts from the end where the caller allows it. Writes go in the order of
//! the index on one thread, so that repeated indices give the same bits every time.

use ndarray::{ArrayViewD, ArrayViewMutD, Axis};
use std::mem::MaybeUninit;

use crate::dtype::Element;
use crate::error::Result;
use crate::kernels::geometry::dense::{Extent, dense, with_dense};
use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::storage;

/// The first index that is not in `0..size`, or not in `-size..size` if `negative` ones are allowed.
pub fn first_bad(index: ArrayViewD<'_, i64>, size: usize, negative: bool) -> Option<i64> {
    let size = size as i64;
    let least = if negative { -size } else { 0 };
    once(index).iter().copied().find(|index| !(least..size).contains(index))
}

/// A view that shows what is repeated along an axis only once. What comes first in row-major order stays first.
fn once<T>(mut view: ArrayViewD<'_, T>) -> ArrayViewD<'_, T> {
    for axis in 0..view.ndim() {
        if view.strides()[axis] == 0 && view.len_of(Axis(axis)) > 1 {
            view.collapse_axis(Axis(axis), 0);
        }
    }
    view
}

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
    let rows = (GRAIN / places.row).max(1);
    parallel_parts(out, rows * places.row, |start, part| {
        let (index, mut steps) = (index[start..].chunks(places.row), Steps::default());
        for (row, (out, index)) in part.chunks_mut(places.row).zip(index).enumerate() {
            let base = places.base(start / places.row + row);
            for (column, (out, &index)) in out.iter_mut().zip(index).enumerate() {
                steps.take(1);
                out.write(source[places.at(base, column, index)]);
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
    combine: impl Fn(T, T) -> T,
) {
    let places = Places::new(target.shape(), index.shape(), axis);
    let (index, values) = (dense(&index), dense(&values));
    with_dense(target, |target| {
        let mut steps = Steps::default();
        for (row, (index, values)) in index.chunks(places.row).zip(values.chunks(places.row)).enumerate() {
            let base = places.base(row);
            for (column, (&index, &value)) in index.iter().zip(values).enumerate() {
                steps.take(1);
                let slot = &mut target[places.at(base, column, index)];
                *slot = combine(*slot, value);
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

    /// The place of index 0 in the first column of a row.
    fn base(&self, mut row: usize) -> usize {
        let mut base = 0;
        for &(len, stride) in self.outer.iter().rev() {
            base += row % len * stride;
            row /= len;
        }
        base
    }

    fn at(&self, base: usize, column: usize, index: i64) -> usize {
        base + column * self.column_stride + index as usize * self.axis_stride
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
    combine: impl Fn(T, T) -> T + Copy,
) {
    let extent = Extent::new(target.shape(), axis);
    let values = dense(&values);
    with_dense(target, |target| merge(target, extent, index, &values, combine));
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
    combine: impl Fn(T, T) -> T + Copy,
) {
    let (positions, extent) = positions(target.shape(), indices);
    let values = dense(&values);
    with_dense(target, |target| merge(target, extent, &positions, &values, combine));
}

/// The leading axes as one, and where along it the indices point.
fn positions(shape: &[usize], indices: &[ArrayViewD<'_, i64>]) -> (Vec<i64>, Extent) {
    let (leading, rest) = shape.split_at(indices.len());
    let count = indices.first().map_or(1, |index| index.len());
    let mut positions = interrupt::filled(count, 0);
    for (&size, index) in leading.iter().zip(indices) {
        let size = size as i64;
        for (position, &index) in positions.iter_mut().zip(index) {
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
    parallel_parts(out, (GRAIN / inner).max(1) * inner, |start, part| {
        for (row, out) in part.chunks_exact_mut(inner).enumerate() {
            let row = start / inner + row;
            let place = row / index.len() * len + index[row % index.len()] as usize;
            out.write_copy_of_slice(&source[place * inner..][..inner]);
        }
    });
}

fn merge<T: Element>(
    target: &mut [T],
    Extent { outer, len, inner }: Extent,
    index: &[i64],
    values: &[T],
    combine: impl Fn(T, T) -> T + Copy,
) {
    if inner == 0 || index.is_empty() {
        return;
    }
    let places = (0..outer).flat_map(|block| index.iter().map(move |&index| block * len + index as usize));
    let mut steps = Steps::default();
    for (place, values) in places.zip(values.chunks_exact(inner)) {
        steps.take(inner);
        let slots = &mut target[place * inner..][..inner];
        slots.iter_mut().zip(values).for_each(|(slot, &value)| *slot = combine(*slot, value));
    }
}

/// Row-major positions of the elements that are not zero.
pub fn flat_nonzero<T: Element>(view: ArrayViewD<'_, T>) -> Result<Vec<i64>> {
    // Counted first: there may be more of them than there is memory for.
    let distinct = once(view.view());
    let count = distinct.iter().filter(|element| element.is_true()).count();
    let times = view.len().checked_div(distinct.len()).unwrap_or(0);
    let mut positions = storage::room(count.saturating_mul(times))?;
    if count > 0 {
        let mut steps = Steps::default();
        let found = view.iter().zip(0..).inspect(|_| steps.take(1)).filter(|(element, _)| element.is_true());
        positions.extend(found.map(|(_, position)| position));
    }
    Ok(positions)
}

/// Coordinates of the elements that are not zero, one row of `ndim` numbers each.
pub fn nonzero<T: Element>(view: ArrayViewD<'_, T>) -> Result<Vec<i64>> {
    let shape = view.shape().to_vec();
    let positions = flat_nonzero(view)?;
    let mut coordinates = storage::filled(positions.len() * shape.len(), 0)?;
    if !shape.is_empty() {
        let mut steps = Steps::default();
        for (row, mut position) in coordinates.chunks_exact_mut(shape.len()).zip(positions) {
            steps.take(row.len());
            for (coordinate, &len) in row.iter_mut().zip(&shape).rev() {
                *coordinate = position % len as i64;
                position /= len as i64;
            }
        }
    }
    Ok(coordinates)
}

#[cfg(test)]
mod tests;
