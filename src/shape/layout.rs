//! `Layout`, the geometry that tensors share: sizes, strides, and where they begin.

use super::{Dims, contiguous_strides, is_contiguous, order};

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
    pub fn contiguous(shape: &[usize]) -> Layout {
        let numel = shape.iter().product();
        let strides = contiguous_strides(shape);
        let shape = Dims::from_slice(shape);
        Layout { shape, strides, offset: 0, numel, contiguous: true, row_major: true }
    }

    /// Any geometry. Strides and offset count elements.
    pub fn strided(shape: Dims, strides: Dims, offset: usize) -> Layout {
        let numel = shape.iter().product();
        let row_major = order::is_row_major(&shape, &strides);
        let contiguous = row_major || is_contiguous(&shape, &strides);
        Layout { shape, strides, offset, numel, contiguous, row_major }
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

    /// Whether the elements lie in some order, each at a place of its own and without gaps.
    pub fn is_dense(&self) -> bool {
        self.is_non_overlapping() && self.end() - self.offset == self.numel
    }

    /// Whether no two elements share memory.
    pub fn is_non_overlapping(&self) -> bool {
        if self.contiguous {
            return true;
        }
        let mut dims: Vec<(usize, usize)> =
            self.strides.iter().copied().zip(self.shape.iter().copied()).collect();
        dims.retain(|&(_, size)| size != 1);
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
    pub(crate) fn around(&self, dim: Option<usize>, sample: &Layout) -> Layout {
        let Some(dim) = dim else { return sample.clone() };
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
        Layout::strided(self.shape.clone(), strides, 0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_seen() {
        assert!(Layout::contiguous(&[2, 3]).is_non_overlapping());
        assert!(!Layout::strided([2, 3].as_slice().into(), [0, 1].as_slice().into(), 0).is_non_overlapping());
        assert_eq!(Layout::strided([2, 3].as_slice().into(), [1, 2].as_slice().into(), 4).end(), 10);
    }
}
