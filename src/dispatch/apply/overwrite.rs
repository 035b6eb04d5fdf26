//! The in-place form of structured operations that change part of their first input: `Overwrite` and its entry point.

use smallvec::{SmallVec, smallvec};

use super::{Arrays, Keep, Op, OpRule, apply_one, memory};
use crate::dispatch::in_place::{self, Write};
use crate::dispatch::modes::intercept;
use crate::dispatch::{batch, long_work, stored};
use crate::error::Result;
use crate::graph::mode;
use crate::ops::creation::copy;
use crate::shape::SharedLayout;
use crate::tensor::{Array, Tensor};

/// An operation that changes part of its first input and keeps none of its old values: it has an
/// in-place form that touches no more than that part.
pub trait Overwrite: Op {
    /// Whether the other inputs may show none of the memory that is written to.
    fn reads_apart(&self) -> bool {
        false
    }

    /// Whether what is not done in place leaves the dimensions in the order in which the first input has them.
    fn keeps_order(&self) -> bool {
        false
    }

    /// Writes the new elements into memory that holds the first input. The target shows none of the
    /// memory of the other inputs.
    fn overwrite(&self, target: &Array, inputs: &[Array]) -> Result<()>;

    /// torch's name of the in-place form in messages.
    fn in_place_name(&self) -> &'static str {
        "inplace arithmetic"
    }

    /// The first input with the new elements, in memory of its own: the forward of such operations.
    fn overwritten(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let layout = if self.keeps_order() { x.layout.packed() } else { x.layout.fresh() };
        let copy = copy::laid_out(x, &SharedLayout::new(layout))?;
        self.overwrite(&copy, inputs)?;
        Ok(smallvec![copy])
    }
}

/// `apply` in place of the first input.
pub fn apply_in_place<O: Overwrite>(op: O, inputs: &[&Tensor]) -> Result<()> {
    if mode::special() && batch::mapping(inputs.iter().copied().chain(&op.held())).is_some() {
        let held = op.held();
        let others: SmallVec<[&Tensor; 3]> = inputs.iter().skip(1).copied().chain(&held).collect();
        return batch::through(inputs[0], &others, op.in_place_name(), |before| {
            let mut inputs: SmallVec<[&Tensor; 3]> = inputs.into();
            inputs[0] = before;
            apply_one(op, &inputs)
        });
    }
    if long_work::is_long(op.effort(&memory(inputs))) {
        return long_work::at_length(true, || apply_in_place(op, inputs));
    }
    // Windows may overlap: what is written to none of them is not to undo what is written to another.
    if inputs[0].is_pending() || !inputs[0].layout().is_non_overlapping() {
        return in_place::through(inputs[0], &inputs[1..], |before| {
            let mut inputs: SmallVec<[&Tensor; 3]> = inputs.into();
            inputs[0] = before;
            apply_one(op, &inputs)
        });
    }
    let mut write = Write::begin(inputs)?;
    let target = inputs[0].array();
    if op.reads_apart() {
        inputs[1..].iter().try_for_each(|input| target.check_apart(&input.array()))?;
    }
    let arrays = apart(&target, inputs)?;
    let rule = |needed| {
        let apart: SmallVec<[Tensor; 3]> = kept_apart(inputs, &arrays);
        let apart: SmallVec<[&Tensor; 3]> = apart.iter().collect();
        let saved = op.save(&Keep::new(&apart, &[], needed));
        OpRule { op: op.clone(), saved }
    };
    if mode::special() && write.is_traced() {
        write.pack(&rule(write.needed()))?;
    }
    match intercept::is_active() {
        true => intercept::overwritten(&op, inputs)?,
        false => stored::overwrite(&op, &target, &arrays)?,
    }
    write.finish(rule)
}

/// The inputs of a write to `target`, the first of them, in memory that the write leaves alone.
pub(crate) fn apart(target: &Array, inputs: &[&Tensor]) -> Result<SmallVec<[Array; 3]>> {
    let arrays = inputs.iter().map(|input| input.array()).enumerate();
    let apart = arrays.map(|(index, array)| match index > 0 && target.overlaps(&array) {
        true => copy::dense(&array),
        false => Ok(array),
    });
    apart.collect()
}

/// The inputs of a write as its rule may keep them: those that were copied as copies.
fn kept_apart(inputs: &[&Tensor], apart: &[Array]) -> SmallVec<[Tensor; 3]> {
    let pairs = inputs.iter().zip(apart);
    let kept =
        pairs.map(|(&input, array)| match input.is_pending() || input.memory().storage.is(&array.storage) {
            true => input.clone(),
            false => Tensor::from_array(array.clone()),
        });
    kept.collect()
}
