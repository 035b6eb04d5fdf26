//! The greatest elements of windows that lie anywhere, each dimension by itself.

use std::mem::MaybeUninit;

use super::COMPARED;
use crate::dtype::Number;
use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_items;
use crate::kernels::simd::vectorised;

/// Windows over three spatial dimensions: one for every three of those along each of them.
pub struct Boxes {
    /// The sizes of what they lie over.
    pub size: [usize; 3],
    /// The first element of each window along a dimension, and how many it has there.
    pub along: [Vec<(usize, usize)>; 3],
    /// The steps from one element of a window to the next.
    pub step: [usize; 3],
}

impl Boxes {
    /// How many there are.
    fn places(&self) -> usize {
        self.along.iter().map(Vec::len).product()
    }

    /// How many elements they lie over.
    fn area(&self) -> usize {
        self.size.iter().product()
    }

    /// The elements of the windows of a row, as many windows as there are across: those of the two outer dimensions.
    fn lines(&self, row: usize) -> impl Iterator<Item = usize> + Clone + use<'_> {
        let [_, tall, _] = &self.along;
        let ((z, depth), (y, height)) = (self.along[0][row / tall.len()], tall[row % tall.len()]);
        let [_, rows, columns] = self.size;
        let outer = (0..depth).map(move |step| z + step * self.step[0]);
        outer.flat_map(move |z| (0..height).map(move |step| (z * rows + y + step * self.step[1]) * columns))
    }

    /// The greatest element of every window over a channel, and where it lies; what is not a number is the greatest. The
    /// first element stands for that of a window without any.
    pub fn greatest<T: Number>(
        &self,
        channel: &[T],
        values: &mut [MaybeUninit<T>],
        index: &mut [MaybeUninit<i64>],
    ) {
        let (width, mut steps) = (self.along[2].len().max(1), Steps::default());
        let rows = values.chunks_mut(width).zip(index.chunks_mut(width));
        for (row, (values, index)) in rows.enumerate() {
            let lines = self.lines(row);
            for (&(x, wide), (value, index)) in self.along[2].iter().zip(values.iter_mut().zip(index)) {
                let (mut held, mut at) = (channel[0], 0);
                let mut is_first = true;
                for start in lines.clone() {
                    steps.take(wide);
                    for here in (0..wide).map(|step| start + x + step * self.step[2]) {
                        let element = channel[here];
                        if is_first || element > held || element.is_nan() {
                            (held, at, is_first) = (element, here, false);
                        }
                    }
                }
                value.write(held);
                index.write(at as i64);
            }
        }
    }

    /// `greatest` of so many channels at once that lie side by side, of one sample after the other. There are fewer
    /// elements than `i32` counts.
    pub fn greatest_of_channels<T: Number>(
        &self,
        x: &[T],
        channels: usize,
        values: &mut [MaybeUninit<T>],
        index: &mut [MaybeUninit<i64>],
    ) {
        let (width, all) = (self.along[2].len() * channels, self.places() * channels);
        let samples = values.chunks_mut(all).zip(index.chunks_mut(all)).zip(x.chunks(self.area() * channels));
        let rows = samples.flat_map(|((values, index), x)| {
            values.chunks_mut(width).zip(index.chunks_mut(width)).enumerate().map(move |row| (row, x))
        });
        let most = |dim: usize| self.along[dim].iter().map(|&(_, count)| count).max().unwrap_or(0);
        let compared = width.saturating_mul(most(0) * most(1) * most(2)).max(1);
        parallel_items(rows, (COMPARED / compared).max(1), |((row, (values, index)), x)| {
            let mut steps = Steps::default();
            let mut held = interrupt::filled(channels, T::ZERO);
            let mut found = interrupt::filled(channels, -1i32);
            let lines = self.lines(row);
            let places = values.chunks_mut(channels).zip(index.chunks_mut(channels));
            for (&(first, wide), (values, index)) in self.along[2].iter().zip(places) {
                held.copy_from_slice(&x[..channels]);
                found.fill(-1);
                for start in lines.clone() {
                    steps.take(wide * channels);
                    for at in (0..wide).map(|step| start + first + step * self.step[2]) {
                        keep_greater(&x[at * channels..][..channels], at as i32, &mut held, &mut found);
                    }
                }
                values.write_copy_of_slice(&held);
                for (index, &found) in index.iter_mut().zip(&found) {
                    index.write(i64::from(found.max(0)));
                }
            }
        });
    }
}

/// Keeps the elements of a place that are greater than those that are held, if there are any.
fn keep_greater<T: Number>(x: &[T], at: i32, held: &mut [T], index: &mut [i32]) {
    vectorised(
        x.len(),
        #[inline(always)]
        || {
            for ((held, index), &x) in held.iter_mut().zip(index).zip(x) {
                let is_better = (*index < 0) | (x > *held) | x.is_nan();
                *held = if is_better { x } else { *held };
                *index = if is_better { at } else { *index };
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::written;

    #[test]
    fn channels_side_by_side_have_what_each_has_by_itself() {
        let boxes = Boxes {
            size: [2, 3, 4],
            along: [vec![(0, 2)], vec![(0, 2), (1, 2)], vec![(0, 1), (1, 2), (3, 0)]],
            step: [1, 1, 2],
        };
        let number = |place: usize| [f64::NAN, 3.0, -0.0, 0.0, 3.0, f64::NEG_INFINITY][place * place % 7 % 6];
        let channels: Vec<Vec<f64>> =
            (0..3).map(|channel| (0..24).map(|place| number(place + 5 * channel)).collect()).collect();
        let together: Vec<f64> = (0..24).flat_map(|place| channels.iter().map(move |of| of[place])).collect();
        let mut index = Vec::new();
        let values = written(18, |values| {
            index = written(18, |index| boxes.greatest_of_channels(&together, 3, values, index));
        });
        for (channel, elements) in channels.iter().enumerate() {
            let mut own_index = Vec::new();
            let own = written(6, |values| {
                own_index = written(6, |index| boxes.greatest(elements, values, index));
            });
            for place in 0..6 {
                assert_eq!(values[place * 3 + channel].to_bits(), own[place].to_bits());
                assert_eq!(index[place * 3 + channel], own_index[place]);
            }
        }
    }
}
