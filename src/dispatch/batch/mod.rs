//! vmap: how operations compute for many samples at once (Note [Batched tensors]).
//!
//! An entry point that finds a batched tensor among its operands comes here. The batching rule of the operation's
//! block computes with the values of the highest mapping, by calls of the same entry points, so that gradients and
//! tangents of levels below are taken care of; the results are wrapped as batched tensors and recorded above.

mod call;
mod elementwise;
mod failures;
mod random;
mod room;
mod together;
mod views;
mod writes;

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::Keep;
use crate::dispatch::erased::AnyOp;
use crate::dispatch::forward_mode::tangents::trace_given;
use crate::error::{Error, Result};
use crate::graph::tangents::{self, Ceiling};
use crate::graph::{Rule, Source, mode, transform_level};
use crate::ops::geometry::squeeze;
use crate::ops::geometry::squeeze::Squeezed;
use crate::ops::geometry::{expand, part};
use crate::ops::reduction::over::Over;
use crate::shape::{self, Dims, Layout};
use crate::tensor::{Mapping, Outputs, Tensor};

pub use call::{Answer, Call, Samples};
pub(crate) use elementwise::{both, compared, in_one_type, pair, pair_if_batched, unary, value_type};
pub(crate) use failures::told_of_all;
pub(crate) use random::{
    creation, drawn_like, each_drawn, from as drawn_from, is_mapping, overwrite as overdraw, refuse_same,
    refuse_shared,
};
pub use room::{no_room, room_shape, with_room};
pub(crate) use together::{alike_or, together};
pub(crate) use views::{lay_out, view};
pub(crate) use writes::{each_in_place, resize, through, write, write_traced};

/// The highest mapping among tensors.
pub(crate) fn mapping<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Option<Arc<Mapping>> {
    let mut highest: Option<&Arc<Mapping>> = None;
    for tensor in tensors {
        if let Some(mapping) = tensor.mapping()
            && highest.is_none_or(|highest| mapping.is_within(highest))
        {
            highest = Some(mapping);
        }
    }
    highest.cloned()
}

/// `mapping`, when there may be any: what every entry point asks.
#[inline]
pub(crate) fn highest<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Option<Arc<Mapping>> {
    if mode::special() { mapping(tensors) } else { None }
}

/// Whether a tensor is batched, when there may be any.
#[inline]
pub(crate) fn is_batched(x: &Tensor) -> bool {
    mode::special() && x.is_batched()
}

/// Tensors of a mapping that is over are of no use.
pub(crate) fn check_open(mapping: &Mapping) -> Result<()> {
    check_open_for(mapping, || plumbing::GENERATED)
}

/// `check_open`, where torch's message names another part of it.
fn check_open_for(mapping: &Mapping, plumbing: impl FnOnce() -> &'static str) -> Result<()> {
    if mapping.is_open() { Ok(()) } else { Err(Error::Escaped { plumbing: plumbing() }.into()) }
}

/// The parts of torch that operations come from, in its message of tensors whose mapping is over.
pub(crate) mod plumbing {
    /// Most come from code that is generated.
    pub(crate) const GENERATED: &str = "gen_vmap_plumbing";
    /// Reductions have a rule for all of them.
    pub(crate) const REDUCTION: &str = "boxed_reduction_batch_rule";
    /// Indexing has one of its own.
    pub(crate) const INDEX: &str = "index_plumbing";
}

/// A tensor of the mapping: itself, or one around it that is the same for all samples.
pub(crate) fn bound(x: &Tensor, mapping: &Arc<Mapping>) -> Result<Tensor> {
    if let Some(own) = x.mapping()
        && own.is(mapping)
    {
        return Ok(x.clone());
    }
    let bound = Tensor::batched(x.clone(), None, mapping)?;
    for level in tangents::live() {
        if level > mapping.id()
            && let Some(tangent) = x.own_tangent(level)
        {
            bound.set_tangent(level, Some(bound_tangent(tangent, mapping)?));
        }
    }
    Ok(bound)
}

