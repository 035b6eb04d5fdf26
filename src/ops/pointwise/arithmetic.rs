//! Sums, differences, products, quotients. Quotients that are rounded are in `division`.

mod entries;

use crate::dispatch::binary;
use crate::dispatch::binary::portable;
use crate::dispatch::binary::{Elementwise2, Needs};
use crate::dispatch::modes::plain::{Row, plain};
use crate::dispatch::operand::{Operand, SavedOperand, Value};
use crate::dispatch::stored::Unsigned;
use crate::dispatch::{batch, memory_order};
use crate::dtype::{DType, Number, Real, Ring, Scalar};
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::shown::shown;
use crate::kernels::pointwise::chain::Step;
use crate::kernels::pointwise::complex;
use crate::ops;
use crate::ops::pointwise::integer::Integer;
use crate::schema::elementwise2;
use crate::schema::signatures::{OPERAND_OR_NUMBER, OPERAND_OR_NUMBER_IN_PLACE};
use crate::schema::{
    Arguments, Entry, IntoReply, Operator, OutPolicy, Reply, UnbatchedTarget, both, forms, function, inner,
    method, pair, receiver_in_own_order,
};
pub use entries::{ENTRIES, OPERATORS, PAIRS};

use crate::ops::pointwise::numbers::WithNumber;
use crate::shape::{self, Layout};
use crate::tensor::{Array, Tensor};

/// t · factor, without a multiplication by one
pub(crate) fn times(t: &Tensor, factor: Scalar) -> Result<Tensor> {
    if factor.real() == Some(1.0) { Ok(t.clone()) } else { mul(t, factor) }
}

/// Whether α can scale an operand of this type. Shapes that do not go together are told first.
fn check_alpha(a: Operand<'_>, b: Operand<'_>, alpha: Scalar, common: DType) -> Result<()> {
    let error = match alpha {
        Scalar::Bool(_) if common != DType::Bool => Error::AlphaBool {},
        Scalar::Float(_) | Scalar::Complex(_) if !common.is_differentiable() => Error::AlphaFloat {},
        Scalar::Complex(_) if !common.is_complex() => Error::AlphaComplex {},
        _ => return Ok(()),
    };
    if let (Operand::Tensor(a), Operand::Tensor(b)) = (a, b) {
        shape::broadcast(a.layout().shape(), b.layout().shape())
            .map_err(|error| batch::told_of_all(error, &[a, b]))?;
    }
    Err(error.into())
}

/// αx of complex numbers, where a factor without an imaginary part leaves zeros and infinities as they are
fn scaled<T: Ring>(alpha: Scalar) -> impl Fn(T) -> T + Copy + Send + Sync {
    move |x| match alpha {
        Scalar::Complex(alpha) => T::from_complex(x.to_complex() * alpha),
        alpha => T::from_complex(x.to_complex() * alpha.to_f64()),
    }
}

/// Truth values are not subtracted, and nothing is subtracted from them.
fn check_difference(a: Operand<'_>, b: Operand<'_>, common: DType) -> Result<()> {
    if common == DType::Bool {
        return Err(Error::SubtractBool {}.into());
    }
    if a.dtype() == DType::Bool || b.dtype() == DType::Bool {
        return Err(Error::SubtractWithBool {}.into());
    }
    Ok(())
}

/// a + b
pub const PLUS: Sum<false> = Sum;

/// a - b
pub const LESS: Sum<true> = Sum;

/// y = a ± b,  ∂y/∂a = 1,  ∂y/∂b = ±1
///
/// What most sums are. It says again what `Scaled` says of α = 1, so that neither loops nor nodes carry a factor.
#[derive(Clone, Copy)]
pub struct Sum<const MINUS: bool>;

impl<const MINUS: bool> Elementwise2 for Sum<MINUS> {
    const NAME: &'static str = Scaled::<MINUS>::NAME;
    const NODE: &'static str = Scaled::<MINUS>::NODE;
    const WITH_NUMBER: Option<WithNumber> = Scaled::<MINUS>::WITH_NUMBER;
    const STEP: Option<Step> = Some(if MINUS { Step::Subtract } else { Step::Add });
    const EXACT_NUMBERS: bool = true;
    const COMPLEX: bool = true;

    fn shown(&self) -> Attributes {
        shown! { alpha: Scalar::Int(1) }
    }

    fn check(&self, a: Operand<'_>, b: Operand<'_>, common: DType) -> Result<()> {
        if MINUS { check_difference(a, b, common) } else { Ok(()) }
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        if MINUS { a - b } else { a + b }
    }

    const RING: bool = true;

    fn ring<T: Ring>(&self, a: T, b: T) -> T {
        if MINUS { a.sub(b) } else { a.add(b) }
    }

