//! Signs, magnitudes and roundings: functions made of straight pieces.

use crate::dispatch::unary;
use crate::dispatch::unary::{Elementwise, Integers, Keeps};
use crate::dtype::{Complex, DType, Number, Real};
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::creation::create;
use crate::ops::{complex, mul, neg};
use crate::tensor::Tensor;

/// y = ⌊x⌋,  dy/dx = 0
#[derive(Clone, Copy)]
pub struct Floor;

impl Elementwise for Floor {
    const NAME: &'static str = "floor_vml_cpu";
    const NODE: &'static str = "FloorBackward0";
    const KEEPS: Keeps = Keeps::Flat;
    const INTEGERS: Integers = Integers::Stay;

    fn real<T: Real>(&self, x: T) -> T {
        x.floor()
    }
}

/// y = ⌈x⌉,  dy/dx = 0
#[derive(Clone, Copy)]
pub struct Ceil;

impl Elementwise for Ceil {
    const NAME: &'static str = "ceil_vml_cpu";
    const NODE: &'static str = "CeilBackward0";
    const KEEPS: Keeps = Keeps::Flat;
    const INTEGERS: Integers = Integers::Stay;

    fn real<T: Real>(&self, x: T) -> T {
        x.ceil()
    }
}

/// y = x without what is behind the point,  dy/dx = 0
#[derive(Clone, Copy)]
pub struct Trunc;

impl Elementwise for Trunc {
    const NAME: &'static str = "trunc_vml_cpu";
    const NODE: &'static str = "TruncBackward0";
    const KEEPS: Keeps = Keeps::Flat;
    const INTEGERS: Integers = Integers::Stay;

    fn real<T: Real>(&self, x: T) -> T {
        x.trunc()
    }
}

/// y = the integer nearest to x, the even one of two,  dy/dx = 0
#[derive(Clone, Copy)]
pub struct Round;

impl Elementwise for Round {
    const NAME: &'static str = "round_vml_cpu";
    const NODE: &'static str = "RoundBackward0";
    const KEEPS: Keeps = Keeps::Flat;
    const INTEGERS: Integers = Integers::Stay;

    fn real<T: Real>(&self, x: T) -> T {
        to_even(x)
    }
}

/// The integer nearest to a number, the even one of two. Double precision has room for both types.
fn to_even<T: Real>(x: T) -> T {
    let wide: f64 = x.as_();
    T::from_f64(wide.round_ties_even())
}

/// y = x rounded to so many decimal places,  dy/dx = 0
#[derive(Clone, Copy)]
pub struct RoundDecimals {
    /// How many; places before the point if negative.
    pub decimals: i32,
}

impl Elementwise for RoundDecimals {
    const NAME: &'static str = "round_cpu";
    const NODE: &'static str = "RoundBackward1";
    const KEEPS: Keeps = Keeps::Flat;
    const INTEGERS: Integers = Integers::Refuse;

    fn real<T: Real>(&self, x: T) -> T {
        let power = T::from_f64(10f64.powi(self.decimals.saturating_abs()));
        if self.decimals < 0 { to_even(x / power) * power } else { to_even(x * power) / power }
    }

    fn refusal(&self, dtype: DType) -> Error {
        let operation = if self.decimals == 0 { "round_vml_cpu" } else { Self::NAME };
        Error::NotImplementedFor { operation, dtype }
    }
}

/// Every element rounded to so many decimal places.
pub fn round_decimals(x: &Tensor, decimals: i64) -> Result<Tensor> {
    unary::apply(RoundDecimals { decimals: places(decimals) }, x)
}

/// Every element rounded to so many decimal places, in place.
pub fn round_decimals_(x: &Tensor, decimals: i64) -> Result<()> {
    unary::apply_in_place(RoundDecimals { decimals: places(decimals) }, x)
}

fn places(decimals: i64) -> i32 {
    decimals.clamp(-400, 400) as i32
}

/// y = x without what is before the point,  dy/dx = 1
#[derive(Clone, Copy)]
pub struct Frac;