fn all_bound(inputs: &[&Tensor], mapping: &Arc<Mapping>) -> Result<SmallVec<[Tensor; 2]>> {
    inputs.iter().map(|x| bound(x, mapping)).collect()
}

fn bound_tangent(tangent: Tensor, mapping: &Arc<Mapping>) -> Result<Tensor> {
    if tangent.mapping().is_some_and(|own| own.is(mapping)) {
        return Ok(tangent);
    }
    let batch = tangent.batch_at(mapping);
    Tensor::batched(batch.value, batch.dim, mapping)
}

/// Has a rule keep, of the batched tensors that it keeps, all samples.
pub(crate) fn keep_samples<'a>(rule: &mut dyn Rule, tensor_at: &dyn Fn(Source) -> Option<&'a Tensor>) {
    for saved in rule.saved_mut() {
        if let Some(batch) = tensor_at(saved.source()).and_then(Tensor::batch) {
            saved.keep_batch(batch);
        }
    }
}

/// The tensor as one of the innermost mapping of this thread: what is differentiated within it has to
/// be, so that its gradient may differ between samples.
pub fn within(x: &Tensor) -> Result<Tensor> {
    match if mode::special() { Mapping::innermost() } else { None } {
        Some(mapping) => bound(x, &mapping),
        None => Ok(x.clone()),
    }
}

/// A tensor that a function has just made, as one of the innermost mapping, if derivatives are taken
/// within: whatever is written to it is differentiated there. `None` if that changes nothing.
pub fn made_within(x: &Tensor) -> Result<Option<Tensor>> {
    let Some(mapping) = Mapping::innermost() else { return Ok(None) };
    let is_inside = |depth: usize| depth > mapping.transforms();
    let is_of_it = x.mapping().is_some_and(|own| own.is(&mapping));
    if is_of_it || !is_inside(x.depth()) || x.is_view() || x.requires_grad() || !x.dtype().is_differentiable()
    {
        return Ok(None);
    }
    bound(x, &mapping).map(Some)
}

/// The samples of `x` along a dimension, as a tensor that stands for each of them.
pub fn enter(x: &Tensor, dim: usize, mapping: &Arc<Mapping>) -> Result<Tensor> {
    let dim = shape::normalize_dim(dim as i64, x.ndim())?;
    let (left, right) = (x.layout().size(dim), mapping.size());
    if left != right || x.ndim() == 0 {
        return Err(Error::NotBroadcastable { left, right, dim }.into());
    }
    Tensor::batched(x.clone(), Some(dim), mapping)
}

/// All samples of a tensor that a function answered, along the dimension `to`.
pub fn leave(x: &Tensor, to: i64, mapping: &Arc<Mapping>) -> Result<Tensor> {
    let samples = samples(x, mapping);
    let to = shape::normalize_dim(to, samples.rank() + 1)?;
    if samples.dim.is_some() {
        return samples.moved(to);
    }
    let mut shape = shape::signed(&samples.shape());
    shape.insert(to, mapping.size() as i64);
    expand::expand(&samples.value, &shape)
}

/// Whether no transform of derivatives is open within the innermost mapping of this thread. Derivatives
/// within one take apart what consists of other operations, so that the mapping meets the parts.
pub fn is_innermost() -> bool {
    Mapping::innermost().is_none_or(|mapping| transform_level::depth() <= mapping.transforms())
}

/// What a tensor is around if that is the same for all samples, else the tensor: for operations that look
/// at numbers, and for what has no derivative.
pub fn alike_in_all(x: &Tensor) -> Tensor {
    if mode::special() && !x.differs() { all_of(x) } else { x.clone() }
}

/// All samples that a tensor stands for, at every mapping.
pub(crate) fn all_of(x: &Tensor) -> Tensor {
    let mut whole = x.clone();
    while let Some(batch) = whole.batch() {
        whole = batch.value;
    }
    whole
}

