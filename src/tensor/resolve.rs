//! Reading memory of which something is still to be done: conjugates, negatives, numbers of stored types.

use super::Array;
use crate::dtype::{
    Complex, DType, Element, Float8E4M3Fn, Float8E4M3FnUz, Float8E5M2, Float8E5M2FnUz, Float8E8M0FnU, Half,
};
use crate::error::{Error, Result};
use crate::kernels::geometry::moves;
use crate::kernels::pointwise::{half, map};
use crate::shape::{self, Layout, SharedLayout};
use crate::storage::Storage;

/// The numbers in memory of their own with the dimensions in the same order, with nothing left to be done.
/// What is shown again and again is calculated once, and shown so again.
pub(super) fn resolve(array: &Array) -> Result<Array> {
    let own = &array.layout;
    let once = own.without_repetition();
    if once.shape() == own.shape() {
        return resolve_each(array);
    }
    let once = resolve_each(&array.with_layout(once))?;
    let sizes = own.shape().iter().zip(once.layout.shape());
    let strides =
        sizes.zip(once.layout.strides()).map(|((own, once), &stride)| if own == once { stride } else { 0 });
    let layout = Layout::strided(own.shape().into(), strides.collect(), once.layout.offset())?;
    Ok(once.with_layout(layout))
}

/// `resolve`, element by element.
fn resolve_each(array: &Array) -> Result<Array> {
    let layout = SharedLayout::new(array.layout.packed());
    let order = shape::order_of_strides(layout.shape(), layout.strides());
    let array = &array.with_layout(array.layout.permuted(order.iter().copied()));
    let mut numbers = Array::uninit(&array.layout, array.dtype.resolved())?;
    match array.dtype {
        DType::Conjugate64 => map::map(&array.strided(), numbers.fresh(), |x: Complex<f32>| x.conj()),
        DType::Conjugate128 => map::map(&array.strided(), numbers.fresh(), |x: Complex<f64>| x.conj()),
        DType::Negative32 => map::map(&array.strided(), numbers.fresh(), |x: f32| -x),
        DType::Negative64 => map::map(&array.strided(), numbers.fresh(), |x: f64| -x),
        dtype => unreachable!("nothing is to be done with {dtype:?}"),
    }
    Ok(Array { layout, ..numbers })
}

/// Numbers of a stored type in the type that they are calculated in, in memory of their own with the dimensions in the
/// same order.
pub(super) fn widen(array: &Array) -> Result<Array> {
    let layout = SharedLayout::new(array.layout.packed());
    let packed = match array.layout.is_dense() {
        true => array.clone(),
        false => {
            let storage = Storage::uninit(layout.numel().saturating_mul(array.dtype.size()))?;
            let copy = Array { storage, layout: layout.clone(), dtype: array.dtype };
            dispatch!(bits array.dtype, T => copy.overwrite([array], |place| moves::move_into::<T>(place, array.view())));
            copy
        }
    };
    let flat = packed.with_layout(packed.layout.line());
    let mut numbers = Array::uninit(&flat.layout, array.dtype.wide())?;
    match array.dtype {
        DType::Float16 | DType::BFloat16 => half::widen(array.dtype, in_line(&flat), numbers.fresh()),
        DType::UInt16 => map::map_slice(in_line(&flat), numbers.fresh(), <u16 as Element>::convert::<i32>),
        DType::UInt32 => map::map_slice(in_line(&flat), numbers.fresh(), <u32 as Element>::convert::<i64>),
        DType::Complex32 => map::map_slice(
            in_line(&flat),
            numbers.fresh(),
            <Complex<Half> as Element>::convert::<Complex<f32>>,
        ),
        DType::UInt64 => {
            return Err(Error::NotImplementedFor { operation: "integers", dtype: array.dtype }.into());
        }
        dtype => {
            let numbers_of: Vec<f32> = (0..=u8::MAX).map(|bits| eight(bits, dtype)).collect();
            map::map_slice(in_line(&flat), numbers.fresh(), |bits: u8| numbers_of[usize::from(bits)]);
        }
    }
    Ok(Array { layout, ..numbers })
}

/// Elements that lie in a line.
fn in_line<T: Element>(flat: &Array) -> &[T] {
    flat.slice::<T>().unwrap_or_else(|| unreachable!("the elements lie in a line"))
}

/// The number that has these bits in memory of a type of eight bits.
fn eight(bits: u8, dtype: DType) -> f32 {
    match dtype {
        DType::Float8E8M0FnU => Float8E8M0FnU::from_bits(bits).to_f32(),
        DType::Float8E5M2FnUz => Float8E5M2FnUz::from_bits(bits).to_f32(),
        DType::Float8E4M3FnUz => Float8E4M3FnUz::from_bits(bits).to_f32(),
        DType::Float8E5M2 => Float8E5M2::from_bits(bits).to_f32(),
        _ => Float8E4M3Fn::from_bits(bits).to_f32(),
    }
}
