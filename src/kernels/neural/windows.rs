//! Sliding windows over three spatial dimensions: their elements as the columns of a matrix, and
//! columns added back to where they came from. What has fewer dimensions has ones in front.

mod boxes;

use std::array::{from_fn, from_mut};
use std::mem::MaybeUninit;
use std::ops::Range;

use crate::dtype::Number;
use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_items;
use crate::kernels::simd::vectorised;
pub use boxes::Boxes;

/// Elements of a matrix of windows that the processor still has at hand.
const FEW: usize = 1 << 19;

/// Elements of windows that are compared on one thread before others are looked at.
const COMPARED: usize = 1 << 15;

/// Rows of fewer windows than this are looked at window by window.
const NARROW: usize = 10;

/// How windows lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// The sizes of what they slide over.
    pub size: [usize; 3],
    /// The sizes of a window.
    pub kernel: [usize; 3],
    /// The steps from one window to the next.
    pub stride: [usize; 3],
    /// How much is added before and behind.
    pub padding: [usize; 3],
    /// The steps from one element of a window to the next.
    pub dilation: [usize; 3],
    /// How many windows there are.
    pub count: [usize; 3],
}

impl Windows {
    /// The number of elements of a window.
    pub fn elements(&self) -> usize {
        self.kernel.iter().product()
    }

    /// The number of windows.
    pub fn places(&self) -> usize {
        self.count.iter().product()
    }

    /// The number of elements that they slide over.
    pub fn area(&self) -> usize {
        self.size.iter().product()
    }

    /// How many rows of windows there are.
    pub fn lines(&self) -> usize {
        self.count[0] * self.count[1]
    }

    /// The rows of windows in stretches for which a matrix with so many rows stays small.
    pub fn stretches(&self, rows: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let (lines, most) = (self.lines(), (FEW / rows.saturating_mul(self.count[2]).max(1)).max(1));
        (0..lines).step_by(most).map(move |start| start..lines.min(start + most))
    }

    /// Which element of the dimension the `element`-th of the `place`-th window is, if it is one.
    fn at(&self, dim: usize, place: usize, element: usize) -> Option<usize> {
        let padded = place * self.stride[dim] + element * self.dilation[dim];
        padded.checked_sub(self.padding[dim]).filter(|&at| at < self.size[dim])
    }

    /// The elements along a dimension of the `place`-th window that are no padding: where the first of them is, and how
    /// many there are.
    fn along(&self, dim: usize, place: usize) -> (usize, usize) {
        let (start, step) = (place * self.stride[dim], self.dilation[dim]);
        let first = self.padding[dim].saturating_sub(start).div_ceil(step);
        let past = (self.padding[dim] + self.size[dim]).saturating_sub(start).div_ceil(step);
        let at = (start + first * step).saturating_sub(self.padding[dim]);
        (at, past.min(self.kernel[dim]).saturating_sub(first))
    }

    /// Where the elements of each window lie.
    pub fn boxes(&self) -> Boxes {
        let along = |dim| interrupt::collected((0..self.count[dim]).map(|place| self.along(dim, place)));
        Boxes { size: self.size, along: [0, 1, 2].map(along), step: self.dilation }
    }

    /// The windows of a row of which the `element`-th element along the row is no padding.
    fn inside(&self, element: usize) -> Range<usize> {
        let (stride, before) = (self.stride[2], element * self.dilation[2]);
        let past = |edge: usize| edge.saturating_sub(before).div_ceil(stride).min(self.count[2]);
        let start = past(self.padding[2]);
        start..past(self.padding[2] + self.size[2]).max(start)
    }

    /// Calls with the elements that are not padding of the windows in these rows, as many as lie along one row:
    /// their row and first column in the matrix of these windows, where the first lies in a channel, and how
    /// many there are, `stride[2]` apart.
    fn each_run(&self, lines: Range<usize>, call: &mut dyn FnMut(usize, usize, usize, usize)) {
        let [_, kernel_height, kernel_width] = self.kernel;
        let [_, height, width] = self.count;
        let mut steps = Steps::default();
        for row in 0..self.elements() {
            let (z, rest) = (row / (kernel_height * kernel_width), row % (kernel_height * kernel_width));
            let (y, x) = (rest / kernel_width, rest % kernel_width);
            let places = self.inside(x);
            let Some(first) = self.at(2, places.start, x).filter(|_| !places.is_empty()) else { continue };
            for line in lines.clone() {
                let Some(at_z) = self.at(0, line / height, z) else { continue };
                let Some(at_y) = self.at(1, line % height, y) else { continue };
                let start = (at_z * self.size[1] + at_y) * self.size[2];
                steps.take(places.len());
                call(row, (line - lines.start) * width + places.start, start + first, places.len());
            }
        }
    }

