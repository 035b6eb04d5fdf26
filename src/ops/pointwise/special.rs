//! Special functions: Bessel's, inverses, and what statistics adds. The gamma function's family has a file of its own.

use crate::ops;
use crate::schema::elementwise;
use crate::schema::signatures::ONE_OUT;
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Types, both, inner, receiver};
use std::f64::consts::{FRAC_2_SQRT_PI, PI};

use crate::dispatch::fixed;
use crate::dispatch::unary;
use crate::dispatch::unary::{Elementwise, Integers, Keeps, OutputStrides};
use crate::dtype::{Complex, DType, Number, Real, Ring};
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::shown::shown;
use crate::kernels::pointwise::complex;
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Vectors;
use crate::ops::pointwise::compare::{eq, gt, lt};
use crate::ops::pointwise::logical;
use crate::ops::pointwise::power::square;
use crate::ops::pointwise::select::where_;
use crate::ops::{abs, add, conjugate, cos, div, exp, log, mul, neg, reciprocal, sgn, sin, sub};
use crate::tensor::Tensor;

/// A function of a number in double precision.
pub(super) fn wide<T: Real>(x: T, f: impl Fn(f64) -> f64) -> T {
    T::from_f64(f(x.to_f64()))
}

/// An operation with a function of one number: its name, node, what is kept, the function, and the derivative from
/// what is kept and, where the node shows it too, the result; whether torch writes the derivative in front of a
/// gradient.
macro_rules! special {
    ($(#[$doc:meta])* $Name:ident, $name:literal, $node:literal, $keeps:ident, $f:path, |$kept:ident| $derivative:expr $(, first = $first:literal)?) => {
        special!(@function $(#[$doc])* $Name, $name, $node, $keeps, $f, {
            const DERIVATIVE_FIRST: bool = false $(|| $first)?;

            fn derivative(&self, $kept: &Tensor) -> Result<Tensor> {
                $derivative
            }
        });
    };
    ($(#[$doc:meta])* $Name:ident, $name:literal, $node:literal, $keeps:ident, $f:path, |$x:ident, $y:ident| $derivative:expr $(, first = $first:literal)?) => {
        special!(@function $(#[$doc])* $Name, $name, $node, $keeps, $f, {
            const COMPUTED: &'static [&'static str] = &["result"];
            const DERIVATIVE_FIRST: bool = false $(|| $first)?;

            fn derivative(&self, x: &Tensor) -> Result<Tensor> {
                let ($x, $y) = (x, &unary::apply(*self, x)?);
                $derivative
            }
        });
    };
    (@function $(#[$doc:meta])* $Name:ident, $name:literal, $node:literal, $keeps:ident, $f:path, { $($more:item)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $Name;

        impl Elementwise for $Name {
            const NAME: &'static str = $name;
            const NODE: &'static str = $node;
            const KEEPS: Keeps = Keeps::$keeps;
            const VECTOR: Vectors = Vectors::All;
            const SLOW: bool = true;
            const RARE: bool = true;

            #[inline(always)] // A loop is vectorised in one piece only.
            fn vector<A: Arithmetic>(&self, x: A) -> A {
                $f(x)
            }

            $($more)*
        }
    };
}

/// erf y = x,  dy/dx = √π/2 exp(y²)
#[derive(Clone, Copy)]
pub struct Erfinv;

impl Elementwise for Erfinv {
    const NAME: &'static str = "erfinv_vml_cpu";
    const NODE: &'static str = "ErfinvBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const DERIVATIVE_FIRST: bool = true;
    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::erfinv(x)
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        mul(&exp(&square(&unary::apply(Erfinv, x)?)?)?, 1.0 / FRAC_2_SQRT_PI)
    }
}

special! {
    /// y = exp(x²) erfc x,  dy/dx = 2 x y - 2/√π
    Erfcx, "erfcx", "SpecialErfcxBackward0", Input, math::erfcx,
    |x, y| sub(&mul(&mul(x, 2.0)?, y)?, FRAC_2_SQRT_PI), first = true
}
/// Φ(y) = x with the distribution Φ of normal numbers,  dy/dx = √(2π) exp(y²/2)
#[derive(Clone, Copy)]
pub struct Ndtri;

impl Elementwise for Ndtri {
    const NAME: &'static str = "ndtri_cpu";
    const NODE: &'static str = "SpecialNdtriBackward0";
    const KEEPS: Keeps = Keeps::Output;
    const VECTOR: Vectors = Vectors::All;
    const RARE: bool = true;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::normal_quantile(x)
    }

    fn derivative(&self, y: &Tensor) -> Result<Tensor> {
        mul(&exp(&mul(&square(y)?, 0.5)?)?, (2.0 * PI).sqrt())
    }
}

