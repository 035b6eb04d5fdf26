//! Copies and conversions with a history: `clone`, `to` another type, `copy_`, `fill_`, `zero_`.

mod entries;

pub use entries::{ENTRIES, converted};

mod directly;
mod portable;

use crate::dispatch::accumulate;
use crate::dispatch::apply;
use crate::dispatch::modes::plain::{Portable, What};
use crate::dispatch::view;
use crate::graph::Attributes;
use crate::ops::creation::create;
use crate::ops::reduction::reduce;
use crate::schema::Operator;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

use crate::dispatch::apply::{Arrays, Keep, Op, OpRule, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call, Samples};
use crate::dispatch::direct::Direct;
use crate::dispatch::in_place::Write;
use crate::dispatch::modes::{intercept, recording};
use crate::dispatch::operand::Operand;
use crate::dispatch::record::trace;
use crate::dispatch::{batch, in_place};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::following::Known;
use crate::graph::shown::shown;
use crate::graph::{At, Gradients, Rule, SavedTensor, mode};
use crate::ops::creation::copy;
use crate::shape::{self, Layout, SharedLayout};
use crate::tensor::{Array, Tensor};
use directly::Copied;
pub use portable::ROWS;
use portable::{Copying, Filling};

/// y = x, in memory of its own with this layout
///
/// dy = dx, x̄ = ȳ
#[derive(Clone)]
struct Clone {
    layout: SharedLayout,
    /// Whether the layout is that of the input, packed: many samples keep theirs too.
    packed: bool,
}

impl Op for Clone {
    type Saved = ();
    const MOVES: bool = true;

