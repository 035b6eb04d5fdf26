//! Numbers by how they are written: mantissas and exponents, neighbours, signs and steps, divisors.

use crate::ops;
use crate::ops::creation::cast;
use crate::ops::pointwise::logical;
use crate::schema::elementwise2;
use crate::schema::signatures::{ONE_OUT, TENSORS, TENSORS_IN_PLACE};
use crate::schema::{Entry, IntoReply, Operator, OutPolicy, Types, UnbatchedTarget, both, forms};
use std::f64::consts::LN_2;

use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, apply, tangent};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::binary;
use crate::dispatch::binary::{Elementwise2, Needs, floating};
use crate::dispatch::memory_order;
use crate::dispatch::operand::{Operand, Value};
use crate::dtype::{Category, DType, Element, Real};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor, UNDERIVED};
use crate::kernels::pointwise::map;
use crate::ops::creation::{copy, create};
use crate::ops::pointwise::compare;
use crate::ops::pointwise::integer::Integer;
use crate::ops::pointwise::select::where_;
use crate::ops::{copysign, div, exp2, mul, pow};
use crate::tensor::{Array, Tensor};

/// y = a 2ᵇ,  ∂y/∂a = 2ᵇ, ∂y/∂b = y ln 2
#[derive(Clone, Copy)]
pub struct Ldexp {
    /// Whether the exponents were integers beside floating-point numbers. They are added to exponents then, so
    /// that 2ᵇ need not be a number of the type, and as in C only their lowest 32 bits count.
    pub whole: bool,
}

impl Elementwise2 for Ldexp {
    const NAME: &'static str = "ldexp";
    const NODE: &'static str = "LdexpBackward0";
    const INTEGERS: bool = false;
    const SAVED: [&'static str; 2] = ["", "other"];
    const SHOWS_RESULT: &'static [&'static str] = &[Self::NODE];
    const LEFT_NEEDS: Needs = Needs::Right;
    const RIGHT_NEEDS: Needs = Needs::Both;
    const COMPLEX: bool = true;

    fn shows(left: bool, _right: bool) -> [bool; 2] {
        [false, left]
    }

    fn result(&self, common: DType) -> Result<DType> {
        floating(common)
    }

    fn among(self, a: DType, b: DType) -> Self {
        Ldexp { whole: a.is_float() && matches!(b.category(), Category::Integer) }
    }

    fn second(&self, a: &Array, b: &Array) -> Result<Option<Array>> {
        match b.dtype {
            DType::Bool if a.dtype.is_float() => {
                Err(Error::NotImplementedFor { operation: "ldexp_cpu_exp", dtype: b.dtype }.into())
            }
            DType::Int64 if self.whole => Ok(Some(copy::as_type_in_order(b, DType::Int32)?.into_owned())),
            _ => Ok(None),
        }
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        // Exponents that the type rounds up to one that is no integer of C are as large as these get.
        if self.whole { scaled(a, Element::to_f64(b) as i32) } else { a * b.exp2() }
    }

    fn complex(
        &self,
        a: crate::dtype::Complex<f64>,
        b: crate::dtype::Complex<f64>,
    ) -> crate::dtype::Complex<f64> {
        a * (b * LN_2).exp()
    }

    fn left(&self, _a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        mul(t, &pow(2.0, Operand::from(b))?)
    }

    fn right(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        self.right_from(a, b, &ops::ldexp(a, b)?, t)
    }

    fn right_from(&self, _a: &Value, _b: &Value, y: &Tensor, t: &Tensor) -> Result<Tensor> {
        mul(&mul(t, y)?, LN_2)
    }
}

/// a 2ᵉ, rounded once.
fn scaled<T: Real>(a: T, exponent: i32) -> T {
    match T::DTYPE {
        DType::Float32 => T::from_f64(f64::from(libm::ldexpf(a.to_f64() as f32, exponent))),
        _ => T::from_f64(libm::ldexp(a.to_f64(), exponent)),
    }
}

/// y is next to a on the way to b,  ∂y/∂a = 1 unless b is there already, ∂y/∂b = 0
#[derive(Clone, Copy)]
pub struct Nextafter;

impl Elementwise2 for Nextafter {
    const NAME: &'static str = "nextafter_cpu";
    const NODE: &'static str = "NextafterBackward0";
    const INTEGERS: bool = false;
    const LEFT_NEEDS: Needs = Needs::Both;

    fn result(&self, common: DType) -> Result<DType> {
        match common.is_float() {
            true => Ok(common),
            false => Err(Error::NotImplementedFor { operation: "nextafter_cpu", dtype: common }.into()),
        }
    }

    #[inline(always)] // A loop is vectorised in one piece only.
    fn real<T: Real>(&self, a: T, b: T) -> T {
        let (next_up, next_down) = match T::DTYPE {
            DType::Float32 => {
                let a = a.to_f64() as f32;
                (T::from_f64(a.next_up().into()), T::from_f64(a.next_down().into()))
            }
            _ => (T::from_f64(a.to_f64().next_up()), T::from_f64(a.to_f64().next_down())),
        };
        match () {
            () if a < b => next_up,
            () if a > b => next_down,
            () if a == b => b,
            () => T::nan(),
        }
    }