    fn integer<T: Number>(&self, a: T, b: T) -> T {
        self.ring(a, b)
    }

    fn boolean(&self, a: bool, b: bool) -> Option<bool> {
        (!MINUS).then_some(a || b)
    }

    fn left(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        Ok(t.clone())
    }

    fn right(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        if MINUS { ops::neg(t) } else { Ok(t.clone()) }
    }
}

/// y = a + αb
pub type Add = Scaled<false>;

/// y = a - αb
pub type Sub = Scaled<true>;

/// y = a ± αb,  ∂y/∂a = 1,  ∂y/∂b = ±α
#[derive(Clone, Copy)]
pub struct Scaled<const MINUS: bool> {
    /// α
    pub alpha: Scalar,
}

impl<const MINUS: bool> Elementwise2 for Scaled<MINUS> {
    const NAME: &'static str = if MINUS { "sub" } else { "add" };
    const NODE: &'static str = if MINUS { "SubBackward0" } else { "AddBackward0" };
    const WITH_NUMBER: Option<WithNumber> = Some(if MINUS { WithNumber::Sub } else { WithNumber::Add });
    const UNSIGNED: Unsigned = Unsigned::Wrapped;
    const EXACT_NUMBERS: bool = true;
    const COMPLEX: bool = true;

    fn in_half(&self, dtype: DType) -> Self {
        Self { alpha: dtype.rounded(self.alpha.to_f64()).into() }
    }

    fn shown(&self) -> Attributes {
        shown! { alpha: self.alpha }
    }

    fn check(&self, a: Operand<'_>, b: Operand<'_>, common: DType) -> Result<()> {
        if MINUS {
            check_difference(a, b, common)?;
        }
        check_alpha(a, b, self.alpha, common)
    }

    fn loops<T: Real>(self) -> impl Fn(T, T) -> T + Copy + Send + Sync {
        let alpha: T = self.alpha.to();
        move |a, b| if MINUS { a - b * alpha } else { a + b * alpha }
    }

    const RING: bool = true;

    fn rings<T: Ring>(self) -> impl Fn(T, T) -> T + Copy + Send + Sync {
        let scaled = scaled(self.alpha);
        move |a, b| if MINUS { a.sub(scaled(b)) } else { a.add(scaled(b)) }
    }

    fn integers<T: Integer>(self) -> impl Fn(T, T) -> T + Copy + Send + Sync {
        let alpha: T = self.alpha.to();
        move |a, b| if MINUS { a.sub(b.mul(alpha)) } else { a.add(b.mul(alpha)) }
    }

    fn boolean(&self, a: bool, b: bool) -> Option<bool> {
        (!MINUS).then_some(a || b && self.alpha.to_f64() != 0.0)
    }

    fn conjugated(&self) -> Self {
        Self { alpha: self.alpha.conj() }
    }

    fn left(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        Ok(t.clone())
    }

    fn right(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        if MINUS { times(&ops::neg(t)?, self.alpha) } else { times(t, self.alpha) }
    }
}

/// y = b - αa,  ∂y/∂a = -α,  ∂y/∂b = 1
#[derive(Clone, Copy)]
pub struct Rsub {
    /// α
    pub alpha: Scalar,
}

impl Elementwise2 for Rsub {
    const NAME: &'static str = "rsub";
    const NODE: &'static str = "RsubBackward0";
    const UNSIGNED: Unsigned = Unsigned::Wrapped;
    const TAKES_NUMBERS_AS_TENSORS: bool = false;
    const COMPLEX: bool = true;

    fn in_half(&self, dtype: DType) -> Self {
        Self { alpha: dtype.rounded(self.alpha.to_f64()).into() }
    }

    fn shown(&self) -> Attributes {
        shown! { alpha: self.alpha }
    }

    fn node(&self, _a: &SavedOperand, b: &SavedOperand) -> &'static str {
        if matches!(b, SavedOperand::Scalar(_)) { "RsubBackward1" } else { Self::NODE }
    }

    fn check(&self, a: Operand<'_>, b: Operand<'_>, common: DType) -> Result<()> {
        check_difference(a, b, common)?;
        check_alpha(a, b, self.alpha, common)
    }

    /// torch takes the second operand first.
    fn laid_out(&self, y: Array, operands: [Option<&Layout>; 2]) -> Result<Array> {
        match operands {
            [Some(a), Some(b)] => memory_order::settled(y, &[b, a]),
            _ => Ok(y),
        }
    }

    fn loops<T: Real>(self) -> impl Fn(T, T) -> T + Copy + Send + Sync {
        let alpha: T = self.alpha.to();
        move |a, b| b - a * alpha
    }

    const RING: bool = true;

    fn rings<T: Ring>(self) -> impl Fn(T, T) -> T + Copy + Send + Sync {
        let scaled = scaled(self.alpha);
        move |a, b| b.sub(scaled(a))
    }

    fn integers<T: Integer>(self) -> impl Fn(T, T) -> T + Copy + Send + Sync {
        let alpha: T = self.alpha.to();
        move |a, b| b.sub(a.mul(alpha))
    }

    fn conjugated(&self) -> Self {
        Self { alpha: self.alpha.conj() }
    }

    fn left(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        times(&ops::neg(t)?, self.alpha)
    }

    fn right(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        Ok(t.clone())
    }
}

