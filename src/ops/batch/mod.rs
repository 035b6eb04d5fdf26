//! How operations compute for many samples at once (Note [Batched tensors]).
//!
//! A door that finds a batched tensor among its operands comes here. The rule of the operation's
//! block computes with the values of the highest mapping, through the same doors, so that whatever is
//! tracked below is tracked; what comes out is wrapped and recorded above. An operation without a
//! rule is run for each sample.

mod elementwise;
mod random;
mod views;
mod writes;

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::apply::{Keep, Op, Outputs, Recorded, trace};
use super::reduce::Over;
use super::squeeze::{self, Squeezed};
use super::{cast, create, expand, join, part, permute, reduce, reshape};
use crate::error::{Error, Result};
use crate::graph::tangents::{self, Ceiling};
use crate::graph::{Rule, Source, mode};
use crate::shape::{self, Dims, Layout};
use crate::tensor::{Batch, Mapping, Tensor};

pub(super) use elementwise::{both, pair, pair_if_batched, unary};
pub(super) use random::{
    creation, each_drawn, from as drawn_from, is_mapping, overwrite as overdraw, refuse_same,
};
pub(super) use views::{lay_out, view};
pub(super) use writes::{each_in_place, through, write, write_traced};

/// The samples of a tensor, as a rule sees them: along `dim` of `value`, or one for all.
#[derive(Clone)]
pub struct Samples {
    /// The samples together.
    pub value: Tensor,
    /// Where they lie; nowhere if all are the same.
    pub dim: Option<usize>,
}

/// What a rule answers: the outputs of the operation.
pub type Answer = SmallVec<[Samples; 1]>;

impl Samples {
    /// One for all.
    pub fn shared(value: Tensor) -> Samples {
        Samples { value, dim: None }
    }

    /// Along the first dimension.
    pub fn first(value: Tensor) -> Samples {
        Samples { value, dim: Some(0) }
    }

    fn of(batch: Batch) -> Samples {
        Samples { value: batch.value, dim: batch.dim }
    }

    /// Number of dimensions of a sample.
    pub fn rank(&self) -> usize {
        self.value.ndim() - usize::from(self.dim.is_some())
    }

    /// Sizes of a sample.
    pub fn shape(&self) -> Dims {
        let mut shape: Dims = self.value.layout().shape().into();
        if let Some(dim) = self.dim {
            shape.remove(dim);
        }
        shape
    }

    /// The value with the samples along a dimension, which one for all does not have.
    pub fn moved(&self, to: usize) -> Result<Tensor> {
        match self.dim {
            Some(dim) if dim != to => permute::movedim(&self.value, &[dim as i64], &[to as i64]),
            _ => Ok(self.value.clone()),
        }
    }

    /// The value with `size` samples along the first dimension, without copies of one for all.
    pub fn front(&self, size: usize) -> Result<Tensor> {
        if self.dim.is_some() {
            return self.moved(0);
        }
        let mut shape: Dims = self.value.layout().shape().into();
        shape.insert(0, size);
        expand::expand(&self.value, &shape::signed(&shape))
    }

    /// The value such that it broadcasts against others whose samples have `rank` dimensions: the
    /// samples come first, then ones.
    pub fn aligned(&self, rank: usize) -> Result<Tensor> {
        let value = self.moved(0)?;
        let missing = rank.saturating_sub(self.rank());
        if self.dim.is_none() || missing == 0 {
            return Ok(value);
        }
        let layout = value.layout();
        let mut shape: Dims = layout.shape().into();
        for _ in 0..missing {
            shape.insert(1, 1);
        }
        reshape::reshape_to(&value, &shape)
    }

    /// The layout of the value if every sample had this one, which is derived from that of a sample.
    pub fn around(&self, sample: &Layout) -> Layout {
        self.value.layout().around(self.dim, sample)
    }

    /// One sample.
    pub fn sample(&self, index: usize) -> Result<Tensor> {
        match self.dim {
            Some(dim) => part::select(&self.value, dim as i64, index as i64),
            None => Ok(self.value.clone()),
        }
    }
}

/// An operation on samples.
pub struct Call<'a> {
    /// The inputs.
    pub inputs: &'a [Samples],
    /// What the operation holds beside them.
    pub held: &'a [Samples],
    /// How many samples there are.
    pub size: usize,
}

