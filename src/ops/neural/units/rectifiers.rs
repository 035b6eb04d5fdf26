//! Activations made of straight pieces: their derivatives are constants by piece, so what a gradient
//! is multiplied by is worked out once and counts as a constant when it is differentiated again.

use crate::dispatch::fixed;
use crate::dispatch::modes::plain::{Row, plain};
use crate::dispatch::unary;
use crate::dispatch::unary::portable;
use crate::dispatch::unary::{Elementwise, Integers, Keeps, OutputStrides};
use crate::dtype::{DType, Number, Real, Scalar};
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::shown::shown;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Vectors;
use crate::ops::pointwise::select::where_;
use crate::ops::pointwise::{clamp, compare};
use crate::ops::{add, mul};
use crate::schema::signatures::ONE_OUT;
use crate::schema::{Arguments, Entry, IntoReply, Operator, both, inner, units};
use crate::tensor::Tensor;

/// y = x where x > 0, s x elsewhere,  dy/dx = 1 and s
#[derive(Clone, Copy)]
pub struct LeakyRelu {
    /// The slope of negative numbers.
    pub slope: f64,
}

impl Elementwise for LeakyRelu {
    const NAME: &'static str = "leaky_relu_cpu";
    const NODE: &'static str = "LeakyReluBackward0";
    const NODE_IN_PLACE: &'static str = "LeakyReluBackward1";
    const KEEPS: Keeps = Keeps::Input;
    const TOGETHER: bool = true;
    const DERIVATIVE_FIRST: bool = true;
    const IN_PLACE_BY_OUTPUT: bool = true;
    const INTEGERS: Integers = Integers::Refuse;

    fn shown(&self) -> Attributes {
        shown! { negative_slope: self.slope }
    }

    fn real<T: Real>(&self, x: T) -> T {
        if x > T::ZERO { x } else { x * T::from_f64(self.slope) }
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        let slope = self.slope;
        fixed::map(x, move |x| if x > 0.0 { 1.0 } else { slope })
    }

    fn derivative_in_place(&self, y: &Tensor) -> Result<Tensor> {
        // The sign of the output is that of the input.
        if self.slope < 0.0 { Err(Error::LeakyReluInPlace {}.into()) } else { self.derivative(y) }
    }
}

/// y = x where x > t, v elsewhere,  dy/dx = 1 and 0
#[derive(Clone, Copy)]
pub struct Threshold {
    threshold: Scalar,
    value: Scalar,
    /// Both as floating-point numbers, which a loop would make of them for each element again.
    floats: [f64; 2],
}

impl Threshold {
    /// What an element has to exceed, and what stands for those that do not.
    pub fn new(threshold: Scalar, value: Scalar) -> Threshold {
        Threshold { threshold, value, floats: [threshold.to_f64(), value.to_f64()] }
    }
}

impl Elementwise for Threshold {
    const NAME: &'static str = "threshold_cpu";
    const NODE: &'static str = "ThresholdBackward0";
    const NODE_IN_PLACE: &'static str = "ThresholdBackward1";
    const KEEPS: Keeps = Keeps::Input;
    const TOGETHER: bool = true;
    const INTEGERS: Integers = Integers::Stay;

    fn shown(&self) -> Attributes {
        shown! { threshold: self.threshold }
    }

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        let (threshold, value) = (A::from_f64(self.floats[0]), A::from_f64(self.floats[1]));
        if x <= threshold { value } else { x }
    }

    const SLOPE: bool = true;
    const LITTLE: bool = true;

    #[inline(always)]
    fn passed<A: Arithmetic>(&self, t: A, x: A) -> A {
        if x <= A::from_f64(self.floats[0]) { A::from_f64(0.0) } else { t }
    }

    fn loops<T: Real>(self) -> impl Fn(T) -> T + Copy + Send + Sync {
        let (threshold, value): (T, T) = (self.threshold.to(), self.value.to());
        move |x| if x <= threshold { value } else { x }
    }

    fn integer<T: Number>(&self, x: T) -> T {
        if x <= self.threshold.to() { self.value.to() } else { x }
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        let [threshold, _] = self.floats;
        fixed::map(x, move |x| if x <= threshold { 0.0 } else { 1.0 })
    }
}