special! {
    /// y = I₀(x),  dy/dx = I₁(x)
    I0, "i0_vml_cpu", "I0Backward0", Input, math::i0, |x| unary::apply(I1, x)
}
special! {
    /// y = exp(-|x|) I₀(x),  dy/dx = exp(-|x|) I₁(x) - sgn(x) y
    I0e, "i0e", "SpecialI0EBackward0", Input, math::i0e,
    |x, y| sub(&unary::apply(I1e, x)?, &mul(&sgn(x)?, y)?)
}
special! {
    /// y = I₁(x),  dy/dx = I₀(x) - y/x, and 1/2 at 0
    I1, "i1", "SpecialI1Backward0", Input, math::i1,
    |x, y| {
        let (large, x) = but_tiny(x)?;
        where_(&large, &sub(&unary::apply(I0, &x)?, &mul(y, &reciprocal(&x)?)?)?, 0.5)
    }
}
special! {
    /// y = exp(-|x|) I₁(x),  dy/dx = exp(-|x|) I₀(x) - y (sgn x + 1/x), and 1/2 at 0
    I1e, "i1e", "SpecialI1EBackward0", Input, math::i1e,
    |x, y| {
        let (large, x) = but_tiny(x)?;
        let factor = add(&sgn(&x)?, &reciprocal(&x)?)?;
        where_(&large, &sub(&unary::apply(I0e, &x)?, &mul(y, &factor)?)?, 0.5)
    }
}
special! {
    /// y = -x ln x, 0 at 0 and -∞ below,  dy/dx = -ln x - 1
    Entr, "entr", "SpecialEntrBackward0", Input, math::entropy,
    |x| neg(&add(&log(x)?, 1.0)?)
}
/// y = sin(π x)/(π x), 1 at 0,  dy/dx = (π x cos(π x) - sin(π x))/(π x²), 0 at 0
#[derive(Clone, Copy)]
pub struct Sinc;

impl Elementwise for Sinc {
    const NAME: &'static str = "sinc";
    const NODE: &'static str = "SincBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPLEX: bool = true;

    const VECTOR: Vectors = Vectors::All;
    const RARE: bool = true;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        let angle = x.widened() * A::Wide::from_f64(PI);
        let y = A::narrowed(math::sin(angle) / angle);
        if x == A::from_f64(0.0) { A::from_f64(1.0) } else { y }
    }

    const HAS_FAR: bool = true;

    #[inline(always)]
    fn is_far<T: Real>(&self, x: T) -> bool {
        math::is_many_turns(PI * x.to_f64())
    }

    fn real<T: Real>(&self, x: T) -> T {
        wide(x, |x| (PI * x).sin() / (PI * x))
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        if x.re == 0.0 && x.im == 0.0 {
            Complex::new(1.0, 0.0)
        } else {
            complex::quotient(complex::sin(x * PI), x * PI)
        }
    }

    fn chain(&self, x: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        let Some(x) = x else { unreachable!("the input is kept") };
        let angle = mul(x, PI)?;
        let rise = sub(&mul(&angle, &cos(&angle)?)?, &sin(&angle)?)?;
        let run = mul(&mul(x, x)?, PI)?;
        where_(&eq(&run, 0)?, 0.0, &mul(t, &div(&rise, &run)?)?)
    }
}

/// Where `x` is more than rounding, and `x` with a small number where it is not.
fn but_tiny(x: &Tensor) -> Result<(Tensor, Tensor)> {
    let eps = if x.dtype() == DType::Float64 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    let large = gt(&abs(x)?, eps)?;
    let x = where_(&large, x, eps)?;
    Ok((large, x))
}

/// y = ln(x/(1 - x)), of x moved to [ε, 1 - ε] if there is an ε,  dy/dx = 1/(x (1 - x)), and 0 beyond
#[derive(Clone, Copy)]
pub struct Logit {
    /// ε
    pub eps: Option<f64>,
}

