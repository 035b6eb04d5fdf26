//! Divisions that round, and what they leave over. Integers stay integers here.

use crate::dispatch::binary;
use crate::dispatch::binary::portable;
use crate::dispatch::binary::{Elementwise2, Needs};
use crate::dispatch::modes::plain::{Row, plain};
use crate::dispatch::modes::recording;
use crate::dispatch::operand::{Operand, SavedOperand, Value};
use crate::dtype::{Bool, DType, Element, Real};
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::UNDERIVED;
use crate::graph::shown::shown;
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::reduction::reduce;
use crate::kernels::vector::Vectors;
use crate::ops::creation::{copy, create};
use crate::ops::pointwise::integer::Integer;
use crate::ops::{mul, neg};
use crate::schema::elementwise2;
use crate::schema::signatures::{
    COMPARED, COMPARED_IN_PLACE, ONE_TENSOR, OPERAND_OR_NUMBER, OPERAND_OR_NUMBER_IN_PLACE,
};
use crate::schema::{
    Arguments, Entry, IntoReply, Operator, OutPolicy, Reply, both, forms, method, pair, receiver,
};
use crate::shape::Dims;
use crate::tensor::{Array, Tensor};

/// How a quotient is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Towards zero.
    Trunc,
    /// Down.
    Floor,
}

impl Rounding {
    /// The rounding of a name.
    pub fn named(name: &str) -> Result<Rounding> {
        match name {
            "trunc" => Ok(Rounding::Trunc),
            "floor" => Ok(Rounding::Floor),
            _ => Err(Error::RoundingMode { mode: name.to_owned() }.into()),
        }
    }
}

/// Integers are not divided by zero, and truth values are not divided at all.
fn check_divisor(a: Operand<'_>, b: Operand<'_>, common: DType, operation: &'static str) -> Result<()> {
    if common == DType::Bool {
        return Err(Error::NotImplementedFor { operation, dtype: common }.into());
    }
    if a.numbers().shape().contains(&0) {
        return Ok(());
    }
    let refused = move |zero: bool| if zero { Err(Error::IntegerDivision {}.into()) } else { Ok(()) };
    dispatch!(integer common, T => match b {
        Operand::Scalar(scalar) => refused(!scalar.to::<T>().is_true()),
        Operand::Tensor(b) => recording::checked(operation, &[b], move |b| {
            let array = b[0].array();
            let divisors = copy::as_type(&array, common)?;
            let axes: Dims = (0..divisors.layout.ndim()).collect();
            let mut are_others = Array::uninit_shape(&[], DType::Bool)?;
            reduce::all(divisors.view::<T>(), &axes, are_others.fresh());
            refused(are_others.slice::<Bool>().is_some_and(|found| !found[0].get()))
        }),
    }, else { Ok(()) })
}

fn truncated<T: Real>(a: T, b: T) -> T {
    (a / b).trunc()
}

/// ⌊a/b⌋, exact also where the quotient rounds up to the next integer.
fn floored<T: Real>(a: T, b: T) -> T {
    if b == T::ZERO {
        return a / b;
    }
    let left = a % b;
    let mut quotient = (a - left) / b;
    if left != T::ZERO && (b < T::ZERO) != (left < T::ZERO) {
        quotient = quotient - T::ONE;
    }
    if quotient == T::ZERO {
        return T::ZERO.copysign(a / b);
    }
    let below = quotient.floor();
    if quotient - below > T::from_f64(0.5) { below + T::ONE } else { below }
}

/// y = a/b rounded towards zero,  ∂y/∂a = ∂y/∂b = 0
#[derive(Clone, Copy)]
struct Truncated;

impl Elementwise2 for Truncated {
    const NAME: &'static str = "div_trunc_cpu";
    const NODE: &'static str = "DivBackward2";
    const LEFT_NEEDS: Needs = Needs::Right;
    const RIGHT_NEEDS: Needs = Needs::Both;

    fn shown(&self) -> Attributes {
        shown! { rounding_mode: "trunc" }
    }

    fn check(&self, a: Operand<'_>, b: Operand<'_>, common: DType) -> Result<()> {
        check_divisor(a, b, common, Self::NAME)
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        truncated(a, b)
    }

    fn integer<T: Integer>(&self, a: T, b: T) -> T {
        a.quotient(b)
    }

    fn left(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        create::zeros_like(t)
    }

    fn right(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        create::zeros_like(t)
    }
}

/// y = ⌊a/b⌋,  ∂y/∂a = ∂y/∂b = 0; torch has a name for the node if it is `differentiable`
#[derive(Clone, Copy)]
struct Floored {
    differentiable: bool,
}