/// The samples of a tensor at a mapping.
pub(crate) fn samples(x: &Tensor, mapping: &Arc<Mapping>) -> Samples {
    Samples::of(x.batch_at(mapping))
}

fn wrapped(answer: Answer, mapping: &Arc<Mapping>) -> Result<Outputs> {
    answer.into_iter().map(|samples| Tensor::batched(samples.value, samples.dim, mapping)).collect()
}

/// Runs an operation for all samples and records it among the tensors of the mapping.
#[cold]
pub(crate) fn apply(op: &dyn AnyOp, inputs: &[&Tensor], mapping: &Arc<Mapping>) -> Result<Outputs> {
    check_open_for(mapping, || op.plumbing())?;
    let answer = below(mapping, || answer(op, inputs, mapping))?;
    let bound = all_bound(inputs, mapping)?;
    let inputs: SmallVec<[&Tensor; 2]> = bound.iter().collect();
    let outputs = match op.creation() {
        Some(creation) => views::shown(inputs[0], answer, mapping, creation)?,
        None => wrapped(answer, mapping)?,
    };
    let given: SmallVec<[Option<&Tensor>; 3]> = inputs.iter().copied().map(Some).collect();
    trace_given(&given, &outputs, &mut |needed, outputs| op.rule(&Keep::new(&inputs, outputs, needed)))?;
    Ok(outputs)
}

/// Refuses a tensor of a mapping that is over.
pub fn check_inside(x: &Tensor, plumbing: impl FnOnce() -> &'static str) -> Result<()> {
    match x.mapping() {
        Some(mapping) => check_open_for(mapping, plumbing),
        None => Ok(()),
    }
}

/// Computes with values: what tangents of higher levels there are concerns the tensors around them.
pub(crate) fn below<T>(mapping: &Mapping, f: impl FnOnce() -> T) -> T {
    let _below = Ceiling::below(mapping.id());
    f()
}

/// What an operation answers for all samples.
fn answer(op: &dyn AnyOp, inputs: &[&Tensor], mapping: &Arc<Mapping>) -> Result<Answer> {
    let held = op.held();
    let values = all_samples(&mut inputs.iter().copied(), mapping);
    let held = all_samples(&mut held.iter(), mapping);
    let call = Call { inputs: &values, held: &held, size: mapping.size() };
    if held.iter().any(|samples| samples.dim.is_some()) {
        return op.batch(&call);
    }
    // What all samples share is held as it is below the mapping.
    let shared: Vec<Tensor> = held.iter().map(|samples| samples.value.clone()).collect();
    let op = op.with_held(&shared)?;
    if values.iter().any(|samples| samples.dim.is_some()) {
        return op.batch(&call);
    }
    let inputs: Vec<&Tensor> = values.iter().map(|samples| &samples.value).collect();
    Ok(all_shared(op.apply(&inputs)?))
}

fn all_samples(tensors: &mut dyn Iterator<Item = &Tensor>, mapping: &Arc<Mapping>) -> Vec<Samples> {
    tensors.map(|x| samples(x, mapping)).collect()
}

fn all_shared(outputs: Outputs) -> Answer {
    outputs.into_iter().map(Samples::shared).collect()
}

/// What `f` makes of the samples of a batched tensor along a first dimension, and of how many there
/// are.
pub(crate) fn front(x: &Tensor, f: impl FnOnce(&Tensor, usize) -> Result<Tensor>) -> Option<Result<Tensor>> {
    let several = |x: &Tensor, size: usize| Ok(smallvec![f(x, size)?]);
    front_each(x, several).map(|found| found.map(|mut made| made.swap_remove(0)))
}

