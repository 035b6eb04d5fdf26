//! Elements selected along a dimension by their order: `sort`, `topk`, `kthvalue`, `median`, `mode`, `cummax` and
//! `cummin`. Each answers the values and the indices at which they were found.

mod entries;

pub use entries::{ENTRIES, OPERATORS};

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Plain, Reader, Row, damaged, plain};
use crate::dispatch::view;
use crate::ops::geometry::part::Part;
use crate::ops::geometry::reshape;
use crate::schema::{Arguments, Entry, IntoReply, Operator, OutPolicy, Types, both, function, method};
use smallvec::smallvec;
use std::borrow::Cow;

use crate::dispatch::apply::{Arrays, Keep, Op, Unsigned, apply, one, tangent};
use crate::dispatch::batch::{Answer, Call, plumbing};
use crate::dispatch::memory_order;
use crate::dtype::{DType, Ordered};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::reduction::scan;
use crate::kernels::sorting::sort;
use crate::ops::creation::{copy, create};
use crate::ops::geometry::squeeze;
use crate::ops::indexing::gather;
use crate::ops::remainder;
use crate::shape::{self, Layout, SharedLayout};
use crate::tensor::{Array, Tensor};

/// Which elements.
#[derive(Clone, Copy)]
enum Pick {
    /// All, in order.
    Sorted { descending: bool, stable: bool },
    /// The most extreme ones, the most extreme first.
    Top { count: usize, greatest: bool },
    /// The one with this rank, counted from 0 for the least (`kthvalue`).
    Nth(usize),
    /// The median. NaN, if there is any, is the median, unless NaN is to be ignored (`nanmedian`).
    Middle { numbers_only: bool },
    /// The most frequent one.
    MostFrequent,
    /// The most extreme one so far.
    Running { greatest: bool },
}

/// y = x at the indices of what is picked, which are a result too
///
/// dy = dx there; x̄ = ȳ added there
#[derive(Clone)]
struct Picked {
    pick: Pick,
    dim: usize,
    /// The dimension as the caller named it.
    given: i64,
    /// Whether the dimension is reduced.
    reduces: bool,
}

/// Where the picked elements are, in a tensor of at least one dimension.
fn places<T: Ordered>(pick: Pick, x: &Array, dim: usize) -> Result<Array> {
    let mut shape = x.layout.shape().to_vec();
    let length = shape[dim];
    shape[dim] = match pick {
        Pick::Sorted { .. } => length,
        Pick::Top { count, .. } => count,
        _ => 1,
    };
    let mut index = Array::uninit_shape(&shape, DType::Int64)?;
    let (view, out) = (x.view::<T>(), index.fresh());
    match pick {
        Pick::Sorted { descending, .. } => sort::argsort(view, dim, length, descending, out),
        Pick::Top { count, greatest } => sort::argsort(view, dim, count, greatest, out),
        Pick::Nth(rank) => sort::arg_ranked(view, dim, |_| rank, out),
        Pick::Middle { numbers_only: false } => {
            // NaN is sorted behind all numbers; this is the first one.
            let middle = |numbers| if numbers < length { numbers } else { (length - 1) / 2 };
            sort::arg_ranked(view, dim, middle, out);
        }
        Pick::Middle { numbers_only: true } => {
            sort::arg_ranked(view, dim, |numbers| numbers.saturating_sub(1) / 2, out);
        }
        Pick::MostFrequent => sort::arg_most_frequent(view, dim, out),
        Pick::Running { .. } => unreachable!("running extremes are scanned for"),
    }
    Ok(index)
}

impl Picked {
    /// The error for complex numbers, which have no order.
    fn refusal(&self, dtype: DType) -> Error {
        let operation = match self.pick {
            Pick::Sorted { .. } => return Error::SortedComplex { operation: "Sort" },
            Pick::Top { .. } => return Error::SortedComplex { operation: "topk" },
            Pick::Nth(_) => "kthvalue_cpu",
            Pick::Middle { .. } => "median_cpu",
            Pick::MostFrequent => "mode_cpu",
            Pick::Running { greatest: true } => "cummax_cpu",
            Pick::Running { greatest: false } => "cummin_cpu",
        };
        Error::NotImplementedFor { operation, dtype }
    }

    /// Whether nothing is compared, so that any type is allowed: a 0-d tensor, or a running extreme of no elements.
    fn has_no_choice(&self, x: &Array) -> bool {
        match self.pick {
            Pick::Nth(_) | Pick::MostFrequent => x.layout.ndim() == 0,
            Pick::Running { .. } => x.layout.ndim() == 0 || x.layout.numel() == 0,
            _ => false,
        }
    }