    fn name(&self) -> &'static str {
        "CloneBackward0"
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Ok(smallvec![copy::laid_out(&inputs[0], &self.layout)?])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(Copied))
    }

    fn save(&self, _keep: &Keep<'_>) -> Self::Saved {}

    fn vjp(&self, (): &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(single(gradients).clone())
    }

    fn jvp(&self, (): &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(clone(tangent(tangents))?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let Samples { value, dim } = &call.inputs[0];
        if self.packed {
            return Ok(smallvec![Samples { value: clone(value)?, dim: *dim }]);
        }
        let layout = SharedLayout::new(batch::stacked(&self.layout, call.size)?);
        call.front(Clone { layout, packed: false })
    }
}

/// A copy in memory of its own, with the dimensions in the same order in memory.
pub fn clone(x: &Tensor) -> Result<Tensor> {
    let layout = x.layout();
    let layout = if layout.is_plain() { layout } else { SharedLayout::new(layout.packed()) };
    apply_one(Clone { layout, packed: true }, &[x])
}

/// A saved tensor. What was copied before a write is recorded as a copy.
pub(crate) fn load(saved: &SavedTensor, at: &At<'_>) -> Result<Tensor> {
    let x = at.load(saved)?;
    if !at.tracking || !saved.is_former() || mode::special() {
        return Ok(x);
    }
    let (copy, layout) = (Tensor::from_array(x.array()), x.layout());
    let op = Clone { layout, packed: true };
    trace(&[&x], std::slice::from_ref(&copy), |_| OpRule { op, saved: () })?;
    Ok(copy)
}

/// A copy in memory of its own, in row-major order.
pub fn clone_contiguous(x: &Tensor) -> Result<Tensor> {
    let layout = x.layout();
    let layout = if layout.is_plain() { layout } else { SharedLayout::new(layout.fresh()) };
    apply_one(Clone { layout, packed: false }, &[x])
}

/// Whether channels can come last in tensors of so many dimensions.
fn check_rank(shape: &[usize], ndim: usize) -> Result<()> {
    match shape.len() == ndim {
        true => Ok(()),
        false => {
            let format = if ndim == 4 { "channels_last" } else { "channels_last_3d" };
            Err(Error::FormatRank { ndim, format }.into())
        }
    }
}

/// A copy in memory of its own whose elements lie so.
pub fn cloned(x: &Tensor, order: Order) -> Result<Tensor> {
    match order {
        Order::Kept => clone(x),
        Order::RowMajor => clone_contiguous(x),
        Order::ChannelsLast(ndim) => clone_channels_last(x, ndim),
    }
}

/// Whether the channels of a tensor of so many dimensions come last in memory.
pub fn is_channels_last(x: &Tensor, ndim: usize) -> Result<bool> {
    let layout = x.layout();
    check_rank(layout.shape(), ndim)?;
    Ok(shape::is_channels_last(layout.shape(), layout.strides()))
}

/// Whether images or volumes are meant to have their channels last: not where sizes of one leave that open.
pub fn suggests_channels_last(x: &Tensor) -> bool {
    let layout = x.layout();
    shape::suggests_channels_last(layout.shape(), layout.strides())
}

/// A copy in memory of its own with the channels last.
pub fn clone_channels_last(x: &Tensor, ndim: usize) -> Result<Tensor> {
    let layout = x.layout();
    check_rank(layout.shape(), ndim)?;
    let strides = shape::channels_last_strides(layout.shape());
    let layout = SharedLayout::new(Layout::strided(layout.shape().into(), strides, 0)?);
    apply_one(Clone { layout, packed: false }, &[x])
}

/// A copy in memory of its own with the strides of `like`, whose elements do not overlap.
pub(crate) fn clone_as(x: &Tensor, like: &Layout) -> Result<Tensor> {
    let layout = SharedLayout::new(Layout::strided(like.shape().into(), like.strides().into(), 0)?);
    apply_one(Clone { layout, packed: false }, &[x])
}

/// A tensor as it would lie in memory if it were a copy of what has the layout `like`: itself if it does.
pub(crate) fn clone_like(x: &Tensor, like: &Layout) -> Result<Tensor> {
    let like = like.packed();
    if x.layout().strides() == like.strides() { Ok(x.clone()) } else { clone_as(x, &like) }
}

/// The tensor itself if its elements lie in row-major order, else a copy.
pub fn contiguous(x: &Tensor) -> Result<Tensor> {
    if x.is_contiguous() { Ok(x.clone()) } else { clone_contiguous(x) }
}

/// y = x as another type
///
/// dy is dx converted, x̄ is ȳ converted back
#[derive(Clone)]
pub struct ToCopy {
    dtype: DType,
    order: Order,
}

/// How the elements of a copy lie.
#[derive(Clone, Copy, PartialEq)]
pub enum Order {
    /// As those of the tensor.
    Kept,
    /// In row-major order.
    RowMajor,
    /// With the channels last, of a tensor of so many dimensions.
    ChannelsLast(usize),
}

impl Order {
    /// The layout that says so, unless the tensor itself does.
    pub(crate) fn layout(self, shape: &[usize]) -> Result<Option<Layout>> {
        Ok(match self {
            Order::Kept => None,
            Order::RowMajor => Some(Layout::contiguous(shape)?),
            Order::ChannelsLast(ndim) => {
                check_rank(shape, ndim)?;
                Some(Layout::strided(shape.into(), shape::channels_last_strides(shape), 0)?)
            }
        })
    }
}

impl Op for ToCopy {
    type Saved = ToCopy;
    const MOVES: bool = true;

    fn name(&self) -> &'static str {
        "ToCopyBackward0"
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let y = copy::converted_in_order(&inputs[0], self.dtype)?;
        let y = match self.order.layout(y.layout.shape())? {
            Some(layout) if *layout.strides() != *y.layout.strides() => {
                copy::laid_out(&y, &SharedLayout::new(layout))?
            }
            _ => y,
        };
        Ok(smallvec![y])
    }

    fn dispatch_attributes(&self) -> Attributes {
        shown! { dtype: self.dtype }
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        ToCopy { dtype: keep.dtype(0), order: Order::Kept }
    }

    fn vjp(&self, input: &Self::Saved, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        one(accumulate::to_dtype(single(gradients).clone(), input.dtype)?)
    }

    fn jvp(&self, _input: &Self::Saved, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(to_dtype(tangent(tangents), self.dtype)?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.in_place(self.clone())
    }
}

impl apply::Keepsake for ToCopy {}

/// The tensor as another type; itself if it has it.
pub fn to_dtype(x: &Tensor, dtype: DType) -> Result<Tensor> {
    if x.dtype() == dtype { Ok(x.clone()) } else { apply_one(ToCopy { dtype, order: Order::Kept }, &[x]) }
}

/// The tensor in single precision if it is of a half type, else itself.
pub(crate) fn widened(x: &Tensor) -> Result<Tensor> {
    to_dtype(x, x.dtype().wide())
}

/// A copy of that type whose elements lie so, recorded as a conversion.
pub fn to_copy(x: &Tensor, dtype: DType, order: Order) -> Result<Tensor> {
    if order == Order::Kept || !batch::is_batched(x) {
        return apply_one(ToCopy { dtype, order }, &[x]);
    }
    // Of many samples each lies so.
    let y = to_dtype(x, dtype)?;
    match order {
        Order::ChannelsLast(ndim) => clone_channels_last(&y, ndim),
        _ => clone_contiguous(&y),
    }
}

/// x ← y, broadcast and converted
///
/// x̄ = 0, ȳ is the gradient of the new x
struct CopyInto;

impl Rule for CopyInto {
    fn name(&self) -> &str {
        "torch::autograd::CopyBackwards"
    }

    fn vjp(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let g = single(gradients);
        let zeros = at.needs(0).then(|| create::zeros_like(g)).transpose()?;
        Ok(smallvec![zeros, Some(g.clone())])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let shape = at.node.form(0).layout.clone();
        let source = tangents.get(1).cloned().flatten();
        Ok(smallvec![source.map(|source| view::expand_to(&source, shape.shape())).transpose()?])
    }
}

/// Overwrites an array with the elements of another one, broadcast and converted.
fn copied(target: &Array, values: &Array) -> Result<()> {
    copy::write(target, &values.expanded(target.layout.shape())?)
}

/// Overwrites `x` with the elements of `source`, broadcast and converted.
pub fn copy_(x: &Tensor, source: &Tensor) -> Result<()> {
    if let Some(mapping) = batch::highest([x, source]) {
        return batch::write_traced(x, source, &mapping, "inplace arithmetic", CopyInto);
    }
    // Integers have no gradients, wherever their values come from.
    let write = if x.dtype().is_differentiable() { Write::begin(&[x, source]) } else { Write::begin(&[x]) }?;
    let (target, values) = (x.memory(), source.array());
    target.check_read(&values)?;
    in_place::check_broadcast(x, source)?;
    match intercept::is_active() {
        true => {
            let operands = [x.into(), source.into()];
            let (name, what): (_, What) = ("torch::autograd::CopyBackwards", Arc::new(Copying));
            intercept::written_as(name, &operands, Attributes::new(), Some(what), |operands| {
                Copying.compute(operands).map(drop)
            })?;
        }
        false => copied(&target, &values)?,
    }
    write.finish(|_| CopyInto)
}

/// x ← a number, a tensor without dimensions, or anything else that does not depend on x
///
/// x̄ = 0, the gradient of the tensor is the sum of ȳ
pub(crate) struct Fill {
    /// torch's name of the node.
    pub(crate) name: &'static str,
}

impl Rule for Fill {
    fn name(&self) -> &str {
        self.name
    }

    fn vjp(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let gradient = single(gradients);
        let zeros = at.needs(0).then(|| create::zeros_like(gradient)).transpose()?;
        if at.node.edges().len() == 1 {
            return Ok(smallvec![zeros]);
        }
        let sum = at.needs(1).then(|| reduce::sum(gradient, None, false, None)).transpose()?;
        Ok(smallvec![zeros, sum])
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let form = at.node.form(0);
        let value = match tangents.get(1).cloned().flatten() {
            Some(value) => value,
            None => create::zeros(&[], form.dtype)?,
        };
        one(view::expand_to(&value, form.layout.shape())?)
    }
}

/// How a tensor is overwritten with one number.
#[derive(Clone, Copy)]
enum Filler {
    /// By `fill_` with a number.
    Number,
    /// By `fill_` with a tensor.
    Tensor,
    /// By `zero_`.
    Zero,
}

impl Filler {
    fn rule(self) -> Fill {
        let name = match self {
            Filler::Number => "FillBackward2",
            Filler::Tensor => "FillBackward3",
            Filler::Zero => "ZeroBackward0",
        };
        Fill { name }
    }
}

fn overwrite(x: &Tensor, value: Scalar, inputs: &[&Tensor], filler: Filler) -> Result<()> {
    // A number may be written to elements that are shown several times; a tensor may not.
    let write = if inputs.len() == 1 { Write::filling(inputs) } else { Write::begin(inputs) }?;
    if let Some(written) = batch::each_in_place(x, |x| overwrite(x, value, &[x], filler)) {
        written?;
        return write.finish(|_| filler.rule());
    }
    let memory = x.memory();
    match x.is_subclassed() || recording::is_on() {
        true => {
            let (node, operands): (_, SmallVec<[Operand<'_>; 2]>) = match (filler, inputs) {
                (Filler::Zero, _) => ("ZeroBackward0", smallvec![x.into()]),
                // Where samples are filled one by one, the number of each is at hand.
                (Filler::Number, _) | (Filler::Tensor, [_]) => {
                    ("FillBackward0", smallvec![x.into(), value.into()])
                }
                (Filler::Tensor, _) => ("FillBackward1", inputs.iter().map(|&input| input.into()).collect()),
            };
            let (own, what): (_, What) = (Filling { value }, Arc::new(Filling { value }));
            intercept::written_as(node, &operands, Attributes::new(), Some(what), move |operands| {
                own.compute(operands).map(drop)
            })?;
        }
        false => copy::fill(&memory, value)?,
    }
    write.finish(|_| filler.rule())
}

/// Overwrites every element with a number, or with the element of a tensor without dimensions.
pub fn fill_<'a>(x: &Tensor, value: impl Into<Operand<'a>>) -> Result<()> {
    match value.into() {
        Operand::Scalar(value) => {
            create::check_value(value, x.dtype())?;
            overwrite(x, value, &[x], Filler::Number)
        }
        Operand::Tensor(value) => match (value.ndim(), batch::highest([x, value])) {
            (0, Some(mapping)) => batch::write_traced(x, value, &mapping, "fill_", Filler::Tensor.rule()),
            (0, None) => {
                let number = {
                    let _known = Known::new();
                    value.item()?
                };
                overwrite(x, number, &[x, value], Filler::Tensor)
            }
            // What is one number for each sample or more of them is copied.
            (ndim, Some(_)) if batch::is_batched(value) && ndim <= x.ndim() => copy_(x, value),
            (ndim, _) => Err(Error::FillValue { ndim }.into()),
        },
    }
}

/// Overwrites every element with zero.
pub fn zero_(x: &Tensor) -> Result<()> {
    overwrite(x, Scalar::Int(0), &[x], Filler::Zero)
}

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    ("ZeroBackward0", "zero(Tensor self) -> Tensor"),
    ("torch::autograd::CopyBackwards", "copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor"),
    (
        "ToCopyBackward0",
        "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
    ),
];