impl Elementwise for Frac {
    const NAME: &'static str = "frac_cpu";
    const NODE: &'static str = "FracBackward0";
    const KEEPS: Keeps = Keeps::Nothing;
    const INTEGERS: Integers = Integers::Refuse;

    fn real<T: Real>(&self, x: T) -> T {
        x - x.trunc()
    }

    fn chain(&self, _kept: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        Ok(t.clone())
    }
}

/// y = -x,  dy/dx = -1
#[derive(Clone, Copy)]
pub struct Neg;

impl Elementwise for Neg {
    const WRAPS: bool = true;
    const NAME: &'static str = "neg";
    const NODE: &'static str = "NegBackward0";
    const KEEPS: Keeps = Keeps::Nothing;
    const INTEGERS: Integers = Integers::Stay;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, x: T) -> T {
        -x
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        -x
    }

    fn integer<T: Number>(&self, x: T) -> T {
        T::ZERO.sub(x)
    }

    fn refusal(&self, _dtype: DType) -> Error {
        Error::NegateBool {}
    }

    fn chain(&self, _kept: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        neg(t)
    }
}

/// y = |x|,  dy/dx = sgn x
#[derive(Clone, Copy)]
pub struct Abs;

impl Elementwise for Abs {
    const NAME: &'static str = "abs_cpu";
    const NODE: &'static str = "AbsBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const INTEGERS: Integers = Integers::Stay;

    fn real<T: Real>(&self, x: T) -> T {
        x.abs()
    }

    fn integer<T: Number>(&self, x: T) -> T {
        if x < T::ZERO { T::ZERO.sub(x) } else { x }
    }

    fn of_complex(&self, x: &Tensor) -> Option<Result<Tensor>> {
        Some(complex::magnitude(x))
    }

    fn chain(&self, x: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        let Some(x) = x else { unreachable!("the input is kept") };
        mul(t, &ops::sgn(x)?)
    }
}

/// -1, 0 or 1, and 0 for what is not a number
fn sign<T: Number>(x: T) -> T {
    if x > T::ZERO {
        T::ONE
    } else if x < T::ZERO {
        T::ZERO.sub(T::ONE)
    } else {
        T::ZERO
    }
}

/// y = -1, 0 or 1 by the sign of x,  dy/dx = 0
#[derive(Clone, Copy)]
pub struct Sign;

impl Elementwise for Sign {
    const NAME: &'static str = "sign_cpu";
    const NODE: &'static str = "SignBackward0";
    const KEEPS: Keeps = Keeps::Flat;
    const INTEGERS: Integers = Integers::Stay;

    fn real<T: Real>(&self, x: T) -> T {
        sign(x)
    }

    fn integer<T: Number>(&self, x: T) -> T {
        sign(x)
    }

    fn boolean(&self, x: bool) -> Option<bool> {
        Some(x)
    }
}

/// y = x/|x|, and 0 for x = 0. Of real numbers that is the sign, and dy/dx = 0; of complex ones see
/// `complex::sign_change`.
#[derive(Clone, Copy)]
pub struct Sgn;

impl Elementwise for Sgn {
    const NAME: &'static str = "sgn_cpu";
    const NODE: &'static str = "SgnBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPUTED: &'static [&'static str] = &["result"];
    const INTEGERS: Integers = Integers::Stay;
    const COMPLEX: bool = true;
    const ANALYTIC: bool = false;

    fn real<T: Real>(&self, x: T) -> T {
        sign(x)
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        if x == Complex::ZERO { x } else { x / x.norm() }
    }

    fn integer<T: Number>(&self, x: T) -> T {
        sign(x)
    }

    fn boolean(&self, x: bool) -> Option<bool> {
        Some(x)
    }

    fn chain(&self, x: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        match x {
            Some(x) if x.dtype().is_complex() => complex::sign_change(x, t),
            _ => create::zeros_like(t),
        }
    }
}

/// The tensor itself, unless its elements are truth values.
pub fn positive(x: &Tensor) -> Result<Tensor> {
    if x.dtype() == DType::Bool { Err(Error::PositiveBool {}.into()) } else { Ok(x.clone()) }
}
