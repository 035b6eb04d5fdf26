//! The numbers of a convolution: windows unfolded into columns of matrices, a stretch of them at a time, and
//! multiplied by matrices.

use std::mem::MaybeUninit;
use std::ops::Range;

use ndarray::{ArrayView2, Axis};

use super::{Geometry, Role};
use crate::dtype::Number;
use crate::error::Result;
use crate::kernels::interrupt;
use crate::kernels::linalg::gemm;
use crate::kernels::neural::windows::Windows;
use crate::kernels::parallel::parallel_items;
use crate::ops::neural::scratch::{elements, room};
use crate::shape::SharedLayout;
use crate::storage;
use crate::tensor::Array;

/// Multiplications that make up a share of the work of a thread.
const SHARE: usize = 1 << 22;

/// The array in this role, from those in the two others.
pub(super) fn by_matrices<T: Number>(
    gives: Role,
    geometry: &Geometry,
    left: &Array,
    right: &Array,
) -> Result<Array> {
    let (work, shape) = (Work::new(geometry), geometry.shape(gives));
    let (left, right) = (elements::<T>(left), elements::<T>(right));
    match gives {
        Role::Output => work.output(shape, left, right),
        Role::Input => work.input(shape, left, right),
        Role::Weight => work.weight(shape, geometry.batch() * geometry.groups, left, right),
    }
}

/// The sizes of what is multiplied. An item is a group of the channels of a sample.
struct Work<'a> {
    windows: &'a Windows,
    groups: usize,
    /// Channels of an item of the output: rows of its matrix.
    channels: usize,
    /// Elements of a window: rows of the matrix of columns.
    rows: usize,
    /// Windows of an item.
    places: usize,
    /// Elements of an item in each role.
    input: usize,
    weight: usize,
    output: usize,
    /// Windows of a line.
    width: usize,
    /// Windows of the longest stretch.
    longest: usize,
    /// Items that make up a share of the work.
    share: usize,
}