impl Elementwise2 for Floored {
    const NAME: &'static str = "div_floor_cpu";
    const NODE: &'static str = "DivBackward2";
    const LEFT_NEEDS: Needs = Needs::Right;
    const RIGHT_NEEDS: Needs = Needs::Both;

    fn node(&self, _a: &SavedOperand, _b: &SavedOperand) -> &'static str {
        if self.differentiable { Self::NODE } else { UNDERIVED }
    }

    fn shown(&self) -> Attributes {
        if self.differentiable {
            shown! { rounding_mode: "floor" }
        } else {
            Attributes::new()
        }
    }

    fn derives(&self) -> bool {
        self.differentiable
    }

    fn check(&self, a: Operand<'_>, b: Operand<'_>, common: DType) -> Result<()> {
        check_divisor(a, b, common, Self::NAME)
    }

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, a: A, b: A) -> A {
        math::floor_quotient(a, b)
    }

    const HAS_FAR: bool = true;

    #[inline(always)]
    fn is_far<T: Real>(&self, a: T, b: T) -> bool {
        math::is_large_quotient(a, b)
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        floored(a, b)
    }

    fn integer<T: Integer>(&self, a: T, b: T) -> T {
        a.floored(b)
    }

    fn left(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        create::zeros_like(t)
    }

    fn right(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        create::zeros_like(t)
    }
}

/// The quotient, rounded.
pub fn div_rounded<'a>(
    a: impl Into<Operand<'a>>,
    b: impl Into<Operand<'a>>,
    rounding: Rounding,
) -> Result<Tensor> {
    match rounding {
        Rounding::Trunc => binary::apply(Truncated, a.into(), b.into()),
        Rounding::Floor => binary::apply(Floored { differentiable: true }, a.into(), b.into()),
    }
}

/// The quotient, rounded, in place.
pub fn div_rounded_<'a>(x: &Tensor, b: impl Into<Operand<'a>>, rounding: Rounding) -> Result<()> {
    match rounding {
        Rounding::Trunc => binary::apply_in_place(Truncated, x, b.into()),
        Rounding::Floor => binary::apply_in_place(Floored { differentiable: true }, x, b.into()),
    }
}

/// The quotient, rounded down. Gradients do not pass it.
pub fn floor_divide<'a>(a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Tensor> {
    binary::apply(Floored { differentiable: false }, a.into(), b.into())
}

/// The quotient, rounded down, in place.
pub fn floor_divide_<'a>(x: &Tensor, b: impl Into<Operand<'a>>) -> Result<()> {
    binary::apply_in_place(Floored { differentiable: false }, x, b.into())
}

/// y = a - bq,  ∂y/∂a = 1,  ∂y/∂b = -q: q is a/b rounded down if `FLOOR`, so that y has the sign of b, else rounded
/// towards zero, so that it has that of a
#[derive(Clone, Copy)]
pub struct Remainder<const FLOOR: bool>;

impl<const FLOOR: bool> Elementwise2 for Remainder<FLOOR> {
    const NAME: &'static str = if FLOOR { "remainder_cpu" } else { "fmod_cpu" };
    const NODE: &'static str = if FLOOR { "RemainderBackward1" } else { "FmodBackward1" };
    const TAKES_NUMBERS_AS_TENSORS: bool = false;
    const SHOWS_NUMBERS: bool = false;

    fn node(&self, _a: &SavedOperand, b: &SavedOperand) -> &'static str {
        match b {
            SavedOperand::Scalar(_) if FLOOR => "RemainderBackward0",
            SavedOperand::Scalar(_) => "FmodBackward0",
            _ => Self::NODE,
        }
    }
    const RIGHT_NEEDS: Needs = Needs::Both;

    fn check(&self, a: Operand<'_>, b: Operand<'_>, common: DType) -> Result<()> {
        check_divisor(a, b, common, Self::NAME)
    }

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, a: A, b: A) -> A {
        if FLOOR { math::remainder(a, b) } else { math::fmod(a, b) }
    }

    const HAS_FAR: bool = true;

    #[inline(always)]
    fn is_far<T: Real>(&self, a: T, b: T) -> bool {
        math::is_large_quotient(a, b)
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        let left = a % b;
        if FLOOR && left != T::ZERO && (b < T::ZERO) != (left < T::ZERO) { left + b } else { left }
    }

    fn integer<T: Integer>(&self, a: T, b: T) -> T {
        if FLOOR { a.modulo(b) } else { a.remainder(b) }
    }

    fn left(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        Ok(t.clone())
    }

    fn right(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        let rounding = if FLOOR { Rounding::Floor } else { Rounding::Trunc };
        mul(&neg(t)?, &div_rounded(a, b, rounding)?)
    }
}

