//! Powers: of tensors and numbers, to tensors and numbers.

use crate::dispatch::binary::portable;
use crate::dispatch::binary::{Elementwise2, Loop, Needs};
use crate::dispatch::modes::plain::{Row, plain};
use crate::dispatch::operand::{Operand, SavedOperand, Value};
use crate::dispatch::{memory_order, unary};
use crate::dtype::{Complex, DType, Real, Ring, Scalar};
use crate::error::{Error, Result};
use crate::kernels::pointwise::complex;
use crate::kernels::pointwise::map;
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Vectors;
use crate::ops;
use crate::ops::creation::{cast, copy, create};
use crate::ops::pointwise::integer::Integer;
use crate::ops::pointwise::select::where_;
use crate::ops::pointwise::{compare, logical};
use crate::ops::{conjugate, mul, sub};
use crate::schema::elementwise2;
use crate::schema::signatures::POWERS;
use crate::schema::{Entry, Operator, OutPolicy, forms, one};
use crate::shape::Layout;
use crate::tensor::{Array, Tensor};

/// y = aᵇ,  ∂y/∂a = b aᵇ⁻¹, and 0 for b = 0,  ∂y/∂b = y ln a, and 0 for a = 0 ≤ b
///
/// A negative base has complex powers, though it is real. On their way back it is the conjugate of itself that counts,
/// which looks the same but is below the branch cut.
#[derive(Clone, Copy)]
pub struct Pow {
    is_conjugate: bool,
}

impl Pow {
    /// The base as the conjugate of a complex number, where a real one stands for it.
    fn lowered(&self, a: &Value, result: DType) -> Result<Option<Value>> {
        match a {
            Value::Tensor(base) if self.is_conjugate && result.is_complex() && !base.dtype().is_complex() => {
                conjugate::conj(cast::to_dtype(base, result)?).map(Value::Tensor).map(Some)
            }
            Value::Scalar(Scalar::Complex(_)) => Ok(None),
            Value::Scalar(base) if self.is_conjugate && result.is_complex() && base.to_f64() < 0.0 => {
                Ok(Some(Value::Scalar(Scalar::Complex(base.to_complex().conj()))))
            }
            _ => Ok(None),
        }
    }
}

impl Elementwise2 for Pow {
    const NAME: &'static str = "pow";
    const NODE: &'static str = "PowBackward1";
    const SAVED: [&'static str; 2] = ["self", "exponent"];
    const TAKES_NUMBERS_AS_TENSORS: bool = false;
    const LEFT_NEEDS: Needs = Needs::Both;
    const RIGHT_NEEDS: Needs = Needs::Both;
    const COMPLEX: bool = true;

    const SHOWS_RESULT: &'static [&'static str] = &["PowBackward1", "PowBackward2"];

    fn conjugated(&self) -> Self {
        Pow { is_conjugate: !self.is_conjugate }
    }

