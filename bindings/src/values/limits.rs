//! `rushlight.finfo` and `rushlight.iinfo`: the limits of element types.

use pyo3::exceptions::{PyNotImplementedError, PyTypeError};
use pyo3::prelude::*;
use rushlight::dispatch::default_dtype;
use rushlight::dtype::{Category, DType};
use rushlight::ops::creation::create::integers;

use crate::tensor::object::name_in_messages;
use crate::values::dtype::{ElementType, as_dtype};
use crate::values::element_types::asked;

/// The limits of a floating-point type.
#[pyclass(name = "finfo", module = "rushlight", frozen, eq)]
#[derive(PartialEq)]
pub(crate) struct FloatLimits(DType);

/// The limits of an integer type.
#[pyclass(name = "iinfo", module = "rushlight", frozen, eq)]
#[derive(PartialEq)]
pub(crate) struct IntegerLimits(DType);

/// Adds both classes to the module.
pub(crate) fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<FloatLimits>()?;
    module.add_class::<IntegerLimits>()?;
    name_in_messages(&py.get_type::<FloatLimits>(), c"torch.finfo");
    name_in_messages(&py.get_type::<IntegerLimits>(), c"torch.iinfo");
    Ok(())
}

#[pymethods]
impl FloatLimits {
    #[new]
    #[pyo3(signature = (r#type = None))]
    fn new(r#type: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let dtype = r#type.map_or_else(|| Ok(default_dtype::get()), |object| limited("finfo", object))?;
        let dtype = dtype.to_real();
        if !dtype.is_float() {
            return Err(PyTypeError::new_err(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'",
            ));
        }
        Ok(FloatLimits(dtype))
    }

    /// Bits of one element.
    #[getter]
    fn bits(&self) -> usize {
        8 * self.0.size()
    }

    /// The distance from one to the next number.
    #[getter]
    fn eps(&self) -> f64 {
        match self.0 {
            DType::Float8E8M0FnU => 1.0,
            DType::Float8E5M2 => 0.25,
            DType::Float8E5M2FnUz | DType::Float8E4M3FnUz | DType::Float8E4M3Fn => 0.125,
            DType::Float16 => 9.765_625e-4,
            DType::BFloat16 => 0.007_812_5,
            DType::Float32 => f64::from(f32::EPSILON),
            _ => f64::EPSILON,
        }
    }

    /// The greatest number.
    #[getter]
    fn max(&self) -> f64 {
        self.0.greatest()
    }

    /// The least number.
    #[getter]
    fn min(&self) -> f64 {
        match self.0 {
            // It has no sign, and no zero.
            DType::Float8E8M0FnU => self.smallest_normal(),
            dtype => -dtype.greatest(),
        }
    }

    /// The smallest positive number of full precision.
    #[getter]
    fn smallest_normal(&self) -> f64 {
        match self.0 {
            // 2⁻¹²⁷
            DType::Float8E8M0FnU => f64::from(f32::MIN_POSITIVE) / 2.0,
            DType::Float8E5M2FnUz => 3.051_757_812_5e-5,
            DType::Float8E4M3FnUz => 0.007_812_5,
            DType::Float8E4M3Fn => 0.015_625,
            DType::Float8E5M2 | DType::Float16 => 6.103_515_625e-5,
            DType::BFloat16 | DType::Float32 => f64::from(f32::MIN_POSITIVE),
            _ => f64::MIN_POSITIVE,
        }
    }

    /// The same under its older name.
    #[getter]
    fn tiny(&self) -> f64 {
        self.smallest_normal()
    }

    /// The decimal digits that can be relied on, as a power of ten.
    #[getter]
    fn resolution(&self) -> f64 {
        match self.0 {
            dtype if dtype.is_float8() => 1.0,
            DType::Float16 => 1e-3,
            DType::BFloat16 => 1e-2,
            DType::Float32 => 1e-6,
            _ => 1e-15,
        }
    }

    /// The name of the type.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.0.name()
    }

    fn __repr__(&self) -> String {
        format!(
            "finfo(resolution={}, min={}, max={}, eps={}, smallest_normal={}, tiny={}, dtype={})",
            general(self.resolution()),
            general(self.min()),
            general(self.max()),
            general(self.eps()),
            general(self.smallest_normal()),
            general(self.tiny()),
            self.0.name(),
        )
    }
}

#[pymethods]
impl IntegerLimits {
    #[new]
    fn new(r#type: &Bound<'_, PyAny>) -> PyResult<Self> {
        match limited("iinfo", r#type)? {
            DType::Bool => Err(PyTypeError::new_err("torch.bool is not supported by torch.iinfo")),
            dtype if dtype.category() == Category::Integer => Ok(IntegerLimits(dtype)),
            _ => Err(PyTypeError::new_err(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'",
            )),
        }
    }

    /// Bits of one element.
    #[getter]
    fn bits(&self) -> usize {
        8 * self.0.size()
    }

    /// The least number.
    #[getter]
    fn min(&self) -> i128 {
        *integers(self.0).start()
    }

    /// The greatest number.
    #[getter]
    fn max(&self) -> i128 {
        *integers(self.0).end()
    }

    /// The name of the type.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.0.name()
    }

    fn __repr__(&self) -> String {
        let (min, max) = (general(self.min() as f64), general(self.max() as f64));
        format!("iinfo(min={min}, max={max}, dtype={})", self.0.name())
    }
}

/// The type whose limits are asked for. Of types that no tensor has, nothing is known.
fn limited(function: &str, object: &Bound<'_, PyAny>) -> PyResult<DType> {
    if as_dtype(object).is_none() && object.is_instance_of::<ElementType>() {
        let title: String = object.getattr("title")?.extract()?;
        return Err(PyNotImplementedError::new_err(format!("\"dtype\" not implemented for '{title}'")));
    }
    asked(function, "type", 1, object)
}

/// A number in six digits, as C's `%g` writes it.
fn general(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 {
        return format!("{value}");
    }
    let text = format!("{value:.5e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    if let Ok(places @ 1..=4) = exponent.trim_start_matches('-').parse::<usize>()
        && value.abs() < 1.0
    {
        let text = format!("{value:.*}", places + 5);
        return text.trim_end_matches('0').to_owned();
    }
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}
