//! Tensors that are counted: `arange`, `linspace`, `logspace`.

mod entries;

pub use entries::ENTRIES;
use std::mem::MaybeUninit;

use crate::dispatch::default_dtype;
use crate::dispatch::modes::recording;
use crate::dtype::{Category, Complex, DType, Element, Real, Scalar};
use crate::error::{Error, Result};
use crate::kernels::pointwise::map;
use crate::ops;
use crate::ops::creation::{cast, copy, create};
use crate::ops::pointwise::compare;
use crate::ops::pointwise::select;
use crate::shape;
use crate::storage;
use crate::tensor::{Array, Tensor};

/// Elements that are counted in a row from one that was calculated, for a vector of 32 bytes.
const VECTOR_BYTES: usize = 32;

/// The type of a range that names none: integers give integers.
pub fn dtype(start: Scalar, end: Scalar, step: Scalar) -> DType {
    let whole = [start, end, step].iter().all(|number| number.category() != Category::Float);
    if whole { DType::Int64 } else { default_dtype::get() }
}

/// The numbers from `start` to before `end`, `step` apart.
///
/// As torch does, floating-point numbers are calculated anew for each vector and counted inside of
/// it, but for those that do not fill two vectors. The last bit of some depends on it.
pub fn arange(start: Scalar, end: Scalar, step: Scalar, dtype: DType) -> Result<Tensor> {
    if let Some(&complex) = [start, end, step].iter().find(|number| matches!(number, Scalar::Complex(_))) {
        create::check_value(complex, DType::Float64)?;
    }
    let length = count(start, end, step, dtype)?;
    let size = i64::try_from(length).map_err(|_| Error::RangeOverflow {})?;
    let shape = shape::checked_shape(&[size])?;
    let mut array = Array::uninit_shape(&shape, dtype.wide())?;
    dispatch!(float dtype.wide(), T => {
        let (start, step) = (start.to_f64(), step.to_f64());
        let vector = VECTOR_BYTES / dtype.size();
        let even = shape[0] - shape[0] % (2 * vector);
        let is_half = dtype.is_stored();
        map::fill_with_index(array.fresh::<T>(), move |index| {
            let inside = if index < even { index & (vector - 1) } else { 0 };
            let first = step.mul_add((index - inside) as f64, start);
            let first = if is_half { dtype.rounded(first) } else { T::from_f64(first).to_f64() };
            T::from_f64(step.mul_add(inside as f64, first))
        });
    }, else {
        dispatch!(integer dtype.wide(), T => {
            let (start, step): (i64, i64) = (start.to(), step.to());
            map::fill_with_index(array.fresh::<T>(), move |index| {
                T::from_i64(start.wrapping_add(step.wrapping_mul(index as i64)))
            });
        }, else { return Err(Error::NotImplementedFor { operation: "arange_cpu", dtype }.into()) })
    });
    let range = copy::rounded(array, dtype).map(Tensor::from_array)?;
    recording::fixed(&range)?;
    Ok(range)
}

/// How many numbers a range has.
fn count(start: Scalar, end: Scalar, step: Scalar, dtype: DType) -> Result<i128> {
    let [first, last, distance] = [start, end, step].map(Scalar::to_f64);
    if distance.is_nan() || distance == 0.0 {
        return Err(Error::RangeStep {}.into());
    }
    if !first.is_finite() || !last.is_finite() {
        return Err(Error::RangeInfinite { start: first, end: last }.into());
    }
    if (last - first) * distance.signum() < 0.0 {
        return Err(Error::RangeBounds {}.into());
    }
    if dtype != DType::Int64 {
        let count = ((last - first) / distance).ceil();
        return if count < i64::MAX as f64 { Ok(count as i128) } else { Err(Error::RangeOverflow {}.into()) };
    }
    // In 64 bits not every integer is a floating-point number, so they are counted as integers.
    let [first, last, distance] = [start, end, step].map(|number| i128::from(number.to::<i64>()));
    if distance == 0 {
        return Err(Error::RangeStepTruncated {}.into());
    }
    Ok((last - first + distance - distance.signum()) / distance)
}