    fn node(&self, a: &SavedOperand, b: &SavedOperand) -> &'static str {
        match (a, b) {
            (_, SavedOperand::Scalar(_)) => "PowBackward0",
            (SavedOperand::Scalar(_), _) => "PowBackward2",
            _ => Self::NODE,
        }
    }

    fn check(&self, a: Operand<'_>, b: Operand<'_>, common: DType) -> Result<()> {
        match (a, b) {
            (Operand::Tensor(_), Operand::Tensor(_)) if common == DType::Bool => {
                Err(Error::NotImplementedFor { operation: Self::NAME, dtype: common }.into())
            }
            (_, Operand::Scalar(Scalar::Int(exponent))) if exponent < 0 && !common.is_differentiable() => {
                Err(Error::IntegerPower {}.into())
            }
            (_, Operand::Scalar(exponent)) if !common.is_differentiable() => {
                create::check_value(exponent, common)
            }
            _ => Ok(()),
        }
    }

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, a: A, b: A) -> A {
        math::pow(a, b)
    }

    const SLOPES: bool = true;

    fn slopes_beside(&self, number: f64) -> bool {
        ![0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, -0.5, -1.0].contains(&number)
    }

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, a: A, b: A, t: A, is_second: bool) -> A {
        let zero = A::from_f64(0.0);
        if is_second {
            let slope = t * (math::pow(a, b) * math::ln(a));
            return if a == zero && b >= zero { zero } else { slope };
        }
        let slope = t * (b * math::pow(a, b - A::from_f64(1.0)));
        if b == zero { zero } else { slope }
    }

    fn complex(&self, a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
        complex_power(a, b)
    }

    fn integer<T: Integer>(&self, a: T, b: T) -> T {
        a.power(b)
    }

    fn boolean(&self, a: bool, b: bool) -> Option<bool> {
        Some(a || !b)
    }

    /// The exponents that are a few multiplications, or of real numbers divisions and roots.
    fn has_number_way(&self, b: Scalar, dtype: DType) -> bool {
        let is_among = |exponents: &[f64]| b.real().is_some_and(|exponent| exponents.contains(&exponent));
        match dtype.is_float() {
            true => !dtype.is_stored() && is_among(&[-2.0, -1.0, -0.5, 0.5, 2.0, 3.0]),
            false => !dtype.is_stored() && dtype != DType::Bool && is_among(&[2.0, 3.0]),
        }
    }

    fn number_loop<T: Real>(&self, b: Scalar) -> Option<Loop<T>> {
        match b.real() {
            Some(2.0) => Some(|a, out| map::map_slice(a, out, |x| x * x)),
            Some(3.0) => Some(|a, out| map::map_slice(a, out, |x| x * x * x)),
            _ => None,
        }
    }

    fn with_number(&self, a: &Array, b: Scalar, dtype: DType) -> Option<Result<Array>> {
        if !self.has_number_way(b, dtype) {
            return None;
        }
        let exponent = b.to_f64();
        Some(copy::as_type_in_order(a, dtype).and_then(|a| {
            dispatch!(float dtype, T => match exponent {
                -2.0 => unary::compute::<T, T>(&a, dtype, |x| (x * x).recip()),
                -1.0 => unary::compute::<T, T>(&a, dtype, T::recip),
                -0.5 => unary::compute::<T, T>(&a, dtype, |x| x.sqrt().recip()),
                0.5 => unary::compute::<T, T>(&a, dtype, T::sqrt),
                2.0 => unary::compute::<T, T>(&a, dtype, |x| x * x),
                _ => unary::compute::<T, T>(&a, dtype, |x| x * x * x),
            }, else {
                dispatch!(integer dtype, T => product::<T>(&a, exponent), else {
                    dispatch!(complex dtype, T => product::<T>(&a, exponent), else {
                        unreachable!("truth values do not come here")
                    })
                })
            })
        }))
    }

    fn with_number_in_place(&self, numbers: &mut [f32], b: f32) {
        match b {
            -2.0 => map::map_slice_in_place(numbers, |x| (x * x).recip()),
            -1.0 => map::map_slice_in_place(numbers, f32::recip),
            -0.5 => map::map_slice_in_place(numbers, |x| x.sqrt().recip()),
            0.5 => map::map_slice_in_place(numbers, f32::sqrt),
            2.0 => map::map_slice_in_place(numbers, |x| x * x),
            _ => map::map_slice_in_place(numbers, |x| x * x * x),
        }
    }

    /// An exponent that is a number says nothing about the result, a base that is one leaves it in order.
    fn laid_out(&self, y: Array, operands: [Option<&Layout>; 2]) -> Result<Array> {
        match operands {
            [Some(base), None] => memory_order::settled(y, &[base]),
            [None, Some(_)] => memory_order::in_order(y),
            _ => Ok(y),
        }
    }

    fn left(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        if let Some(a) = self.lowered(a, t.dtype())? {
            return Pow { is_conjugate: false }.left(&a, b, t);
        }
        match b {
            Value::Scalar(exponent) if exponent.real() == Some(0.0) => create::zeros_like(t),
            // Short cuts, unless the slope is recorded: it depends on `a`, even if no number shows it.
            Value::Scalar(exponent) if exponent.real() == Some(1.0) && !is_recorded(a) => Ok(t.clone()),
            Value::Scalar(exponent) if exponent.real() == Some(2.0) && !is_recorded(a) => {
                mul(t, &mul(Operand::from(a), 2)?)
            }
            Value::Scalar(exponent) => mul(t, &mul(&pow(a, less_one(*exponent))?, *exponent)?),
            Value::Tensor(exponent) => {
                let slope = mul(exponent, &pow(a, &sub(exponent, 1)?)?)?;
                where_(&compare::eq(exponent, 0)?, 0, &mul(t, &slope)?)
            }
        }
    }

    fn right(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        match self.lowered(a, t.dtype())? {
            Some(a) => Pow { is_conjugate: false }.right(&a, b, t),
            None => self.right_from(a, b, &pow(a, b)?, t),
        }
    }

    fn right_from(&self, a: &Value, b: &Value, power: &Tensor, t: &Tensor) -> Result<Tensor> {
        if let Some(a) = self.lowered(a, power.dtype())? {
            return Pow { is_conjugate: false }.right_from(&a, b, power, t);
        }
        let (logarithm, at_zero) = match a {
            Value::Scalar(base) if base.is_true() => {
                let logarithm = match power.dtype().is_complex() {
                    true => Scalar::Complex(base.to_complex().ln()),
                    false => Scalar::Float(base.to_f64().ln()),
                };
                return mul(t, &mul(power, logarithm)?);
            }
            Value::Scalar(_) => (mul(power, f64::NEG_INFINITY)?, is_positive(b)?),
            Value::Tensor(base) => {
                let base = match power.dtype().is_complex() {
                    true => cast::to_dtype(base, power.dtype())?,
                    false => base.clone(),
                };
                let at_zero = logical::and(&compare::eq(&base, 0)?, &is_positive(b)?)?;
                (mul(power, &ops::log(&base)?)?, at_zero)
            }
        };
        mul(t, &where_(&at_zero, 0, &logarithm)?)
    }
}

