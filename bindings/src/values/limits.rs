//! `rushlight.finfo` and `rushlight.iinfo`: the limits of element types.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rushlight::dispatch;
use rushlight::dispatch::default_dtype;
use rushlight::dtype::{Category, DType, Element, Number};

use crate::tensor::object::name_in_messages;
use crate::values::dtype::asked;

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
        let dtype =
            r#type.map_or_else(|| Ok(default_dtype::get()), |object| asked("finfo", "type", 1, object))?;
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
        self.pick([9.765_625e-4, 0.007_812_5], f32::EPSILON, f64::EPSILON)
    }

    /// The greatest number.
    #[getter]
    fn max(&self) -> f64 {
        self.0.greatest()
    }

    /// The least number.
    #[getter]
    fn min(&self) -> f64 {
        -self.0.greatest()
    }

    /// The smallest positive number of full precision.
    #[getter]
    fn smallest_normal(&self) -> f64 {
        let single = f32::MIN_POSITIVE;
        self.pick([6.103_515_625e-5, f64::from(single)], single, f64::MIN_POSITIVE)
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

impl FloatLimits {
    /// What is that of half precision, of `bfloat16`, of single and of double precision.
    fn pick(&self, [half, brief]: [f64; 2], single: f32, double: f64) -> f64 {
        match self.0 {
            DType::Float16 => half,
            DType::BFloat16 => brief,
            DType::Float32 => f64::from(single),
            _ => double,
        }
    }
}

#[pymethods]
impl IntegerLimits {
    #[new]
    fn new(r#type: &Bound<'_, PyAny>) -> PyResult<Self> {
        match asked("iinfo", "type", 1, r#type)? {
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
    fn min(&self) -> i64 {
        dispatch!(integer self.0, T => T::LOWEST.to_i64(), else { 0 })
    }

    /// The greatest number.
    #[getter]
    fn max(&self) -> i64 {
        dispatch!(integer self.0, T => T::HIGHEST.to_i64(), else { 0 })
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
