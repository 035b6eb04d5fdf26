//! Smooth activations: exponential linear units, those that weigh a number by a distribution of it,
//! and soft forms of maxima.

mod entries;

use crate::dispatch::modes::plain::{Plain, Reader, Row, plain};
use crate::dispatch::unary::portable;
use crate::dtype::{Real, Scalar};
use crate::ops;
pub use entries::{ENTRIES, OPERATORS, PAIRS};

use crate::schema::signatures::{ONE, ONE_OUT};
use crate::schema::{Arguments, Entry, IntoReply, Operator, inner, units};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, SQRT_2};

use crate::dispatch::unary;
use crate::dispatch::unary::{Elementwise, Integers, Keeps, OutputStrides};
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes};
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Vectors;
use crate::ops::pointwise::compare;
use crate::ops::pointwise::power::square;
use crate::ops::pointwise::select::where_;
use crate::ops::{add, erf, exp, mul, neg, sigmoid, sub, tanh};
use crate::tensor::Tensor;

/// y = s x where x > 0, s α (e^(i x) - 1) elsewhere,  dy/dx = s and s α i e^(i x). With `CONTINUOUS`
/// torch calls it `celu`.
#[derive(Clone, Copy)]
pub struct Elu<const CONTINUOUS: bool> {
    /// α, how far down the negative branch goes.
    pub alpha: f64,
    /// s, the slope of the positive branch.
    pub scale: f64,
    /// i, the scale of the input of the negative branch.
    pub input_scale: f64,
}

/// A factor as torch shows it, which writes those that are left out without a fraction.
fn whole(factor: f64) -> Scalar {
    if factor == 1.0 { Scalar::Int(1) } else { Scalar::Float(factor) }
}

impl<const CONTINUOUS: bool> Elementwise for Elu<CONTINUOUS> {
    const NAME: &'static str = "elu_cpu";
    const NODE: &'static str = if CONTINUOUS { "CeluBackward0" } else { "EluBackward0" };
    const NODE_IN_PLACE: &'static str = if CONTINUOUS { "CeluBackward1" } else { "EluBackward1" };
    const KEEPS: Keeps = Keeps::Input;
    const IN_PLACE_BY_OUTPUT: bool = true;
    const INTEGERS: Integers = Integers::Refuse;

    fn shown(&self) -> Attributes {
        let mut shown = shown! { alpha: self.alpha };
        if !CONTINUOUS {
            shown.extend(shown! { scale: whole(self.scale), input_scale: whole(self.input_scale) });
        }
        shown
    }

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        let (scale, alpha) = (A::from_f64(self.scale), A::from_f64(self.alpha));
        let below = math::exp_m1(x * A::from_f64(self.input_scale)) * alpha * scale;
        if x < A::from_f64(0.0) { below } else { x * scale }
    }

    const HAS_EASY: bool = true;

    #[inline(always)]
    fn is_easy<T: Real>(&self, x: T) -> bool {
        x >= T::ZERO
    }

    fn factor(&self) -> f64 {
        self.scale
    }

    const SLOPE: bool = true;

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A) -> A {
        let power = math::exp(x * A::from_f64(self.input_scale));
        let below = power * A::from_f64(self.scale * self.alpha * self.input_scale);
        if x <= A::from_f64(0.0) { below } else { A::from_f64(self.scale) }
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        // Cut off where it does not hold, so that nothing overflows there. The branches meet in a kink: zero is
        // where the second derivative is none.
        let below = exp(&mul(&where_(&compare::lt(x, 0)?, x, 0.0)?, self.input_scale)?)?;
        let below = mul(&below, self.scale * self.alpha * self.input_scale)?;
        where_(&compare::le(x, 0)?, &below, self.scale)
    }

    fn derivative_in_place(&self, y: &Tensor) -> Result<Tensor> {
        // The sign of the output is that of the input.
        if self.alpha < 0.0 {
            return Err(Error::EluInPlace {}.into());
        }
        let below = where_(&compare::lt(y, 0)?, y, 0.0)?;
        let below = mul(&add(&below, self.scale * self.alpha)?, self.input_scale)?;
        where_(&compare::le(y, 0)?, &below, self.scale)
    }
}

/// The exponential linear unit that keeps mean and variance.
pub const SELU: Elu<false> =
    Elu { alpha: 1.673_263_242_354_377_2, scale: 1.050_700_987_355_480_5, input_scale: 1.0 };

/// y = x Φ(x) with the normal distribution Φ, or a tangent close to it
///
/// dy/dx = Φ(x) + x φ(x), or the derivative of the other formula
#[derive(Clone, Copy)]
pub struct Gelu {
    /// Whether the tangent stands for the distribution.
    pub approximate: bool,
}

