//! Moving elements: dense copies, conversions, writes into memory that is shown elsewhere. Numbers
//! only; the recorded forms (`clone`, `copy_`, `to`) are in `cast`.

use std::borrow::Cow;

use crate::dtype::{
    Bool, Category, Complex, DType, Element, Float8E4M3Fn, Float8E4M3FnUz, Float8E5M2, Float8E5M2FnUz,
    Float8E8M0FnU, Half, Scalar,
};
use crate::error::Result;
use crate::kernels::geometry::{moves, strided};
use crate::kernels::pointwise::{half, map};
use crate::shape::{Layout, SharedLayout};
use crate::storage::Storage;
use crate::tensor::Array;
use crate::tensor::repeated;

/// The elements in row-major order, in memory of their own.
pub(crate) fn dense(array: &Array) -> Result<Array> {
    let mut copy = Array::uninit(&array.layout, array.dtype)?;
    dispatch!(bits array.dtype, T => strided::gather(&array.strided::<T>(), copy.fresh::<T>()));
    Ok(copy)
}

/// A copy of all memory that the elements lie in, in which they lie as before.
pub(crate) fn whole(array: &Array) -> Result<Array> {
    let count = array.storage.room() / array.dtype.size();
    let copy = dense(&array.with_layout(Layout::contiguous(&[count])?))?;
    Ok(Array { layout: array.layout.clone(), ..copy })
}

/// Whether all memory that the elements lie in holds this number and nothing else.
pub(crate) fn holds_only(array: &Array, value: Scalar) -> Result<bool> {
    let count = array.storage.bytes() / array.dtype.size();
    let (all, one) =
        (array.with_layout(Layout::contiguous(&[count])?), Array::from_scalar(value, array.dtype)?);
    Ok(dispatch!(bits array.dtype, T => match (all.slice::<T>(), one.slice::<T>()) {
        (Some(all), Some([one])) => all.iter().all(|element| element == one),
        _ => false,
    }))
}

/// Whether two arrays are of one type and shape, and of the same bits.
pub(crate) fn has_bits_of(a: &Array, b: &Array) -> Result<bool> {
    if a.dtype != b.dtype || a.layout.shape() != b.layout.shape() {
        return Ok(false);
    }
    let (a, b) = (dense(a)?, dense(b)?);
    Ok(dispatch!(bits a.dtype, T => a.slice::<T>() == b.slice::<T>()))
}

/// The array where its elements lie in row-major order, else a copy where they do.
pub(crate) fn in_order(array: &Array) -> Result<Cow<'_, Array>> {
    if array.layout.is_contiguous() { Ok(Cow::Borrowed(array)) } else { dense(array).map(Cow::Owned) }
}

/// The elements in row-major order and another type, in memory of their own. There is one conversion
/// for each pair of types in the program, and this is where all of them stand.
pub(crate) fn converted(array: &Array, dtype: DType) -> Result<Array> {
    if array.dtype == dtype {
        return dense(array);
    }
    if !array.layout.is_contiguous() {
        return converted(&dense(array)?, dtype);
    }
    let mut copy = Array::uninit(&array.layout, dtype)?;
    dispatch!(ordered array.dtype, S => dispatch!(ordered dtype, T => {
        let elements = array.slice::<S>().unwrap_or_else(|| unreachable!("the elements are contiguous"));
        if const { S::DTYPE.is_float() && matches!(T::DTYPE.category(), Category::Integer) } {
            map::truncated(elements, copy.fresh::<T>());
        } else if const { matches!(S::DTYPE, DType::Int64) && T::DTYPE.is_float() } {
            let integers = array.slice().unwrap_or_else(|| unreachable!("the elements are contiguous"));
            map::floated(integers, copy.fresh::<T>());
        } else {
            map::map_slice(elements, copy.fresh::<T>(), S::convert::<T>);
        }
    }, else { return if dtype.is_stored() { to_stored(array, dtype) } else { to_complex(array, dtype) } }), else {
        return match dtype {
            _ if array.dtype.is_stored() => from_stored(array, dtype),
            DType::Complex32 => to_stored(array, dtype),
            _ => from_complex(array, dtype),
        }
    });
    Ok(copy)
}