impl<'a> Work<'a> {
    fn new(geometry: &'a Geometry) -> Work<'a> {
        let windows = &geometry.windows;
        let (from, channels) = geometry.channels();
        let (rows, places, width) = (from * windows.elements(), windows.places(), windows.count[2]);
        Work {
            windows,
            groups: geometry.groups,
            channels,
            rows,
            places,
            input: from * windows.area(),
            weight: channels * rows,
            output: channels * places,
            width,
            longest: windows.stretches(rows).next().map_or(0, |lines| lines.len() * width),
            share: (SHARE / (channels * rows * places).max(1)).max(1),
        }
    }

    /// The lines of windows that are unfolded together, and which windows these are.
    fn stretches(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        let width = self.width;
        let windows = move |lines: &Range<usize>| lines.start * width..lines.end * width;
        self.windows.stretches(self.rows).map(move |lines| (lines.clone(), windows(&lines)))
    }

    /// The windows of some lines as columns of a matrix: the input itself where they are single elements.
    fn unfolded<'t, T: Number>(
        &self,
        input: &'t [T],
        lines: Range<usize>,
        places: Range<usize>,
        columns: &'t mut [T],
    ) -> ArrayView2<'t, T> {
        let Windows { size, padding, count, .. } = *self.windows;
        if self.windows.elements() == 1 && padding == [0; 3] && count == size {
            let mut matrix = matrix(input, self.rows, self.places);
            matrix.slice_axis_inplace(Axis(1), places.into());
            return matrix;
        }
        let columns = &mut columns[..self.rows * places.len()];
        self.windows.unfold_lines(lines, input, columns);
        matrix(columns, self.rows, places.len())
    }

    /// Columns of the matrix of an item of the output.
    fn columns<'t, T: Number>(&self, output: &'t [T], columns: Range<usize>) -> ArrayView2<'t, T> {
        let mut matrix = matrix(output, self.channels, self.places);
        matrix.slice_axis_inplace(Axis(1), columns.into());
        matrix
    }

    fn output<T: Number>(&self, shape: &[usize], input: &[T], weight: &[T]) -> Result<Array> {
        let mut y = Array::uninit_shape(shape, T::DTYPE)?;
        let shares = y.fresh::<T>().chunks_mut((self.output * self.share).max(1)).enumerate();
        parallel_items(shares, 1, |(index, out): (usize, &mut [MaybeUninit<T>])| {
            let mut held = room::<T>(self.rows * self.longest);
            let mut made = room::<T>(self.channels * self.longest);
            let (columns, found) = (held.owned::<T>(), made.fresh::<T>());
            for (item, out) in (index * self.share..).zip(out.chunks_exact_mut(self.output)) {
                let weights = matrix(part(weight, self.weight, item % self.groups), self.channels, self.rows);
                for (lines, places) in self.stretches() {
                    interrupt::unwind_if_due();
                    let columns =
                        self.unfolded(part(input, self.input, item), lines, places.clone(), columns);
                    if places.len() == self.places {
                        gemm::matmul(weights, columns, out);
                        continue;
                    }
                    let found = &mut found[..self.channels * places.len()];
                    gemm::matmul(weights, columns, found);
                    let channels = out.chunks_exact_mut(self.places);
                    for (from, to) in found.chunks_exact(places.len()).zip(channels) {
                        to[places.clone()].copy_from_slice(from);
                    }
                }
            }
        });
        Ok(y)
    }

    fn input<T: Number>(&self, shape: &[usize], output: &[T], weight: &[T]) -> Result<Array> {
        let mut x = Array::zeroed(&SharedLayout::contiguous(shape)?, T::DTYPE)?;
        let shares = x.owned::<T>().chunks_mut((self.input * self.share).max(1)).enumerate();
        parallel_items(shares, 1, |(index, x): (usize, &mut [T])| {
            let mut columns = room::<T>(self.rows * self.longest);
            for (item, x) in (index * self.share..).zip(x.chunks_exact_mut(self.input)) {
                let weights = matrix(part(weight, self.weight, item % self.groups), self.channels, self.rows);
                for (lines, places) in self.stretches() {
                    interrupt::unwind_if_due();
                    let size = self.rows * places.len();
                    let y = self.columns(part(output, self.output, item), places);
                    gemm::matmul(weights.t(), y, &mut columns.fresh()[..size]);
                    self.windows.fold_lines(lines, &elements(&columns)[..size], x);
                }
            }
        });
        Ok(x)
    }

    fn weight<T: Number>(&self, shape: &[usize], items: usize, input: &[T], output: &[T]) -> Result<Array> {
        let mut total = storage::filled(self.groups * self.weight, T::ZERO)?;
        let mut held = room::<T>(self.rows * self.longest);
        let columns = held.owned::<T>();
        for item in 0..items {
            let total = &mut total[range(self.weight, item % self.groups)];
            for (lines, places) in self.stretches() {
                interrupt::unwind_if_due();
                let columns = self.unfolded(part(input, self.input, item), lines, places.clone(), columns);
                let share = product(self.columns(part(output, self.output, item), places), columns.t())?;
                for (total, &share) in total.iter_mut().zip(elements::<T>(&share)) {
                    *total = total.add(share);
                }
            }
        }
        Array::from_slice(shape, &total)
    }
}

/// Where the part with that index lies among parts of one size.
fn range(size: usize, index: usize) -> Range<usize> {
    index * size..(index + 1) * size
}

fn part<T>(all: &[T], size: usize, index: usize) -> &[T] {
    &all[range(size, index)]
}

/// A matrix in consecutive elements.
fn matrix<T: Number>(elements: &[T], rows: usize, columns: usize) -> ArrayView2<'_, T> {
    ArrayView2::from_shape((rows, columns), elements)
        .unwrap_or_else(|_| unreachable!("the matrix has as many elements"))
}

/// The product of two matrices.
fn product<T: Number>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> Result<Array> {
    let mut y = Array::uninit_shape(&[a.nrows(), b.ncols()], T::DTYPE)?;
    gemm::matmul(a, b, y.fresh());
    Ok(y)
}