/// The squares or cubes of elements.
fn product<T: Ring>(a: &Array, exponent: f64) -> Result<Array> {
    match exponent == 2.0 {
        true => unary::compute::<T, T>(a, T::DTYPE, |x| x.mul(x)),
        false => unary::compute::<T, T>(a, T::DTYPE, |x| x.mul(x).mul(x)),
    }
}

/// Whether exponents, or their real parts, are zero or more.
fn is_positive(exponent: &Value) -> Result<Tensor> {
    match exponent {
        Value::Tensor(exponent) => compare::ge(&conjugate::real(exponent)?, 0),
        Value::Scalar(exponent) => compare::ge(exponent.to_f64(), 0),
    }
}

/// aᵇ of complex numbers; the exponents that are a few multiplications or a root are these.
fn complex_power(a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
    if b == Complex::ZERO {
        return Complex::ONE;
    }
    if a == Complex::ZERO && b.re > 0.0 {
        return Complex::ZERO;
    }
    match b.re {
        1.0 if b.im == 0.0 => a,
        2.0 if b.im == 0.0 => a * a,
        3.0 if b.im == 0.0 => a * a * a,
        0.5 if b.im == 0.0 => complex::sqrt(a),
        -0.5 if b.im == 0.0 => complex::reciprocal(complex::sqrt(a)),
        -1.0 if b.im == 0.0 => complex::reciprocal(a),
        -2.0 if b.im == 0.0 => complex::reciprocal(a * a),
        _ => a.powc(b),
    }
}

fn is_recorded(value: &Value) -> bool {
    matches!(value, Value::Tensor(tensor) if tensor.requires_grad())
}

fn less_one(exponent: Scalar) -> Scalar {
    match exponent {
        Scalar::Int(exponent) => Scalar::Int(exponent.saturating_sub(1)),
        Scalar::Complex(exponent) => Scalar::Complex(exponent - 1.0),
        other => Scalar::Float(other.to_f64() - 1.0),
    }
}

/// The square of every element.
pub fn square(x: &Tensor) -> Result<Tensor> {
    pow(x, 2)
}

/// The square of every element, in place.
pub fn square_(x: &Tensor) -> Result<()> {
    pow_(x, 2)
}

const RAISED_IN_PLACE: &[&str] = &["(Tensor input, Tensor exponent)", "(Tensor input, Number exponent)"];

elementwise2! {
    pow, pow_: Pow { is_conjugate: false }, "`input` raised to the power of `exponent`, element by element.";
}

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    ("PowBackward0", "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor"),
    ("PowBackward1", "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor"),
    ("PowBackward2", "pow.Scalar(Scalar self, Tensor exponent) -> Tensor"),
];

/// The entries of operations that have a form in place.
pub const PAIRS: &[Entry] = FORMS.as_flattened();

const FORMS: &[[Entry; 2]] = &[
    forms!(POWERS RAISED_IN_PLACE, "pow", "pow_", crate::ops::pow, crate::ops::pow_, "`input` raised to the power of `exponent`, element by element.", &OutPolicy::ALIGNED.overloaded().out_of_pairs()),
    one!(
        "square",
        "square_",
        square,
        square_,
        "The square of every element.",
        &OutPolicy::ALIGNED.refused_as("pow")
    ),
];

plain! {
    struct Pow { is_conjugate }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Pow>("pow"), portable::row_of_write::<Pow>("pow_")];