/// y = x within the bounds, else the nearer of them,  dy/dx = 1 between them, else 0
#[derive(Clone, Copy)]
pub struct Hardtanh {
    min: Scalar,
    max: Scalar,
    /// Both as floating-point numbers, which a loop would make of them for each element again.
    bounds: [f64; 2],
}

impl Hardtanh {
    /// Between these bounds.
    pub fn new(min: Scalar, max: Scalar) -> Hardtanh {
        Hardtanh { min, max, bounds: [min.to_f64(), max.to_f64()] }
    }
}

impl Elementwise for Hardtanh {
    const NAME: &'static str = "hardtanh";

    fn refusal(&self, dtype: DType) -> Error {
        match dtype.is_complex() {
            true => Error::ClampedComplex {},
            false => Error::NotImplementedFor { operation: Self::NAME, dtype },
        }
    }

    const STRIDES: OutputStrides = OutputStrides::LikeInput;
    const NODE: &'static str = "HardtanhBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const TOGETHER: bool = true;
    const INTEGERS: Integers = Integers::Stay;

    fn shown(&self) -> Attributes {
        shown! { min_val: self.min, max_val: self.max }
    }

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        let (min, max) = (A::from_f64(self.bounds[0]), A::from_f64(self.bounds[1]));
        let x = if x < min { min } else { x };
        if x > max { max } else { x }
    }

    const SLOPE: bool = true;
    const LITTLE: bool = true;

    #[inline(always)]
    fn passed<A: Arithmetic>(&self, t: A, x: A) -> A {
        let (min, max) = (A::from_f64(self.bounds[0]), A::from_f64(self.bounds[1]));
        if x <= min || x >= max { A::from_f64(0.0) } else { t }
    }

    fn loops<T: Real>(self) -> impl Fn(T) -> T + Copy + Send + Sync {
        let (min, max): (T, T) = (self.min.to(), self.max.to());
        move |x| bounded(x, min, max)
    }

    fn integer<T: Number>(&self, x: T) -> T {
        bounded(x, self.min.to::<T>(), self.max.to::<T>())
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        let [min, max] = self.bounds;
        fixed::map(x, move |x| f64::from(u8::from(!(x <= min || x >= max))))
    }
}

/// The number between two bounds; what is not a number stays so.
fn bounded<T: Number>(x: T, min: T, max: T) -> T {
    if x < min {
        min
    } else if x > max {
        max
    } else {
        x
    }
}

/// y = (x + 3)/6 between 0 and 1,  dy/dx = 1/6 for |x| < 3, else 0
#[derive(Clone, Copy)]
pub struct Hardsigmoid;

impl Elementwise for Hardsigmoid {
    const NAME: &'static str = "hardsigmoid_cpu";
    const NODE: &'static str = "HardsigmoidBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const TOGETHER: bool = true;
    const INTEGERS: Integers = Integers::Refuse;

    fn real<T: Real>(&self, x: T) -> T {
        let six = T::from_f64(6.0);
        bounded(x + T::from_f64(3.0), T::ZERO, six) / six
    }

    const SLOPE: bool = true;
    const LITTLE: bool = true;

    #[inline(always)]
    fn passed<A: Arithmetic>(&self, t: A, x: A) -> A {
        let three = A::from_f64(3.0);
        if x > -three && x < three { t * A::from_f64(1.0 / 6.0) } else { A::from_f64(0.0) }
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        fixed::map(x, |x| if x > -3.0 && x < 3.0 { 1.0 / 6.0 } else { 0.0 })
    }
}

/// y = x hardsigmoid x,  dy/dx = 0 for x ≤ -3, x/3 + 1/2 up to 3, 1 beyond
#[derive(Clone, Copy)]
pub struct Hardswish;

