//! Hyperbolic functions and their inverses.

use crate::dispatch::binary;
use crate::dispatch::binary::{Elementwise2, Needs};
use crate::dispatch::operand::{Operand, Value};
use crate::dispatch::unary::{Elementwise, Keeps};
use crate::dtype::{Complex, Real};
use crate::error::Result;
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Vectors;
use crate::ops::pointwise::power::square;
use crate::ops::{add, cosh, div, mul, reciprocal, rsqrt, sinh, sub};
use crate::tensor::Tensor;

/// y = sinh x,  dy/dx = cosh x
#[derive(Clone, Copy)]
pub struct Sinh;

impl Elementwise for Sinh {
    const NAME: &'static str = "sinh";
    const NODE: &'static str = "SinhBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPLEX: bool = true;

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::sinh(x)
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.sinh()
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        cosh(x)
    }
}

/// y = cosh x,  dy/dx = sinh x
#[derive(Clone, Copy)]
pub struct Cosh;

impl Elementwise for Cosh {
    const NAME: &'static str = "cosh";
    const NODE: &'static str = "CoshBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPLEX: bool = true;

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::cosh(x)
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.cosh()
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        sinh(x)
    }
}

/// y = tanh x,  dy/dx = 1 - y²
#[derive(Clone, Copy)]
pub struct Tanh;

impl Elementwise for Tanh {
    const NAME: &'static str = "tanh";
    const NODE: &'static str = "TanhBackward0";
    const KEEPS: Keeps = Keeps::Output;
    const COMPLEX: bool = true;

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::tanh(x)
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.tanh()
    }

    fn chain(&self, y: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        let Some(y) = y else { unreachable!("the output is kept") };
        binary::apply(TanhGradient, t.into(), y.into())
    }
}

/// z = g(1 - y²),  ∂z/∂g = 1 - y²,  ∂z/∂y = -2gy
#[derive(Clone, Copy)]
struct TanhGradient;

impl Elementwise2 for TanhGradient {
    const NAME: &'static str = "tanh_backward";
    const NODE: &'static str = "TanhBackwardBackward0";
    const LEFT_NEEDS: Needs = Needs::Right;
    const RIGHT_NEEDS: Needs = Needs::Both;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, g: T, y: T) -> T {
        g * (T::ONE - y * y)
    }

    fn complex(&self, g: Complex<f64>, y: Complex<f64>) -> Complex<f64> {
        g * (1.0 - y * y)
    }

    fn left(&self, _g: &Value, y: &Value, t: &Tensor) -> Result<Tensor> {
        binary::apply(TanhGradient, t.into(), y.into())
    }

    fn right(&self, g: &Value, y: &Value, t: &Tensor) -> Result<Tensor> {
        mul(t, &mul(&mul(Operand::from(g), y)?, -2)?)
    }
}

/// y = arsinh x,  dy/dx = 1/√(x² + 1)
#[derive(Clone, Copy)]
pub struct Asinh;

impl Elementwise for Asinh {
    const NAME: &'static str = "asinh";
    const NODE: &'static str = "AsinhBackward0";
    const NODE_IN_PLACE: &'static str = "AsinhBackward1";
    const KEEPS: Keeps = Keeps::Input;
    const IN_PLACE_BY_OUTPUT: bool = true;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, x: T) -> T {
        x.asinh()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.asinh()
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        rsqrt(&add(&square(x)?, 1)?)
    }

    fn derivative_in_place(&self, y: &Tensor) -> Result<Tensor> {
        reciprocal(&cosh(y)?)
    }
}

/// y = arcosh x,  dy/dx = 1/√(x² - 1)
#[derive(Clone, Copy)]
pub struct Acosh;

impl Elementwise for Acosh {
    const NAME: &'static str = "acosh";
    const NODE: &'static str = "AcoshBackward0";
    const NODE_IN_PLACE: &'static str = "AcoshBackward1";
    const KEEPS: Keeps = Keeps::Input;
    const IN_PLACE_BY_OUTPUT: bool = true;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, x: T) -> T {
        x.acosh()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.acosh()
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        // Of complex numbers the root of the product is not the product of the roots.
        match x.dtype().is_complex() {
            true => mul(&rsqrt(&sub(x, 1)?)?, &rsqrt(&add(x, 1)?)?),
            false => rsqrt(&sub(&mul(x, x)?, 1)?),
        }
    }

    fn derivative_in_place(&self, y: &Tensor) -> Result<Tensor> {
        reciprocal(&sinh(y)?)
    }
}

/// y = artanh x,  dy/dx = 1/(1 - x²)
#[derive(Clone, Copy)]
pub struct Atanh;

impl Elementwise for Atanh {
    const NAME: &'static str = "atanh";
    const NODE: &'static str = "AtanhBackward0";
    const NODE_IN_PLACE: &'static str = "AtanhBackward1";
    const KEEPS: Keeps = Keeps::Input;
    const IN_PLACE_BY_OUTPUT: bool = true;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, x: T) -> T {
        x.atanh()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.atanh()
    }

    fn chain(&self, kept: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        let Some(x) = kept else { unreachable!("the input is kept") };
        div(t, &sub(1, &square(x)?)?)
    }

    fn derivative_in_place(&self, y: &Tensor) -> Result<Tensor> {
        square(&cosh(y)?)
    }
}
