//! Stored types around an operation's forward: inputs become wider, and results are rounded back. See Note
//! [Stored types]; elementwise operations do so by themselves.

use smallvec::SmallVec;

use crate::dispatch::apply::{Op, Outputs, Overwrite, Unsigned};
use crate::dispatch::erased::AnyOp;
use crate::dispatch::unary;
use crate::dtype::DType;
use crate::error::Result;
use crate::ops::creation::copy;
use crate::tensor::{Array, Tensor};

/// The forward of an operation, on numbers of any type.
#[inline]
pub(crate) fn forward<O: Op>(op: &O, inputs: &[&Tensor]) -> Result<Outputs> {
    match const { O::MOVES } || !takes_part(op.result(), inputs) {
        true => op.forward(inputs),
        false => rounded(op, O::UNSIGNED, inputs),
    }
}

/// Whether a stored type takes part.
fn takes_part(result: Option<DType>, inputs: &[&Tensor]) -> bool {
    result.is_some_and(DType::is_stored) || inputs.iter().any(|input| input.dtype().is_stored())
}

/// The tensor in a wider type if it is of a stored type; `named` is the type that the caller wants
/// elements to have before anything is done with them.
fn widened(x: &Tensor, named: Option<DType>, unsigned: Unsigned) -> Result<Tensor> {
    let array = x.array();
    if array.dtype == DType::UInt64 && unsigned != Unsigned::Refused {
        let signed = copy::as_type_in_order(&array, DType::Int64)?.into_owned();
        return turned(signed, unsigned).map(Tensor::from_array);
    }
    match named.filter(|named| named.is_stored()) {
        Some(stored) => {
            let array = copy::as_type_in_order(&array, stored)?;
            Ok(Tensor::from_array(array.widened()?))
        }
        None if array.dtype.is_stored() => Ok(Tensor::from_array(array.widened()?)),
        None => Ok(x.clone()),
    }
}

/// Integers with the same bits, or in the same order. Done twice it undoes itself.
fn turned(integers: Array, unsigned: Unsigned) -> Result<Array> {
    match unsigned {
        Unsigned::Ordered => unary::compute::<i64, i64>(&integers, DType::Int64, |x| x ^ i64::MIN),
        _ => Ok(integers),
    }
}

/// The type that results of this type are rounded to, where one of a stored type is expected.
fn rounded_type(found: DType, expected: DType) -> Option<DType> {
    let types = [expected, expected.to_real(), expected.to_complex()];
    types.into_iter().find(|dtype| dtype.is_stored() && dtype.wide() == found)
}

/// What the operation makes of numbers of wider types, rounded. Of integers only the first result is: others are where
/// they stand.
#[cold]
fn rounded(op: &dyn AnyOp, unsigned: Unsigned, inputs: &[&Tensor]) -> Result<Outputs> {
    let named = op.result();
    let held = op.held();
    let own = match held.iter().any(|x| x.dtype().is_stored()) {
        true => {
            let held: SmallVec<[Tensor; 1]> =
                held.iter().map(|x| widened(x, None, unsigned)).collect::<Result<_>>()?;
            Some(op.with_held(&held)?)
        }
        false => None,
    };
    let wide: SmallVec<[Tensor; 3]> =
        inputs.iter().map(|x| widened(x, named, unsigned)).collect::<Result<_>>()?;
    let wide: SmallVec<[&Tensor; 3]> = wide.iter().collect();
    let outputs = own.as_deref().unwrap_or(op).numbers(&wide)?;
    let Some(dtype) = op.rounding(inputs) else { return Ok(outputs) };
    let counted = if dtype.is_wide_unsigned() { 1 } else { outputs.len() };
    outputs
        .into_iter()
        .enumerate()
        .map(|(at, y)| match rounded_type(y.dtype(), dtype).filter(|_| at < counted) {
            Some(DType::UInt64) => {
                copy::converted_in_order(&turned(y.array(), unsigned)?, dtype).map(Tensor::from_array)
            }
            Some(dtype) => copy::converted_in_order(&y.array(), dtype).map(Tensor::from_array),
            None => Ok(y),
        })
        .collect()
}

/// `overwrite`, on numbers of any type.
pub(crate) fn overwrite<O: Overwrite>(op: &O, target: &Array, inputs: &[&Tensor]) -> Result<()> {
    if const { O::MOVES } || !takes_part(None, inputs) {
        return op.overwrite(target, inputs);
    }
    let wide: SmallVec<[Tensor; 3]> =
        inputs.iter().map(|x| widened(x, None, O::UNSIGNED)).collect::<Result<_>>()?;
    let wide: SmallVec<[&Tensor; 3]> = wide.iter().collect();
    if !target.dtype.is_stored() {
        return op.overwrite(target, &wide);
    }
    let room = copy::converted(target, target.dtype.wide())?;
    op.overwrite(&room, &wide)?;
    copy::write(target, &room)
}