    /// The input with a dimension to select along: a 0-d tensor gets one of size 1.
    fn lifted(&self, x: &Array) -> Result<Array> {
        if x.layout.ndim() > 0 {
            return Ok(x.clone());
        }
        Ok(x.with_layout(Layout::strided(smallvec![1], smallvec![1], x.layout.offset())?))
    }

    /// Puts the reduced dimension back, with size 1.
    fn aligned(&self, y: &Tensor, ndim: usize) -> Result<Tensor> {
        if self.reduces && y.ndim() < ndim {
            return squeeze::unsqueeze(y, self.dim as i64);
        }
        Ok(y.clone())
    }

    /// The saved indices, after the check that no saved tensor was written to.
    fn index(&self, [index, x]: &[Option<SavedTensor>; 2], at: &At<'_>, ndim: usize) -> Result<Tensor> {
        x.as_ref().map(|x| at.load(x)).transpose()?;
        match index {
            Some(index) => self.aligned(&at.load(index)?, ndim),
            None => unreachable!("the places are kept"),
        }
    }

    fn settled(&self, y: &Tensor, ndim: usize) -> Result<Tensor> {
        match self.reduces || ndim == 0 {
            true => squeeze::squeeze(y, squeeze::Squeezed::One(self.dim as i64)),
            false => Ok(y.clone()),
        }
    }
}

impl Op for Picked {
    type Saved = ([Option<SavedTensor>; 2], SharedLayout);
    const UNSIGNED: Unsigned = Unsigned::Ordered;
    const SAVED: &'static [&'static str] = &["indices", "self"];

    fn name(&self) -> &'static str {
        match self.pick {
            Pick::Sorted { stable: false, .. } => "SortBackward0",
            Pick::Sorted { stable: true, .. } => "SortBackward1",
            Pick::Top { .. } => "TopkBackward0",
            Pick::Nth(_) => "KthvalueBackward0",
            Pick::Middle { numbers_only: false } => "MedianBackward1",
            Pick::Middle { numbers_only: true } => "NanmedianBackward1",
            Pick::MostFrequent => "ModeBackward0",
            Pick::Running { greatest: true } => "CummaxBackward0",
            Pick::Running { greatest: false } => "CumminBackward0",
        }
    }

    fn saved_names(&self) -> &'static [&'static str] {
        if matches!(self.pick, Pick::Running { .. }) { Self::SAVED } else { &["indices", ""] }
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        let mut shown = shown! { dim: self.given };
        if !matches!(self.pick, Pick::Running { .. }) {
            shown.extend(shown! { self_sym_sizes: &saved.1 });
        }
        if matches!(self.pick, Pick::Nth(_) | Pick::Middle { .. } | Pick::MostFrequent) {
            shown.extend(shown! { keepdim: !self.reduces });
        }
        shown
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        // A 0-d tensor is treated as one with a dimension of size 1.
        let (ndim, lifted) = (inputs[0].layout.ndim(), self.lifted(&inputs[0])?);
        if self.has_no_choice(&inputs[0]) {
            let index = Array::zeroed(&SharedLayout::new(inputs[0].layout.fresh()), DType::Int64)?;
            return Ok(smallvec![copy::laid_out(&inputs[0], &index.layout)?, index]);
        }
        let (values, index) = match self.pick {
            Pick::Running { greatest } => {
                let mut index = Array::uninit(&lifted.layout, DType::Int64)?;
                // Booleans are compared as 0 and 1.
                let wide = match lifted.dtype {
                    DType::Bool => Cow::Owned(copy::converted(&lifted, DType::UInt8)?),
                    _ => Cow::Borrowed(&lifted),
                };
                let values = dispatch!(number wide.dtype, T => {
                    let mut values = Array::uninit(&wide.layout, wide.dtype)?;
                    scan::cumulative_extreme(wide.view::<T>(), self.dim, greatest, values.fresh(), index.fresh());
                    values
                }, else { return Err(self.refusal(wide.dtype).into()) });
                (copy::as_type(&values, lifted.dtype)?.into_owned(), index)
            }
            pick => {
                let index = dispatch!(ordered lifted.dtype, T => places::<T>(pick, &lifted, self.dim)?, else {
                    return Err(self.refusal(lifted.dtype).into())
                });
                (gather::numbers(&lifted, self.dim, &index)?, index)
            }
        };
        let plain = |y: Array| -> Result<Array> {
            let goes = (self.reduces || ndim == 0) && y.layout.shape()[self.dim] == 1;
            let y = if goes { Part::Select { dim: self.dim, index: 0 }.of(&y)? } else { y };
            match self.pick {
                Pick::Sorted { .. } => memory_order::like(y, &inputs[0].layout),
                _ => Ok(y),
            }
        };
        Ok(smallvec![plain(values)?, plain(index)?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        let running = matches!(self.pick, Pick::Running { .. });
        ([Some(keep.output(1)), keep.input_if(running, 0)], keep.layout(0))
    }

    fn vjp(&self, (kept, source): &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let Some(g) = gradients[0].as_ref() else { return Ok(smallvec![None]) };
        let (ndim, shape) = (source.ndim(), shape::signed(source.shape()));
        let zeros = create::zeros(&shape, g.dtype())?;
        let (index, aligned) = (self.index(kept, at, ndim)?, self.aligned(g, ndim)?);
        one(gather::scatter_add(&zeros, self.dim as i64, &index, &aligned)?)
    }

    fn jvp(
        &self,
        (kept, source): &Self::Saved,
        at: &At<'_>,
        tangents: &[Option<Tensor>],
    ) -> Result<Gradients> {
        let ndim = source.ndim();
        let index = self.index(kept, at, ndim)?;
        let moved = gather::gather(tangent(tangents), self.dim as i64, &index)?;
        let settled = if ndim > 0 { self.settled(&moved, ndim)? } else { moved };
        Ok(smallvec![Some(settled), None])
    }

    fn plumbing(&self) -> &'static str {
        plumbing::REDUCTION
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.deeper(Picked { dim: self.dim + 1, ..*self })
    }
}

