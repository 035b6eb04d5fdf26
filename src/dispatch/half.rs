//! Half types around an operation's forward: inputs become single precision, and results are rounded back. See Note
//! [Half types]; elementwise operations do so by themselves.

use smallvec::SmallVec;

use crate::dispatch::apply::{Arrays, Op, Overwrite};
use crate::dispatch::erased::AnyOp;
use crate::dtype::DType;
use crate::error::Result;
use crate::ops::creation::copy;
use crate::tensor::{Array, Tensor};

/// The forward of an operation, on numbers of any type.
#[inline]
pub(crate) fn forward<O: Op>(op: &O, inputs: &[Array]) -> Result<Arrays> {
    match const { O::MOVES } || !takes_part(op.result(), inputs) {
        true => op.forward(inputs),
        false => rounded(op, inputs),
    }
}

/// Whether a half type takes part.
fn takes_part(result: Option<DType>, inputs: &[Array]) -> bool {
    result.is_some_and(DType::is_half) || inputs.iter().any(|input| input.dtype.is_half())
}

/// The inputs in single precision where they are of a half type; `named` is the type that the caller wants
/// elements to have before anything is done with them.
fn widened(inputs: &[Array], named: Option<DType>) -> Result<SmallVec<[Array; 3]>> {
    let wide = inputs.iter().map(|array| match named.filter(|named| named.is_half()) {
        Some(half) => copy::as_type_in_order(array, half)?.widened(),
        None => array.widened(),
    });
    wide.collect()
}

/// What the operation makes of numbers in single precision, rounded.
#[cold]
fn rounded(op: &dyn AnyOp, inputs: &[Array]) -> Result<Arrays> {
    let held = op.held();
    let own = match held.iter().any(|x| x.dtype().is_half()) {
        true => {
            let wide = held.iter().map(|x| x.array().widened().map(Tensor::from_array));
            Some(op.with_held(&wide.collect::<Result<SmallVec<[Tensor; 1]>>>()?)?)
        }
        false => None,
    };
    let outputs = own.as_deref().unwrap_or(op).forward(&widened(inputs, op.result())?)?;
    let Some(dtype) = op.rounding(inputs) else { return Ok(outputs) };
    let rounded = outputs.into_iter().map(|y| match y.dtype == DType::Float32 && dtype.is_half() {
        true => copy::converted_in_order(&y, dtype),
        false => Ok(y),
    });
    rounded.collect()
}

/// `overwrite`, on numbers of any type.
pub(crate) fn overwrite<O: Overwrite>(op: &O, target: &Array, inputs: &[Array]) -> Result<()> {
    if const { O::MOVES } || !takes_part(None, inputs) {
        return op.overwrite(target, inputs);
    }
    let wide = widened(inputs, None)?;
    if !target.dtype.is_half() {
        return op.overwrite(target, &wide);
    }
    let room = copy::converted(target, DType::Float32)?;
    op.overwrite(&room, &wide)?;
    copy::write(target, &room)
}
