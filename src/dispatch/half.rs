//! Half types around an operation's forward: inputs become single precision, and results are rounded back. See Note
//! [Half types]; elementwise operations do so by themselves.

use smallvec::SmallVec;

use crate::dispatch::apply::{Op, Outputs, Overwrite};
use crate::dispatch::erased::AnyOp;
use crate::dtype::DType;
use crate::error::Result;
use crate::ops::creation::copy;
use crate::tensor::{Array, Tensor};

/// The forward of an operation, on numbers of any type.
#[inline]
pub(crate) fn forward<O: Op>(op: &O, inputs: &[&Tensor]) -> Result<Outputs> {
    match const { O::MOVES } || !takes_part(op.result(), inputs) {
        true => op.forward(inputs),
        false => rounded(op, inputs),
    }
}

/// Whether a half type takes part.
fn takes_part(result: Option<DType>, inputs: &[&Tensor]) -> bool {
    result.is_some_and(DType::is_half) || inputs.iter().any(|input| input.dtype().is_half())
}

/// The tensor in single precision if it is of a half type; `named` is the type that the caller wants
/// elements to have before anything is done with them.
fn widened(x: &Tensor, named: Option<DType>) -> Result<Tensor> {
    let array = x.array();
    match named.filter(|named| named.is_half()) {
        Some(half) => {
            let array = copy::as_type_in_order(&array, half)?;
            Ok(Tensor::from_array(array.widened()?))
        }
        None if array.dtype.is_half() => Ok(Tensor::from_array(array.widened()?)),
        None => Ok(x.clone()),
    }
}

/// What the operation makes of numbers in single precision, rounded.
#[cold]
fn rounded(op: &dyn AnyOp, inputs: &[&Tensor]) -> Result<Outputs> {
    let named = op.result();
    let held = op.held();
    let is_half = |x: &Tensor| x.dtype().is_half();
    let own = match held.iter().any(is_half) {
        true => {
            let held: SmallVec<[Tensor; 1]> = held.iter().map(|x| widened(x, None)).collect::<Result<_>>()?;
            Some(op.with_held(&held)?)
        }
        false => None,
    };
    let wide: SmallVec<[Tensor; 3]> = inputs.iter().map(|x| widened(x, named)).collect::<Result<_>>()?;
    let wide: SmallVec<[&Tensor; 3]> = wide.iter().collect();
    let outputs = own.as_deref().unwrap_or(op).numbers(&wide)?;
    let Some(dtype) = op.rounding(inputs) else { return Ok(outputs) };
    outputs
        .into_iter()
        .map(|y| match y.dtype() == DType::Float32 && dtype.is_half() {
            true => copy::converted_in_order(&y.array(), dtype).map(Tensor::from_array),
            false => Ok(y),
        })
        .collect()
}

/// `overwrite`, on numbers of any type.
pub(crate) fn overwrite<O: Overwrite>(op: &O, target: &Array, inputs: &[&Tensor]) -> Result<()> {
    if const { O::MOVES } || !takes_part(None, inputs) {
        return op.overwrite(target, inputs);
    }
    let wide: SmallVec<[Tensor; 3]> = inputs.iter().map(|x| widened(x, None)).collect::<Result<_>>()?;
    let wide: SmallVec<[&Tensor; 3]> = wide.iter().collect();
    if !target.dtype.is_half() {
        return op.overwrite(target, &wide);
    }
    let room = copy::converted(target, DType::Float32)?;
    op.overwrite(&room, &wide)?;
    copy::write(target, &room)
}
