//! Strided windows: the view by sizes, strides and offset that every other view is a case of.

use crate::dispatch::apply;
use crate::dispatch::composites::on_tensors;
use crate::dispatch::view;
use crate::schema::{Entry, IntoReply, both, receiver};
use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, Unsigned, apply_one, one, single, tangent};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call, Samples};
use crate::dispatch::composites::attribute_override::apply_one_with_attributes;
use crate::dispatch::in_place;
use crate::dtype::Scalar;
use crate::error::{Error, Result};
use crate::graph::Shown;
use crate::graph::mode;
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, Rule};
use crate::ops::creation::{cast, copy, create};
use crate::ops::geometry::part::{self, Part};
use crate::ops::geometry::reshape;
use crate::ops::geometry::squeeze;
use crate::ops::geometry::squeeze::Squeezed;
use crate::ops::indexing::along;
use crate::ops::pointwise::clamp;
use crate::ops::reduction::reduce;
use crate::ops::{add_, div};
use crate::shape::{self, Dims, Layout, SharedLayout};
use crate::storage;
use crate::tensor::{Array, Creation, Tensor};

/// y = the elements of x's memory that `layout` shows
///
/// As a map of values: lay x out as it was, then read. dy reads dx so; x̄ is ȳ written back, summed
/// where an element was shown twice.
#[derive(Clone)]
pub struct AsStrided {
    pub(crate) layout: SharedLayout,
    /// Whether it is x itself that shows them from then on.
    pub(crate) in_place: bool,
}

impl Op for AsStrided {
    type Saved = SharedLayout;
    const VIEW: bool = true;

    fn name(&self) -> &'static str {
        if self.in_place { "AsStridedBackward1" } else { "AsStridedBackward0" }
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        shown! { size: &*self.layout, stride: self.layout.strides(), storage_offset: self.layout.offset() }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        check_room(&inputs[0], &self.layout)?;
        Ok(smallvec![inputs[0].with_layout((*self.layout).clone())])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        keep.layout(0)
    }

    fn vjp(&self, source: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        if at.tracking && !batch::is_batched(single(gradients)) {
            let line = Line::of(source, &self.layout);
            return one(line.moved(&self.layout, source, single(gradients))?);
        }
        let window =
            Window { source: source.clone(), window: self.layout.clone(), direction: Direction::Write };
        one(apply_one(window, &[single(gradients)])?)
    }

    fn jvp(&self, source: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        // A tangent that lies as x did has the window as a view, if its memory reaches as far.
        let memory = tangent(tangents).memory();
        if memory.layout == *source && check_room(&memory, &self.layout).is_ok() {
            return one(view::window(tangent(tangents), (*self.layout).clone())?);
        }
        let window =
            Window { source: source.clone(), window: self.layout.clone(), direction: Direction::Read };
        one(apply_one(window, &[tangent(tangents)])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let x = &call.inputs[0];
        let layout = SharedLayout::new(x.around(&self.layout)?);
        let value = apply_one(AsStrided { layout, in_place: false }, &[&x.value])?;
        Ok(smallvec![Samples { value, dim: x.dim.map(|_| 0) }])
    }

    fn creation(&self) -> Option<Creation> {
        Some(Creation::Default)
    }
}

/// The rule of a window on a tensor laid out as `source`, for a view that finds its edge again.
pub(crate) fn rule(source: SharedLayout, window: SharedLayout) -> impl Rule + 'static {
    apply::OpRule { op: AsStrided { layout: window, in_place: false }, saved: source }
}

/// What `window` shows of a tensor laid out as `source`, added back to zeros laid out so.
pub(crate) fn write_back(source: SharedLayout, window: SharedLayout, gradient: &Tensor) -> Result<Tensor> {
    apply_one(Window { source, window, direction: Direction::Write }, &[gradient])
}

/// Of so many pieces each is added by itself.
const PIECES: usize = 16;

/// How many parts of a layout, by the last dimensions, show no element twice.
fn pieces(layout: &Layout) -> usize {
    let (mut pieces, mut part) = (1, layout.clone());
    while !part.is_non_overlapping() {
        let dim = part.ndim() - 1;
        pieces *= part.shape()[dim].max(1);
        part = part.selected(dim, 0);
    }
    pieces
}