/// √(2/π)
const BETA: f64 = SQRT_2 * FRAC_2_SQRT_PI * 0.5;
const CUBIC: f64 = 0.044715;

impl Gelu {
    /// What the tangent is of that stands for the distribution.
    #[inline(always)]
    fn inner<A: Arithmetic>(self, x: A) -> A {
        A::from_f64(BETA) * (x * x * x).times_plus(A::from_f64(CUBIC), x)
    }
}

impl Elementwise for Gelu {
    const NAME: &'static str = "GeluKernelImpl";
    const NODE: &'static str = "GeluBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const INTEGERS: Integers = Integers::Refuse;

    fn shown(&self) -> Attributes {
        shown! { approximate: if self.approximate { "tanh" } else { "none" } }
    }

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        match self.approximate {
            true => A::from_f64(0.5) * x * (A::from_f64(1.0) + math::tanh(self.inner(x))),
            false => x * math::normal_share(x),
        }
    }

    const SLOPE: bool = true;

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A) -> A {
        let (one, half) = (A::from_f64(1.0), A::from_f64(0.5));
        if self.approximate {
            let bend = math::tanh(self.inner(x));
            let slope = (x * x).times_plus(A::from_f64(3.0 * CUBIC), one) * A::from_f64(BETA);
            return half * ((one + bend) + x * (one - bend * bend) * slope);
        }
        x.times_plus(math::exp(-half * x * x) * A::from_f64(BETA * 0.5), math::normal_share(x))
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        let squared = square(x)?;
        if self.approximate {
            let inner = mul(&mul(x, BETA)?, &add(&mul(&squared, CUBIC)?, 1.0)?)?;
            let bend = tanh(&inner)?;
            let left = mul(&add(&bend, 1.0)?, 0.5)?;
            let slope = mul(&add(&mul(&squared, 3.0 * CUBIC)?, 1.0)?, BETA * 0.5)?;
            let right = mul(&mul(x, &sub(1.0, &square(&bend)?)?)?, &slope)?;
            return add(&left, &right);
        }
        let share = mul(&add(&erf(&mul(x, FRAC_1_SQRT_2)?)?, 1.0)?, 0.5)?;
        let density = mul(&exp(&mul(&squared, -0.5)?)?, BETA * 0.5)?;
        add(&share, &mul(x, &density)?)
    }
}

/// y = x σ(x),  dy/dx = σ (1 + x (1 - σ))
#[derive(Clone, Copy)]
pub struct Silu;

impl Elementwise for Silu {
    const NAME: &'static str = "silu_cpu";
    const NODE: &'static str = "SiluBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const INTEGERS: Integers = Integers::Refuse;

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        x / (A::from_f64(1.0) + math::exp(-x))
    }

    const HAS_NEAR: bool = true;

    #[inline(always)]
    fn is_near<T: Real>(&self, x: T) -> bool {
        math::has_normal_power(-x)
    }

    #[inline(always)]
    fn near<A: Arithmetic>(&self, x: A) -> A {
        x / (A::from_f64(1.0) + math::exp_of_near(-x))
    }

    const SLOPE: bool = true;

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A) -> A {
        let (one, share) = (A::from_f64(1.0), math::sigmoid(x));
        share * x.times_plus(one - share, one)
    }

    fn of_complex(&self, x: &Tensor) -> Option<Result<Tensor>> {
        Some(sigmoid(x).and_then(|share| mul(x, &share)))
    }

    fn chain(&self, x: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        let Some(x) = x else { unreachable!("the input is kept") };
        if let Some(at_once) = unary::at_once(*self, x, t) {
            return at_once;
        }
        let share = sigmoid(x)?;
        mul(&mul(t, &share)?, &add(&mul(x, &sub(1.0, &share)?)?, 1.0)?)
    }
}

/// y = x tanh(softplus x),  dy/dx = t + x σ(x) (1 - t²) with that tangent t
#[derive(Clone, Copy)]
pub struct Mish;

/// tanh(ln(1 + eˣ)), which is (e²ˣ + 2eˣ)/(e²ˣ + 2eˣ + 2)
#[inline(always)]
fn bend<A: Arithmetic>(x: A) -> A {
    // From here on the result is one.
    let greatest = A::from_f64(30.0);
    let power = math::exp(if x > greatest { greatest } else { x });
    let two = A::from_f64(2.0);
    let both = power * (power + two);
    both / (both + two)
}

impl Elementwise for Mish {
    const NAME: &'static str = "mish_cpu";
    const NODE: &'static str = "MishBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const INTEGERS: Integers = Integers::Refuse;

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        x * bend(x)
    }

    const SLOPE: bool = true;

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A) -> A {
        let (one, bend) = (A::from_f64(1.0), bend(x));
        (x * math::sigmoid(x)).times_plus(one - bend * bend, bend)
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        let bend = tanh(&ops::log1p(&ops::exp(x)?)?)?;
        let slope = mul(&mul(x, &sigmoid(x)?)?, &sub(1.0, &mul(&bend, &bend)?)?)?;
        add(&bend, &slope)
    }
}

