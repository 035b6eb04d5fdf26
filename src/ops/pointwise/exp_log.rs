//! Exponentials, logarithms, roots, the error function.

use crate::ops;
use crate::schema::elementwise;
use std::f64::consts::{LN_2, LN_10};

use crate::dispatch::unary::{Elementwise, Keeps};
use crate::dtype::{Complex, Real};
use crate::error::Result;
use crate::kernels::pointwise::complex;
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Vectors;
use crate::ops::pointwise::power::square;
use crate::ops::{add, div, mul, neg};
use crate::tensor::Tensor;

/// y = eˣ,  dy/dx = y
#[derive(Clone, Copy)]
pub struct Exp;

impl Elementwise for Exp {
    const NAME: &'static str = "exp";
    const NODE: &'static str = "ExpBackward0";
    const KEEPS: Keeps = Keeps::Output;
    const COMPLEX: bool = true;

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::exp(x)
    }

    const HAS_NEAR: bool = true;

    #[inline(always)]
    fn is_near<T: Real>(&self, x: T) -> bool {
        math::has_normal_power(x)
    }

    #[inline(always)]
    fn near<A: Arithmetic>(&self, x: A) -> A {
        math::exp_of_near(x)
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        complex::exp(x)
    }

    fn derivative(&self, y: &Tensor) -> Result<Tensor> {
        Ok(y.clone())
    }
}

/// y = eˣ - 1,  dy/dx = y + 1
#[derive(Clone, Copy)]
pub struct Expm1;

impl Elementwise for Expm1 {
    const NAME: &'static str = "expm1";
    const NODE: &'static str = "Expm1Backward0";
    const KEEPS: Keeps = Keeps::Output;
    const COMPLEX: bool = true;

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::exp_m1(x)
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        complex::expm1(x)
    }

    fn derivative(&self, y: &Tensor) -> Result<Tensor> {
        add(y, 1)
    }
}

/// y = 2ˣ,  dy/dx = y ln 2
#[derive(Clone, Copy)]
pub struct Exp2;

impl Elementwise for Exp2 {
    const NAME: &'static str = "exp2";
    const NODE: &'static str = "Exp2Backward0";
    const KEEPS: Keeps = Keeps::Output;
    const COMPLEX: bool = true;

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::exp_2(x)
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        complex::exp(x * LN_2)
    }

    fn chain(&self, y: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        let Some(y) = y else { unreachable!("the power is kept") };
        mul(&mul(t, y)?, LN_2)
    }
}

/// y = ln x,  dy/dx = 1/x
#[derive(Clone, Copy)]
pub struct Log;

impl Elementwise for Log {
    const NAME: &'static str = "log";
    const NODE: &'static str = "LogBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPLEX: bool = true;

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::ln(x)
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.ln()
    }

    fn chain(&self, x: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        quotient(t, x, 1.0)
    }
}

/// y = log₂ x,  dy/dx = 1/(x ln 2)
#[derive(Clone, Copy)]
pub struct Log2;

impl Elementwise for Log2 {
    const NAME: &'static str = "log2";
    const NODE: &'static str = "Log2Backward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPLEX: bool = true;

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::log_2(x)
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.ln() / LN_2
    }

    fn chain(&self, x: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        quotient(t, x, LN_2)
    }
}

/// y = log₁₀ x,  dy/dx = 1/(x ln 10)
#[derive(Clone, Copy)]
pub struct Log10;

impl Elementwise for Log10 {
    const NAME: &'static str = "log10";
    const NODE: &'static str = "Log10Backward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPLEX: bool = true;

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::log_10(x)
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.ln() / LN_10
    }

    fn chain(&self, x: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        quotient(t, x, LN_10)
    }
}

/// t / (x · factor)
fn quotient(t: &Tensor, x: Option<&Tensor>, factor: f64) -> Result<Tensor> {
    let Some(x) = x else { unreachable!("logarithms keep their input") };
    if factor == 1.0 { div(t, x) } else { div(t, &mul(x, factor)?) }
}

/// y = ln(1 + x),  dy/dx = 1/(1 + x)
#[derive(Clone, Copy)]
pub struct Log1p;

impl Elementwise for Log1p {
    const NAME: &'static str = "log1p";
    const NODE: &'static str = "Log1PBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPLEX: bool = true;

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::ln_1p(x)
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        complex::log1p(x)
    }

    fn divisor(&self, x: &Tensor) -> Option<Result<Tensor>> {
        Some(add(x, 1))
    }
}

/// y = √x,  dy/dx = 1/(2y)
#[derive(Clone, Copy)]
pub struct Sqrt;

