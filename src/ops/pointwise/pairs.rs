//! Functions of two elements beside arithmetic: lengths of hypotenuses, logarithms of sums, products
//! with logarithms, signs put on magnitudes.

use crate::ops;
use crate::ops::creation::create;
use crate::schema::elementwise2;
use crate::schema::signatures::{COMPARED, COMPARED_IN_PLACE, MIXED, TENSORS, TENSORS_IN_PLACE};
use crate::schema::{Entry, IntoReply, Operator, OutPolicy, UnbatchedTarget, both, forms, inner};
use std::f64::consts::LN_2;

use crate::dispatch::binary;
use crate::dispatch::binary::{Elementwise2, Needs, floating};
use crate::dispatch::operand::{Operand, SavedOperand, Value};
use crate::dtype::{Complex, DType, Real, Ring};
use crate::error::{Error, Result};
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Vectors;
use crate::ops::pointwise::compare::{eq, le};
use crate::ops::pointwise::logical;
use crate::ops::pointwise::select::masked_fill;
use crate::ops::{add, div, mul, sub};
use crate::tensor::Tensor;

/// Floating-point numbers only.
fn only_floats(common: DType, operation: &'static str) -> Result<DType> {
    match common.is_float() {
        true => Ok(common),
        false => Err(Error::NotImplementedFor { operation, dtype: common }.into()),
    }
}

/// y = √(a² + b²),  ∂y/∂a = a/y, ∂y/∂b = b/y
#[derive(Clone, Copy)]
pub struct Hypot;

impl Elementwise2 for Hypot {
    const NAME: &'static str = "hypot_cpu";
    const NODE: &'static str = "HypotBackward0";
    const INTEGERS: bool = false;
    const SHOWS_RESULT: &'static [&'static str] = &[Self::NODE];
    const LEFT_NEEDS: Needs = Needs::Both;
    const RIGHT_NEEDS: Needs = Needs::Both;

    fn shows(left: bool, right: bool) -> [bool; 2] {
        [left, right]
    }

    fn result(&self, common: DType) -> Result<DType> {
        only_floats(common, "hypot_cpu")
    }

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, a: A, b: A) -> A {
        math::hypot(a, b)
    }

    const SLOPES: bool = true;

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, a: A, b: A, t: A, is_second: bool) -> A {
        t * if is_second { b } else { a } / math::hypot(a, b)
    }

    fn left(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        self.left_from(a, b, &hypot(a, b)?, t)
    }

    fn right(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        self.right_from(a, b, &hypot(a, b)?, t)
    }

    fn left_from(&self, a: &Value, _b: &Value, y: &Tensor, t: &Tensor) -> Result<Tensor> {
        div(&mul(t, a)?, y)
    }

    fn right_from(&self, _a: &Value, b: &Value, y: &Tensor, t: &Tensor) -> Result<Tensor> {
        div(&mul(t, b)?, y)
    }
}

/// y = ln(eᵃ + eᵇ), or with powers and a logarithm of two,  ∂y/∂a = σ(a - b), ∂y/∂b = σ(b - a)
#[derive(Clone, Copy)]
pub struct LogAddExp<const TWO: bool>;

impl<const TWO: bool> LogAddExp<TWO> {
    /// t times the share of the first in the sum. Two equal infinities have none.
    fn share(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        let apart = sub(Operand::from(b), Operand::from(a))?;
        let other = if TWO { ops::pow(2.0, &apart)? } else { ops::exp(&apart)? };
        div(t, &add(&other, 1)?)
    }
}

impl<const TWO: bool> Elementwise2 for LogAddExp<TWO> {
    const NAME: &'static str = if TWO { "logaddexp2_cpu" } else { "logaddexp_cpu" };
    const NODE: &'static str = if TWO { "Logaddexp2Backward0" } else { "LogaddexpBackward0" };
    const INTEGERS: bool = false;
    const COMPLEX: bool = !TWO;
    const LEFT_NEEDS: Needs = Needs::Both;
    const RIGHT_NEEDS: Needs = Needs::Both;

    fn result(&self, common: DType) -> Result<DType> {
        match common.is_complex() && !TWO {
            true => Ok(common),
            false => only_floats(common, Self::NAME),
        }
    }