/// A line of memory in which a tensor and a window of it lie.
struct Line<'a> {
    /// Which element of the memory that the layouts speak of is its first.
    start: usize,
    length: usize,
    source: &'a Layout,
}

impl<'a> Line<'a> {
    fn of(source: &'a Layout, window: &Layout) -> Line<'a> {
        let start = source.offset().min(window.offset());
        Line { start, length: source.end().max(window.end()) - start, source }
    }

    /// Values laid out in one way, as another shows them: in the steps that torch records. Where the tensor shows an
    /// element several times, all of these are the element, and each has its share.
    fn moved(&self, from: &Layout, to: &Layout, values: &Tensor) -> Result<Tensor> {
        if from.numel() == 0 {
            return create::zeros(&shape::signed(to.shape()), values.dtype());
        }
        let mut line = self.added(from, values)?;
        if !self.source.is_non_overlapping() {
            let sizes = shape::signed(self.source.shape());
            let ones = create::full(&sizes, Scalar::Int(1), values.dtype().to_real())?;
            line = div(&line, &clamp::clamp_min(&self.added(self.source, &ones)?, 1)?)?;
        }
        self.shown(&line, to)
    }

    /// The line: zeros, to which values laid out in this way are added.
    fn added(&self, layout: &Layout, values: &Tensor) -> Result<Tensor> {
        let mut values = values.clone();
        let (mut sizes, mut strides) = (Dims::new(), Dims::new());
        for (dim, (&size, &stride)) in layout.shape().iter().zip(layout.strides()).enumerate().rev() {
            match (size, stride) {
                (1, _) => values = squeeze::squeeze(&values, Squeezed::One(dim as i64))?,
                (_, 0) => values = reduce::sum(&values, Some(&[dim as i64]), false, None)?,
                _ => {
                    sizes.insert(0, size);
                    strides.insert(0, stride);
                }
            }
        }
        let line = create::zeros(&[self.length as i64], values.dtype())?;
        let layout = Layout::strided(sizes, strides, layout.offset())?;
        if layout.is_non_overlapping() {
            cast::copy_(&self.shown(&line, &layout)?, &values)?;
            return Ok(line);
        }
        if pieces(&layout) <= PIECES {
            self.add_pieces(&line, &layout, &values)?;
            return Ok(line);
        }
        let numbers = places(&layout).map(|place| (place - self.start) as i64);
        let numbers = storage::collected(layout.numel(), numbers)?;
        let numbers = Tensor::from_array(Array::from_slice(&[numbers.len()], &numbers)?);
        let values = reshape::reshape_to(&values, &[numbers.numel()])?;
        along::index_add(&line, 0, &numbers, &values, Scalar::Int(1))
    }

    /// Adds values laid out in this way: those of one place along the last dimension after those of another, as long as
    /// elements are shown several times.
    fn add_pieces(&self, line: &Tensor, layout: &Layout, values: &Tensor) -> Result<()> {
        if layout.is_non_overlapping() {
            return add_(&self.shown(line, layout)?, values);
        }
        let dim = layout.ndim() - 1;
        for index in 0..layout.shape()[dim] {
            let part = Part::Select { dim, index };
            self.add_pieces(line, &part.layout(layout)?, &part::take(values, part)?)?;
        }
        Ok(())
    }

    /// The line as a layout shows it.
    fn shown(&self, line: &Tensor, layout: &Layout) -> Result<Tensor> {
        let (sizes, strides) = (shape::signed(layout.shape()), shape::signed(layout.strides()));
        as_strided(line, &sizes, &strides, Some((layout.offset() - self.start) as i64))
    }
}

/// A window on a sample, which must not show anything of the others.
fn check_sample(x: &Tensor, shape: &[i64], strides: &[i64], offset: Option<i64>) -> Result<()> {
    let (size, stride) = (shape.to_vec(), strides.to_vec());
    if size.len() != stride.len() {
        return Err(Error::MappedStridedRank { size, stride }.into());
    }
    let own = x.memory().layout;
    let offset = offset.unwrap_or(own.offset() as i64);
    let steps = shape.iter().zip(strides).map(|(size, stride)| (size - 1).saturating_mul(*stride));
    let end = steps.fold(offset, i64::saturating_add).saturating_add(1);
    let (low, high) = (own.offset() as i64, own.end() as i64);
    if !shape.contains(&0) && (offset < low || end > high) {
        return Err(Error::MappedStridedBounds { size, stride, offset, end, low, high }.into());
    }
    let Some(&negative) = strides.iter().find(|&&stride| stride < 0) else { return Ok(()) };
    let (mut all, mut batch) = (stride, x.batch());
    while let Some(inner) = batch {
        let lead = inner.dim.map(|dim| inner.value.layout().strides()[dim] as i64);
        all.splice(0..0, lead);
        batch = inner.value.batch();
    }
    Err(Error::StridedNegative { stride: negative, strides: all }.into())
}

/// The layout with these sizes and strides, if the memory has what it shows.
fn checked(x: &Tensor, shape: &[i64], strides: &[i64], offset: Option<i64>) -> Result<Layout> {
    if batch::is_batched(x) {
        check_sample(x, shape, strides, offset)?;
    }
    let array = x.memory();
    let sizes = shape::checked_shape(shape)?;
    if shape.len() != strides.len() {
        return Err(Error::StridedRank {}.into());
    }
    if let Some(&stride) = strides.iter().find(|&&stride| stride < 0) {
        return Err(Error::StridedNegative { stride, strides: strides.to_vec() }.into());
    }
    let offset = offset.unwrap_or(array.layout.offset() as i64);
    if offset < 0 {
        return Err(Error::StridedOffset { offset }.into());
    }
    let mut end = offset.checked_add(1);
    for (&size, &stride) in shape.iter().zip(strides) {
        end = end.and_then(|end| end.checked_add((size - 1).max(0).checked_mul(stride)?));
    }
    if !sizes.contains(&0) {
        check_reach(&array, (shape, strides, offset), end)?;
    }
    let strides: Dims = strides.iter().map(|&stride| stride as usize).collect();
    Layout::strided(sizes, strides, offset as usize)
}

/// Refuses a window that ends beyond the memory, or so far away that it cannot be said where.
fn check_reach(
    memory: &Array,
    (shape, strides, offset): (&[i64], &[i64], i64),
    end: Option<i64>,
) -> Result<()> {
    let (item, bytes) = (memory.dtype.size(), memory.storage.bytes());
    let needed = end.and_then(|end| end.checked_mul(item as i64)).unwrap_or(i64::MAX);
    if needed as u64 <= bytes as u64 {
        return Ok(());
    }
    let (shape, strides) = (shape.to_vec(), strides.to_vec());
    Err(Error::StridedBounds { shape, strides, offset, item, needed, bytes }.into())
}

/// Refuses a layout that shows more than there is: it was that of another tensor's window, whose memory may
/// have grown since.
fn check_room(memory: &Array, layout: &Layout) -> Result<()> {
    if layout.numel() == 0 || layout.end().saturating_mul(memory.dtype.size()) <= memory.storage.bytes() {
        return Ok(());
    }
    let (shape, strides) = (shape::signed(layout.shape()), shape::signed(layout.strides()));
    check_reach(memory, (&shape, &strides, layout.offset() as i64), i64::try_from(layout.end()).ok())
}

/// The elements of the memory of `x` at these sizes and strides, from now on, in `x` itself.
pub fn as_strided_(x: &Tensor, shape: &[i64], strides: &[i64], offset: Option<i64>) -> Result<()> {
    lay_out(x, checked(x, shape, strides, offset)?)
}

/// Shows `x` in a layout from now on, for each of the samples that it may stand for.
fn lay_out(x: &Tensor, layout: Layout) -> Result<()> {
    if let Some(batch) = if mode::special() { x.batch() } else { None } {
        let around = match batch.dim {
            Some(_) => batch.value.layout().around(batch.dim, &layout)?,
            None => layout.clone(),
        };
        batch::below(&batch.mapping, || lay_out(&batch.value, around))?;
        x.set_batch_first();
    }
    let source = x.layout();
    let op = AsStrided { layout: SharedLayout::new(layout.clone()), in_place: true };
    in_place::lay_out(x, layout, apply::OpRule { op, saved: source })
}

/// The elements of the memory of `x` at these sizes and strides.
pub fn as_strided(x: &Tensor, shape: &[i64], strides: &[i64], offset: Option<i64>) -> Result<Tensor> {
    let op = AsStrided { layout: SharedLayout::new(checked(x, shape, strides, offset)?), in_place: false };
    match offset {
        Some(_) => apply_one(op, &[x]),
        None => apply_one_with_attributes(op, vec![("storage_offset", Shown::Nothing)], &[x]),
    }
}

#[derive(Clone, Copy)]
enum Direction {
    /// From values laid out as `source` to what `window` shows of them.
    Read,
    /// From what `window` shows back to values laid out as `source`.
    Write,
}

/// A window as a linear map of values, and its transpose.
#[derive(Clone)]
struct Window {
    source: SharedLayout,
    window: SharedLayout,
    direction: Direction,
}

impl Window {
    fn turned(&self, direction: Direction) -> Window {
        Window { source: self.source.clone(), window: self.window.clone(), direction }
    }
}

/// The storage elements of a layout in row-major order.
pub(crate) fn places(layout: &Layout) -> impl Iterator<Item = usize> + '_ {
    let mut index: Dims = Dims::from_elem(0, layout.ndim());
    let mut place = layout.offset();
    (0..layout.numel()).map(move |_| {
        let current = place;
        for dim in (0..index.len()).rev() {
            index[dim] += 1;
            place += layout.strides()[dim];
            if index[dim] < layout.shape()[dim] {
                break;
            }
            place -= index[dim] * layout.strides()[dim];
            index[dim] = 0;
        }
        current
    })
}

