//! `Layout`, the geometry that tensors share: sizes, strides, and where they begin.
//!
//! Whoever has a layout can count with it: the number of elements, that of any of its dimensions together, and
//! the furthest place are far from the end of numbers. Sizes that are given, broadcast or multiplied are not
//! known to be so before there is a layout of them.

use smallvec::SmallVec;

use super::{Dims, contiguous_strides, counted, element_count, is_contiguous, order, signed};
use crate::error::{Error, Result};

/// Where the elements of a tensor lie in its storage. Immutable and shared: the result of an
/// elementwise operation usually has the layout of its operand, which then costs nothing: see `SharedLayout`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Dims,
    strides: Dims,
    offset: usize,
    numel: usize,
    contiguous: bool,
    /// Whether dimensions of size one have the strides of fresh elements too.
    row_major: bool,
}

impl Layout {
    /// Row-major elements from the start of the storage.
    pub fn contiguous(shape: &[usize]) -> Result<Layout> {
        let numel = counted(shape)?;
        let strides = contiguous_strides(shape);
        let shape = Dims::from_slice(shape);
        Ok(Layout { shape, strides, offset: 0, numel, contiguous: true, row_major: true })
    }

    /// Any geometry. Strides and offset count elements.
    pub fn strided(shape: Dims, strides: Dims, offset: usize) -> Result<Layout> {
        let Some(numel) = element_count(&shape) else { return Err(Error::CountOverflow {}.into()) };
        if furthest(&shape, &strides, offset).is_none() {
            return Err(Error::ExtentOverflow { shape: signed(&shape), strides: signed(&strides) }.into());
        }
        Ok(Layout::known(shape, strides, offset, numel))
    }

    /// Geometry that is known to be countable.
    fn known(shape: Dims, strides: Dims, offset: usize, numel: usize) -> Layout {
        let row_major = order::is_row_major(&shape, &strides);
        let contiguous = row_major || is_contiguous(&shape, &strides);
        Layout { shape, strides, offset, numel, contiguous, row_major }
    }

    /// The same elements with their dimensions in another order.
    pub fn permuted(&self, order: impl Iterator<Item = usize> + Clone) -> Layout {
        let shape = order.clone().map(|dim| self.shape[dim]).collect();
        let strides = order.map(|dim| self.strides[dim]).collect();
        Layout::known(shape, strides, self.offset, self.numel)
    }

    /// The same elements with two dimensions exchanged.
    pub fn exchanged(&self, first: usize, second: usize) -> Layout {
        let exchange = |sizes: &[usize]| {
            let mut exchanged = Dims::from_slice(sizes);
            // A number has none, and is exchanged with itself.
            if first != second {
                exchanged.swap(first, second);
            }
            exchanged
        };
        Layout::known(exchange(&self.shape), exchange(&self.strides), self.offset, self.numel)
    }

    /// Row-major elements in another shape with as many, which are in order there too. `None` if these are not
    /// so, or if there are none: other sizes beside that of zero may be too many.
    pub fn reshaped(&self, shape: &[usize]) -> Option<Layout> {
        if !self.row_major || self.numel == 0 {
            return None;
        }
        let (shape, strides) = (Dims::from_slice(shape), contiguous_strides(shape));
        Some(Layout {
            shape,
            strides,
            offset: self.offset,
            numel: self.numel,
            contiguous: true,
            row_major: true,
        })
    }

    /// One element of a dimension, which goes.
    pub fn selected(&self, dim: usize, index: usize) -> Layout {
        let without = |sizes: &[usize]| {
            let mut left = Dims::from_slice(&sizes[..dim]);
            left.extend_from_slice(&sizes[dim + 1..]);
            left
        };
        // What shows nothing may begin beyond the memory, and beyond what can be counted.
        let offset = self.offset.wrapping_add(index.wrapping_mul(self.strides[dim]));
        let (shape, strides) = (without(&self.shape), without(&self.strides));
        let numel = shape.iter().product();
        Layout::known(shape, strides, offset, numel)
    }

    /// A number: one element without dimensions.
    pub fn number() -> Layout {
        Layout::known(Dims::new(), Dims::new(), 0, 1)
    }

    /// All elements of a dense layout as one dimension, in the order in which they lie.
    pub fn line(&self) -> Layout {
        Layout::known(Dims::from_elem(self.numel, 1), Dims::from_elem(1, 1), self.offset, self.numel)
    }

    /// So many elements side by side in memory, from so many behind the first one on.
    pub fn stretch(&self, start: usize, len: usize) -> Layout {
        Layout::known(Dims::from_elem(len, 1), Dims::from_elem(1, 1), self.offset + start, len)
    }

    /// Every element that is repeated once.
    pub fn without_repetition(&self) -> Layout {
        let sizes = self.shape.iter().zip(&self.strides);
        let shape: Dims =
            sizes.map(|(&size, &stride)| if stride == 0 { size.min(1) } else { size }).collect();
        let numel = shape.iter().product();
        Layout::known(shape, self.strides.clone(), self.offset, numel)
    }

    /// How fresh elements of the shape lie.
    pub fn fresh(&self) -> Layout {
        let (shape, strides) = (self.shape.clone(), contiguous_strides(&self.shape));
        Layout { shape, strides, offset: 0, numel: self.numel, contiguous: true, row_major: true }
    }

    /// Size by dimension.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Size of a dimension. A single element without dimensions is taken for a line of one.
    pub fn size(&self, dim: usize) -> usize {
        self.shape.get(dim).copied().unwrap_or(1)
    }

    /// Elements to step over by dimension.
    pub fn strides(&self) -> &[usize] {
        &self.strides
    }