    fn complex(&self, a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
        math::log_add_exp(a, b)
    }

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, a: A, b: A) -> A {
        // What is no number has none beside it.
        let (most, apart) = (if a > b { a } else { b }, -(a - b).abs());
        let sum = match TWO {
            true => most + math::ln_1p_of_share(math::exp_2(apart)) * A::from_f64(1.0 / LN_2),
            false => most + math::ln_1p_of_share(math::exp(apart)),
        };
        let is_infinite = a == b && a.abs() == A::from_f64(f64::INFINITY);
        if is_infinite { a } else { sum }
    }

    const SLOPES: bool = true;

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, a: A, b: A, t: A, is_second: bool) -> A {
        let apart = if is_second { a - b } else { b - a };
        t / (A::from_f64(1.0) + if TWO { math::exp_2(apart) } else { math::exp(apart) })
    }

    fn left(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        self.share(a, b, t)
    }

    fn right(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        self.share(b, a, t)
    }
}

/// y = a ln b, or a ln(1 + b) for one more, and 0 where a is 0
///
/// ∂y/∂a is that logarithm, and 0 where a is 0 and there is none; ∂y/∂b = a/b or a/(1 + b)
#[derive(Clone, Copy)]
pub struct Xlogy<const ONE_MORE: bool>;

impl<const ONE_MORE: bool> Elementwise2 for Xlogy<ONE_MORE> {
    const NAME: &'static str = if ONE_MORE { "xlog1py_cpu" } else { "xlogy_cpu" };
    const NODE: &'static str = if ONE_MORE { "SpecialXlog1PyBackward0" } else { "XlogyBackward0" };
    const INTEGERS: bool = false;
    const TAKES_NUMBERS_AS_TENSORS: bool = false;
    const LEFT_NEEDS: Needs = Needs::Both;
    const RIGHT_NEEDS: Needs = Needs::Both;

    fn node(&self, a: &SavedOperand, b: &SavedOperand) -> &'static str {
        match (a, b) {
            (SavedOperand::Scalar(_), _) if ONE_MORE => "SpecialXlog1PyBackward1",
            (_, SavedOperand::Scalar(_)) if ONE_MORE => "SpecialXlog1PyBackward2",
            (SavedOperand::Scalar(_), _) => "XlogyBackward1",
            (_, SavedOperand::Scalar(_)) => "XlogyBackward2",
            _ => Self::NODE,
        }
    }

    fn result(&self, common: DType) -> Result<DType> {
        floating(common)
    }

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, a: A, b: A) -> A {
        let zero = A::from_f64(0.0);
        let product = a * if ONE_MORE { math::ln_1p(b) } else { math::ln(b) };
        let is_zero = a == zero && !Ring::is_nan(b.get());
        if is_zero { zero } else { product }
    }

    const SLOPES: bool = true;

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, a: A, b: A, t: A, is_second: bool) -> A {
        let (zero, one) = (A::from_f64(0.0), A::from_f64(1.0));
        if is_second {
            return t * a / if ONE_MORE { b + one } else { b };
        }
        let least = if ONE_MORE { -one } else { zero };
        let slope = self.vector(t, b);
        if a == zero && b <= least { zero } else { slope }
    }

    fn left(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        let (a, b) = (Operand::from(a), Operand::from(b));
        let (slope, least) = (binary::apply(*self, t.into(), b)?, if ONE_MORE { -1 } else { 0 });
        if matches!(b, Operand::Scalar(b) if b.to_f64() > f64::from(least)) {
            return Ok(slope);
        }
        masked_fill(&slope, &logical::and(&eq(a, 0)?, &le(b, i64::from(least))?)?, 0.0)
    }

    fn right(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        let (over, b) = (mul(t, a)?, Operand::from(b));
        if ONE_MORE { div(&over, &add(b, 1)?) } else { div(&over, b) }
    }
}

/// y = |a| with the sign of b,  ∂y/∂a = y/a, and 0 where a is 0, ∂y/∂b = 0
#[derive(Clone, Copy)]
pub struct Copysign;

impl Elementwise2 for Copysign {
    const NAME: &'static str = "copysign_cpu";
    const NODE: &'static str = "CopysignBackward0";
    const INTEGERS: bool = false;
    const SAVED: [&'static str; 2] = ["self", ""];
    const SHOWS_RESULT: &'static [&'static str] = &["CopysignBackward0", "CopysignBackward1"];
    const TAKES_NUMBERS_AS_TENSORS: bool = false;
    const SHOWS_NUMBERS: bool = false;
    const LEFT_NEEDS: Needs = Needs::Both;