elementwise2! {
    remainder, remainder_: Remainder::<true>, "The remainder of the division rounded down, with the sign of the divisor.";
    fmod, fmod_: Remainder::<false>, "The remainder of the division rounded towards zero, with the sign of the dividend.";
}

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    ("DivBackward2", "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor"),
    ("FmodBackward0", "fmod.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("FmodBackward0", "fmod.Scalar(Tensor self, Scalar other) -> Tensor"),
    ("RemainderBackward0", "remainder.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("RemainderBackward0", "remainder.Scalar(Tensor self, Scalar other) -> Tensor"),
    ("-", "floor_divide(Tensor self, Tensor other) -> Tensor"),
];

/// The entries of operations that have a form in place.
pub const PAIRS: &[Entry] = FORMS.as_flattened();

const FORMS: &[[Entry; 2]] = &[
    forms!(OPERAND_OR_NUMBER OPERAND_OR_NUMBER_IN_PLACE, "floor_divide", "floor_divide_", floor_divide, floor_divide_, "The quotient of two tensors, rounded down.", &OutPolicy::ALIGNED.unknown("floor_divide").in_place_as(|_| ".Tensor")),
    forms!(COMPARED COMPARED_IN_PLACE, "fmod", "fmod_", crate::ops::fmod, crate::ops::fmod_, "The remainder of the division rounded towards zero, with the sign of the dividend.", &OutPolicy::ALIGNED.overloaded()),
    forms!(ONE_TENSOR COMPARED_IN_PLACE, "remainder", "remainder_", crate::ops::remainder, crate::ops::remainder_, "The remainder of the division rounded down, with the sign of the divisor.", &OutPolicy::ALIGNED.overloaded()),
];

const DIVIDED: &[&str] = &[
    "(Tensor|Number input, Tensor|Number other, *, Tensor out=None)",
    "(Tensor|Number input, Tensor|Number other, *, str? rounding_mode, Tensor out=None)",
    "(Tensor input, Number other, *, str? rounding_mode)",
];

const DIVIDED_IN_PLACE: &[&str] = &[
    "(Tensor input, Tensor|Number other)",
    "(Tensor input, Tensor|Number other, *, str? rounding_mode)",
    "(Tensor input, Number other, *, str? rounding_mode)",
];

/// `divide` tells of one more than `div`.
const DIVIDE: &[&str] = &[DIVIDED[0], DIVIDED[1], "(Tensor input, Number other)", DIVIDED[2]];

const DIVIDE_IN_PLACE: &[&str] =
    &[DIVIDED_IN_PLACE[0], DIVIDED_IN_PLACE[1], "(Tensor input, Number other)", DIVIDED_IN_PLACE[2]];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "div",
        DIVIDED,
        "The quotient of two tensors, element by element, rounded as `rounding_mode` says.",
        divided,
    )
    .written(&OutPolicy::CALCULATED)
    .operators(&[("=", "div.Scalar(Tensor self, Scalar other) -> Tensor")]),
    method("div_", DIVIDED_IN_PLACE, "`div` in place.", divided_in_place).written(&OutPolicy::CALCULATED),
    both(
        "divide",
        DIVIDE,
        "The quotient of two tensors, element by element, rounded as `rounding_mode` says: `div`.",
        divided,
    )
    .written(&OutPolicy::ALIGNED.refused_as("div")),
    method("divide_", DIVIDE_IN_PLACE, "`div` in place.", divided_in_place).written(&OutPolicy::CALCULATED),
];

fn divided(a: &dyn Arguments) -> Result<Reply> {
    let (p, q) = pair(a)?;
    let quotient = rounding(a)?.and_then(|rounding| match rounding {
        None => crate::ops::div(p, q),
        Some(rounding) => div_rounded(p, q, rounding),
    });
    quotient.reply()
}

/// How quotients are rounded. An unknown way is refused as the operation is, which torch does after others.
fn rounding(a: &dyn Arguments) -> Result<Result<Option<Rounding>>> {
    let name = if a.overload() == 1 { a.optional_text(2)? } else { None };
    Ok(name.map(|name| Rounding::named(&name)).transpose())
}

fn divided_in_place(a: &dyn Arguments) -> Result<Reply> {
    let (x, q) = target(a)?;
    let written = rounding(a)?.and_then(|rounding| match rounding {
        None => crate::ops::div_(x, q),
        Some(rounding) => div_rounded_(x, q, rounding),
    });
    receiver(a, written)
}

/// The tensor that is changed and the other operand.
fn target<'a>(a: &'a dyn Arguments) -> Result<(&'a Tensor, Operand<'a>)> {
    Ok((a.tensor(0)?, a.operand(1)?))
}

plain! {
    struct Truncated {}
    struct Floored { differentiable }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[
    portable::row::<Truncated>("quotient rounded towards zero"),
    portable::row::<Floored>("quotient rounded down"),
];
