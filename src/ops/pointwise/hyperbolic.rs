//! Hyperbolic functions and their inverses.

use crate::dispatch::binary;
use crate::dispatch::binary::{Elementwise2, Needs};
use crate::dispatch::modes::plain::{Row, plain};
use crate::dispatch::operand::{Operand, Value};
use crate::dispatch::unary::{self, Elementwise, Keeps};
use crate::dtype::{Complex, Real};
use crate::error::Result;
use crate::kernels::pointwise::complex;
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Vectors;
use crate::ops::pointwise::power::square;
use crate::ops::{add, div, mul, reciprocal, rsqrt, sub};
use crate::schema::elementwise;
use crate::schema::{Entry, renamed};
use crate::tensor::Tensor;

/// A function that `math` has for real numbers and `complex` for complex ones, with the derivative, and what else is
/// its own, behind its names. One with a second node computes its derivative from the output where it was in place.
macro_rules! function {
    ($(#[$doc:meta])* $name:ident = $function:ident, $node:literal, in place $in_place:literal; $($own:tt)*) => {
        function! {
            $(#[$doc])* $name = $function, $node;
            const NODE_IN_PLACE: &'static str = $in_place;
            const IN_PLACE_BY_OUTPUT: bool = true;
            const SLOPE: bool = true;
            $($own)*
        }
    };
    ($(#[$doc:meta])* $name:ident = $function:ident, $node:literal; $($own:tt)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name;

        impl Elementwise for $name {
            const NAME: &'static str = stringify!($function);
            const NODE: &'static str = $node;
            const KEEPS: Keeps = Keeps::Input;
            const COMPLEX: bool = true;
            const VECTOR: Vectors = Vectors::All;
            const SLOW: bool = true;

            #[inline(always)] // A loop is vectorised in one piece only.
            fn vector<A: Arithmetic>(&self, x: A) -> A {
                math::$function(x)
            }

            fn complex(&self, x: Complex<f64>) -> Complex<f64> {
                complex::$function(x)
            }

            $($own)*
        }
    };
}

function! {
    /// y = sinh x,  dy/dx = cosh x
    Sinh = sinh, "SinhBackward0";

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        cosh(x)
    }
}

function! {
    /// y = cosh x,  dy/dx = sinh x
    Cosh = cosh, "CoshBackward0";

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
        complex::tanh(x)
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
    const INTEGERS: bool = false;
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

function! {
    /// y = arsinh x,  dy/dx = 1/√(x² + 1)
    Asinh = asinh, "AsinhBackward0", in place "AsinhBackward1";

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A) -> A {
        let one = A::from_f64(1.0);
        one / (x * x + one).sqrt()
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        rsqrt(&add(&square(x)?, 1)?)
    }

    fn derivative_in_place(&self, y: &Tensor) -> Result<Tensor> {
        reciprocal(&cosh(y)?)
    }
}

function! {
    /// y = arcosh x,  dy/dx = 1/√(x² - 1)
    Acosh = acosh, "AcoshBackward0", in place "AcoshBackward1";

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A) -> A {
        let one = A::from_f64(1.0);
        one / (x * x - one).sqrt()
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

function! {
    /// y = artanh x,  dy/dx = 1/(1 - x²)
    Atanh = atanh, "AtanhBackward0", in place "AtanhBackward1";

    #[inline(always)]
    fn passed<A: Arithmetic>(&self, t: A, x: A) -> A {
        t / (A::from_f64(1.0) - x * x)
    }

    fn chain(&self, kept: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        let Some(x) = kept else { unreachable!("the input is kept") };
        if let Some(at_once) = unary::at_once(*self, x, t) {
            return at_once;
        }
        div(t, &sub(1, &square(x)?)?)
    }

    fn derivative_in_place(&self, y: &Tensor) -> Result<Tensor> {
        square(&cosh(y)?)
    }
}

elementwise! {
    acosh, acosh_: Acosh, "The inverse hyperbolic cosine of every element.";
    asinh, asinh_: Asinh, "The inverse hyperbolic sine of every element.";
    atanh, atanh_: Atanh, "The inverse hyperbolic tangent of every element.";
    cosh, cosh_: Cosh, "The hyperbolic cosine of every element.";
    sinh, sinh_: Sinh, "The hyperbolic sine of every element.";
    tanh, tanh_: Tanh, "The hyperbolic tangent of every element.";
}

/// The entries of operations that have a form in place.
pub const PAIRS: &[Entry] = FORMS.as_flattened();

const FORMS: &[[Entry; 2]] = &[
    renamed!("arcsinh", "arcsinh_", asinh, asinh_, "The inverse hyperbolic sine of every element: `asinh`."),
    renamed!(
        "arccosh",
        "arccosh_",
        acosh,
        acosh_,
        "The inverse hyperbolic cosine of every element: `acosh`."
    ),
    renamed!(
        "arctanh",
        "arctanh_",
        atanh,
        atanh_,
        "The inverse hyperbolic tangent of every element: `atanh`."
    ),
];

plain! {
    struct TanhGradient {}
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[binary::portable::row::<TanhGradient>("tanh gradient")];