impl Elementwise for Sqrt {
    const NAME: &'static str = "sqrt";
    const NODE: &'static str = "SqrtBackward0";
    const KEEPS: Keeps = Keeps::Output;
    const COMPLEX: bool = true;

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        x.sqrt()
    }

    const HAS_TWIN: bool = true;

    #[inline(always)]
    fn has_twin<T: Real>(&self, x: T) -> bool {
        math::has_root_by_products(x)
    }

    #[inline(always)]
    fn twin<A: Arithmetic>(&self, x: A) -> A {
        math::root_by_products(x)
    }

    fn real<T: Real>(&self, x: T) -> T {
        x.sqrt()
    }

    const COMPLEX_LOOPS: bool = true;

    #[inline(always)] // As above.
    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        complex::sqrt(x)
    }

    fn chain(&self, y: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        let Some(y) = y else { unreachable!("the root is kept") };
        div(t, &mul(y, 2)?)
    }
}

/// y = 1/√x,  dy/dx = -y³/2
#[derive(Clone, Copy)]
pub struct Rsqrt;

impl Elementwise for Rsqrt {
    const NAME: &'static str = "rsqrt";
    const NODE: &'static str = "RsqrtBackward0";
    const KEEPS: Keeps = Keeps::Output;
    const COMPLEX: bool = true;
    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        A::from_f64(1.0) / x.sqrt()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        complex::reciprocal(complex::sqrt(x))
    }

    fn chain(&self, y: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        let Some(y) = y else { unreachable!("the root is kept") };
        mul(&mul(t, -0.5)?, &ops::pow(y, 3)?)
    }
}

/// y = 1/x,  dy/dx = -y²
#[derive(Clone, Copy)]
pub struct Reciprocal;

impl Elementwise for Reciprocal {
    const NAME: &'static str = "reciprocal";
    const NODE: &'static str = "ReciprocalBackward0";
    const KEEPS: Keeps = Keeps::Output;
    const COMPLEX: bool = true;
    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        A::from_f64(1.0) / x
    }

    const COMPLEX_LOOPS: bool = true;

    #[inline(always)] // As above.
    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        complex::reciprocal(x)
    }

    fn chain(&self, y: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        let Some(y) = y else { unreachable!("the quotient is kept") };
        mul(&neg(t)?, &mul(y, y)?)
    }
}

/// 2/√π
const ERF_SLOPE: f64 = std::f64::consts::FRAC_2_SQRT_PI;

/// y = erf x,  dy/dx = 2/√π · exp(-x²)
#[derive(Clone, Copy)]
pub struct Erf;

impl Elementwise for Erf {
    const NAME: &'static str = "erf_vml_cpu";
    const NODE: &'static str = "ErfBackward0";
    const DERIVATIVE_FIRST: bool = true;
    const KEEPS: Keeps = Keeps::Input;

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::erf(x)
    }

    const SLOPE: bool = true;

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A) -> A {
        math::exp(-x * x) * A::from_f64(ERF_SLOPE)
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        mul(&ops::exp(&neg(&square(x)?)?)?, ERF_SLOPE)
    }
}

/// y = 1 - erf x,  dy/dx = -2/√π · exp(-x²)
#[derive(Clone, Copy)]
pub struct Erfc;

impl Elementwise for Erfc {
    const NAME: &'static str = "erfc_vml_cpu";
    const NODE: &'static str = "ErfcBackward0";
    const DERIVATIVE_FIRST: bool = true;
    const KEEPS: Keeps = Keeps::Input;

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::erfc(x)
    }

    const SLOPE: bool = true;

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A) -> A {
        math::exp(-x * x) * A::from_f64(-ERF_SLOPE)
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        mul(&ops::exp(&neg(&square(x)?)?)?, -ERF_SLOPE)
    }
}

elementwise! {
    erf, erf_: Erf, "The error function of every element.";
    erfc, erfc_: Erfc, "The complementary error function of every element: 1 - erf(x).";
    exp, exp_: Exp, "The exponential of every element.";
    exp2, exp2_: Exp2, "Two raised to the power of every element.";
    expm1, expm1_: Expm1, "The exponential of every element minus one, precise near zero.";
    log, log_: Log, "The natural logarithm of every element.";
    log10, log10_: Log10, "The logarithm to base 10 of every element.";
    log1p, log1p_: Log1p, "The natural logarithm of one plus every element, precise near zero.";
    log2, log2_: Log2, "The logarithm to base 2 of every element.";
    reciprocal, reciprocal_: Reciprocal, "The reciprocal of every element: 1 / x.";
    rsqrt, rsqrt_: Rsqrt, "The reciprocal of the square root of every element.";
    sqrt, sqrt_: Sqrt, "The square root of every element.";
}