    /// Writes the elements of the windows over `channels`, one after the other in `x`, into a matrix:
    /// a row for each channel and element of a window, a column for each window.
    pub fn unfold<T: Number>(&self, x: &[T], columns: &mut [T]) {
        self.unfold_lines(0..self.lines(), x, columns);
    }

    /// `unfold` of the windows in these rows.
    pub fn unfold_lines<T: Number>(&self, lines: Range<usize>, x: &[T], columns: &mut [T]) {
        let (area, places) = (self.area(), lines.len() * self.count[2]);
        if self.padding != [0; 3] {
            columns.fill(T::ZERO);
        }
        let blocks = columns.chunks_mut((self.elements() * places).max(1));
        for (channel, block) in x.chunks(area.max(1)).zip(blocks) {
            self.each_run(lines.clone(), &mut |row, column, at, count| {
                let (target, source) = (&mut block[row * places + column..][..count], &channel[at..]);
                match self.stride[2] {
                    1 => target.copy_from_slice(&source[..count]),
                    step => target.iter_mut().zip(source.iter().step_by(step)).for_each(|(to, &it)| *to = it),
                }
            });
        }
    }

    /// Adds the elements of such a matrix to where they came from.
    pub fn fold<T: Number>(&self, columns: &[T], x: &mut [T]) {
        self.fold_lines(0..self.lines(), columns, x);
    }

    /// `fold` of the windows in these rows.
    pub fn fold_lines<T: Number>(&self, lines: Range<usize>, columns: &[T], x: &mut [T]) {
        let (area, places) = (self.area(), lines.len() * self.count[2]);
        let blocks = columns.chunks((self.elements() * places).max(1));
        for (channel, block) in x.chunks_mut(area.max(1)).zip(blocks) {
            self.each_run(lines.clone(), &mut |row, column, at, count| {
                let (source, target) = (&block[row * places + column..][..count], &mut channel[at..]);
                match self.stride[2] {
                    1 => target.iter_mut().zip(source).for_each(|(to, &it)| *to = to.add(it)),
                    step => {
                        target.iter_mut().step_by(step).zip(source).for_each(|(to, &it)| *to = to.add(it))
                    }
                }
            });
        }
    }

    /// The greatest element of every window, and where in its channel it lies; what is not a number is the greatest. A
    /// window of padding only has no element: the first one stands for it. No channel is empty.
    pub fn greatest<T: Number>(
        &self,
        x: &[T],
        values: &mut [MaybeUninit<T>],
        index: &mut [MaybeUninit<i64>],
    ) {
        let (area, places) = (self.area(), self.places());
        let together = (COMPARED / places.saturating_mul(self.elements()).max(1)).max(1);
        let parts = values.chunks_mut(together * places).zip(index.chunks_mut(together * places));
        parallel_items(parts.zip(x.chunks(together * area)), 1, |((values, index), x)| {
            let channels = values.chunks_mut(places).zip(index.chunks_mut(places)).zip(x.chunks(area));
            if self.count[2] < NARROW || area > i32::MAX as usize {
                let boxes = self.boxes();
                channels.for_each(|((values, index), x)| boxes.greatest(x, values, index));
                return;
            }
            let (mut held, mut found) =
                (interrupt::filled(places, T::ZERO), interrupt::filled(places, -1i32));
            for ((values, index), channel) in channels {
                found.fill(-1);
                self.each_run(0..self.lines(), &mut |_, column, at, count| {
                    let (held, found) = (&mut held[column..][..count], &mut found[column..][..count]);
                    match self.stride[2] {
                        1 => keep_greater::<T, 1>(&channel[at..], at, held, found),
                        2 => keep_greater::<T, 2>(&channel[at..], at, held, found),
                        3 => keep_greater::<T, 3>(&channel[at..], at, held, found),
                        step => {
                            for (place, (held, found)) in held.iter_mut().zip(found).enumerate() {
                                let at = at + place * step;
                                keep([channel[at]], [at as i32], from_mut(held), from_mut(found));
                            }
                        }
                    }
                });
                let places = values.iter_mut().zip(index).zip(held.iter().zip(&found));
                for ((value, index), (&held, &found)) in places {
                    value.write(if found < 0 { channel[0] } else { held });
                    index.write(i64::from(found.max(0)));
                }
            }
        });
    }
}

/// Keeps the elements that are greater than those that are held, if there are any.
#[inline(always)]
fn keep<T: Number, const L: usize>(x: [T; L], at: [i32; L], held: &mut [T; L], index: &mut [i32; L]) {
    let (before, place) = (*held, *index);
    let better: [bool; L] = from_fn(|lane| (place[lane] < 0) | (x[lane] > before[lane]) | x[lane].is_nan());
    *held = from_fn(|lane| if better[lane] { x[lane] } else { before[lane] });
    *index = from_fn(|lane| if better[lane] { at[lane] } else { place[lane] });
}