impl Elementwise for Hardswish {
    const NAME: &'static str = "hardswish_cpu";
    const NODE: &'static str = "HardswishBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const TOGETHER: bool = true;
    const INTEGERS: Integers = Integers::Refuse;

    fn real<T: Real>(&self, x: T) -> T {
        let six = T::from_f64(6.0);
        x * bounded(x + T::from_f64(3.0), T::ZERO, six) / six
    }

    const SLOPE: bool = true;
    const LITTLE: bool = true;

    #[inline(always)]
    fn passed<A: Arithmetic>(&self, t: A, x: A) -> A {
        let (zero, three) = (A::from_f64(0.0), A::from_f64(3.0));
        let middle = t * (x / three + A::from_f64(0.5));
        let within = if x > -three && x < three { middle } else { t };
        if x <= -three { zero } else { within }
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        let middle = |x: f64| x > -3.0 && x < 3.0;
        let factor = fixed::map(x, move |x| if middle(x) { 1.0 / 3.0 } else { 0.0 })?;
        let constant = fixed::map(x, move |x| match x {
            x if middle(x) => 0.5,
            x if x <= -3.0 => 0.0,
            _ => 1.0,
        })?;
        let inside = clamp::clamp(x, Some((-3.0).into()), Some(3.0.into()))?;
        let finite = where_(&compare::isnan(x)?, 0.0, &inside)?;
        add(&mul(&finite, &factor)?, &constant)
    }
}

/// y = x where |x| > λ, else 0,  dy/dx = 1 and 0
pub type Hardshrink = Shrink<false>;

/// y = x moved towards 0 by λ, and 0 where it would pass it,  dy/dx = 1 and 0
pub type Softshrink = Shrink<true>;

/// Zero within λ of zero; elsewhere x, moved towards zero by λ if `SOFT`.
#[derive(Clone, Copy)]
pub struct Shrink<const SOFT: bool> {
    /// λ
    pub lambda: f64,
}

impl<const SOFT: bool> Elementwise for Shrink<SOFT> {
    const NAME: &'static str = if SOFT { "softshrink_check" } else { "hardshrink_cpu" };
    const NODE: &'static str = if SOFT { "SoftshrinkBackward0" } else { "HardshrinkBackward0" };
    const KEEPS: Keeps = Keeps::Input;
    const TOGETHER: bool = true;
    const INTEGERS: Integers = Integers::Refuse;

    fn shown(&self) -> Attributes {
        shown! { lambd: self.lambda }
    }

    fn real<T: Real>(&self, x: T) -> T {
        let lambda = T::from_f64(self.lambda);
        match SOFT {
            true if x > lambda => x - lambda,
            true if x < -lambda => x + lambda,
            // What is not a number stays so.
            true => x * T::ZERO,
            false if x.abs() <= lambda => T::ZERO,
            false => x,
        }
    }

    const SLOPE: bool = true;
    const LITTLE: bool = true;

    #[inline(always)]
    fn passed<A: Arithmetic>(&self, t: A, x: A) -> A {
        if x.abs() <= A::from_f64(self.lambda) { A::from_f64(0.0) } else { t }
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        let lambda = self.lambda;
        fixed::map(x, move |x| f64::from(u8::from(x.abs() > lambda || x.is_nan())))
    }
}

const SLOPE: &[&str] = &["(Tensor input, Number negative_slope=0.01, *, Tensor out=None)"];

const BOUNDS: &[&str] = &["(Tensor input, Number min_val=-1, Number max_val=1, *, Tensor out=None)"];

const THRESHOLD: &[&str] = &["(Tensor input, Number threshold, Number value, *, Tensor out=None)"];

const SHRUNK: &[&str] = &["(Tensor input, Number lambd=0.5, *, Tensor out=None)"];

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    ("HardsigmoidBackward0", "hardsigmoid(Tensor self) -> Tensor"),
    ("HardswishBackward0", "hardswish(Tensor self) -> Tensor"),
    ("HardtanhBackward0", "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor"),
    ("LeakyReluBackward0", "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor"),
    ("ThresholdBackward0", "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor"),
];

