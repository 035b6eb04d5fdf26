//! The argument and the result of a batching rule: `Call` has the operands, each with the dimension along which the
//! samples lie, and `Answer` the outputs.

use smallvec::SmallVec;

use crate::dispatch::apply::{Op, apply};
use crate::error::Result;
use crate::ops::geometry::squeeze;
use crate::ops::geometry::squeeze::Squeezed;
use crate::ops::geometry::{expand, part, permute, reshape};
use crate::shape::{self, Dims, Layout};
use crate::tensor::{Batch, Outputs, Tensor};

/// An operand of a batching rule: the samples lie along `dim` of `value`, or the operand is not batched.
#[derive(Clone)]
pub struct Samples {
    /// The samples together.
    pub value: Tensor,
    /// The dimension of the samples; `None` if the operand is not batched.
    pub dim: Option<usize>,
}

/// The outputs of a batching rule.
pub type Answer = SmallVec<[Samples; 1]>;

impl Samples {
    /// Not batched.
    pub fn shared(value: Tensor) -> Samples {
        Samples { value, dim: None }
    }

    /// Along the first dimension.
    pub fn first(value: Tensor) -> Samples {
        Samples { value, dim: Some(0) }
    }

    pub(super) fn of(batch: Batch) -> Samples {
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

    /// `front`, with a dimension of one element behind the samples if they are numbers.
    pub fn vectors(&self, size: usize) -> Result<Tensor> {
        let value = self.front(size)?;
        if self.rank() == 0 { squeeze::unsqueeze(&value, 1) } else { Ok(value) }
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
    pub fn around(&self, sample: &Layout) -> Result<Layout> {
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
    /// Calls the operation with the samples as the first dimension of every input.
    pub fn front<O: Op>(&self, op: O) -> Result<Answer> {
        Ok(all_first(self.at_front(op, &|input| input.front(self.size))?))
    }

    fn at_front<O: Op>(&self, op: O, value: &dyn Fn(&Samples) -> Result<Tensor>) -> Result<Outputs> {
        apply(op, &references(&all(self.inputs, value)?))
    }

    /// `front` for an operation along a dimension: samples without dimensions become vectors of one element before,
    /// and numbers again after.
    pub fn deeper<O: Op>(&self, op: O) -> Result<Answer> {
        if self.inputs[0].rank() > 0 {
            return self.front(op);
        }
        let outputs = self.at_front(op, &|input| input.vectors(self.size))?;
        outputs.iter().map(|y| numbers(y).map(Samples::first)).collect()
    }

    /// Calls an operation whose inputs have a batch dimension of their own, as layers do: the samples are merged with
    /// that dimension.
    pub fn folded<O: Op>(&self, op: O) -> Result<Answer> {
        let outputs = self.at_front(op, &|input| reshape::flatten(&input.front(self.size)?, 0, 1))?;
        let apart = |y: &Tensor| {
            let each = self.inputs[0].shape()[0] as i64;
            reshape::unflatten(y, 0, &[self.size as i64, each]).map(Samples::first)
        };
        outputs.iter().map(apart).collect()
    }

    /// Calls an elementwise operation of one input; the samples stay where they are.
    pub fn in_place<O: Op>(&self, op: O) -> Result<Answer> {
        let Samples { value, dim } = &self.inputs[0];
        let outputs = apply(op, &[value])?;
        Ok(outputs.into_iter().map(|value| Samples { value, dim: *dim }).collect())
    }

    /// Calls an elementwise operation of several operands, which broadcast.
    pub fn aligned<O: Op>(&self, op: O) -> Result<Answer> {
        let rank = self.inputs.iter().chain(self.held).map(Samples::rank).max().unwrap_or(0);
        let align = |samples: &Samples| samples.aligned(rank);
        let (values, held) = (all(self.inputs, &align)?, all(self.held, &align)?);
        Ok(all_first(apply(op.with_held(&held)?, &references(&values))?))
    }
}

// The functions below are not generic, so that they are compiled once and not for every operation.

fn all(samples: &[Samples], value: &dyn Fn(&Samples) -> Result<Tensor>) -> Result<Vec<Tensor>> {
    samples.iter().map(value).collect()
}

fn references(tensors: &[Tensor]) -> Vec<&Tensor> {
    tensors.iter().collect()
}

fn all_first(outputs: Outputs) -> Answer {
    outputs.into_iter().map(Samples::first).collect()
}

/// Vectors of one element as numbers.
fn numbers(y: &Tensor) -> Result<Tensor> {
    if y.ndim() == 2 { squeeze::squeeze(y, Squeezed::One(1)) } else { Ok(y.clone()) }
}