/// y = ln(1 + e^(β x))/β, and x where β x is beyond the threshold,  dy/dx = σ(β x) and 1
#[derive(Clone, Copy)]
pub struct Softplus {
    beta: f64,
    threshold: f64,
    /// Both as the node shows them. Numbers of any type are made floating-point ones once: a loop that does so
    /// for each element is not vectorised.
    given: [Scalar; 2],
}

impl Softplus {
    /// With this β, taken to be straight beyond the threshold.
    pub fn new(beta: Scalar, threshold: Scalar) -> Softplus {
        Softplus { beta: beta.to_f64(), threshold: threshold.to_f64(), given: [beta, threshold] }
    }
}

impl Elementwise for Softplus {
    const NAME: &'static str = "softplus_cpu";
    const NODE: &'static str = "SoftplusBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const INTEGERS: Integers = Integers::Refuse;

    fn shown(&self) -> Attributes {
        shown! { beta: self.given[0], threshold: self.given[1] }
    }

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        let (beta, zero) = (A::from_f64(self.beta), A::from_f64(0.0));
        let scaled = x * beta;
        let most = if scaled < zero { zero } else { scaled };
        let bent = (most + math::ln_1p_of_share(math::exp(-scaled.abs()))) / beta;
        // As torch has it, where a power is infinite.
        let greatest = A::from_f64(if A::SINGLE { 88.722_84 } else { 709.782_712_893_384 });
        let bent = if scaled > greatest { A::from_f64(f64::INFINITY) / beta } else { bent };
        if scaled > A::from_f64(self.threshold) { x } else { bent }
    }

    const SLOPE: bool = true;

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A) -> A {
        let scaled = x * A::from_f64(self.beta);
        let one = A::from_f64(1.0);
        if scaled > A::from_f64(self.threshold) { one } else { math::sigmoid(scaled) }
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        let scaled = mul(x, self.beta)?;
        where_(&compare::gt(&scaled, self.threshold)?, 1.0, &sigmoid(&scaled)?)
    }
}

/// y = ln σ(x),  dy/dx = σ(-x)
#[derive(Clone, Copy)]
pub struct LogSigmoid;

impl Elementwise for LogSigmoid {
    const NAME: &'static str = "log_sigmoid_cpu";
    const STRIDES: OutputStrides = OutputStrides::RowMajor;
    const NODE: &'static str = "LogSigmoidBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPUTED: &'static [&'static str] = &["buffer"];
    const INTEGERS: Integers = Integers::Refuse;

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        let zero = A::from_f64(0.0);
        let least = if x > zero { zero } else { x };
        least - math::ln_1p_of_share(math::exp(-x.abs()))
    }

    const SLOPE: bool = true;

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A) -> A {
        math::sigmoid(-x)
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        sigmoid(&neg(x)?)
    }

    fn computed(&self, x: &Tensor, _at: &At<'_>) -> Result<Tensor> {
        ops::exp(&neg(&ops::abs(x)?)?)
    }
}

const ELU: &[&str] =
    &["(Tensor input, Number alpha=1, Number scale=1, Number input_scale=1, *, Tensor out=None)"];

const CELU: &[&str] = &["(Tensor input, Number alpha=1.0)"];

plain! {
    struct Gelu { approximate }
    struct Silu {}
    struct Mish {}
    struct LogSigmoid {}
    struct Softplus { beta, threshold, given }
}

impl<const CONTINUOUS: bool> Plain for Elu<CONTINUOUS> {
    fn write(&self, to: &mut Vec<u8>) {
        [self.alpha, self.scale, self.input_scale].write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Elu<CONTINUOUS>> {
        <[f64; 3]>::read(from).map(|[alpha, scale, input_scale]| Elu { alpha, scale, input_scale })
    }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[
    portable::row::<Elu<false>>("elu"),
    portable::row_of_slope::<Elu<false>>("elu slope"),
    portable::row::<Elu<true>>("celu"),
    portable::row_of_slope::<Elu<true>>("celu slope"),
    portable::row::<Gelu>("gelu"),
    portable::row_of_slope::<Gelu>("gelu slope"),
    portable::row::<Silu>("silu"),
    portable::row_of_slope::<Silu>("silu slope"),
    portable::row::<Mish>("mish"),
    portable::row_of_slope::<Mish>("mish slope"),
    portable::row::<LogSigmoid>("logsigmoid"),
    portable::row_of_slope::<LogSigmoid>("logsigmoid slope"),
    portable::row::<Softplus>("softplus"),
    portable::row_of_slope::<Softplus>("softplus slope"),
];
