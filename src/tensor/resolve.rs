//! Reading and writing memory of which something is still to be done: conjugates, negatives.

use super::Array;
use crate::dtype::{Complex, DType};
use crate::error::Result;
use crate::kernels::map;

/// The numbers in memory of their own, with nothing left to be done.
pub(super) fn resolve(array: &Array) -> Result<Array> {
    let mut numbers = Array::uninit(&array.layout, array.dtype.resolved())?;
    match array.dtype {
        DType::Conjugate64 => map::map(array.view(), numbers.fresh(), |x: Complex<f32>| x.conj()),
        DType::Conjugate128 => map::map(array.view(), numbers.fresh(), |x: Complex<f64>| x.conj()),
        DType::Negative32 => map::map(array.view(), numbers.fresh(), |x: f32| -x),
        DType::Negative64 => map::map(array.view(), numbers.fresh(), |x: f64| -x),
        dtype => unreachable!("nothing is to be done with {dtype:?}"),
    }
    Ok(numbers)
}
