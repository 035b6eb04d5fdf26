//! `Over`: which dimensions a reduction is over, and the way back.

use std::borrow::Cow;

use smallvec::{SmallVec, smallvec};

use crate::dispatch::record::records;
use crate::dtype::Element;
use crate::error::Result;
use crate::graph::{At, mode};
use crate::ops;
use crate::ops::geometry::{expand, reshape, squeeze};
use crate::shape::{self, Dims, Layout};
use crate::tensor::{Array, Tensor};

/// Among so many elements those that are the same in memory are not added up one by one.
const MANY: usize = 1 << 14;

/// Whether there are many elements of which some are the same in memory.
pub(super) fn may_be_once(layout: &Layout) -> bool {
    layout.numel() >= MANY && layout.strides().contains(&0)
}

/// Which dimensions go, and whether ones stay in their place.
#[derive(Clone)]
pub(crate) struct Over {
    pub(crate) dims: Dims,
    pub(crate) keepdim: bool,
    /// The dimensions as the caller named them, if any were: the node shows them so.
    pub(super) given: Option<SmallVec<[i64; 2]>>,
}

impl Over {
    pub(crate) fn new(dims: Option<&[i64]>, keepdim: bool, x: &Tensor) -> Result<Over> {
        let given = dims.map(SmallVec::from_slice);
        let dims = shape::normalize_dims(dims.unwrap_or(&[]), x.ndim())?;
        Ok(Over { dims, keepdim, given })
    }

    /// One dimension that was normalised before.
    pub(crate) fn along(dim: usize, keepdim: bool, ndim: usize) -> Over {
        let dims = if ndim == 0 { Dims::new() } else { Dims::from_elem(dim, 1) };
        Over { dims, keepdim, given: Some(smallvec![dim as i64]) }
    }

    /// All dimensions but one.
    pub(crate) fn but(dim: usize, ndim: usize) -> Over {
        let dims: Dims = (0..ndim).filter(|other| *other != dim).collect();
        Over { dims, keepdim: false, given: None }
    }

    /// Whether the caller named dimensions, which decides torch's name of the node.
    pub(crate) fn named(&self) -> bool {
        self.given.is_some()
    }

    /// The dimensions as the caller named them.
    pub(crate) fn given(&self) -> Option<&[i64]> {
        self.given.as_deref()
    }

    /// The same dimensions behind one more.
    pub(crate) fn deeper(&self) -> Over {
        let dims: Dims = self.dims.iter().map(|dim| dim + 1).collect();
        let given = Some(dims.iter().map(|&dim| dim as i64).collect());
        Over { dims, keepdim: self.keepdim, given }
    }

    /// The elements in a row, where all of them make one: the common case, which needs no look at axes.
    pub(super) fn everything<'a, T: Element>(&self, x: &'a Array) -> Option<&'a [T]> {
        if self.dims.len() == x.layout.ndim() { x.slice() } else { None }
    }

    /// The array with one element in the place of many that are the same in memory and are all reduced, and how many
    /// they are. A few are left to the usual way; of more, the product is nearer to the truth, and needs no memory.
    pub(super) fn once<'a>(&self, x: &'a Array) -> Result<(Cow<'a, Array>, usize)> {
        if !may_be_once(&x.layout) {
            return Ok((Cow::Borrowed(x), 1));
        }
        let (mut shape, mut times) = (Dims::from_slice(x.layout.shape()), 1);
        for &dim in self.dims.iter().filter(|&&dim| x.layout.strides()[dim] == 0) {
            times *= shape[dim];
            shape[dim] = 1;
        }
        let layout = Layout::strided(shape, x.layout.strides().into(), x.layout.offset())?;
        Ok((Cow::Owned(x.with_layout(layout)), times))
    }

    pub(crate) fn shape(&self, shape: &[usize]) -> Dims {
        shape::reduced_shape(shape, &self.dims, self.keepdim)
    }

    /// How many elements of `shape` make one of the result.
    pub(crate) fn count(&self, shape: &[usize]) -> usize {
        self.dims.iter().map(|&dim| shape[dim]).product()
    }

    /// Puts ones in the place of the dimensions that went, so that a result broadcasts against the
    /// input.
    pub(crate) fn aligned(&self, result: &Tensor, input: &[usize]) -> Result<Tensor> {
        if self.keepdim || self.dims.is_empty() {
            return Ok(result.clone());
        }
        if records(&[result]) {
            // A single number is repeated as it is; else the dimensions come back one by one, as in torch.
            let mut result = result.clone();
            let some = self.given().is_some_and(|dims| !dims.is_empty());
            for &dim in self.dims.iter().filter(|_| some) {
                result = squeeze::unsqueeze(&result, dim as i64)?;
            }
            return Ok(result);
        }
        reshape::reshape_to(result, &shape::reduced_shape(input, &self.dims, true))
    }

    /// The gradient of a mean, a share for each element.
    pub(crate) fn share(&self, gradient: &Tensor, input: &[usize], at: &At<'_>) -> Result<Tensor> {
        let count = self.count(input) as i64;
        if at.tracking || at.seen || mode::special() {
            return ops::div(&self.spread(gradient, input)?, count);
        }
        // Fewer divisions. The elements share memory, but nobody is there to write to it.
        self.spread(&ops::div(gradient, count)?, input)
    }

    /// A result repeated along the dimensions that went.
    pub(crate) fn spread(&self, result: &Tensor, input: &[usize]) -> Result<Tensor> {
        if mode::special() && result.ndim() == 0 {
            return expand::expand_to(result, input);
        }
        if !records(&[result]) && !mode::special() {
            // The common case, a gradient on its way back: no view that anybody sees.
            let array = result.array();
            let mut strides = Dims::from_elem(0, input.len());
            let mut kept = array.layout.shape().iter().zip(array.layout.strides());
            for (dim, stride) in strides.iter_mut().enumerate() {
                let reduced = self.dims.contains(&dim);
                // A dimension of size one that went comes back as `unsqueeze` leaves it: nothing is repeated.
                let next = || kept.clone().next().map_or(1, |(&size, &own)| size * own);
                match (reduced, self.keepdim) {
                    (true, false) if input[dim] == 1 && array.layout.ndim() > 0 => *stride = next(),
                    (true, false) => {}
                    (reduced, _) => match kept.next() {
                        Some((_, &own)) if !reduced || input[dim] == 1 => *stride = own,
                        _ => {}
                    },
                }
            }
            let layout = Layout::strided(Dims::from_slice(input), strides, array.layout.offset())?;
            return Ok(Tensor::from_array(array.with_layout(layout)));
        }
        let aligned = self.aligned(result, input)?;
        // Recorded, it is a view even of what has the shape already.
        if records(&[result]) {
            expand::expanded(&aligned, input)
        } else {
            expand::expand_to(&aligned, input)
        }
    }
}
