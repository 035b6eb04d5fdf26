//! Parts of a tensor: one element of a dimension, a range of it, a diagonal.

mod directly;
mod entries;

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Plain, Reader, Row, damaged, plain};
use crate::ops::geometry::strided;
use crate::schema::{Entry, IntoReply, both, inner, method};
pub use entries::ENTRIES;
use smallvec::smallvec;
use std::sync::Arc;

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::attribute_override::{ViewWithAttributes, apply_one_with_attributes};
use crate::dispatch::direct::Direct;
use crate::dispatch::view::{ViewKind, apply};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients};
use crate::ops::creation::copy;
use crate::shape::{self, Dims, Layout, SharedLayout};
use crate::tensor::{Array, Tensor};
use directly::Among;

/// A part of a tensor, with checked arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// One element of a dimension, which goes.
    Select { dim: usize, index: usize },
    /// Every `step`-th element of a dimension.
    Slice { dim: usize, start: usize, length: usize, step: usize },
    /// The diagonal of two dimensions, as a last dimension: the elements where the second index is
    /// larger than the first by `offset`.
    Diagonal { offset: i64, first: usize, second: usize },
}

impl Part {
    /// The same part behind one more dimension.
    pub(crate) fn deeper(self) -> Part {
        match self {
            Part::Select { dim, index } => Part::Select { dim: dim + 1, index },
            Part::Slice { dim, start, length, step } => Part::Slice { dim: dim + 1, start, length, step },
            Part::Diagonal { offset, first, second } => {
                Part::Diagonal { offset, first: first + 1, second: second + 1 }
            }
        }
    }

    /// Where the part lies.
    pub(crate) fn layout(self, source: &Layout) -> Result<Layout> {
        // What shows nothing may begin beyond the memory, and beyond what can be counted.
        let behind = |steps: usize, dim: usize| {
            source.offset().wrapping_add(steps.wrapping_mul(source.strides()[dim]))
        };
        let both = || (Dims::from_slice(source.shape()), Dims::from_slice(source.strides()));
        match self {
            Part::Select { dim, index } => Ok(source.selected(dim, index)),
            Part::Slice { dim, start, length, step } => {
                let (mut shape, mut strides) = both();
                shape[dim] = length;
                strides[dim] *= step;
                Layout::strided(shape, strides, behind(start, dim))
            }
            Part::Diagonal { offset: shift, first, second } => {
                let (mut shape, mut strides) = both();
                let (rows, columns) = (shape[first] as i64, shape[second] as i64);
                let length = if shift >= 0 { rows.min(columns - shift) } else { columns.min(rows + shift) };
                let (dim, steps) = if shift >= 0 { (second, shift) } else { (first, -shift) };
                let offset = if length > 0 { behind(steps as usize, dim) } else { source.offset() };
                let stride = strides[first] + strides[second];
                for dim in [first.max(second), first.min(second)] {
                    shape.remove(dim);
                    strides.remove(dim);
                }
                shape.push(length.max(0) as usize);
                strides.push(stride);
                Layout::strided(shape, strides, offset)
            }
        }
    }

    /// The part of an array.
    pub(crate) fn of(self, array: &Array) -> Result<Array> {
        Ok(array.with_layout(self.layout(&array.layout)?))
    }
}

