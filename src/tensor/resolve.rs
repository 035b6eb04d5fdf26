//! Reading memory of which something is still to be done: conjugates, negatives, numbers of half types.

use super::Array;
use crate::dtype::{BFloat16, Complex, DType, Half};
use crate::error::Result;
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
        DType::Conjugate64 => map::map(array.view(), numbers.fresh(), |x: Complex<f32>| x.conj()),
        DType::Conjugate128 => map::map(array.view(), numbers.fresh(), |x: Complex<f64>| x.conj()),
        DType::Negative32 => map::map(array.view(), numbers.fresh(), |x: f32| -x),
        DType::Negative64 => map::map(array.view(), numbers.fresh(), |x: f64| -x),
        dtype => unreachable!("nothing is to be done with {dtype:?}"),
    }
    Ok(Array { layout, ..numbers })
}

/// Numbers of a half type in single precision, in memory of their own with the dimensions in the same
/// order.
pub(super) fn widen(array: &Array) -> Result<Array> {
    let layout = SharedLayout::new(array.layout.packed());
    let packed = match array.layout.is_dense() {
        true => array.clone(),
        false => {
            let storage = Storage::uninit(layout.numel().saturating_mul(array.dtype.size()))?;
            let copy = Array { storage, layout: layout.clone(), dtype: array.dtype };
            copy.overwrite([array], |place| moves::move_into::<i16>(place, array.view()));
            copy
        }
    };
    let flat = packed.with_layout(packed.layout.line());
    let mut numbers = Array::uninit(&flat.layout, DType::Float32)?;
    let bits = flat.slice::<i16>().unwrap_or_else(|| unreachable!("the elements lie in a line"));
    half::widen(array.dtype, bits, numbers.fresh());
    Ok(Array { layout, ..numbers })
}

/// The number that has these bits in memory of a half type.
pub(super) fn wide(bits: i16, dtype: DType) -> f32 {
    match dtype {
        DType::Float16 => Half::from_bits(bits.cast_unsigned()).to_f32(),
        _ => BFloat16::from_bits(bits.cast_unsigned()).to_f32(),
    }
}
