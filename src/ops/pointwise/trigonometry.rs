//! Circular functions and their inverses.

use crate::dispatch::binary;
use crate::dispatch::binary::{Elementwise2, Needs};
use crate::dispatch::operand::{Operand, Value};
use crate::dispatch::unary::{Elementwise, Keeps};
use crate::dtype::{Complex, DType, Real};
use crate::error::Result;
use crate::kernels::pointwise::complex;
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Vectors;
use crate::ops::creation::create;
use crate::ops::pointwise::compare;
use crate::ops::pointwise::logical;
use crate::ops::pointwise::power::square;
use crate::ops::pointwise::select::masked_fill;
use crate::ops::{add, div, mul, neg, reciprocal, rsqrt};
use crate::schema::signatures::{TENSORS, TENSORS_IN_PLACE};
use crate::schema::{Entry, Operator, OutPolicy, UnbatchedTarget, forms, renamed};
use crate::schema::{elementwise, elementwise2};
use crate::tensor::Tensor;

/// y = sin x,  dy/dx = cos x
#[derive(Clone, Copy)]
pub struct Sin;

impl Elementwise for Sin {
    const NAME: &'static str = "sin";
    const NODE: &'static str = "SinBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const COMPLEX: bool = true;

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::sin(x)
    }

    const HAS_FAR: bool = true;

    #[inline(always)]
    fn is_far<T: Real>(&self, x: T) -> bool {
        math::is_many_turns(x)
    }

    fn real<T: Real>(&self, x: T) -> T {
        x.sin()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        complex::sin(x)
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

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::cos(x)
    }

    const HAS_FAR: bool = true;

    #[inline(always)]
    fn is_far<T: Real>(&self, x: T) -> bool {
        math::is_many_turns(x)
    }

    fn real<T: Real>(&self, x: T) -> T {
        x.cos()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        complex::cos(x)
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

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::tan(x)
    }

    const HAS_FAR: bool = true;

    #[inline(always)]
    fn is_far<T: Real>(&self, x: T) -> bool {
        math::is_many_turns(x)
    }

    fn real<T: Real>(&self, x: T) -> T {
        x.tan()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        complex::tan(x)
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

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::asin(x)
    }

    const SLOPE: bool = true;

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A) -> A {
        A::from_f64(1.0) / (A::from_f64(1.0) - x * x).sqrt()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        complex::asin(x)
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

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::acos(x)
    }

    const SLOPE: bool = true;

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A) -> A {
        A::from_f64(-1.0) / (A::from_f64(1.0) - x * x).sqrt()
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        complex::acos(x)
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

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::atan(x)
    }

    const SLOPE: bool = true;

    #[inline(always)]
    fn slope<A: Arithmetic>(&self, x: A) -> A {
        A::from_f64(1.0) / x.times_plus(x, A::from_f64(1.0))
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        complex::atan(x)
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
    let origin = logical::and(&zero(a)?, &zero(b)?)?;
    masked_fill(&reciprocal(&square_sum(a, b)?)?, &origin, 0.0)
}

impl Elementwise2 for Atan2 {
    const NAME: &'static str = "atan2_cpu";
    const NODE: &'static str = "Atan2Backward0";
    const INTEGERS: bool = false;
    const LEFT_NEEDS: Needs = Needs::Both;
    const RIGHT_NEEDS: Needs = Needs::Both;

    fn result(&self, common: DType) -> Result<DType> {
        binary::floating(common)
    }

    const VECTOR: Vectors = Vectors::All;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, a: A, b: A) -> A {
        math::atan2(a, b)
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
            Value::Scalar(a) => Value::Tensor(neg(&create::full(&[], *a, t.dtype())?)?),
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

elementwise! {
    acos, acos_: Acos, "The inverse cosine of every element, in radians.";
    asin, asin_: Asin, "The inverse sine of every element, in radians.";
    atan, atan_: Atan, "The inverse tangent of every element, in radians.";
    cos, cos_: Cos, "The cosine of every element.";
    sin, sin_: Sin, "The sine of every element.";
    tan, tan_: Tan, "The tangent of every element.";
}

elementwise2! {
    atan2, atan2_: Atan2, "The angle in radians of the point (other, input), element by element.";
}

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[("Atan2Backward0", "atan2(Tensor self, Tensor other) -> Tensor")];

/// The entries of operations that have a form in place.
pub const PAIRS: &[Entry] = FORMS.as_flattened();

const FORMS: &[[Entry; 2]] = &[
    forms!(TENSORS TENSORS_IN_PLACE, "atan2", "atan2_", crate::ops::atan2, crate::ops::atan2_, "The angle in radians of the point (other, input), element by element.", &OutPolicy::ALIGNED.unbatched_target(|_| UnbatchedTarget::Shape)),
    forms!(TENSORS TENSORS_IN_PLACE, "arctan2", "arctan2_", crate::ops::atan2, crate::ops::atan2_, "The angle in radians of the point (other, input), element by element: `atan2`.", &OutPolicy::ALIGNED.refused_as("atan2").unbatched_target(|_| UnbatchedTarget::Shape)),
    renamed!("arcsin", "arcsin_", asin, asin_, "The inverse sine of every element: `asin`."),
    renamed!("arccos", "arccos_", acos, acos_, "The inverse cosine of every element: `acos`."),
    renamed!("arctan", "arctan_", atan, atan_, "The inverse tangent of every element: `atan`."),
];