/// Elements in row-major order as those of a stored type, by way of the type that these are calculated in.
fn to_stored(array: &Array, dtype: DType) -> Result<Array> {
    let is_fraction = array.dtype.is_float() || array.dtype.is_complex();
    let way = if dtype == DType::UInt64 && is_fraction { DType::Float64 } else { dtype.wide() };
    let array = as_type(array, way)?;
    let mut copy = Array::uninit(&array.layout, dtype)?;
    match dtype {
        DType::Float16 | DType::BFloat16 => half::narrow(dtype, in_line(&array), copy.fresh::<i16>()),
        DType::Float8E8M0FnU => stored::<f32, Float8E8M0FnU>(&array, &mut copy),
        DType::Float8E5M2FnUz => stored::<f32, Float8E5M2FnUz>(&array, &mut copy),
        DType::Float8E4M3FnUz => stored::<f32, Float8E4M3FnUz>(&array, &mut copy),
        DType::Float8E5M2 => stored::<f32, Float8E5M2>(&array, &mut copy),
        DType::Float8E4M3Fn => stored::<f32, Float8E4M3Fn>(&array, &mut copy),
        DType::UInt16 => stored::<i32, u16>(&array, &mut copy),
        DType::UInt32 => stored::<i64, u32>(&array, &mut copy),
        DType::UInt64 if is_fraction => stored::<f64, u64>(&array, &mut copy),
        DType::UInt64 => stored::<i64, u64>(&array, &mut copy),
        _ => stored::<Complex<f32>, Complex<Half>>(&array, &mut copy),
    }
    Ok(copy)
}

/// Elements of a stored type in row-major order as another type, by way of the type that they are calculated in.
fn from_stored(array: &Array, dtype: DType) -> Result<Array> {
    if array.dtype != DType::UInt64 {
        let wide = array.widened()?;
        return if dtype == wide.dtype { Ok(wide) } else { converted(&wide, dtype) };
    }
    // Integers are those with the same bits; fractions are rounded once.
    let next = match dtype {
        DType::Float64 | DType::Complex128 => DType::Float64,
        dtype if dtype.is_float() || dtype.is_complex() => DType::Float32,
        _ => DType::Int64,
    };
    let mut copy = Array::uninit(&array.layout, next)?;
    match next {
        DType::Float64 => stored::<u64, f64>(array, &mut copy),
        DType::Float32 => map::map_slice(in_line(array), copy.fresh(), |x: u64| x as f32),
        _ => stored::<u64, i64>(array, &mut copy),
    }
    if next == dtype { Ok(copy) } else { converted(&copy, dtype) }
}

/// Elements in row-major order.
fn in_line<T: Element>(array: &Array) -> &[T] {
    array.slice::<T>().unwrap_or_else(|| unreachable!("the elements are contiguous"))
}

/// Writes elements in row-major order as those of another type.
fn stored<S: Element, T: Element>(array: &Array, copy: &mut Array) {
    map::map_slice(in_line::<S>(array), copy.fresh::<T>(), S::convert::<T>);
}

/// What was calculated in a wider type as a stored one, if it is to be one; as it is otherwise.
pub(crate) fn rounded(array: Array, dtype: DType) -> Result<Array> {
    if dtype.is_stored() { converted_in_order(&array, dtype) } else { Ok(array) }
}

/// Elements in row-major order as complex numbers: real ones by way of double precision.
fn to_complex(array: &Array, dtype: DType) -> Result<Array> {
    let array = as_type(array, DType::Float64)?;
    let mut copy = Array::uninit(&array.layout, dtype)?;
    dispatch!(complex dtype, T => map::copy(&array.strided::<f64>(), copy.fresh::<T>()), else {
        unreachable!("the type is complex")
    });
    Ok(copy)
}