/// y = ab,  ∂y/∂a = b,  ∂y/∂b = a
#[derive(Clone, Copy)]
pub struct Mul;

impl Elementwise2 for Mul {
    const NAME: &'static str = "mul";
    const NODE: &'static str = "MulBackward0";
    const WITH_NUMBER: Option<WithNumber> = Some(WithNumber::Mul);
    const STEP: Option<Step> = Some(Step::Multiply);
    const LEFT_NEEDS: Needs = Needs::Right;
    const RIGHT_NEEDS: Needs = Needs::Left;
    const SYMMETRIC: bool = true;
    const EXACT_NUMBERS: bool = true;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, a: T, b: T) -> T {
        a * b
    }

    const RING: bool = true;

    fn ring<T: Ring>(&self, a: T, b: T) -> T {
        a.mul(b)
    }

    fn integer<T: Number>(&self, a: T, b: T) -> T {
        a.mul(b)
    }

    fn boolean(&self, a: bool, b: bool) -> Option<bool> {
        Some(a && b)
    }

    fn left(&self, _a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        mul(t, b)
    }

    fn right(&self, a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        mul(t, a)
    }
}

/// y = a/b,  ∂y/∂a = 1/b,  ∂y/∂b = -a/b²
#[derive(Clone, Copy)]
pub struct Div;

impl Elementwise2 for Div {
    const NAME: &'static str = "div";
    const NODE: &'static str = "DivBackward0";
    const INTEGERS: bool = false;
    const WITH_NUMBER: Option<WithNumber> = Some(WithNumber::Div);
    const LEFT_NEEDS: Needs = Needs::Right;
    const RIGHT_NEEDS: Needs = Needs::Both;
    const EXACT_NUMBERS: bool = true;
    const COMPLEX: bool = true;
    const RING: bool = true;
    const UNSIGNED: Unsigned = Unsigned::Refused;

    fn result(&self, common: DType) -> Result<DType> {
        binary::floating(common)
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        a / b
    }

    #[inline(always)] // A loop is vectorised in one piece only.
    fn ring<T: Ring>(&self, a: T, b: T) -> T {
        T::from_complex(complex::quotient(a.to_complex(), b.to_complex()))
    }

    fn left(&self, _a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        ops::div(t, b)
    }

    fn right(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        let quotient = ops::div(&ops::div(Operand::from(a), b)?, b)?;
        mul(&ops::neg(t)?, &quotient)
    }
}

/// Of operations whose nodes take a number as one.
const NUMBER: &[&str] = &["(Tensor input, Number other)"];

/// How what is changed in place is written.
const CHANGED: OutPolicy = OutPolicy::PLAIN.in_place_as(|_| ".Tensor");

const REVERSED: &[&str] =
    &["(Tensor input, Tensor other, *, Number alpha=1)", "(Tensor input, Number other, Number alpha=1)"];

const OPERANDS: &[&str] = &["(Tensor|Number input, Tensor|Number other, *, Tensor out=None)"];

const OPERANDS_IN_PLACE: &[&str] = &["(Tensor input, Tensor|Number other)"];

elementwise2! {
    add, add_: PLUS, "`input + alpha * other`, element by element.";
    sub, sub_: LESS, "`input - alpha * other`, element by element.";
    mul, mul_: Mul, "The product of two tensors, element by element.";
    div, div_: Div, "The quotient of two tensors, element by element, rounded as `rounding_mode` says.";
    rsub, rsub_: Rsub { alpha: Scalar::Int(1) }, "`other - alpha * input`, element by element.";
}

plain! {
    struct Add { alpha }
    struct Sub { alpha }
    struct Rsub { alpha }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[
    portable::row::<Add>("add times"),
    portable::row_of_write::<Add>("add times_"),
    portable::row::<Sub>("sub times"),
    portable::row_of_write::<Sub>("sub times_"),
    portable::row::<Rsub>("rsub"),
    portable::row_of_write::<Rsub>("rsub_"),
];
