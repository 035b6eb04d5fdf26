//! Slices and elements that an index names, computed into memory that is there.

use crate::dispatch::direct::few::TYPES;
use crate::dispatch::direct::{Direct, Lies, Source, Target, misfit};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::shape::Layout;

/// More elements are worth loops that several threads share.
const MOST: usize = 1 << 14;

/// What an index names along a dimension.
pub(in crate::ops) struct Named {
    pub(in crate::ops) dim: usize,
    pub(in crate::ops) what: What,
}

/// What each number of an index stands for.
#[derive(Clone, Copy)]
pub(in crate::ops) enum What {
    /// A whole slice; whether negative numbers count from the end.
    Slices { negative: bool },
    /// The element in its own place in the other dimensions.
    Elements,
}

impl Named {
    /// How many elements there are in the dimensions before it, in it, and behind it.
    fn sizes(&self, shape: &[usize]) -> Option<[usize; 3]> {
        let (before, behind) = (shape.get(..self.dim)?, shape.get(self.dim + 1..)?);
        Some([before.iter().product(), shape[self.dim], behind.iter().product()])
    }

    /// The place in the dimension that a number stands for.
    fn place(&self, number: i64, size: usize) -> Option<usize> {
        let counts_back = number < 0 && matches!(self.what, What::Slices { negative: true });
        let place = if counts_back { number.checked_add(size as i64)? } else { number };
        usize::try_from(place).ok().filter(|&place| place < size)
    }

    fn write<T: Element>(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let [Some(from), Some(index)] = [0, 1].map(|at| sources.get(at).and_then(Source::array)) else {
            return Err(misfit());
        };
        let [_, size, inner] = self.sizes(from.layout.shape()).ok_or_else(misfit)?;
        let (Some(x), Some(index)) = (from.slice::<T>(), index.slice::<i64>()) else { return Err(misfit()) };
        if !index.iter().all(|&number| self.place(number, size).is_some()) {
            return Err(Error::IndexSelectRange {}.into());
        }
        let place = |number: i64| self.place(number, size).unwrap_or(0);
        let row = size * inner;
        target.write_of::<T>(sources, |y| match self.what {
            What::Slices { .. } => {
                for (y, x) in y.chunks_exact_mut(index.len() * inner).zip(x.chunks_exact(row)) {
                    for (y, &number) in y.chunks_exact_mut(inner).zip(index) {
                        y.write_copy_of_slice(&x[place(number) * inner..][..inner]);
                    }
                }
            }
            What::Elements => {
                let each = y.len() / (x.len() / row);
                for (at, (y, &number)) in y.iter_mut().zip(index).enumerate() {
                    y.write(x[at / each * row + place(number) * inner + at % inner]);
                }
            }
        });
        Ok(())
    }
}

impl Direct for Named {
    fn takes(&self, operands: &[Lies<'_>], (result, dtype): (&Layout, DType)) -> bool {
        let [Lies::Tensor(x, own), Lies::Tensor(index, DType::Int64)] = operands else { return false };
        let Some([outer, _, inner]) = self.sizes(x.shape()) else { return false };
        let is_alike = |(dim, (a, b)): (usize, (&usize, &usize))| dim == self.dim || a == b;
        let fits = match self.what {
            What::Slices { .. } => result.numel() == outer * index.numel() * inner,
            What::Elements => {
                index.shape() == result.shape()
                    && index.ndim() == x.ndim()
                    && x.shape().iter().zip(index.shape()).enumerate().all(is_alike)
            }
        };
        fits && *own == dtype
            && TYPES.contains(&dtype)
            && [x, index, &result].iter().all(|layout| layout.is_contiguous())
            && x.numel() > 0
            && (1..=MOST).contains(&result.numel())
    }

    fn may_fail(&self) -> bool {
        true
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        dispatch!(usual target.array.dtype, T => self.write::<T>(sources, target), else { Err(misfit()) })
    }
}
