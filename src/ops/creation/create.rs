//! Tensors out of nothing: filled with one number. Those that are counted stand in `ranges`, those
//! that are drawn in `random`.

mod entries;

pub use entries::ENTRIES;
use smallvec::SmallVec;

use crate::dispatch::modes::{intercept, recording};
use crate::dispatch::{batch, long_work};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::observe::profile;
use crate::graph::shown::shown;
use crate::graph::{Attributes, mode};
use crate::kernels::pointwise::map;
use crate::ops::creation::cast::Order;
use crate::ops::creation::copy;
use crate::shape::{self, Dims, Layout, SharedLayout};
use crate::storage::Storage;
use crate::tensor::{Array, Tensor};

/// Zeros.
pub fn zeros(shape: &[i64], dtype: DType) -> Result<Tensor> {
    if shape.iter().any(|&size| size < 0) {
        return Err(Error::ZerosNegative {}.into());
    }
    placed(shape, Order::RowMajor, dtype, Array::zeroed)
}

/// Memory whose values nobody has asked for. It is zeros: what stands for tensors without numbers is read as if it
/// were theirs, and zeros are right as indices.
pub fn empty(shape: &[i64], dtype: DType) -> Result<Tensor> {
    placed(shape, Order::RowMajor, dtype, Array::zeroed)
}

/// Memory without values, whose elements lie in this order: what is read there is what lay there before, or zeros if
/// somebody watches.
pub fn empty_in(shape: &[i64], order: Order, dtype: DType) -> Result<Tensor> {
    placed(shape, order, dtype, if is_watched() { Array::zeroed } else { Array::uninit })
}

/// Whether what is made here is recorded, or shown to others than the program.
fn is_watched() -> bool {
    mode::special() || recording::is_on()
}

/// New elements that lie in this order.
fn placed(
    shape: &[i64],
    order: Order,
    dtype: DType,
    made: fn(&SharedLayout, DType) -> Result<Array>,
) -> Result<Tensor> {
    let _profiled = profile::step("empty");
    let shape = shape::checked_shape(shape)?;
    let layout = match order.layout(&shape)? {
        Some(layout) => layout,
        None => Layout::contiguous(&shape)?,
    };
    let layout = SharedLayout::new(layout);
    let array = Array { layout: layout.clone(), ..made(&layout, dtype)? };
    if recording::is_on() {
        recording::filled(&array, Scalar::Int(0));
    }
    Ok(Tensor::from_array(array))
}

/// `empty` with strides of its own.
pub fn empty_strided(shape: &[i64], strides: &[i64], dtype: DType) -> Result<Tensor> {
    if shape.len() != strides.len() {
        return Err(Error::StridedCounts { sizes: shape.len(), strides: strides.len() }.into());
    }
    if let Some(&dim) = shape.iter().find(|&&size| size < 0) {
        return Err(Error::NegativeDimension { dim, shape: shape.to_vec() }.into());
    }
    let overflow = || Error::StridedOverflow { shape: shape.to_vec(), strides: strides.to_vec() };
    if strides.iter().any(|&stride| stride < 0) {
        return Err(overflow().into());
    }
    let reach = |(&size, &stride): (&i64, &i64)| (size - 1).max(0).checked_mul(stride);
    let end = shape.iter().zip(strides).try_fold(1i64, |end, pair| end.checked_add(reach(pair)?));
    let bytes = end.and_then(|end| end.checked_mul(dtype.size() as i64)).ok_or_else(overflow)?;
    let sizes = shape::checked_shape(shape)?;
    let strides: Dims = strides.iter().map(|&stride| stride as usize).collect();
    let layout = SharedLayout::new(Layout::strided(sizes, strides, 0)?);
    let storage = Storage::zeroed(if layout.numel() == 0 { 0 } else { bytes as usize })?;
    Ok(Tensor::from_array(Array { storage, layout, dtype }))
}