/// The element in the middle of a row of numbers.
pub(crate) fn middle(row: &Array, numbers_only: bool) -> Result<Array> {
    let pick = Pick::Middle { numbers_only };
    let picked = Picked { pick, dim: 0, given: 0, reduces: true };
    Ok(picked.forward(std::slice::from_ref(row))?.swap_remove(0))
}

fn run(x: &Tensor, pick: Pick, given: i64, reduces: bool) -> Result<(Tensor, Tensor)> {
    let dim = shape::normalize_dim(given, x.ndim())?;
    let mut outputs = apply(Picked { pick, dim, given, reduces }, &[x])?;
    match (outputs.pop(), outputs.pop()) {
        (Some(index), Some(values)) => Ok((values, index)),
        _ => unreachable!("the operation has two outputs"),
    }
}

/// The elements in order along a dimension, and where they were. Equal ones keep their order.
pub fn sort(x: &Tensor, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
    run(x, Pick::Sorted { descending, stable: false }, dim, false)
}

/// `sort` where that equal ones keep their order was asked for.
pub fn stable_sort(x: &Tensor, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
    run(x, Pick::Sorted { descending, stable: true }, dim, false)
}

/// The greatest or least elements along a dimension, the most extreme first, and where they were.
pub fn topk(x: &Tensor, count: i64, dim: i64, greatest: bool) -> Result<(Tensor, Tensor)> {
    let length = x.layout().size(shape::normalize_dim(dim, x.ndim())?);
    if count < 0 || count as usize > length {
        return Err(Error::TopkCount {}.into());
    }
    if x.dtype() == DType::Bool {
        return Err(Error::TopkBool {}.into());
    }
    // A number alone is the answer even to the question for none.
    let count = if x.ndim() == 0 { 1 } else { count };
    run(x, Pick::Top { count: count as usize, greatest }, dim, false)
}

/// The dimension to go along; without elements, every one will do.
fn whichever(x: &Tensor, dim: i64, operation: &'static str) -> Result<i64> {
    match x.ndim() {
        0 if !matches!(dim, -1 | 0) => Err(Error::PickScalar { operation, dim }.into()),
        _ if x.numel() == 0 => Ok(0),
        _ => Ok(dim),
    }
}

fn reduced(x: &Tensor, dim: i64, operation: &'static str) -> Result<(usize, usize)> {
    let dim = shape::normalize_dim(dim, x.ndim())?;
    let length = x.layout().size(dim);
    if length == 0 {
        return Err(Error::PickEmpty { operation, dim }.into());
    }
    Ok((dim, length))
}

