//! Signs, magnitudes and roundings: functions made of straight pieces.

use crate::dispatch::stored::Unsigned;
use crate::dispatch::unary;
use crate::dispatch::unary::{Elementwise, Integers, Keeps};
use crate::dtype::{Complex, DType, Number, Real};
use crate::error::{Error, Result};
use crate::kernels::pointwise::complex::size;
use crate::ops;
use crate::ops::creation::create;
use crate::ops::{complex, mul};
use crate::schema::elementwise;
use crate::schema::{Arguments, Entry, IntoReply, Operator, OutPolicy, Reply, Types, both, one, receiver};
use crate::tensor::Tensor;

/// The refusal of an operation that rounds, in whose name complex numbers are refused, and in its kernel's others.
fn refusal(function: &'static str, kernel: &'static str, dtype: DType) -> Error {
    match dtype.is_complex() {
        true => Error::RoundedComplex { operation: function },
        false => Error::NotImplementedFor { operation: kernel, dtype },
    }
}

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

    fn refusal(&self, dtype: DType) -> Error {
        refusal("floor", Self::NAME, dtype)
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

    fn refusal(&self, dtype: DType) -> Error {
        refusal("ceil", Self::NAME, dtype)
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

    fn refusal(&self, dtype: DType) -> Error {
        refusal("trunc", Self::NAME, dtype)
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
    const UNSIGNED: Unsigned = Unsigned::Wrapped;
    const NAME: &'static str = "neg";
    const NODE: &'static str = "NegBackward0";
    const SIGN: Option<unary::Sign> = Some(unary::Sign::Turned);
    const KEEPS: Keeps = Keeps::Nothing;
    const INTEGERS: Integers = Integers::Stay;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, x: T) -> T {
        -x
    }

    fn integer<T: Number>(&self, x: T) -> T {
        x.negative()
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
    const SIGN: Option<unary::Sign> = Some(unary::Sign::Dropped);
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
fn sign_of<T: Number>(x: T) -> T {
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
        sign_of(x)
    }

    fn integer<T: Number>(&self, x: T) -> T {
        sign_of(x)
    }

    fn boolean(&self, x: bool) -> Option<bool> {
        Some(x)
    }

    fn refusal(&self, dtype: DType) -> Error {
        match dtype.is_complex() {
            true => Error::SignOfComplex {},
            false => Error::NotImplementedFor { operation: Self::NAME, dtype },
        }
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
        sign_of(x)
    }

    const COMPLEX_LOOPS: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        let size = size(x);
        let size = if size == 0.0 { 1.0 } else { size };
        Complex::new(x.re / size, x.im / size)
    }

    fn integer<T: Number>(&self, x: T) -> T {
        sign_of(x)
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

const ROUNDED: &[&str] =
    &["(Tensor input, *, Tensor out=None)", "(Tensor input, *, int decimals, Tensor out=None)"];

const ROUNDED_IN_PLACE: &[&str] = &["(Tensor input)", "(Tensor input, *, int decimals)"];

elementwise! {
    abs, abs_: Abs, "The absolute value of every element.", apart;
    ceil, ceil_: Ceil, "Every element rounded up to an integer.";
    floor, floor_: Floor, "Every element rounded down to an integer.";
    frac, frac_: Frac, "The fractional part of every element.";
    neg, neg_: Neg, "The negative of every element.";
    round, round_: Round, "Every element rounded to the nearest integer, halves to even, or to `decimals` places.", apart;
    sgn, sgn_: Sgn, "The sign of every element: x / abs(x) of complex numbers, else -1, 0 or 1.";
    sign, sign_: Sign, "The sign of every element: -1, 0 or 1.";
    trunc, trunc_: Trunc, "Every element truncated towards zero.";
}

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[("AbsBackward0", "abs(Tensor self) -> Tensor")];

/// The entries of operations that have a form in place.
pub const PAIRS: &[Entry] = FORMS.as_flattened();

const FORMS: &[[Entry; 2]] = &[
    one!(
        "abs",
        "abs_",
        crate::ops::abs,
        crate::ops::abs_,
        "The absolute value of every element.",
        &OutPolicy::ALIGNED.typed(Types::FoundOfSame)
    ),
    one!(
        "absolute",
        "absolute_",
        crate::ops::abs,
        crate::ops::abs_,
        "The absolute value of every element: `abs`.",
        &OutPolicy::ALIGNED.refused_as("abs").typed(Types::FoundOfSame)
    ),
    one!(
        "negative",
        "negative_",
        crate::ops::neg,
        crate::ops::neg_,
        "The negative of every element: `neg`.",
        &OutPolicy::ALIGNED.refused_as("neg").typed(Types::Found)
    ),
    one!(
        "fix",
        "fix_",
        crate::ops::trunc,
        crate::ops::trunc_,
        "Every element truncated towards zero: `trunc`.",
        &OutPolicy::ALIGNED.refused_as("trunc").typed(Types::Found)
    ),
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "round",
        ROUNDED,
        "Every element rounded to the nearest integer, halves to even, or to `decimals` places.",
        rounded,
    )
    .written(&OutPolicy::ALIGNED.typed(Types::Found))
    .operators(&[("RoundBackward0", "round"), ("RoundBackward1", "round.decimals@1")]),
    both("round_", ROUNDED_IN_PLACE, "`round` in place.", rounded_in_place),
    both("positive", &["(Tensor input)"], "The tensor itself; truth values are refused.", |a| {
        positive(a.tensor(0)?).reply()
    }),
];

fn rounded(a: &dyn Arguments) -> Result<Reply> {
    let x = a.tensor(0)?;
    match a.overload() {
        0 => crate::ops::round(x),
        _ => round_decimals(x, a.int(1)?),
    }
    .reply()
}

fn rounded_in_place(a: &dyn Arguments) -> Result<Reply> {
    let x = a.tensor(0)?;
    let result = match a.overload() {
        0 => crate::ops::round_(x),
        _ => round_decimals_(x, a.int(1)?),
    };
    receiver(a, result)
}