/// `steps` numbers from `start` to `end`, both included, at equal distances. They are counted from
/// both ends to the middle, so that each end is exact.
pub fn linspace(start: Scalar, end: Scalar, steps: i64, dtype: DType) -> Result<Tensor> {
    spaced(start, end, steps, dtype, Spacing::Even)
}

/// `linspace` between numbers that are tensors, those of many samples too.
pub fn linspace_between(start: &Tensor, end: &Tensor, steps: i64, dtype: DType) -> Result<Tensor> {
    if steps < 0 {
        return Err(Error::StepsNegative {}.into());
    }
    let exact = if dtype.is_differentiable() { dtype } else { DType::Float64 };
    let ends = [cast::to_dtype(start, exact)?, cast::to_dtype(end, exact)?];
    let first = arange(Scalar::Int(0), Scalar::Int(steps), Scalar::Int(1), exact)?;
    let last = ops::sub((steps - 1).max(0) as f64, &first)?;
    let step = ops::div(&ops::sub(&ends[1], &ends[0])?, (steps - 1).max(1) as f64)?;
    let rising = ops::add(&ends[0], &ops::mul(&step, &first)?)?;
    let falling = ops::sub(&ends[1], &ops::mul(&step, &last)?)?;
    let is_early = compare::lt(&first, (steps / 2).max(i64::from(steps == 1)) as f64)?;
    cast::to_dtype(&select::where_(&is_early, &rising, &falling)?, dtype)
}

/// `steps` powers of `base`, with exponents as `linspace` gives them.
pub fn logspace(start: Scalar, end: Scalar, steps: i64, base: f64, dtype: DType) -> Result<Tensor> {
    spaced(start, end, steps, dtype, Spacing::Powers { base })
}

/// What is made of numbers at equal distances.
#[derive(Clone, Copy)]
enum Spacing {
    /// They are the answer.
    Even,
    /// They are exponents.
    Powers { base: f64 },
}

impl Spacing {
    /// What torch calls the kernel.
    fn kernel(self) -> &'static str {
        match self {
            Spacing::Even => "linspace_cpu",
            Spacing::Powers { .. } => "logspace_cpu",
        }
    }

    fn of(self, x: Complex<f64>) -> Complex<f64> {
        match self {
            Spacing::Even => x,
            Spacing::Powers { base } if x.im == 0.0 => Complex::new(base.powf(x.re), 0.0),
            Spacing::Powers { base } => Complex::new(base, 0.0).powc(x),
        }
    }

    /// In which type numbers are rounded, and in which they are calculated. Powers are as exact as single precision.
    fn types(self, dtype: DType) -> (DType, DType) {
        match self {
            Spacing::Even if dtype.is_float() => (dtype, dtype.wide()),
            Spacing::Even => (dtype, DType::Float64),
            Spacing::Powers { .. } => (dtype.wide(), DType::Float64),
        }
    }
}

/// `spaced` of complex numbers, whose parts are at equal distances each.
fn spaced_complex(start: Scalar, end: Scalar, steps: i64, dtype: DType, spacing: Spacing) -> Result<Tensor> {
    let (first, last) = (start.to_complex(), end.to_complex());
    let step = (last - first) / (steps - 1) as f64;
    let value = |index: i64| match steps {
        1 => first,
        _ if index < steps / 2 => first + step * index as f64,
        _ => last - step * (steps - index - 1) as f64,
    };
    let shape = shape::checked_shape(&[steps])?;
    let elements = storage::collected(shape[0], (0..steps).map(|index| spacing.of(value(index))))?;
    let array = Array::from_slice(&shape, &elements)?;
    Ok(Tensor::from_array(copy::as_type(&array, dtype)?.into_owned()))
}

