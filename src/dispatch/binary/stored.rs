//! Numbers of stored types: calculated in a wider type and rounded, those of half types a few at a time. See Note [Stored
//! types].

use super::Elementwise2;
use super::numbers::{Beside, Vector, calculate, sizes_first};
use crate::dispatch::operand::Numbers;
use crate::dispatch::stored;
use crate::dispatch::stored::Unsigned;
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::kernels::pointwise::{half, map, zip};
use crate::kernels::vector;
use crate::ops::creation::copy;
use crate::tensor::Array;

/// An operand as numbers of a half type are calculated with; `exact` says that a number is not rounded.
pub(super) fn widened(operand: &Numbers, dtype: DType, exact: bool) -> Result<Numbers> {
    Ok(match operand {
        Numbers::Array(array) => Numbers::Array(copy::as_type_in_order(array, dtype)?.widened()?),
        Numbers::Scalar(number) if exact => Numbers::Scalar(*number),
        Numbers::Scalar(number) => Numbers::Scalar(dtype.rounded(number.to_f64()).into()),
    })
}

/// A fresh array of the function of numbers of a half type that lie in order, and as many others or a number: they are
/// calculated with in single precision, a few at a time; the way of the operation for the number, if it has one.
pub(super) fn calculate_in_order<E: Elementwise2>(
    op: &E,
    a: &Numbers,
    b: &Numbers,
    dtype: DType,
    has_way: bool,
) -> Result<Option<Array>> {
    let in_order = |x: &Numbers| match x {
        Numbers::Array(x) if x.dtype == dtype && x.layout.is_contiguous() => Some(x.clone()),
        _ => None,
    };
    let Some(left) = in_order(a) else { return Ok(None) };
    let (right, number) = match (in_order(b), b) {
        (Some(right), _) if right.layout.shape() == left.layout.shape() => (Some(right), None),
        (None, Numbers::Scalar(_)) => (None, Some(widened(b, dtype, E::EXACT_NUMBERS)?)),
        _ => return Ok(None),
    };
    let number = match number {
        Some(Numbers::Scalar(number)) => Some(number.to::<f32>()),
        _ => None,
    };
    let (op, mut y) = (*op, Array::uninit(&left.layout, dtype)?);
    let Some(elements) = left.slice::<i16>() else { return Ok(None) };
    let others = right.as_ref().and_then(|right| right.slice::<i16>());
    if let (false, Some(others)) = (const { E::VECTOR.has::<f32>() }, others)
        && half::zip(dtype, elements, others, y.fresh::<i16>(), op.loops())
    {
        return Ok(Some(y));
    }
    half::through(dtype, elements, others, y.fresh::<i16>(), &|numbers, others, made| {
        let is_vector = const { E::VECTOR.has::<f32>() };
        match (is_vector, number) {
            (_, Some(b)) if has_way => {
                op.with_number_in_place(numbers, b);
                return false;
            }
            (true, None) => vector::map_near(numbers, [others], made, Vector(op)),
            (true, Some(b)) => vector::map_near(numbers, [], made, Beside::<E, false>(op, b.to_f64())),
            (false, None) => zip::zip_slice_in_place(numbers, others, op.loops()),
            (false, Some(b)) => {
                let f = op.loops();
                map::map_slice_in_place(numbers, move |a| f(a, b));
            }
        }
        is_vector
    });
    Ok(Some(y))
}

/// The function of numbers of a stored type, calculated in a wider one and rounded.
#[cold]
pub(super) fn calculate_wide<E: Elementwise2>(
    op: &E,
    a: &Numbers,
    b: &Numbers,
    dtype: DType,
) -> Result<Array> {
    if dtype == DType::UInt64 && E::UNSIGNED == Unsigned::Refused {
        return Err(sizes_first(op.refusal(dtype).into(), a, b));
    }
    let wide = |operand: &Numbers| -> Result<Numbers> {
        Ok(match operand {
            Numbers::Scalar(number) if dtype.is_float() && !E::EXACT_NUMBERS => {
                Numbers::Scalar(dtype.rounded(number.to_f64()).into())
            }
            Numbers::Scalar(number) if dtype == DType::UInt64 => {
                Numbers::Scalar(E::UNSIGNED.turn(number.to::<u64>().cast_signed()).into())
            }
            Numbers::Scalar(number) => Numbers::Scalar(*number),
            Numbers::Array(array) => {
                let array = copy::as_type_in_order(array, dtype)?;
                Numbers::Array(stored::widened(&array, E::UNSIGNED)?)
            }
        })
    };
    let op = if dtype.is_float() { op.in_half(dtype) } else { *op };
    let y = calculate(&op, &wide(a)?, &wide(b)?, dtype.wide())
        .map_err(|error| stored::refused_as(error, dtype))?;
    let y = if dtype == DType::UInt64 { stored::turned(y, E::UNSIGNED)? } else { y };
    copy::converted_in_order(&y, dtype)
}
