//! Circular and hyperbolic functions and their inverses.

use super::binary::{self, Elementwise2, Needs};
use super::operand::{Operand, Value};
use super::power::square;
use super::select::masked_fill;
use super::unary::{Elementwise, Keeps};
use super::{add, compare, cos, cosh, div, mul, neg, reciprocal, rsqrt, sin, sinh, sub};
use crate::dtype::{Complex, DType, Real};
use crate::error::Result;
use crate::kernels::math;
use crate::tensor::Tensor;

/// y = sin x,  dy/dx = cos x
#[derive(Clone, Copy)]
pub struct Sin;

impl Elementwise for Sin {
    const NAME: &'static str = "sin";
    const NODE: &'static str = "SinBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, x: T) -> T {
        x.sin()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.sin()
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        cos(x)
    }
}

/// y = cos x,  dy/dx = -sin x
#[derive(Clone, Copy)]
pub struct Cos;

impl Elementwise for Cos {
    const NAME: &'static str = "cos";
    const NODE: &'static str = "CosBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, x: T) -> T {
        x.cos()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.cos()
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        neg(&sin(x)?)
    }
}

/// y = tan x,  dy/dx = 1 + y²
#[derive(Clone, Copy)]
pub struct Tan;

impl Elementwise for Tan {
    const NAME: &'static str = "tan";
    const NODE: &'static str = "TanBackward0";
    const KEEPS: Keeps = Keeps::Output;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, x: T) -> T {
        x.tan()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.tan()
    }

    fn derivative(&self, y: &Tensor) -> Result<Tensor> {
        add(&square(y)?, 1)
    }
}

/// y = arcsin x,  dy/dx = 1/√(1 - x²)
#[derive(Clone, Copy)]
pub struct Asin;

impl Elementwise for Asin {
    const NAME: &'static str = "asin";
    const NODE: &'static str = "AsinBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, x: T) -> T {
        x.asin()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.asin()
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        rsqrt(&add(&mul(&neg(x)?, x)?, 1)?)
    }
}

/// y = arccos x,  dy/dx = -1/√(1 - x²)
#[derive(Clone, Copy)]
pub struct Acos;

impl Elementwise for Acos {
    const NAME: &'static str = "acos";
    const NODE: &'static str = "AcosBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, x: T) -> T {
        x.acos()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.acos()
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        neg(&rsqrt(&add(&mul(&neg(x)?, x)?, 1)?)?)
    }
}

/// y = arctan x,  dy/dx = 1/(1 + x²)
#[derive(Clone, Copy)]
pub struct Atan;

impl Elementwise for Atan {
    const NAME: &'static str = "atan";
    const NODE: &'static str = "AtanBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, x: T) -> T {
        x.atan()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        x.atan()
    }

    fn divisor(&self, x: &Tensor) -> Option<Result<Tensor>> {
        Some(mul(x, x).and_then(|squared| add(&squared, 1)))
    }
}

/// y is the angle of the point (b, a),  ∂y/∂a = b/(a² + b²),  ∂y/∂b = -a/(a² + b²)
#[derive(Clone, Copy)]
pub struct Atan2;

/// a² + b²
fn square_sum(a: &Value, b: &Value) -> Result<Tensor> {
    add(&mul(Operand::from(a), a)?, &mul(Operand::from(b), b)?)
}

/// t · x / (a² + b²)
fn over_square(a: &Value, b: &Value, x: &Value, t: &Tensor) -> Result<Tensor> {
    mul(t, &div(Operand::from(x), &square_sum(a, b)?)?)
}

/// 1 / (a² + b²), and zero at the origin, where there is no angle.
fn but_at_origin(a: &Value, b: &Value) -> Result<Tensor> {
    let zero = |x: &Value| compare::eq(Operand::from(x), 0);
    let origin = super::logical::and(&zero(a)?, &zero(b)?)?;
    masked_fill(&reciprocal(&square_sum(a, b)?)?, &origin, 0.0)
}

impl Elementwise2 for Atan2 {
    const NAME: &'static str = "atan2_cpu";
    const NODE: &'static str = "Atan2Backward0";
    const LEFT_NEEDS: Needs = Needs::Both;
    const RIGHT_NEEDS: Needs = Needs::Both;

    fn result(&self, common: DType) -> Result<DType> {
        binary::floating(common)
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        a.atan2(b)
    }

    const SHARES: bool = true;

    fn shared(&self, a: &Value, b: &Value) -> Result<Tensor> {
        but_at_origin(a, b)
    }

    fn left(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        self.left_from(a, b, &but_at_origin(a, b)?, t)
    }

    fn right(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        self.right_from(a, b, &but_at_origin(a, b)?, t)
    }

    fn left_from(&self, _a: &Value, b: &Value, shared: &Tensor, t: &Tensor) -> Result<Tensor> {
        mul(&mul(t, b)?, shared)
    }

    fn right_from(&self, a: &Value, _b: &Value, shared: &Tensor, t: &Tensor) -> Result<Tensor> {
        let turned = match a {
            Value::Tensor(a) => Value::Tensor(neg(a)?),
            Value::Scalar(a) => Value::Tensor(neg(&super::create::full(&[], *a, t.dtype())?)?),
        };
        mul(&mul(t, &turned)?, shared)
    }

    fn left_forth(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        over_square(a, b, b, t)
    }

    fn right_forth(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        neg(&over_square(a, b, a, t)?)
    }
}

/// y = sinh x,  dy/dx = cosh x
#[derive(Clone, Copy)]
pub struct Sinh;

impl Elementwise for Sinh {
    const NAME: &'static str = "sinh";
    const NODE: &'static str = "SinhBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, x: T) -> T {
        x.sinh()
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

    fn real<T: Real>(&self, x: T) -> T {
        x.cosh()
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

    #[inline(always)] // A loop is vectorised in one piece only.
    fn real<T: Real>(&self, x: T) -> T {
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
        reciprocal(&super::cosh(y)?)
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
        reciprocal(&super::sinh(y)?)
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
        square(&super::cosh(y)?)
    }
}