impl Elementwise for Logit {
    const NAME: &'static str = "logit_cpu";
    const NODE: &'static str = "LogitBackward0";
    const KEEPS: Keeps = Keeps::Input;

    fn shown(&self) -> Attributes {
        shown! { eps: self.eps }
    }

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        let one = A::from_f64(1.0);
        let x = match self.eps {
            Some(eps) if x < A::from_f64(eps) => A::from_f64(eps),
            Some(eps) if x > one - A::from_f64(eps) => one - A::from_f64(eps),
            _ => x,
        };
        math::ln(x / (one - x))
    }

    const SLOPE: bool = true;

    #[inline(always)]
    fn passed<A: Arithmetic>(&self, t: A, x: A) -> A {
        let one = A::from_f64(1.0);
        let (low, outside) = match self.eps {
            Some(eps) => (A::from_f64(eps), A::from_f64(0.0)),
            None => (A::from_f64(0.0), A::from_f64(f64::NAN)),
        };
        let high = A::from_f64(1.0 - self.eps.unwrap_or(0.0));
        let slope = t / (x * (one - x));
        if x < low || x > high { outside } else { slope }
    }

    fn chain(&self, x: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        let Some(x) = x else { unreachable!("the input is kept") };
        if let Some(at_once) = unary::at_once(*self, x, t) {
            return at_once;
        }
        let (low, outside) = match self.eps {
            Some(eps) => (eps, 0.0),
            None => (0.0, f64::NAN),
        };
        // What is no number is on neither side.
        let beyond = logical::or(&lt(x, low)?, &gt(x, 1.0 - low)?)?;
        where_(&logical::not(&beyond)?, &div(t, &mul(x, &sub(1.0, x)?)?)?, outside)
    }
}

/// y = x, and numbers in the place of what is none,  dy/dx = 1 where x was a number, else 0
#[derive(Clone, Copy)]
pub struct NanToNum {
    /// In the place of what is not a number.
    pub nan: f64,
    /// In the place of infinity; the greatest number if left out.
    pub positive: Option<f64>,
    /// In the place of negative infinity; the least number if left out.
    pub negative: Option<f64>,
}

impl Elementwise for NanToNum {
    const NAME: &'static str = "nan_to_num";
    const STRIDES: OutputStrides = OutputStrides::LikeInput;
    const NODE: &'static str = "NanToNumBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const INTEGERS: Integers = Integers::Stay;

    fn of_complex(&self, x: &Tensor) -> Option<Result<Tensor>> {
        let parts = || conjugate::view_as_real(&conjugate::resolve(x)?);
        Some(parts().and_then(|parts| conjugate::view_as_complex(&unary::apply(*self, &parts)?)))
    }

    fn real<T: Real>(&self, x: T) -> T {
        if Ring::is_nan(x) {
            T::from_f64(self.nan)
        } else if x == T::HIGHEST {
            self.positive.map_or(T::max_value(), T::from_f64)
        } else if x == T::LOWEST {
            self.negative.map_or(T::min_value(), T::from_f64)
        } else {
            x
        }
    }

    fn integer<T: Number>(&self, x: T) -> T {
        x
    }

    fn boolean(&self, x: bool) -> Option<bool> {
        Some(x)
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        fixed::map(x, |x| f64::from(u8::from(x.is_finite())))
    }
}

/// y = c x from degrees to radians, or back with `TO_DEGREES`,  dy/dx = c
#[derive(Clone, Copy)]
pub struct Angle<const TO_DEGREES: bool>;

impl<const TO_DEGREES: bool> Elementwise for Angle<TO_DEGREES> {
    const NAME: &'static str = if TO_DEGREES { "rad2deg" } else { "deg2rad" };
    const STRIDES: OutputStrides = OutputStrides::LikeInput;
    const NODE: &'static str = if TO_DEGREES { "Rad2DegBackward0" } else { "Deg2RadBackward0" };
    const KEEPS: Keeps = Keeps::Nothing;

    fn refusal(&self, dtype: DType) -> Error {
        match dtype.is_complex() {
            true => Error::DegreesOfComplex { operation: Self::NAME },
            false => Error::NotImplementedFor { operation: Self::NAME, dtype },
        }
    }

    fn real<T: Real>(&self, x: T) -> T {
        x * T::from_f64(if TO_DEGREES { 180.0 / PI } else { PI / 180.0 })
    }

