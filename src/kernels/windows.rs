//! Sliding windows over three spatial dimensions: their elements as the columns of a matrix, and
//! columns added back to where they came from. What has fewer dimensions has ones in front.

use crate::dtype::Number;

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

    /// Which element of the dimension the `element`-th of the `place`-th window is, if it is one.
    fn at(&self, dim: usize, place: usize, element: usize) -> Option<usize> {
        let padded = place * self.stride[dim] + element * self.dilation[dim];
        padded.checked_sub(self.padding[dim]).filter(|&at| at < self.size[dim])
    }

    /// Calls with every element of every window that is not padding: its row and column in the
    /// matrix, and where it lies in a channel.
    fn each(&self, mut call: impl FnMut(usize, usize, usize)) {
        let [_, kernel_height, kernel_width] = self.kernel;
        let [depth, height, width] = self.count;
        for row in 0..self.elements() {
            let (z, rest) = (row / (kernel_height * kernel_width), row % (kernel_height * kernel_width));
            let (y, x) = (rest / kernel_width, rest % kernel_width);
            for plane in 0..depth {
                let Some(at_z) = self.at(0, plane, z) else { continue };
                for line in 0..height {
                    let Some(at_y) = self.at(1, line, y) else { continue };
                    let start = (at_z * self.size[1] + at_y) * self.size[2];
                    let column = (plane * height + line) * width;
                    for place in 0..width {
                        if let Some(at_x) = self.at(2, place, x) {
                            call(row, column + place, start + at_x);
                        }
                    }
                }
            }
        }
    }

    /// Writes the elements of the windows over `channels`, one after the other in `x`, into a matrix:
    /// a row for each channel and element of a window, a column for each window.
    pub fn unfold<T: Number>(&self, x: &[T], columns: &mut [T]) {
        let (area, places, elements) = (self.area(), self.places(), self.elements());
        columns.fill(T::ZERO);
        for (channel, block) in x.chunks(area.max(1)).zip(columns.chunks_mut((elements * places).max(1))) {
            self.each(|row, column, at| block[row * places + column] = channel[at]);
        }
    }

    /// Adds the elements of such a matrix to where they came from.
    pub fn fold<T: Number>(&self, columns: &[T], x: &mut [T]) {
        let (area, places, elements) = (self.area(), self.places(), self.elements());
        for (channel, block) in x.chunks_mut(area.max(1)).zip(columns.chunks((elements * places).max(1))) {
            self.each(|row, column, at| channel[at] = channel[at].add(block[row * places + column]));
        }
    }

    /// Where the greatest element of every window over a channel lies; what is not a number is the
    /// greatest. Every window has an element.
    pub fn greatest<T: Number>(&self, x: &[T], index: &mut [i64]) {
        index.fill(-1);
        self.each(|_, column, at| {
            let held = index[column];
            let better = held < 0 || x[at] > x[held as usize] || x[at].is_nan();
            if better {
                index[column] = at as i64;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_greatest_of_a_window_is_the_first_of_equals_or_not_a_number() {
        let mut index = [0; 3];
        LINE.greatest(&[1.0, 5.0, 5.0, f64::NAN], &mut index);
        assert_eq!(index, [0, 1, 3]);
    }
}