/// The `count`-th least element along a dimension, and where it was.
pub fn kthvalue(x: &Tensor, count: i64, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let (at, length) = reduced(x, dim, "kthvalue")?;
    if count < 1 || count as usize > length {
        return Err(Error::KthvalueCount { dim: at }.into());
    }
    if x.dtype() == DType::Bool && x.ndim() > 0 {
        return Err(Error::NotImplementedFor { operation: "kthvalue_cpu", dtype: x.dtype() }.into());
    }
    run(x, Pick::Nth(count as usize - 1), dim, !keepdim)
}

/// The element in the middle along a dimension, and where it was.
pub fn median(x: &Tensor, dim: i64, keepdim: bool, numbers_only: bool) -> Result<(Tensor, Tensor)> {
    reduced(x, dim, "median")?;
    if x.dtype() == DType::Bool || x.dtype().is_complex() {
        return Err(Error::NotImplementedFor { operation: "median_out", dtype: x.dtype() }.into());
    }
    run(x, Pick::Middle { numbers_only }, dim, !keepdim)
}

/// The most frequent element along a dimension, and where it was last.
pub fn mode(x: &Tensor, dim: i64, keepdim: bool) -> Result<(Tensor, Tensor)> {
    reduced(x, dim, "mode")?;
    run(x, Pick::MostFrequent, dim, !keepdim)
}

/// The greatest elements so far along a dimension, and where they were.
pub fn cummax(x: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    let dim = whichever(x, dim, "cummax")?;
    run(x, Pick::Running { greatest: true }, dim, false)
}

/// The least elements so far along a dimension, and where they were.
pub fn cummin(x: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
    let dim = whichever(x, dim, "cummin")?;
    run(x, Pick::Running { greatest: false }, dim, false)
}

/// The elements of a dimension that the indices of another tensor name, both broadcast.
pub fn take_along_dim(x: &Tensor, index: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    if index.dtype() != DType::Int64 {
        return Err(Error::TakeAlongDType { dtype: index.dtype() }.into());
    }
    let Some(dim) = dim else {
        let flat = |x: &Tensor| reshape::reshape(x, &[-1]);
        return gather::gather(&flat(x)?, 0, &flat(index)?);
    };
    if x.ndim() != index.ndim() {
        return Err(Error::TakeAlongRank { input: x.ndim(), indices: index.ndim() }.into());
    }
    let dim = shape::normalize_dim(dim, x.ndim())?;
    if x.ndim() == 0 {
        return Err(Error::DimOfScalar { dim: dim as i64 }.into());
    }
    let (own, named) = (x.layout(), index.layout());
    let (mut left, mut right) = (own.shape().to_vec(), named.shape().to_vec());
    (left[dim], right[dim]) = (1, 1);
    let common = shape::broadcast(&left, &right)?;
    let expanded = |x: &Tensor, layout: &Layout| {
        let mut shape = shape::signed(&common);
        shape[dim] = layout.shape()[dim] as i64;
        view::expand(x, &shape)
    };
    // Places are counted from the end too, and round and round.
    let places = match own.shape()[dim] {
        0 => expanded(index, &named)?,
        size => remainder(&expanded(index, &named)?, size as i64)?,
    };
    gather::gather(&expanded(x, &own)?, dim as i64, &places)
}

plain! {
    struct Picked { pick, dim, given, reduces }
}

impl Plain for Pick {
    fn write(&self, to: &mut Vec<u8>) {
        match *self {
            Pick::Sorted { descending, stable } => (0u8, (descending, stable)).write(to),
            Pick::Top { count, greatest } => (1u8, (count, greatest)).write(to),
            Pick::Nth(rank) => (2u8, rank).write(to),
            Pick::Middle { numbers_only } => (3u8, numbers_only).write(to),
            Pick::MostFrequent => 4u8.write(to),
            Pick::Running { greatest } => (5u8, greatest).write(to),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Pick> {
        Ok(match u8::read(from)? {
            0 => Pick::Sorted { descending: bool::read(from)?, stable: bool::read(from)? },
            1 => Pick::Top { count: usize::read(from)?, greatest: bool::read(from)? },
            2 => Pick::Nth(usize::read(from)?),
            3 => Pick::Middle { numbers_only: bool::read(from)? },
            4 => Pick::MostFrequent,
            5 => Pick::Running { greatest: bool::read(from)? },
            _ => return Err(damaged("elements are picked in no way")),
        })
    }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Picked>("picked")];