    fn left(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        where_(&compare::ne(a, b)?, t, 0.0)
    }

    fn right(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        create::zeros_like(t)
    }
}

/// y = 0 for a < 0, 1 for a > 0, else b,  ∂y/∂a = 0, ∂y/∂b = 1 where a is 0
#[derive(Clone, Copy)]
struct Heaviside;

impl Elementwise2 for Heaviside {
    const NAME: &'static str = "heaviside_cpu";
    const NODE: &'static str = UNDERIVED;
    const RIGHT_NEEDS: Needs = Needs::Left;
    const SAVED: [&'static str; 2] = ["", ""];

    fn check(&self, a: Operand<'_>, b: Operand<'_>, _common: DType) -> Result<()> {
        let dtype = |operand: Operand<'_>| operand.tensor().map(Tensor::dtype);
        let is_complex = |operand| dtype(operand).is_some_and(DType::is_complex);
        match (is_complex(a) || is_complex(b), dtype(a) == dtype(b)) {
            (true, _) => Err(Error::HeavisideComplex {}.into()),
            (_, false) => Err(Error::HeavisideDTypes {}.into()),
            _ => Ok(()),
        }
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        if a == T::ZERO { b } else { T::from_f64(f64::from(u8::from(a > T::ZERO))) }
    }

    fn integer<T: Integer>(&self, a: T, b: T) -> T {
        match a {
            a if a == T::ZERO => b,
            a if a > T::ZERO => T::ONE,
            _ => T::ZERO,
        }
    }

    fn boolean(&self, a: bool, b: bool) -> Option<bool> {
        Some(a || b)
    }

    fn left(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        create::zeros_like(t)
    }

    fn right(&self, a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        where_(&compare::eq(a, 0.0)?, t, 0.0)
    }
}

/// y is the greatest common divisor of a and b, or their least common multiple
#[derive(Clone, Copy)]
struct Divisor<const MULTIPLE: bool>;

/// The greatest common divisor: nothing is divided but by powers of two.
fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    if a == 0 || b == 0 {
        return a | b;
    }
    let twos = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    while b != 0 {
        b >>= b.trailing_zeros();
        (a, b) = (a.min(b), a.abs_diff(b));
    }
    a << twos
}

fn magnitude<T: Integer>(x: T) -> T {
    if x < T::ZERO { T::ZERO.sub(x) } else { x }
}

impl<const MULTIPLE: bool> Elementwise2 for Divisor<MULTIPLE> {
    const NAME: &'static str = if MULTIPLE { "lcm_cpu" } else { "gcd_cpu" };
    const NODE: &'static str = UNDERIVED;
    const FLOATS: bool = false;

    fn result(&self, common: DType) -> Result<DType> {
        match common.is_differentiable() || common == DType::Bool {
            true => Err(Error::NotImplementedFor { operation: Self::NAME, dtype: common }.into()),
            false => Ok(common),
        }
    }

    fn integer<T: Integer>(&self, a: T, b: T) -> T {
        let [first, second] = [a, b].map(|x| x.to_i64().unsigned_abs());
        let divisor = T::from_i64(common_divisor(first, second).cast_signed());
        match MULTIPLE {
            true => magnitude(a.quotient(divisor).mul(b)),
            false => divisor,
        }
    }

    fn left(&self, _a: &Value, _b: &Value, _t: &Tensor) -> Result<Tensor> {
        unreachable!("integers have no gradient")
    }

    fn right(&self, _a: &Value, _b: &Value, _t: &Tensor) -> Result<Tensor> {
        unreachable!("integers have no gradient")
    }
}

/// Zero where the first operand is below zero, one where it is above, and the second elsewhere.
pub fn heaviside(a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    binary::apply(Heaviside, a, b)
}

/// `heaviside` in place.
pub fn heaviside_(x: &Tensor, b: Operand<'_>) -> Result<()> {
    binary::apply_in_place(Heaviside, x, b)
}

/// The greatest common divisors of integers.
pub fn gcd(a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    binary::apply(Divisor::<false>, a, b)
}

/// `gcd` in place.
pub fn gcd_(x: &Tensor, b: Operand<'_>) -> Result<()> {
    binary::apply_in_place(Divisor::<false>, x, b)
}

/// The least common multiples of integers.
pub fn lcm(a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    binary::apply(Divisor::<true>, a, b)
}

/// `lcm` in place.
pub fn lcm_(x: &Tensor, b: Operand<'_>) -> Result<()> {
    binary::apply_in_place(Divisor::<true>, x, b)
}

/// x = m 2ᵉ with ½ ≤ |m| < 1 and an integer e
///
/// dm = dx/2ᵉ, x̄ = m̄/2ᵉ
#[derive(Clone)]
struct Frexp;