impl Op for Window {
    type Saved = ();
    const UNSIGNED: Unsigned = Unsigned::Wrapped;

    fn name(&self) -> &'static str {
        match self.direction {
            Direction::Read => "AsStridedBackward0",
            Direction::Write => "AsStridedScatterBackward0",
        }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        on_tensors(inputs, |inputs| {
            let (from, to) = match self.direction {
                Direction::Read => (&self.source, &self.window),
                Direction::Write => (&self.window, &self.source),
            };
            let y = Line::of(&self.source, &self.window).moved(from, to, &inputs[0].detach())?.array();
            let y = if to.is_non_overlapping() { y } else { copy::dense(&y)? };
            Ok(smallvec![Tensor::from_array(y)])
        })
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let back = match self.direction {
            Direction::Read => Direction::Write,
            Direction::Write => Direction::Read,
        };
        one(apply_one(self.turned(back), &[single(gradients)])?)
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(apply_one(self.turned(self.direction), &[tangent(tangents)])?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        // Every sample has memory of its own, of which both layouts are.
        let start = self.source.offset().min(self.window.offset());
        let memory = self.source.end().max(self.window.end()) - start;
        let apart = |one: &Layout| {
            let (mut shape, mut strides): (Dims, Dims) = (one.shape().into(), one.strides().into());
            shape.insert(0, call.size);
            strides.insert(0, memory);
            Layout::strided(shape, strides, one.offset() - start).map(SharedLayout::new)
        };
        let (source, window) = (apart(&self.source)?, apart(&self.window)?);
        call.front(Window { source, window, direction: self.direction })
    }
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "as_strided",
        &["(Tensor input, int[] size, int[] stride, SymInt? storage_offset=None)"],
        "A view of the memory with the given size, stride and offset.",
        |a| {
            let (size, stride) = (a.ints(1)?, a.ints(2)?);
            as_strided(a.tensor(0)?, &size, &stride, a.optional_int(3)?).reply()
        },
    )
    .operators(&[(
        "AsStridedBackward0",
        "as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)",
    )]),
    both(
        "as_strided_",
        &["(Tensor input, int[] size, int[] stride, SymInt? storage_offset=None)"],
        "Gives the tensor another size, stride and offset in its memory, in place.",
        |a| {
            let (size, stride) = (a.ints(1)?, a.ints(2)?);
            receiver(a, as_strided_(a.tensor(0)?, &size, &stride, a.optional_int(3)?))
        },
    )
    .operators(&[("-", "as_strided_")]),
];