impl Call<'_> {
    /// An operation on the inputs with their samples along the first dimension.
    pub fn front<O: Op>(&self, op: O) -> Result<Option<Answer>> {
        let values: SmallVec<[Tensor; 2]> =
            self.inputs.iter().map(|input| input.front(self.size)).collect::<Result<_>>()?;
        let values: SmallVec<[&Tensor; 2]> = values.iter().collect();
        Ok(Some(super::apply::apply(op, &values)?.into_iter().map(Samples::first).collect()))
    }

    /// An operation of elements of one input, whose samples stay where they are.
    pub fn in_place<O: Op>(&self, op: O) -> Result<Option<Answer>> {
        let Samples { value, dim } = &self.inputs[0];
        let outputs = super::apply::apply(op, &[value])?;
        Ok(Some(outputs.into_iter().map(|value| Samples { value, dim: *dim }).collect()))
    }

    /// An operation of elements, whose operands broadcast against each other.
    pub fn aligned<O: Op>(&self, op: O) -> Result<Option<Answer>> {
        let rank = self.inputs.iter().chain(self.held).map(Samples::rank).max().unwrap_or(0);
        let align = |samples: &Samples| samples.aligned(rank);
        let values: SmallVec<[Tensor; 2]> = self.inputs.iter().map(align).collect::<Result<_>>()?;
        let held: SmallVec<[Tensor; 1]> = self.held.iter().map(align).collect::<Result<_>>()?;
        let values: SmallVec<[&Tensor; 2]> = values.iter().collect();
        let outputs = super::apply::apply(op.holding(&held)?, &values)?;
        Ok(Some(outputs.into_iter().map(Samples::first).collect()))
    }

    /// `front` for an operation along dimensions, of which numbers have none.
    pub fn deeper<O: Op>(&self, op: O) -> Result<Option<Answer>> {
        if self.inputs[0].rank() == 0 { Ok(None) } else { self.front(op) }
    }

    /// What `f` makes of each sample of all inputs, put together again.
    fn each(&self, mut f: impl FnMut(&[&Tensor], &[Tensor]) -> Result<Outputs>) -> Result<Answer> {
        let mut outputs: SmallVec<[Vec<Tensor>; 1]> = SmallVec::new();
        for index in 0..self.size {
            let sample = |samples: &Samples| samples.sample(index);
            let inputs: SmallVec<[Tensor; 2]> = self.inputs.iter().map(sample).collect::<Result<_>>()?;
            let held: SmallVec<[Tensor; 1]> = self.held.iter().map(sample).collect::<Result<_>>()?;
            let inputs: SmallVec<[&Tensor; 2]> = inputs.iter().collect();
            for (place, output) in f(&inputs, &held)?.into_iter().enumerate() {
                if outputs.len() <= place {
                    outputs.push(Vec::with_capacity(self.size));
                }
                outputs[place].push(output);
            }
        }
        let together = |samples: &Vec<Tensor>| {
            let samples: SmallVec<[&Tensor; 8]> = samples.iter().collect();
            join::stack(&samples, 0).map(Samples::first)
        };
        outputs.iter().map(together).collect()
    }
}