/// y = the part of x
///
/// dy is the part of dx; x̄ is ȳ in its place among zeros
impl ViewKind for Part {
    fn name(&self) -> &'static str {
        match self {
            Part::Select { .. } => "SelectBackward0",
            Part::Slice { .. } => "SliceBackward0",
            Part::Diagonal { .. } => "DiagonalBackward0",
        }
    }

    fn shown(&self, source: &Layout) -> Attributes {
        match *self {
            Part::Select { dim, index } => shown! { dim: dim, index: index, self_sym_sizes: source },
            Part::Slice { dim, start, length, step } => {
                // A slice to the end does not say where that is.
                let stop = start + length * step;
                let end = if stop < source.shape()[dim] { stop as i64 } else { i64::MAX };
                shown! { dim: dim, start: start, end: end, step: step, self_sym_sizes: source }
            }
            Part::Diagonal { offset, first, second } => {
                shown! { offset: offset, dim1: first, dim2: second, self_sym_sizes: source }
            }
        }
    }

    fn vjp(&self, source: &Layout, gradient: &Tensor) -> Result<Tensor> {
        let name = match self {
            Part::Select { .. } => EMBEDDED[0],
            Part::Slice { .. } => EMBEDDED[1],
            Part::Diagonal { .. } => EMBEDDED[2],
        };
        embed(gradient, *self, source.shape(), name)
    }

    fn jvp(&self, tangent: &Tensor, _shape: &[usize]) -> Result<Tensor> {
        take(tangent, *self)
    }
}

/// The nodes of what puts gradients of parts where these come from, which no entry has.
pub(crate) const EMBEDDED: [&str; 3] =
    ["SelectBackwardBackward0", "SliceBackwardBackward0", "DiagonalBackwardBackward0"];

/// The part of a tensor.
pub(crate) fn take(x: &Tensor, part: Part) -> Result<Tensor> {
    apply(part, x, part.layout(&x.layout())?)
}

/// `take`, of a part that shows these parameters.
fn take_given(x: &Tensor, part: Part, given: Attributes) -> Result<Tensor> {
    let layout = part.layout(&x.layout())?;
    apply(ViewWithAttributes { kind: part, given }, x, layout)
}

/// y = zeros with x as the part
///
/// dy is dx among zeros; x̄ is the part of ȳ
#[derive(Clone)]
struct Embed {
    part: Part,
    whole: SharedLayout,
    name: &'static str,
}

impl Op for Embed {
    type Saved = ();
    const MOVES: bool = true;

    fn name(&self) -> &'static str {
        self.name
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        match self.part {
            Part::Select { dim, index } => shown! { dim: dim, index: index },
            Part::Slice { dim, start, length, step } => {
                shown! { dim: dim, start: start, end: start + length * step, step: step }
            }
            Part::Diagonal { offset, first, second } => {
                shown! { offset: offset, dim1: first, dim2: second }
            }
        }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let y = Array::zeroed(&self.whole, x.dtype)?;
        copy::write(&self.part.of(&y)?, x)?;
        Ok(smallvec![y])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(Among::new(self.part, self.whole.shape())?))
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(take(single(gradients), self.part)?)
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(embed(tangent(tangents), self.part, self.whole.shape(), self.name)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let whole = SharedLayout::new(batch::stacked(&self.whole, call.size)?);
        call.front(Embed { part: self.part.deeper(), whole, name: self.name })
    }
}

/// Zeros of a shape with `x` as the part.
pub(crate) fn embed(x: &Tensor, part: Part, whole: &[usize], name: &'static str) -> Result<Tensor> {
    apply_one(Embed { part, whole: SharedLayout::contiguous(whole)?, name }, &[x])
}

/// `embed`, of a part that shows these parameters.
pub(crate) fn embed_given(
    x: &Tensor,
    part: Part,
    whole: &[usize],
    name: &'static str,
    given: Attributes,
) -> Result<Tensor> {
    apply_one_with_attributes(Embed { part, whole: SharedLayout::contiguous(whole)?, name }, given, &[x])
}

/// One element of a dimension, which goes.
pub fn select(x: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
    let layout = x.layout();
    if layout.ndim() == 0 {
        return Err(Error::NotOfScalar { operation: "select" }.into());
    }
    let (given_dim, given_index) = (dim, index);
    let dim = shape::normalize_dim(dim, layout.ndim())?;
    let Some(index) = from_end(index, layout.shape()[dim]) else {
        let error = Error::SelectRange { index, shape: layout.shape().to_vec(), dim };
        return Err(batch::told_of_all(error, &[x]));
    };
    take_element(x, Part::Select { dim, index }, given_dim, given_index)
}