/// `front` where several tensors are made.
pub(crate) fn front_each(
    x: &Tensor,
    f: impl FnOnce(&Tensor, usize) -> Result<Outputs>,
) -> Option<Result<Outputs>> {
    let batch = if mode::special() { x.batch()? } else { return None };
    let run = || {
        check_open_for(&batch.mapping, || "boxed_reduction_batch_rule")?;
        if batch.dim.is_none() {
            // One for all stays one for all.
            let made = f(&squeeze::unsqueeze(&batch.value, 0)?, 1)?.into_iter();
            let one = |y: Tensor| Tensor::batched(part::select(&y, 0, 0)?, None, &batch.mapping);
            return made.map(one).collect();
        }
        let value = Samples::of(batch.clone()).front(batch.mapping.size())?;
        let made = f(&value, batch.mapping.size())?.into_iter();
        made.map(|y| Tensor::batched(y, Some(0), &batch.mapping)).collect()
    };
    Some(below(&batch.mapping, run))
}

/// A reduction over dimensions of each sample, if the tensor is batched. `f` reduces over the
/// dimensions that it is given; with `none` that is none.
pub(crate) fn reduced(
    x: &Tensor,
    over: &Over,
    none: bool,
    f: impl FnOnce(&Tensor, Option<&[i64]>) -> Result<Tensor>,
) -> Option<Result<Tensor>> {
    let dims: Vec<i64> =
        if none { Vec::new() } else { over.dims.iter().map(|&dim| dim as i64 + 1).collect() };
    front(x, |x, _| match dims.is_empty() && !none {
        // A number: its samples are as many numbers.
        true => {
            let y = f(&squeeze::unsqueeze(x, 1)?, Some(&[1]))?;
            if y.ndim() > 1 { squeeze::squeeze(&y, Squeezed::One(1)) } else { Ok(y) }
        }
        false => f(x, Some(&dims)),
    })
}

/// The layout of so many samples of a layout, one after the other in memory.
pub(crate) fn stacked(sample: &Layout, size: usize) -> Result<Layout> {
    let (mut shape, mut strides): (Dims, Dims) = (sample.shape().into(), sample.strides().into());
    shape.insert(0, size);
    strides.insert(0, (sample.end() - sample.offset()).max(1));
    Layout::strided(shape, strides, 0)
}

/// What `f` makes of the values of two tensors of one shape, with their samples along one dimension.
pub(crate) fn alike(
    a: &Tensor,
    b: &Tensor,
    mapping: &Arc<Mapping>,
    f: impl FnOnce(&Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    check_open(mapping)?;
    let (a, b) = (samples(a, mapping), samples(b, mapping));
    match a.dim.is_none() && b.dim.is_none() {
        true => Tensor::batched(f(&a.value, &b.value)?, None, mapping),
        false => Tensor::batched(f(&a.front(mapping.size())?, &b.front(mapping.size())?)?, Some(0), mapping),
    }
}

/// A tangent that lies as the value of `x` does. `fit` does so for tensors below.
pub(crate) fn fit(
    tangent: &Tensor,
    x: &Tensor,
    mapping: &Arc<Mapping>,
    fit: impl Fn(&Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let whole = tangent;
    below(mapping, || {
        let (tangent, x) = (samples(whole, mapping), samples(x, mapping));
        // What lies as it should stays itself, with whatever it carries. So does the tangent of a tensor
        // that is the same for all samples, if it is not: it has no part in any view.
        if x.dim.is_none() && tangent.dim.is_some() {
            return Ok(whole.clone());
        }
        if x.dim == tangent.dim {
            let fitting = fit(&tangent.value, &x.value)?;
            return if fitting.is(&tangent.value) {
                Ok(whole.clone())
            } else {
                Tensor::batched(fitting, x.dim, mapping)
            };
        }
        let fitting = match x.dim {
            // What shows an element several times is not written to.
            Some(dim) if !x.value.layout().is_non_overlapping() => {
                Samples::first(tangent.front(mapping.size())?).moved(dim)?
            }
            Some(dim) => fit(&Samples::first(tangent.front(mapping.size())?).moved(dim)?, &x.value)?,
            None => fit(&tangent.value, &x.value)?,
        };
        Tensor::batched(fitting, x.dim, mapping)
    })
}