impl Op for Frexp {
    type Saved = SavedTensor;
    const SAVED: &'static [&'static str] = &["exponent"];

    fn name(&self) -> &'static str {
        "FrexpBackward0"
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        let mut mantissas = Array::uninit(&x.layout, x.dtype)?;
        let mut exponents = Array::uninit(&x.layout, DType::Int32)?;
        dispatch!(float x.dtype, T => {
            let split = |x: T| match x.to_f64() {
                x if x.is_finite() => libm::frexp(x),
                x => (x, 0),
            };
            map::map(&x.strided::<T>(), mantissas.fresh::<T>(), move |x| T::from_f64(split(x).0));
            map::map(&x.strided::<T>(), exponents.fresh::<i32>(), move |x| split(x).1);
        }, else {
            return Err(Error::FrexpDType {}.into())
        });
        [mantissas, exponents].into_iter().map(|y| memory_order::settled(y, &[&x.layout])).collect()
    }

    fn save(&self, keep: &Keep<'_>) -> SavedTensor {
        keep.output(1)
    }

    fn vjp(&self, exponents: &SavedTensor, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let Some(gradient) = gradients.first().and_then(Option::as_ref) else { return Ok(smallvec![None]) };
        Ok(smallvec![Some(unscaled(gradient, &at.load(exponents)?)?)])
    }

    fn jvp(&self, exponents: &SavedTensor, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        Ok(smallvec![Some(unscaled(tangent(tangents), &at.load(exponents)?)?), None])
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(Frexp)
    }
}

/// x/2ᵉ
fn unscaled(x: &Tensor, exponents: &Tensor) -> Result<Tensor> {
    div(x, &exp2(&cast::to_dtype(exponents, x.dtype())?)?)
}

/// The mantissas and the exponents of floating-point numbers.
pub fn frexp(x: &Tensor) -> Result<(Tensor, Tensor)> {
    if !x.dtype().is_float() {
        return Err(Error::FrexpDType {}.into());
    }
    let mut outputs = apply(Frexp, &[x])?.into_iter();
    match (outputs.next(), outputs.next()) {
        (Some(mantissas), Some(exponents)) => Ok((mantissas, exponents)),
        _ => unreachable!("the operation has two outputs"),
    }
}

/// Whether elements have a minus sign, which zeros may have too.
pub fn signbit(x: &Tensor) -> Result<Tensor> {
    match x.dtype() {
        dtype if dtype.is_complex() => Err(Error::SignbitComplex {}.into()),
        dtype if dtype.is_float() => compare::lt(&copysign(1.0, &x.detach())?, 0),
        DType::Bool => logical::and(x, &logical::not(x)?),
        _ => compare::lt(x, 0),
    }
}

const STEP_IN_PLACE: &[&str] = &["(Tensor input, Tensor values)"];

const STEP: &[&str] = &["(Tensor input, Tensor values, *, Tensor out=None)"];

elementwise2! {
    ldexp, ldexp_: Ldexp { whole: false }, "`input * 2 ** other`, element by element.";
    nextafter, nextafter_: Nextafter, "The next floating-point number after `input` towards `other`.";
}

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    ("-", "nextafter(Tensor self, Tensor other) -> Tensor"),
    ("-", "heaviside(Tensor self, Tensor values) -> Tensor"),
];

/// The entries of operations that have a form in place.
pub const PAIRS: &[Entry] = FORMS.as_flattened();

const FORMS: &[[Entry; 2]] = &[
    forms!(TENSORS TENSORS_IN_PLACE, "gcd", "gcd_", gcd, gcd_, "The greatest common divisor of two tensors of integers.", &OutPolicy::ALIGNED.unbatched_target(|_| UnbatchedTarget::Shape)),
    forms!(TENSORS TENSORS_IN_PLACE, "lcm", "lcm_", lcm, lcm_, "The least common multiple of two tensors of integers.", &OutPolicy::ALIGNED.unbatched_target(|_| UnbatchedTarget::Shape)),
    forms!(TENSORS TENSORS_IN_PLACE, "ldexp", "ldexp_", ops::ldexp, ops::ldexp_, "`input * 2 ** other`, element by element.", &OutPolicy::ALIGNED.typed(Types::Ldexp)),
    forms!(TENSORS TENSORS_IN_PLACE, "nextafter", "nextafter_", ops::nextafter, ops::nextafter_, "The next floating-point number after `input` towards `other`.", &OutPolicy::ALIGNED),
    forms!(STEP STEP_IN_PLACE, "heaviside", "heaviside_", heaviside, heaviside_, "The Heaviside step function: 0 below zero, 1 above, `values` at zero.", &OutPolicy::ALIGNED.unknown("heaviside").typed(Types::Heaviside)),
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("signbit", ONE_OUT, "Whether the sign bit of each element is set; that of -0.0 is.", |a| {
        signbit(a.tensor(0)?).reply()
    })
    .written(&OutPolicy::PLAIN.once().unrecorded().typed(Types::Truth))
    .operators(&[("-", "signbit")]),
    both(
        "frexp",
        &["(Tensor input, *, Tensor[] out=None) -> return_types.frexp"],
        "Decomposes every element into a mantissa and an exponent of two.",
        |a| {
            let elements = frexp(a.tensor(0)?)?;
            Ok(elements).named("frexp")
        },
    )
    .written(&OutPolicy::PLAIN.once().typed(Types::Mantissa))
    .operators(&[("FrexpBackward0", "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)")]),
];