    /// The storage element that the first element lies in.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.numel
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// Whether the elements lie in row-major order without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.contiguous
    }

    /// Whether the elements lie in row-major order with the strides of a fresh tensor, also in dimensions of
    /// size one, where they say nothing.
    pub fn is_row_major(&self) -> bool {
        self.row_major
    }

    /// Whether this is the layout of a fresh tensor: row-major from the start of its storage.
    pub fn is_plain(&self) -> bool {
        self.row_major && self.offset == 0
    }

    /// Whether this is how the first element of a storage is repeated in all dimensions: the gradients of
    /// sums lie so.
    pub fn is_repeated(&self) -> bool {
        self.offset == 0 && self.strides.iter().all(|&stride| stride == 0)
    }

    /// Whether all that is shown is one element.
    pub fn is_repeated_in_place(&self) -> bool {
        self.numel > 0
            && self.strides.iter().zip(&self.shape).all(|(&stride, &size)| stride == 0 || size == 1)
    }

    /// Whether the elements lie in some order, each at a place of its own and without gaps.
    pub fn is_dense(&self) -> bool {
        self.is_non_overlapping() && self.end() - self.offset == self.numel
    }

    /// How long rows of elements side by side are, and how far each begins behind the one before, if it shows such rows,
    /// more than one, and nothing else.
    pub fn rows(&self) -> Option<[usize; 2]> {
        let dims = self.shape.iter().copied().zip(self.strides.iter().copied()).rev();
        let (mut length, mut found): (usize, Option<[usize; 2]>) = (1, None);
        for (size, stride) in dims.filter(|&(size, _)| size != 1) {
            match &mut found {
                None if stride == length => length *= size,
                None => found = Some([size, stride]),
                Some([rows, apart]) if stride == *rows * *apart => *rows *= size,
                Some(_) => return None,
            }
        }
        found
            .filter(|&[rows, apart]| rows > 0 && length > 0 && apart > length)
            .map(|[_, apart]| [length, apart])
    }

    /// Whether no two elements share memory.
    pub fn is_non_overlapping(&self) -> bool {
        if self.contiguous {
            return true;
        }
        let mut dims: SmallVec<[(usize, usize); 4]> =
            self.strides.iter().copied().zip(self.shape.iter().copied()).collect();
        dims.retain(|(_, size)| *size != 1);
        dims.sort_unstable();
        let mut reach = 1;
        for (stride, size) in dims {
            if size == 0 {
                return true;
            }
            if stride < reach {
                return false;
            }
            reach += stride * (size - 1);
        }
        true
    }

    /// The layout of many samples if each of them had the layout `sample`, which is derived from that
    /// of a sample: this is the layout of samples along `dim`, which come first then.
    pub(crate) fn around(&self, dim: Option<usize>, sample: &Layout) -> Result<Layout> {
        let Some(dim) = dim else { return Ok(sample.clone()) };
        let (mut shape, mut strides) = (sample.shape.clone(), sample.strides.clone());
        shape.insert(0, self.shape[dim]);
        strides.insert(0, self.strides[dim]);
        Layout::strided(shape, strides, sample.offset)
    }

    /// The shape in the same order of dimensions in memory, without gaps and repetitions: how a copy
    /// of such a tensor lies. What has neither keeps its strides, also where they say nothing.
    pub fn packed(&self) -> Layout {
        let strides = match self.is_dense() {
            true => self.strides.clone(),
            false => order::dense_strides(&self.shape, &self.strides),
        };
        Layout::known(self.shape.clone(), strides, 0, self.numel)
    }

    /// One past the last storage element that the layout reaches.
    pub fn end(&self) -> usize {
        if self.contiguous || self.numel == 0 {
            return self.offset + self.numel;
        }
        let reach: usize =
            self.shape.iter().zip(&self.strides).map(|(&size, &stride)| (size - 1) * stride).sum();
        self.offset + reach + 1
    }
}

/// One past the place of the last element, if that can be counted with. What shows nothing may begin anywhere.
fn furthest(shape: &[usize], strides: &[usize], offset: usize) -> Option<usize> {
    if shape.contains(&0) {
        return Some(offset);
    }
    let reach =
        |end: usize, (&size, &stride): (&usize, &usize)| end.checked_add((size - 1).checked_mul(stride)?);
    let end = shape.iter().zip(strides).try_fold(offset, reach)?.checked_add(1)?;
    isize::try_from(end).is_ok().then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_seen() {
        let strided = |strides: [usize; 2], offset| {
            Layout::strided([2, 3].as_slice().into(), strides.as_slice().into(), offset).unwrap()
        };
        assert!(Layout::contiguous(&[2, 3]).unwrap().is_non_overlapping());
        assert!(!strided([0, 1], 0).is_non_overlapping());
        assert_eq!(strided([1, 2], 4).end(), 10);
    }

    #[test]
    fn no_layout_has_counts_or_places_that_overflow() {
        // The product of these is 2^64 + 1.
        let prime_factors = [274_177, 67_280_421_310_721];
        for shape in [&prime_factors[..], &[1 << 32, 1 << 32], &[1 << 32, 1 << 31], &[0, 1 << 40, 1 << 40]] {
            assert!(Layout::contiguous(shape).is_err());
            assert!(Layout::strided(shape.into(), Dims::from_elem(0, shape.len()), 0).is_err());
        }
        let two = |stride: usize, offset| {
            Layout::strided([2, 2].as_slice().into(), [stride, 1].as_slice().into(), offset)
        };
        assert!(two(1 << 62, 0).is_ok() && two(1 << 62, 1 << 62).is_err() && two(usize::MAX, 1).is_err());
        let most = Layout::contiguous(&[1 << 31, 1 << 31]).unwrap();
        assert_eq!((most.numel(), most.end(), most.strides()), (1 << 62, 1 << 62, [1 << 31, 1].as_slice()));
    }
}
