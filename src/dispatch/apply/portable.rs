//! Structured operations as plain data: Note [Plain data].

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Op, Outputs, Overwrite, apart};
use crate::dispatch::direct::Direct;
use crate::dispatch::erased::AnyOp;
use crate::dispatch::modes::intercept;
use crate::dispatch::modes::plain::{Plain, Portable, Row, What, damaged, plain};
use crate::dispatch::operand::Value;
use crate::dispatch::stored;
use crate::error::Result;
use crate::tensor::Tensor;

/// An operation with so many inputs; operands after these are what it holds.
#[derive(Clone)]
struct Computed<O>(O, usize);

/// The same as a write to its first input.
#[derive(Clone)]
struct Written<O>(O, usize);

pub(crate) fn computed<O: Op>(op: &O, count: usize) -> What {
    Arc::new(Computed(op.clone(), count))
}

pub(crate) fn written<O: Overwrite>(op: &O, count: usize) -> What {
    Arc::new(Written(op.clone(), count))
}

/// How an operation is written and read.
pub(crate) const fn row<O: Op + Plain>(name: &'static str) -> Row {
    Row::of::<Computed<O>>(name)
}

/// How a write is written and read.
pub(crate) const fn row_of_write<O: Overwrite + Plain>(name: &'static str) -> Row {
    Row::of::<Written<O>>(name)
}

/// Inputs, of which there are so many, and what is held among operands, as much as there is.
fn split<'a>(count: usize, held: usize, operands: &'a [Value]) -> Result<(Inputs<'a>, Vec<Tensor>)> {
    let mut inputs = intercept::tensors(operands);
    if inputs.len() < count || inputs.len() - count != held {
        return Err(damaged("an operation has another number of operands"));
    }
    let held = inputs.drain(count..).map(Tensor::clone).collect();
    Ok((inputs, held))
}

type Inputs<'a> = SmallVec<[&'a Tensor; 3]>;

/// Computes an operation of any type: that of each is compiled for other reasons already.
fn compute(op: &dyn AnyOp, count: usize, operands: &[Value]) -> Result<Outputs> {
    let (inputs, held) = split(count, op.held().len(), operands)?;
    if held.is_empty() { op.compute(&inputs) } else { op.with_held(&held)?.compute(&inputs) }
}

impl<O: Op + Plain> Portable for Computed<O> {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        compute(&self.0, self.1, operands)
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        self.0.direct()
    }
}

impl<O: Overwrite + Plain> Portable for Written<O> {
    const TARGETS: usize = 1;

    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let (inputs, held) = split(self.1, self.0.held().len(), operands)?;
        let op = if held.is_empty() { self.0.clone() } else { self.0.with_held(&held)? };
        let Some(target) = inputs.first() else { return Err(damaged("a write has no target")) };
        let target = target.array();
        stored::overwrite(&op, &target, &apart(&target, &inputs)?)?;
        Ok(Outputs::new())
    }
}

plain! {
    tuple Computed<O>(0: O, 1: usize);
    tuple Written<O>(0: O, 1: usize);
}