/// The entries of operations that have a form in place.
pub const PAIRS: &[Entry] = FORMS.as_flattened();

const FORMS: &[[Entry; 2]] = &[
    units!(
        inner,
        SLOPE,
        "leaky_relu",
        "leaky_relu_",
        "The leaky rectified linear unit: x above zero, `negative_slope * x` below.",
        leaky_relu
    ),
    units!(
        inner,
        BOUNDS,
        "hardtanh",
        "hardtanh_",
        "Every element clamped to the range from `min_val` to `max_val`.",
        hardtanh
    ),
    units!(
        function,
        THRESHOLD,
        "threshold",
        "threshold_",
        "Every element above `threshold`, and `value` in place of others.",
        threshold
    ),
    units!(
        inner,
        ONE_OUT,
        "hardsigmoid",
        "hardsigmoid_",
        "The piecewise linear approximation of the sigmoid.",
        |_: &dyn Arguments| { Result::Ok(Hardsigmoid) }
    ),
    units!(
        inner,
        ONE_OUT,
        "hardswish",
        "hardswish_",
        "The elements times `hardsigmoid` of them.",
        |_: &dyn Arguments| Result::Ok(Hardswish)
    ),
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("hardshrink", SHRUNK, "Every element, and zero in place of those within `lambd` of zero.", |a| {
        unary::apply(Hardshrink { lambda: super::parameter(a, 1)?.to_f64() }, a.tensor(0)?).reply()
    })
    .operators(&[("HardshrinkBackward0", "hardshrink")]),
    inner(
        "softshrink",
        SHRUNK,
        "Every element moved towards zero by `lambd`, and zero in place of those within it.",
        |a| {
            let (x, lambda) = (a.tensor(0)?, super::parameter(a, 1)?.to_f64());
            if x.dtype().is_float() && lambda < 0.0 {
                return Err(Error::SoftshrinkLambda { value: lambda, dtype: x.dtype() }.into());
            }
            unary::apply(Softshrink { lambda }, x).reply()
        },
    )
    .operators(&[("SoftshrinkBackward0", "softshrink")]),
];

fn leaky_relu(a: &dyn Arguments) -> Result<LeakyRelu> {
    Ok(LeakyRelu { slope: super::parameter(a, 1)?.to_f64() })
}

fn hardtanh(a: &dyn Arguments) -> Result<Hardtanh> {
    match a.tensor(0)?.dtype() {
        DType::Bool => return Err(Error::HardtanhBool {}.into()),
        DType::UInt8 if a.number(1)?.to::<i64>() < 0 || a.number(2)?.to::<i64>() < 0 => {
            return Err(Error::HardtanhUnsigned {}.into());
        }
        _ => {}
    }
    let (min, max) = (super::parameter(a, 1)?, super::parameter(a, 2)?);
    if min.to_f64() > max.to_f64() {
        return Err(Error::BoundsOrder {}.into());
    }
    Ok(Hardtanh::new(min, max))
}

fn threshold(a: &dyn Arguments) -> Result<Threshold> {
    Ok(Threshold::new(super::parameter(a, 1)?, super::parameter(a, 2)?))
}

plain! {
    struct LeakyRelu { slope }
    struct Threshold { threshold, value, floats }
    struct Hardtanh { min, max, bounds }
    struct Hardswish {}
    struct Hardsigmoid {}
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[
    portable::row::<LeakyRelu>("leaky relu"),
    portable::row_of_slope::<LeakyRelu>("leaky relu slope"),
    portable::row::<Threshold>("threshold"),
    portable::row_of_slope::<Threshold>("threshold slope"),
    portable::row::<Hardtanh>("hardtanh"),
    portable::row_of_slope::<Hardtanh>("hardtanh slope"),
    portable::row::<Hardswish>("hardswish"),
    portable::row_of_slope::<Hardswish>("hardswish slope"),
    portable::row::<Hardsigmoid>("hardsigmoid"),
    portable::row_of_slope::<Hardsigmoid>("hardsigmoid slope"),
];
