//! Types that are stored and never computed with (Note [Stored types]): around the forward of an operation its inputs
//! are widened, half to float for example, and its results rounded back. Elementwise operations do so by themselves.

use smallvec::SmallVec;

use crate::dispatch::apply::{Op, Overwrite};
use crate::dispatch::erased::AnyOp;
use crate::dispatch::unary;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ops::creation::copy;
use crate::tensor::{Array, Arrays, Tensor};

/// What an operation does with `uint64`, for which there are no kernels: Note [Stored types].
#[derive(Clone, Copy, PartialEq)]
pub enum Unsigned {
    /// It refuses them.
    Refused,
    /// It computes with the `int64` of the same bits: its result is right modulo 2⁶⁴.
    Wrapped,
    /// It computes with `int64` in the same order: its result depends on the order alone.
    Ordered,
}

impl Unsigned {
    /// Converts the bits of an unsigned integer to those of the signed one that stands for it, or back.
    pub(crate) fn turn(self, bits: i64) -> i64 {
        if self == Unsigned::Ordered { bits ^ i64::MIN } else { bits }
    }
}

/// The forward of an operation on inputs of any type.
#[inline]
pub(crate) fn forward<O: Op>(op: &O, inputs: &[Array]) -> Result<Arrays> {
    match const { O::MOVES } || !takes_part(op.result(), inputs) {
        true => op.forward(inputs),
        false => rounded(op, O::UNSIGNED, inputs),
    }
}

/// Whether an input is, or the result shall be, of a stored type.
fn takes_part(result: Option<DType>, inputs: &[Array]) -> bool {
    result.is_some_and(DType::is_stored) || inputs.iter().any(|input| input.dtype.is_stored())
}

/// The array, widened if it is of a stored type. `named` is the `dtype` argument of the call, to which elements are
/// converted first.
fn widened_as(array: &Array, named: Option<DType>, unsigned: Unsigned) -> Result<Array> {
    if array.dtype == DType::UInt64 && unsigned != Unsigned::Refused {
        let signed = copy::as_type_in_order(array, DType::Int64)?.into_owned();
        return turned(signed, unsigned);
    }
    match named.filter(|named| named.is_stored()) {
        Some(stored) => copy::as_type_in_order(array, stored)?.widened(),
        None => array.widened(),
    }
}

/// The array, widened if it is of a stored type.
pub(crate) fn widened(array: &Array, unsigned: Unsigned) -> Result<Array> {
    widened_as(array, None, unsigned)
}

/// `Unsigned::turn` of all of them.
pub(crate) fn turned(integers: Array, unsigned: Unsigned) -> Result<Array> {
    match unsigned {
        Unsigned::Ordered => unary::compute::<i64, i64>(&integers, DType::Int64, |x| unsigned.turn(x)),
        _ => Ok(integers),
    }
}

/// The type that results of this type are rounded to, where one of a stored type is expected.
fn rounded_type(found: DType, expected: DType) -> Option<DType> {
    let types = [expected, expected.to_real(), expected.to_complex()];
    types.into_iter().find(|dtype| dtype.is_stored() && dtype.wide() == found)
}

/// A refusal of the type that numbers are widened to, as that of their own.
#[cold]
pub(crate) fn refused_as(mut error: Box<Error>, stored: DType) -> Box<Error> {
    if let Error::NotImplementedFor { dtype, .. } = &mut *error
        && stored.wide() == *dtype
    {
        *dtype = stored;
    }
    error
}

/// What the operation makes of numbers of wider types, rounded. Of integers only the first result is: others are where
/// they stand.
#[cold]
fn rounded(op: &dyn AnyOp, unsigned: Unsigned, inputs: &[Array]) -> Result<Arrays> {
    let held = op.held();
    let own = match held.iter().any(|x| x.dtype().is_stored()) {
        true => {
            let wide = held.iter().map(|x| widened(&x.array(), unsigned).map(Tensor::from_array));
            Some(op.with_held(&wide.collect::<Result<SmallVec<[Tensor; 1]>>>()?)?)
        }
        false => None,
    };
    let named = op.result();
    let wide =
        inputs.iter().map(|x| widened_as(x, named, unsigned)).collect::<Result<SmallVec<[Array; 3]>>>()?;
    let outputs = own.as_deref().unwrap_or(op).forward(&wide).map_err(|error| {
        match inputs.iter().map(|x| x.dtype).find(|dtype| dtype.is_stored()) {
            Some(stored) => refused_as(error, stored),
            None => error,
        }
    })?;
    let Some(dtype) = op.rounding(inputs) else { return Ok(outputs) };
    let counted = if dtype.is_wide_unsigned() { 1 } else { outputs.len() };
    let rounded = outputs.into_iter().enumerate().map(|(at, y)| {
        match rounded_type(y.dtype, dtype).filter(|_| at < counted) {
            Some(DType::UInt64) => copy::converted_in_order(&turned(y, unsigned)?, DType::UInt64),
            Some(dtype) => copy::converted_in_order(&y, dtype),
            None => Ok(y),
        }
    });
    rounded.collect()
}

/// `overwrite`, on numbers of any type.
pub(crate) fn overwrite<O: Overwrite>(op: &O, target: &Array, inputs: &[Array]) -> Result<()> {
    if const { O::MOVES } || !takes_part(None, inputs) {
        return op.overwrite(target, inputs);
    }
    let wide = inputs.iter().map(|x| widened(x, O::UNSIGNED)).collect::<Result<SmallVec<[Array; 3]>>>()?;
    if !target.dtype.is_stored() {
        return op.overwrite(target, &wide);
    }
    let room = copy::converted(target, target.dtype.wide())?;
    op.overwrite(&room, &wide)?;
    copy::write(target, &room)
}