/// `empty` with the dimensions in this order in memory.
pub fn empty_permuted(shape: &[i64], order: &[i64], dtype: DType) -> Result<Tensor> {
    if shape.len() != order.len() {
        return Err(Error::PhysicalRank { ndim: shape.len(), count: order.len() }.into());
    }
    let mut strides = vec![None; shape.len()];
    let mut stride = 1i64;
    for (index, &dim) in order.iter().enumerate().rev() {
        let place = usize::try_from(dim).ok().and_then(|dim| strides.get_mut(dim));
        let Some(place) = place else {
            let last = shape.len() as i64 - 1;
            return Err(Error::PhysicalRange { last, dim, index }.into());
        };
        if place.replace(stride).is_some() {
            return Err(Error::PhysicalTwice {}.into());
        }
        stride = stride.saturating_mul(shape[dim as usize].max(1));
    }
    let strides: Vec<i64> = strides.into_iter().flatten().collect();
    empty_strided(shape, &strides, dtype)
}

/// Every element `value`.
pub fn full(shape: &[i64], value: Scalar, dtype: DType) -> Result<Tensor> {
    check_value(value, dtype)?;
    filled(&SharedLayout::contiguous(&shape::checked_shape(shape)?)?, value, dtype)
}

fn filled(layout: &SharedLayout, value: Scalar, dtype: DType) -> Result<Tensor> {
    let mut array = {
        let _profiled = profile::step("empty");
        Array::uninit(layout, dtype)?
    };
    let _profiled = profile::step("fill_");
    long_work::patiently((layout.numel() * dtype.size() / 8) as u64, || {
        dispatch!(stored dtype, T => map::fill_slice(array.fresh::<T>(), value.to::<T>()));
        Ok(())
    })?;
    if recording::is_on() {
        recording::filled(&array, value);
    }
    Ok(Tensor::from_array(array))
}

/// A number as a tensor of the widest type of its kind.
pub fn alone(value: Scalar) -> Result<Tensor> {
    let dtype = match value {
        Scalar::Bool(_) => DType::Bool,
        Scalar::Int(_) | Scalar::Unsigned(_) => DType::Int64,
        Scalar::Float(_) => DType::Float64,
        Scalar::Complex(_) => DType::Complex128,
    };
    Tensor::from_scalar(value, dtype)
}

/// Memory without values, in the shape of `x`.
pub fn empty_like(x: &Tensor, dtype: DType) -> Result<Tensor> {
    if is_watched() {
        return like(x, Scalar::Int(0), dtype);
    }
    let _profiled = profile::step("empty");
    let layout = x.layout();
    if layout.is_plain() {
        return Ok(Tensor::from_array(Array::uninit(&layout, dtype)?));
    }
    let array = Array::uninit_shape(&[layout.numel()], dtype)?;
    Ok(Tensor::from_array(array.with_layout(layout.packed())))
}

/// Zeros of the shape and type of `x`.
pub fn zeros_like(x: &Tensor) -> Result<Tensor> {
    like(x, Scalar::Int(0), x.dtype())
}

/// Ones of the shape and type of `x`.
pub fn ones_like(x: &Tensor) -> Result<Tensor> {
    like(x, Scalar::Int(1), x.dtype())
}

/// Every element `value`, in the shape of `x`.
pub fn full_like(x: &Tensor, value: Scalar, dtype: DType) -> Result<Tensor> {
    check_value(value, dtype)?;
    like(x, value, dtype)
}

/// The gradient that a root starts with: one.
pub(crate) fn implicit(root: &Tensor) -> Result<Tensor> {
    if !mode::special() {
        return plainly_like(root, Scalar::Int(1), root.dtype());
    }
    match root.batch().is_none() && (root.is_subclassed() || intercept::is_intercepting()) {
        true => intercept::beside("torch::autograd::Implicit", Attributes::new(), root, |x| {
            plainly_like(x, Scalar::Int(1), x.dtype())
        }),
        false => ones_like(root),
    }
}

fn like(x: &Tensor, value: Scalar, dtype: DType) -> Result<Tensor> {
    if let Some(y) = batch::unary(x, |x| like(x, value, dtype)) {
        return y;
    }
    if x.is_subclassed() && x.dtype() == dtype {
        let (node, attributes) = match value {
            Scalar::Int(0) => ("ZerosLike", Attributes::new()),
            Scalar::Int(1) => ("OnesLike", Attributes::new()),
            value => ("FullLike", shown! { fill_value: value }),
        };
        return intercept::beside(node, attributes, x, move |x| plainly_like(x, value, dtype));
    }
    plainly_like(x, value, dtype)
}