    fn chain(&self, _kept: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        ops::mul(t, if TO_DEGREES { 180.0 / PI } else { PI / 180.0 })
    }
}

const CLEANED: &[&str] =
    &["(Tensor input, float? nan=None, float? posinf=None, float? neginf=None, *, Tensor out=None)"];

const CLEANED_IN_PLACE: &[&str] =
    &["(Tensor input, float? nan=None, float? posinf=None, float? neginf=None)"];

const LOGIT: &[&str] = &["(Tensor input, float? eps=None, *, Tensor out=None)"];

elementwise! {
    deg2rad, deg2rad_: Angle::<false>, "Converts angles from degrees to radians.";
    erfinv, erfinv_: Erfinv, "The inverse error function of every element.";
    i0, i0_: I0, "The modified Bessel function of the first kind of order 0.";
    rad2deg, rad2deg_: Angle::<true>, "Converts angles from radians to degrees.";
    sinc, sinc_: Sinc, "The normalized sinc of every element: sin(πx) / (πx).";
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("nan_to_num", CLEANED, "Replaces NaN, positive and negative infinity by numbers.", |a| {
        unary::apply(cleaned(a)?, a.tensor(0)?).reply()
    })
    .written(&OutPolicy::ALIGNED.typed(Types::Cleaned))
    .operators(&[("NanToNumBackward0", "nan_to_num")]),
    both("nan_to_num_", CLEANED_IN_PLACE, "`nan_to_num` in place.", |a| {
        receiver(a, unary::apply_in_place(cleaned(a)?, a.tensor(0)?))
    }),
    both("logit", LOGIT, "The logit of every element: log(x / (1 - x)).", |a| {
        unary::apply(Logit { eps: a.optional_float(1)? }, a.tensor(0)?).reply()
    })
    .written(&OutPolicy::ALIGNED)
    .operators(&[("LogitBackward0", "logit")]),
    both("logit_", &["(Tensor input, float? eps=None)"], "`logit` in place.", |a| {
        receiver(a, unary::apply_in_place(Logit { eps: a.optional_float(1)? }, a.tensor(0)?))
    }),
    inner("special_entr", ONE_OUT, "The entropy of every element: -x * log(x).", |a| {
        unary::apply(Entr, a.tensor(0)?).reply()
    })
    .written(&OutPolicy::ALIGNED)
    .operators(&[("SpecialEntrBackward0", "special_entr")]),
    inner("special_erfcx", ONE_OUT, "The scaled complementary error function: exp(x²) * erfc(x).", |a| {
        unary::apply(Erfcx, a.tensor(0)?).reply()
    })
    .written(&OutPolicy::ALIGNED)
    .operators(&[("SpecialErfcxBackward0", "special_erfcx")]),
    inner(
        "special_ndtri",
        ONE_OUT,
        "The inverse of the cumulative distribution function of the standard normal distribution.",
        |a| unary::apply(Ndtri, a.tensor(0)?).reply(),
    )
    .written(&OutPolicy::ALIGNED)
    .operators(&[("SpecialNdtriBackward0", "special_ndtri")]),
    inner(
        "special_i0e",
        ONE_OUT,
        "The exponentially scaled modified Bessel function of the first kind of order 0.",
        |a| unary::apply(I0e, a.tensor(0)?).reply(),
    )
    .written(&OutPolicy::ALIGNED)
    .operators(&[("SpecialI0EBackward0", "special_i0e")]),
    inner("special_i1", ONE_OUT, "The modified Bessel function of the first kind of order 1.", |a| {
        unary::apply(I1, a.tensor(0)?).reply()
    })
    .written(&OutPolicy::ALIGNED)
    .operators(&[("SpecialI1Backward0", "special_i1")]),
    inner(
        "special_i1e",
        ONE_OUT,
        "The exponentially scaled modified Bessel function of the first kind of order 1.",
        |a| unary::apply(I1e, a.tensor(0)?).reply(),
    )
    .written(&OutPolicy::ALIGNED)
    .operators(&[("SpecialI1EBackward0", "special_i1e")]),
];

fn cleaned(a: &dyn Arguments) -> Result<NanToNum> {
    let (nan, positive, negative) = (a.optional_float(1)?, a.optional_float(2)?, a.optional_float(3)?);
    Ok(NanToNum { nan: nan.unwrap_or(0.0), positive, negative })
}