/// `keep` for every `S`-th element, of which the first lies at this place.
fn keep_greater<T: Number, const S: usize>(x: &[T], at: usize, held: &mut [T], index: &mut [i32]) {
    const LANES: usize = 8;
    vectorised(
        index.len(),
        #[inline(always)]
        || {
            let (steps, _) = x.as_chunks::<S>();
            // Behind the last element there need not be a whole step.
            let whole = index.len().min(steps.len());
            let places = held[..whole].as_chunks_mut::<LANES>().0.iter_mut();
            let places =
                places.zip(index[..whole].as_chunks_mut::<LANES>().0).zip(steps.as_chunks::<LANES>().0);
            for (number, ((held, index), steps)) in places.enumerate() {
                let first = at + number * LANES * S;
                keep(from_fn(|lane| steps[lane][0]), from_fn(|lane| (first + lane * S) as i32), held, index);
            }
            for place in whole / LANES * LANES..index.len() {
                let (held, index) = (from_mut(&mut held[place]), from_mut(&mut index[place]));
                keep([x[place * S]], [(at + place * S) as i32], held, index);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::written;

    const LINE: Windows = Windows {
        size: [1, 1, 4],
        kernel: [1, 1, 2],
        stride: [1, 1, 2],
        padding: [0, 0, 1],
        dilation: [1, 1, 1],
        count: [1, 1, 3],
    };

    #[test]
    fn columns_are_windows_and_come_back_where_they_were() {
        let mut columns = [9; 6];
        LINE.unfold(&[1, 2, 3, 4], &mut columns);
        assert_eq!(columns, [0, 2, 4, 1, 3, 0]);
        let mut back = [0; 4];
        LINE.fold(&columns, &mut back);
        assert_eq!(back, [1, 2, 3, 4]);
    }

    #[test]
    fn stretches_of_rows_fill_the_matrix_that_all_rows_fill() {
        let plane = Windows {
            size: [2, 5, 7],
            kernel: [2, 3, 2],
            stride: [1, 2, 3],
            padding: [1, 1, 1],
            dilation: [1, 1, 2],
            count: [3, 3, 3],
        };
        let x: Vec<i64> = (1..=70).collect();
        let (rows, places) = (plane.elements(), plane.places());
        let mut whole = vec![9; rows * places];
        plane.unfold(&x, &mut whole);
        let mut back = vec![0; x.len()];
        plane.fold(&whole, &mut back);
        let mut back_in_parts = vec![0; x.len()];
        for lines in [0..4, 4..9] {
            let width = lines.len() * 3;
            let mut part = vec![9; rows * width];
            plane.unfold_lines(lines.clone(), &x, &mut part);
            for (row, part) in part.chunks(width).enumerate() {
                assert_eq!(part, &whole[row * places + lines.start * 3..][..width]);
            }
            plane.fold_lines(lines, &part, &mut back_in_parts);
        }
        assert_eq!(back, back_in_parts);
    }

    #[test]
    fn the_greatest_are_the_same_window_by_window_and_row_by_row() {
        for (stride, padding, dilation) in [(1, 0, 1), (2, 1, 1), (3, 2, 2), (1, 1, 3)] {
            let (size, kernel) = ([4, 9, 60], [2, 3, 2]);
            let count = [0, 1, 2].map(|dim: usize| {
                let padding = padding.min(kernel[dim] / 2);
                (size[dim] + 2 * padding - dilation * (kernel[dim] - 1) - 1) / stride + 1
            });
            let padding = kernel.map(|kernel| padding.min(kernel / 2));
            let windows =
                Windows { size, kernel, stride: [stride; 3], padding, dilation: [dilation; 3], count };
            let number = |place: usize| [f64::NAN, 3.0, -1.0, 3.0, f64::NEG_INFINITY][place * place % 7 % 5];
            let x: Vec<f64> = (0..windows.area()).map(number).collect();
            let places = windows.places();
            assert!(count[2] >= NARROW);
            let (mut index, mut index_of_each) = (Vec::new(), Vec::new());
            let values = written(places, |values| {
                index = written(places, |index| windows.greatest(&x, values, index));
            });
            let values_of_each = written(places, |values| {
                index_of_each = written(places, |index| windows.boxes().greatest(&x, values, index));
            });
            assert_eq!(index, index_of_each);
            let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            assert_eq!(bits(values), bits(values_of_each));
        }
    }

    #[test]
    fn the_greatest_of_a_window_is_the_first_of_equals_or_not_a_number() {
        let mut index = Vec::new();
        let values = written(3, |values| {
            index = written(3, |index| LINE.greatest(&[1.0, 5.0, 5.0, f64::NAN], values, index));
        });
        assert_eq!(index, [0, 1, 3]);
        assert_eq!(values[..2], [1.0, 5.0]);
        assert!(values[2].is_nan());
    }
}