/// The element of the dimension that the caller called `dim` at the place that it called `index`.
pub(crate) fn take_element(x: &Tensor, part: Part, dim: i64, index: i64) -> Result<Tensor> {
    match dim < 0 || index < 0 {
        true => take_given(x, part, shown! { dim: dim, index: index }),
        false => take(x, part),
    }
}

/// An index that counts from the end when negative, if there is such an element.
pub(crate) fn from_end(index: i64, size: usize) -> Option<usize> {
    let index = if index < 0 { index.checked_add(size as i64)? } else { index };
    usize::try_from(index).ok().filter(|&index| index < size)
}

/// Every `step`-th element of a dimension from `start` to before `end`, by Python's rules.
pub fn slice(x: &Tensor, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Tensor> {
    let layout = x.layout();
    if layout.ndim() == 0 {
        return Err(Error::NotOfScalar { operation: "slice" }.into());
    }
    let place = shape::normalize_dim(dim, layout.ndim())?;
    let part = sliced(place, layout.shape()[place], start, end, step)?;
    match end {
        Some(_) => take_slice(x, part, dim, start, end),
        // Unlike brackets it says so.
        None => take_given(x, part, shown! { dim: dim, start: start.unwrap_or(0), end: end }),
    }
}

/// A slice of the dimension that the caller called `dim`, from where to where it said.
pub(crate) fn take_slice(
    x: &Tensor,
    part: Part,
    dim: i64,
    start: Option<i64>,
    end: Option<i64>,
) -> Result<Tensor> {
    let layout = x.layout();
    let size = shape::normalize_dim(dim, layout.ndim()).map(|place| layout.shape()[place] as i64)?;
    let (start, end) = (start.unwrap_or(0), end.unwrap_or(i64::MAX));
    let ends = end == i64::MAX || end >= start && end < size;
    match dim >= 0 && (0..=size).contains(&start) && ends {
        true => take(x, part),
        false => take_given(x, part, shown! { dim: dim, start: start, end: end }),
    }
}

/// The part that such a slice is of a dimension of that size.
pub(crate) fn sliced(
    dim: usize,
    size: usize,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> Result<Part> {
    if step <= 0 {
        return Err(Error::SliceStep {}.into());
    }
    let clamped = |place: i64| {
        let place = if place < 0 { place.saturating_add(size as i64) } else { place };
        place.clamp(0, size as i64) as usize
    };
    let start = clamped(start.unwrap_or(0));
    let end = clamped(end.unwrap_or(i64::MAX)).max(start);
    // Beyond the end the step does not matter, but its product with a stride must be representable.
    let step = step.min((size as i64).max(1 << 31)) as usize;
    Ok(Part::Slice { dim, start, length: (end - start).div_ceil(step), step })
}

/// `length` elements of a dimension from `start` on.
pub fn narrow(x: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
    let layout = x.layout();
    if layout.ndim() == 0 {
        return Err(Error::NarrowScalar {}.into());
    }
    if length < 0 {
        return Err(Error::NarrowNegative {}.into());
    }
    let given = dim;
    let dim = shape::normalize_dim(dim, layout.ndim())?;
    let size = layout.shape()[dim] as i64;
    if start < -size || start > size {
        return Err(Error::NarrowStart { low: -size, high: size, start }.into());
    }
    let start = if start < 0 { start + size } else { start };
    if length > size - start {
        return Err(Error::NarrowLength { start, length, size }.into());
    }
    let part = Part::Slice { dim, start: start as usize, length: length as usize, step: 1 };
    match given >= 0 && start + length < size {
        true => take(x, part),
        false => take_given(x, part, shown! { dim: given, start: start, end: start + length }),
    }
}

/// The diagonal of two dimensions, as a last dimension.
pub fn diagonal(x: &Tensor, offset: i64, first: i64, second: i64) -> Result<Tensor> {
    let ndim = x.ndim();
    let (dim1, dim2) = (first, second);
    let (first, second) = (shape::normalize_dim(first, ndim)?, shape::normalize_dim(second, ndim)?);
    if first == second {
        return Err(Error::DiagonalDimensions { dim1, dim2 }.into());
    }
    let shape = x.layout().shape().to_vec();
    // Beyond the corners there is nothing, however far.
    let offset = offset.clamp(-(shape[first] as i64), shape[second] as i64);
    let part = Part::Diagonal { offset, first, second };
    match dim1 < 0 || dim2 < 0 {
        true => take_given(x, part, shown! { dim1: dim1, dim2: dim2 }),
        false => take(x, part),
    }
}

/// y = all windows along a dimension of x, as a new last dimension
///
/// dy are those of dx; x̄ = each window's ȳ added to where it came from
struct Unfold {
    /// The dimension as the caller named it.
    given: i64,
    dim: usize,
    size: usize,
    step: usize,
}

impl ViewKind for Unfold {
    fn name(&self) -> &'static str {
        "UnfoldBackward0"
    }

    fn shown(&self, source: &Layout) -> Attributes {
        shown! { dimension: self.given, self_sym_sizes: source, size: self.size, step: self.step }
    }

    fn vjp(&self, source: &Layout, gradient: &Tensor) -> Result<Tensor> {
        let plain = SharedLayout::new(source.fresh());
        let windows = SharedLayout::new(self.layout(&plain)?);
        strided::write_back(plain, windows, gradient)
    }

    fn jvp(&self, tangent: &Tensor, _shape: &[usize]) -> Result<Tensor> {
        apply(Unfold { ..*self }, tangent, self.layout(&tangent.layout())?)
    }
}

impl Unfold {
    fn layout(&self, source: &Layout) -> Result<Layout> {
        let (mut shape, mut strides): (Dims, Dims) = (source.shape().into(), source.strides().into());
        if shape.is_empty() {
            return Layout::strided(Dims::from_elem(self.size, 1), Dims::from_elem(1, 1), source.offset());
        }
        let stride = strides[self.dim];
        shape[self.dim] = (shape[self.dim] - self.size) / self.step + 1;
        strides[self.dim] *= self.step;
        shape.push(self.size);
        strides.push(stride);
        Layout::strided(shape, strides, source.offset())
    }
}

/// All windows of `size` elements along a dimension, `step` apart, as a new last dimension.
pub fn windows(x: &Tensor, dim: i64, size: i64, step: i64) -> Result<Tensor> {
    let layout = x.layout();
    let place = shape::normalize_dim(dim, layout.ndim())?;
    let most = layout.size(place);
    if size < 0 {
        return Err(Error::UnfoldNegative { size }.into());
    }
    if size as usize > most {
        return Err(batch::told_of_all(Error::UnfoldSize { dim: place as i64, size, step: most }, &[x]));
    }
    if step <= 0 {
        return Err(Error::UnfoldStep { step }.into());
    }
    let unfold = Unfold { given: dim, dim: place, size: size as usize, step: step as usize };
    let window = unfold.layout(&layout)?;
    apply(unfold, x, window)
}

plain! {
    struct Embed { part, whole, name }
}

impl Plain for Part {
    fn write(&self, to: &mut Vec<u8>) {
        match *self {
            Part::Select { dim, index } => (0u8, [dim, index]).write(to),
            Part::Slice { dim, start, length, step } => (1u8, [dim, start, length, step]).write(to),
            Part::Diagonal { offset, first, second } => ((2u8, offset), [first, second]).write(to),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Part> {
        Ok(match u8::read(from)? {
            0 => <[usize; 2]>::read(from).map(|[dim, index]| Part::Select { dim, index })?,
            1 => <[usize; 4]>::read(from).map(|[dim, start, length, step]| Part::Slice {
                dim,
                start,
                length,
                step,
            })?,
            2 => {
                let (offset, [first, second]) = <(i64, [usize; 2])>::read(from)?;
                Part::Diagonal { offset, first, second }
            }
            _ => return Err(damaged("a part is unknown")),
        })
    }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Embed>("embed")];