/// The highest mapping among tensors.
pub(super) fn mapping<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Option<Arc<Mapping>> {
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

/// `mapping`, when there may be any: what every door asks.
#[inline]
pub(super) fn highest<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Option<Arc<Mapping>> {
    if mode::special() { mapping(tensors) } else { None }
}

/// Whether a tensor is batched, when there may be any.
#[inline]
pub(super) fn is_batched(x: &Tensor) -> bool {
    mode::special() && x.is_batched()
}

/// Tensors of a mapping that is over are of no use.
pub(super) fn check_open(mapping: &Mapping) -> Result<()> {
    if mapping.is_open() { Ok(()) } else { Err(Error::Escaped {}.into()) }
}

/// A tensor of the mapping: itself, or one around it that is the same for all samples.
pub(super) fn bound(x: &Tensor, mapping: &Arc<Mapping>) -> Result<Tensor> {
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

fn bound_tangent(tangent: Tensor, mapping: &Arc<Mapping>) -> Result<Tensor> {
    let batch = tangent.batch_at(mapping);
    Tensor::batched(batch.value, batch.dim, mapping)
}

/// Has a rule keep, of the batched tensors that it keeps, all samples.
pub(super) fn keep_samples<'a>(rule: &mut impl Rule, tensor_at: impl Fn(Source) -> Option<&'a Tensor>) {
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

/// The samples of `x` along a dimension, as a tensor that stands for each of them.
pub fn enter(x: &Tensor, dim: usize, mapping: &Arc<Mapping>) -> Result<Tensor> {
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

/// The samples of a tensor at a mapping.
pub(super) fn samples(x: &Tensor, mapping: &Arc<Mapping>) -> Samples {
    Samples::of(x.batch_at(mapping))
}

fn wrapped(answer: Answer, mapping: &Arc<Mapping>) -> Result<Outputs> {
    answer.into_iter().map(|samples| Tensor::batched(samples.value, samples.dim, mapping)).collect()
}

/// Runs an operation for all samples and records it among the tensors of the mapping.
#[cold]
pub(super) fn apply<O: Op>(op: O, inputs: &[&Tensor], mapping: &Arc<Mapping>) -> Result<Outputs> {
    check_open(mapping)?;
    let answer = below(mapping, || answer(&op, inputs, mapping))?;
    let outputs = wrapped(answer, mapping)?;
    let bound: SmallVec<[Tensor; 2]> = inputs.iter().map(|x| bound(x, mapping)).collect::<Result<_>>()?;
    let inputs: SmallVec<[&Tensor; 2]> = bound.iter().collect();
    trace(&inputs, &outputs, |needed| {
        let saved = op.save(&Keep::new(&inputs, &outputs, needed));
        Recorded { op, saved }
    })?;
    Ok(outputs)
}

/// Computes with values: what tangents of higher levels there are concerns the tensors around them.
pub(super) fn below<T>(mapping: &Mapping, f: impl FnOnce() -> T) -> T {
    let _below = Ceiling::below(mapping.id());
    f()
}

/// What an operation answers for all samples.
pub(super) fn answer<O: Op>(op: &O, inputs: &[&Tensor], mapping: &Arc<Mapping>) -> Result<Answer> {
    let values: SmallVec<[Samples; 2]> = inputs.iter().map(|x| samples(x, mapping)).collect();
    let held: SmallVec<[Samples; 1]> = op.held().iter().map(|x| samples(x, mapping)).collect();
    let call = Call { inputs: &values, held: &held, size: mapping.size() };
    if values.iter().chain(&held).all(|samples| samples.dim.is_none()) {
        let held: SmallVec<[Tensor; 1]> = held.into_iter().map(|samples| samples.value).collect();
        let inputs: SmallVec<[&Tensor; 2]> = values.iter().map(|samples| &samples.value).collect();
        let outputs = super::apply::apply(op.holding(&held)?, &inputs)?;
        return Ok(outputs.into_iter().map(Samples::shared).collect());
    }
    match op.batch(&call)? {
        Some(answer) => Ok(answer),
        None if call.size == 0 => nothing(inputs, |inputs| op.forward(inputs)),
        None => call.each(|inputs, held| super::apply::apply(op.holding(held)?, inputs)),
    }
}

/// The outputs for no sample, in the shape that `f` finds they would have: the array of a batched
/// tensor without samples is zeros.
fn nothing(inputs: &[&Tensor], f: impl FnOnce(&[&Tensor]) -> Result<Outputs>) -> Result<Answer> {
    let zeros: SmallVec<[Tensor; 2]> = inputs.iter().map(|x| Tensor::from_array(x.array())).collect();
    let zeros: SmallVec<[&Tensor; 2]> = zeros.iter().collect();
    let empty = |output: &Tensor| {
        let mut shape = shape::signed(output.layout().shape());
        shape.insert(0, 0);
        create::zeros(&shape, output.dtype()).map(Samples::first)
    };
    f(&zeros)?.iter().map(empty).collect()
}

/// What `rule` makes of the samples of tensors, wrapped but not recorded: for what has no derivative.
pub(super) fn lifted(
    tensors: &[&Tensor],
    mapping: &Arc<Mapping>,
    rule: impl FnOnce(&Call<'_>) -> Result<Answer>,
) -> Result<Outputs> {
    check_open(mapping)?;
    let values: SmallVec<[Samples; 2]> = tensors.iter().map(|x| samples(x, mapping)).collect();
    let call = Call { inputs: &values, held: &[], size: mapping.size() };
    wrapped(below(mapping, || rule(&call))?, mapping)
}

/// What `f` makes of each sample of tensors, if one of them is batched.
pub(super) fn each(
    tensors: &[&Tensor],
    f: impl Fn(&[&Tensor]) -> Result<Outputs>,
) -> Option<Result<Outputs>> {
    let mapping = highest(tensors.iter().copied())?;
    Some(lifted(tensors, &mapping, |call| match call.size {
        0 => nothing(tensors, &f),
        _ => call.each(|inputs, _| f(inputs)),
    }))
}

/// `each` for a function with one result.
pub(super) fn each_one(
    tensors: &[&Tensor],
    f: impl Fn(&[&Tensor]) -> Result<Tensor>,
) -> Option<Result<Tensor>> {
    Some(each(tensors, |samples| f(samples).map(|y| smallvec![y]))?.and_then(only))
}

/// The single output of an operation.
pub(super) fn only(mut outputs: Outputs) -> Result<Tensor> {
    outputs.pop().map_or_else(|| unreachable!("the operation has one output"), Ok)
}

/// Whether `x` has memory for every sample of `other`.
fn has_room(x: &Tensor, other: &Tensor) -> bool {
    let Some(mapping) = highest([x, other]) else { return true };
    let (x, other) = (samples(x, &mapping), samples(other, &mapping));
    (x.dim.is_some() || other.dim.is_none()) && has_room(&x.value, &other.value)
}

/// The tensor with memory for every sample of others, so that what is made of those can be written to
/// it. Nobody else may hold it.
pub fn with_room(x: Tensor, others: &[&Tensor]) -> Result<Tensor> {
    others.iter().try_fold(x, |x, other| {
        if has_room(&x, other) {
            return Ok(x);
        }
        let zero = reduce::sum(&create::zeros_like(&other.detach())?, None, false, None)?;
        crate::ops::add(&x, &cast::to_dtype(&zero, x.dtype())?)
    })
}

/// What `f` makes of the samples of a batched tensor along a first dimension, and of how many there
/// are.
pub(super) fn front(x: &Tensor, f: impl FnOnce(&Tensor, usize) -> Result<Tensor>) -> Option<Result<Tensor>> {
    let batch = if mode::special() { x.batch()? } else { return None };
    let run = || {
        let value = Samples::of(batch.clone()).front(batch.mapping.size())?;
        Tensor::batched(f(&value, batch.mapping.size())?, Some(0), &batch.mapping)
    };
    Some(below(&batch.mapping, run))
}

/// A reduction over dimensions of each sample, if the tensor is batched. `f` reduces over the
/// dimensions that it is given; with `none` that is none.
pub(super) fn reduced(
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
pub(super) fn stacked(sample: &Layout, size: usize) -> Layout {
    let (mut shape, mut strides): (Dims, Dims) = (sample.shape().into(), sample.strides().into());
    shape.insert(0, size);
    strides.insert(0, (sample.end() - sample.offset()).max(1));
    Layout::strided(shape, strides, 0)
}

/// A tangent that lies as the value of `x` does. `fit` does so for tensors below.
pub(super) fn fit(
    tangent: &Tensor,
    x: &Tensor,
    mapping: &Arc<Mapping>,
    fit: impl Fn(&Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    below(mapping, || {
        let (tangent, x) = (samples(tangent, mapping), samples(x, mapping));
        let fitting = match x.dim {
            Some(dim) => fit(&Samples::first(tangent.front(mapping.size())?).moved(dim)?, &x.value)?,
            None => match tangent.dim {
                // The tensor is the same for all samples and its tangent is not: it has no part in
                // any view.
                Some(_) => return Tensor::batched(tangent.value, tangent.dim, mapping),
                None => fit(&tangent.value, &x.value)?,
            },
        };
        Tensor::batched(fitting, x.dim, mapping)
    })
}