fn plainly_like(x: &Tensor, value: Scalar, dtype: DType) -> Result<Tensor> {
    let layout = x.layout();
    if layout.is_plain() {
        return filled(&layout, value, dtype);
    }
    let tensor = filled(&SharedLayout::contiguous(&[layout.numel()])?, value, dtype)?;
    Ok(Tensor::from_array(tensor.array().with_layout(layout.packed())))
}

/// A unit matrix of `rows` by `columns`.
pub fn eye(rows: i64, columns: i64, dtype: DType) -> Result<Tensor> {
    for (argument, size) in [("n", rows), ("m", columns)] {
        if size < 0 {
            return Err(Error::EyeNegative { argument, size }.into());
        }
    }
    let matrix = zeros(&[rows, columns], dtype)?;
    fill_diagonal(&matrix.array())?;
    recording::fixed(&matrix)?;
    Ok(matrix)
}

/// Writes ones to the diagonal of a matrix in row-major order.
fn fill_diagonal(matrix: &Array) -> Result<()> {
    let &[rows, columns] = matrix.layout.shape() else { unreachable!("it is a matrix") };
    let diagonal =
        Layout::strided(SmallVec::from_elem(rows.min(columns), 1), SmallVec::from_elem(columns + 1, 1), 0)?;
    copy::fill(&matrix.with_layout(diagonal), Scalar::Int(1))
}

/// The numbers of a unit matrix.
pub(crate) fn unit(rows: usize, columns: usize, dtype: DType) -> Result<Array> {
    let matrix = Array::zeroed(&SharedLayout::contiguous(&[rows, columns])?, dtype)?;
    fill_diagonal(&matrix)?;
    Ok(matrix)
}

/// Whether the type can hold the number. As in C, unsigned types take negative numbers that they can
/// wrap around.
pub fn check_value(value: Scalar, dtype: DType) -> Result<()> {
    let fits = match (value, dtype) {
        (Scalar::Complex(value), dtype) if dtype.is_complex() => {
            let part = |part: f64| check_value(Scalar::Float(part), dtype.to_real()).is_ok();
            part(value.re) && part(value.im)
        }
        (value, dtype) if dtype.is_complex() => check_value(value, dtype.to_real()).is_ok(),
        (Scalar::Complex(_), DType::Bool) => true,
        (Scalar::Complex(value), dtype) => {
            // As in torch, what is left without an imaginary part has to fit, but that has to be zero.
            value.im == 0.0 && check_value(Scalar::Float(value.re), dtype).is_ok()
        }
        (Scalar::Bool(_), _) | (_, DType::Bool | DType::Float64) | (Scalar::Int(_), DType::Float32) => true,
        (value, dtype) if dtype.is_float() && dtype.is_stored() => within(value.to_f64(), dtype),
        // As in torch, an unsigned type takes what its negatives would be.
        (Scalar::Int(value), dtype) if dtype == DType::UInt8 || dtype.is_wide_unsigned() => {
            i128::from(value).abs() <= *integers(dtype).end()
        }
        (Scalar::Unsigned(value), DType::Float32) => within(value as f64, dtype),
        (Scalar::Unsigned(value), _) => integers(dtype).contains(&i128::from(value)),
        (Scalar::Int(value), _) => integers(dtype).contains(&i128::from(value)),
        (Scalar::Float(value), DType::Float32) => within(value, dtype),
        (Scalar::Float(value), _) => {
            let range = integers(dtype);
            value >= *range.start() as f64 && value <= *range.end() as f64
        }
    };
    match fits {
        true => Ok(()),
        false => Err(Error::ValueOverflow { name: dtype.name_in_c() }.into()),
    }
}

/// Whether a floating-point type holds the number, if it is finite.
fn within(value: f64, dtype: DType) -> bool {
    !value.is_finite() || value.abs() <= dtype.greatest()
}

/// The integers that an integer type holds.
pub fn integers(dtype: DType) -> std::ops::RangeInclusive<i128> {
    match dtype {
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => 0..=(1i128 << (8 * dtype.size())) - 1,
        _ => {
            let half = 1i128 << (8 * dtype.size() - 1);
            -half..=half - 1
        }
    }
}