/// Complex numbers in row-major order as another type: as real numbers by way of their real parts.
fn from_complex(array: &Array, dtype: DType) -> Result<Array> {
    if !dtype.is_complex() && dtype != DType::Bool {
        return converted(&array.component(0)?, dtype);
    }
    let mut copy = Array::uninit(&array.layout, dtype)?;
    dispatch!(complex array.dtype, S => match dtype {
        DType::Bool => map::map(&array.strided::<S>(), copy.fresh(), |x: S| Bool::new(x.is_true())),
        DType::Complex64 => map::copy::<S, Complex<f32>>(&array.strided(), copy.fresh()),
        _ => map::copy::<S, Complex<f64>>(&array.strided(), copy.fresh()),
    }, else { unreachable!("the numbers are complex") });
    Ok(copy)
}

/// The elements in memory of their own with this layout, which starts at its start and is of the
/// same shape.
pub(crate) fn laid_out(array: &Array, layout: &SharedLayout) -> Result<Array> {
    if layout.is_plain() {
        return dense(array);
    }
    let storage = Storage::uninit(layout.end().saturating_mul(array.dtype.size()))?;
    let copy = Array { storage, layout: layout.clone(), dtype: array.dtype };
    write(&copy, array)?;
    Ok(copy)
}

/// `converted`, with the dimensions in the same order in memory.
pub(crate) fn converted_in_order(array: &Array, dtype: DType) -> Result<Array> {
    let layout = SharedLayout::new(array.layout.packed());
    if layout.is_plain() {
        return converted(array, dtype);
    }
    let packed = laid_out(array, &layout)?;
    let flat = packed.with_layout(packed.layout.line());
    let flat = converted(&flat, dtype)?;
    Ok(Array { storage: flat.storage, layout, dtype })
}

/// The array as another type: itself where it is that already.
pub(crate) fn as_type(array: &Array, dtype: DType) -> Result<Cow<'_, Array>> {
    if array.dtype == dtype { Ok(Cow::Borrowed(array)) } else { converted(array, dtype).map(Cow::Owned) }
}

/// `as_type`, with the dimensions in the same order in memory.
pub(crate) fn as_type_in_order(array: &Array, dtype: DType) -> Result<Cow<'_, Array>> {
    match array.dtype == dtype {
        true => Ok(Cow::Borrowed(array)),
        false => converted_in_order(array, dtype).map(Cow::Owned),
    }
}

/// Writes one number to every element of memory that is shown elsewhere. The caller counts the write.
pub(crate) fn fill(target: &Array, value: Scalar) -> Result<()> {
    repeated::replaced(target, &[], &mut |target, _| {
        if target.dtype.is_pending() {
            let value = Array::from_scalar(value, target.dtype.resolved())?;
            return write(target, &value.expanded(target.layout.shape())?);
        }
        dispatch!(stored target.dtype, T => target.overwrite([], |place| moves::fill(place, value.to::<T>())));
        Ok(())
    })
}

/// Writes elements of the same shape into memory that is shown elsewhere. The caller counts the write.
pub(crate) fn write(target: &Array, source: &Array) -> Result<()> {
    let own;
    if target.dtype.is_pending() {
        // What is done when the memory is read undoes itself: it is done to what is written.
        let resolved = converted(source, target.dtype.resolved())?;
        let opposite = Array { dtype: target.dtype, ..resolved }.resolved();
        return write(&Array { dtype: opposite.dtype, ..target.clone() }, &opposite);
    }
    let is_alike = source.dtype == target.dtype
        && source.layout.is_alike(&target.layout)
        && source.layout.strides() == target.layout.strides();
    if is_alike && source.address() == target.address() {
        // They are the same elements.
        return Ok(());
    }
    let source = match source.dtype != target.dtype || target.overlaps(source) {
        true => {
            own = converted(source, target.dtype)?;
            &own
        }
        false => source,
    };
    if !target.layout.is_non_overlapping() {
        return repeated::replaced(target, std::slice::from_ref(source), &mut |target, source| {
            write(target, &source[0])
        });
    }
    dispatch!(bits target.dtype, T => target.overwrite([source], |place| moves::move_into(place, source.view::<T>())));
    Ok(())
}