    fn shows(left: bool, _right: bool) -> [bool; 2] {
        [left, false]
    }

    fn node(&self, _a: &SavedOperand, b: &SavedOperand) -> &'static str {
        if let SavedOperand::Scalar(_) = b { "CopysignBackward1" } else { Self::NODE }
    }

    fn result(&self, common: DType) -> Result<DType> {
        floating(common)
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        let negative = b.is_sign_negative();
        if negative { -a.abs() } else { a.abs() }
    }

    fn left(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        self.left_from(a, b, &copysign(a, b)?, t)
    }

    fn left_from(&self, a: &Value, _b: &Value, y: &Tensor, t: &Tensor) -> Result<Tensor> {
        let turn = div(y, Operand::from(a))?;
        mul(t, &masked_fill(&turn, &eq(a, 0)?, 0.0)?)
    }

    fn right(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        create::zeros_like(t)
    }
}

elementwise2! {
    copysign, copysign_: Copysign, "The absolute value of `input` with the sign of `other`.";
    hypot, hypot_: Hypot, "The hypotenuse of right triangles with these legs: sqrt(input² + other²).";
    logaddexp, logaddexp_: LogAddExp::<false>, "log(exp(input) + exp(other)), without overflow.";
    logaddexp2, logaddexp2_: LogAddExp::<true>, "log2(2^input + 2^other), without overflow.";
    xlogy, xlogy_: Xlogy::<false>, "`input * log(other)`, and zero where `input` is zero.";
}

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    ("CopysignBackward0", "copysign.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("CopysignBackward0", "copysign.Scalar(Tensor self, Scalar other) -> Tensor"),
    ("CopysignBackward1", "copysign.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("CopysignBackward1", "copysign.Scalar(Tensor self, Scalar other) -> Tensor"),
    ("HypotBackward0", "hypot(Tensor self, Tensor other) -> Tensor"),
    ("XlogyBackward0", "xlogy.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("XlogyBackward1", "xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor"),
    ("XlogyBackward2", "xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor"),
];

/// The entries of operations that have a form in place.
pub const PAIRS: &[Entry] = FORMS.as_flattened();

const FORMS: &[[Entry; 2]] = &[
    forms!(TENSORS TENSORS_IN_PLACE, "hypot", "hypot_", ops::hypot, ops::hypot_, "The hypotenuse of right triangles with these legs: sqrt(input² + other²).", &OutPolicy::ALIGNED),
    forms!(MIXED COMPARED_IN_PLACE, "xlogy", "xlogy_", ops::xlogy, ops::xlogy_, "`input * log(other)`, and zero where `input` is zero.", &OutPolicy::ALIGNED.out_as(|given| given.named(2, ".OutTensor", ".OutScalar_Other"))),
    forms!(COMPARED COMPARED_IN_PLACE, "copysign", "copysign_", ops::copysign, ops::copysign_, "The absolute value of `input` with the sign of `other`.", &OutPolicy::ALIGNED.unbatched_target(|_| UnbatchedTarget::Shape).out_as(|given| given.named(2, ".out", ".Scalar_out"))),
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("logaddexp", TENSORS, "log(exp(input) + exp(other)), without overflow.", |a| {
        ops::logaddexp(a.operand(0)?, a.operand(1)?).reply()
    })
    .written(&OutPolicy::ALIGNED)
    .operators(&[("LogaddexpBackward0", "logaddexp")]),
    both("logaddexp2", TENSORS, "log2(2^input + 2^other), without overflow.", |a| {
        ops::logaddexp2(a.operand(0)?, a.operand(1)?).reply()
    })
    .written(&OutPolicy::ALIGNED)
    .operators(&[("Logaddexp2Backward0", "logaddexp2")]),
    inner("special_xlog1py", MIXED, "`input * log1p(other)`, and zero where `input` is zero.", |a| {
        binary::apply(Xlogy::<true>, a.operand(0)?, a.operand(1)?).reply()
    })
    .written(&OutPolicy::ALIGNED)
    .operators(&[
        ("SpecialXlog1PyBackward0", "special_xlog1py"),
        ("SpecialXlog1PyBackward1", "special_xlog1py.self_scalar@1"),
        ("SpecialXlog1PyBackward2", "special_xlog1py.other_scalar@2"),
    ]),
];