fn spaced(start: Scalar, end: Scalar, steps: i64, dtype: DType, spacing: Spacing) -> Result<Tensor> {
    if steps < 0 {
        return Err(Error::StepsNegative {}.into());
    }
    if dtype.is_complex() {
        return spaced_complex(start, end, steps, dtype, spacing);
    }
    if dtype == DType::Bool {
        return Err(Error::NotImplementedFor { operation: spacing.kernel(), dtype }.into());
    }
    create::check_value(start, dtype)?;
    create::check_value(end, dtype)?;
    let shape = shape::checked_shape(&[steps])?;
    let [first, last] = [start, end].map(|number| match dtype.is_float() {
        true => dtype.rounded(number.to_f64()),
        false => number.to::<i64>() as f64,
    });
    let (exact, room) = spacing.types(dtype);
    let mut array = Array::uninit_shape(&shape, room)?;
    dispatch!(float room, T => {
        space_out::<T>(array.fresh(), first, last, exact, |x| spacing.of(Complex::new(x, 0.0)).re);
    }, else {
        unreachable!("room is made of floating-point numbers")
    });
    let range = Tensor::from_array(copy::as_type(&array, dtype)?.into_owned());
    recording::fixed(&range)?;
    Ok(range)
}

/// `linspace` between the elements of two arrays of floating-point numbers, a row for each pair.
pub fn linspaces(starts: &Tensor, ends: &Tensor, steps: i64) -> Result<Tensor> {
    let range = spaced_rows(&starts.to_vec::<f64>()?, &ends.to_vec::<f64>()?, steps, starts.dtype())?;
    recording::fixed(&range)?;
    Ok(range)
}

/// Rows of so many numbers at equal distances, from starts to ends.
pub(crate) fn spaced_rows(starts: &[f64], ends: &[f64], steps: i64, dtype: DType) -> Result<Tensor> {
    let shape = shape::checked_shape(&[starts.len() as i64, steps])?;
    if !dtype.is_float() {
        return Err(Error::NotImplementedFor { operation: "linspace_cpu", dtype }.into());
    }
    let mut array = Array::uninit_shape(&shape, dtype.wide())?;
    dispatch!(float dtype.wide(), T => {
        // Rows of nothing are none.
        let rows = array.fresh::<T>().chunks_mut(shape[1].max(1));
        let ends = starts.iter().zip(ends);
        rows.zip(ends).for_each(|(row, (&start, &end))| space_out(row, start, end, dtype, |x| x));
    }, else {
        unreachable!("of floating-point numbers the wider ones are floating-point numbers")
    });
    let range = Tensor::from_array(copy::as_type(&array, dtype)?.into_owned());
    recording::fixed(&range)?;
    Ok(range)
}

/// Numbers at equal distances, counted from both ends to the middle, and mapped. The distance is as exact as the type.
fn space_out<T: Real>(
    out: &mut [MaybeUninit<T>],
    first: f64,
    last: f64,
    dtype: DType,
    map: impl Fn(f64) -> f64 + Copy + Sync,
) {
    let steps = out.len();
    let step = dtype.rounded(dtype.rounded(last - first) / (steps as f64 - 1.0));
    let write = move |x: f64| T::from_f64(map(x));
    if steps == 1 {
        out[0].write(write(dtype.rounded(first)));
        return;
    }
    let (early, late) = out.split_at_mut(steps / 2);
    let most = (late.len().max(1) - 1) as f64;
    if dtype.is_stored() {
        // They are rounded in between.
        let rounded = move |x| dtype.rounded(x);
        map::fill_with_position(early, move |place| write(rounded(first + rounded(step * place))));
        map::fill_with_position(late, move |place| write(rounded(last - rounded(step * (most - place)))));
    } else {
        map::fill_with_position(early, move |place| write(step.mul_add(place, first)));
        map::fill_with_position(late, move |place| write((-step).mul_add(most - place, last)));
    }
}
