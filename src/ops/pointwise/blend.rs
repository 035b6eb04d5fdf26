//! Products, quotients and differences of two tensors, weighed and added to a third.

use crate::dispatch::binary::numbers;
use crate::dispatch::composites::pointwise::{Pointwise, apply};
use crate::dispatch::composites::saved_inputs::LoadedInputs;
use crate::dispatch::fused::{fused_numbers, overwritten};
use crate::dispatch::in_place;
use crate::dispatch::operand::{Operand, result_type};
use crate::dispatch::unary;
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::shown::shown;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Function;
use crate::ops::complex;
use crate::ops::pointwise::arithmetic::{Div, LESS, Mul, PLUS};
use crate::ops::pointwise::compare;
use crate::ops::pointwise::compare::Question;
use crate::ops::pointwise::rounding::Abs;
use crate::ops::pointwise::select;
use crate::ops::{div, mul, neg, sub};
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, both, method, receiver};
use crate::shape;
use crate::tensor::Array;
use crate::tensor::Tensor;

/// x + v a b, or x + v a/b, of elements as loops take them.
#[derive(Clone, Copy)]
struct Added<const QUOTIENT: bool>(f64);

impl<const QUOTIENT: bool> Function<2> for Added<QUOTIENT> {
    const LITTLE: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn at<A: Arithmetic>(&self, x: A, [a, b]: [A; 2]) -> A {
        let scaled = if QUOTIENT { a / b } else { a * b };
        x + scaled * A::from_f64(self.0)
    }
}

/// The same of arrays, if they are alike.
fn added<const QUOTIENT: bool>(inputs: &[Array], value: Scalar) -> Result<Option<Array>> {
    match (inputs, value) {
        (_, Scalar::Complex(_)) => Ok(None),
        ([x, a, b], value) => fused_numbers(Added::<QUOTIENT>(value.to_f64()), x, [a, b]),
        _ => unreachable!("there are three"),
    }
}

/// y = x + v a b
///
/// ∂y/∂x = 1, ∂y/∂a = v b, ∂y/∂b = v a
#[derive(Clone)]
struct Addcmul {
    value: Scalar,
}

impl Pointwise for Addcmul {
    const KEEPS: &'static [&'static str] = &["", "tensor1", "tensor2"];

    fn name(&self) -> &'static str {
        "AddcmulBackward0"
    }

    fn shown(&self) -> Attributes {
        shown! { value: self.value }
    }

    fn value(&self, inputs: &[Array]) -> Result<Array> {
        if let Some(y) = added::<false>(inputs, self.value)? {
            return Ok(y);
        }
        let product = numbers(Mul, &inputs[1], &inputs[2])?;
        numbers(PLUS, &inputs[0], &numbers(Mul, &product, self.value)?)
    }

    fn conjugated(&self) -> Self {
        Addcmul { value: self.value.conj() }
    }

    fn needs(&self, of: usize, index: usize) -> bool {
        of + index == 3
    }

    fn toward(&self, index: usize, kept: &LoadedInputs, t: &Tensor) -> Result<Tensor> {
        match index {
            0 => Ok(t.clone()),
            _ => mul(t, &mul(kept.input(3 - index), self.value)?),
        }
    }
}

/// y = x + v a/b
///
/// ∂y/∂x = 1, ∂y/∂a = v/b, ∂y/∂b = -v a/b²
#[derive(Clone)]
struct Addcdiv {
    value: Scalar,
}

impl Pointwise for Addcdiv {
    const KEEPS: &'static [&'static str] = &["", "tensor1", "tensor2"];

    fn name(&self) -> &'static str {
        "AddcdivBackward0"
    }

    fn shown(&self) -> Attributes {
        shown! { value: self.value }
    }

    fn value(&self, inputs: &[Array]) -> Result<Array> {
        if let Some(y) = added::<true>(inputs, self.value)? {
            return Ok(y);
        }
        let quotient = numbers(Div, &inputs[1], &inputs[2])?;
        numbers(PLUS, &inputs[0], &numbers(Mul, &quotient, self.value)?)
    }

    fn conjugated(&self) -> Self {
        Addcdiv { value: self.value.conj() }
    }

    fn needs(&self, of: usize, index: usize) -> bool {
        of == 2 && index > 0 || of == 1 && index == 2
    }

    fn toward(&self, index: usize, kept: &LoadedInputs, t: &Tensor) -> Result<Tensor> {
        match index {
            0 => Ok(t.clone()),
            1 => mul(t, &div(Operand::Scalar(self.value), kept.input(2))?),
            _ => {
                let (a, b) = (kept.input(1), kept.input(2));
                mul(&neg(t)?, &div(&mul(a, self.value)?, &mul(b, b)?)?)
            }
        }
    }
}

/// a + w (b - a) of elements as loops take them; the end that is nearer is where rounding matters.
#[derive(Clone, Copy)]
struct Between(f64);

impl Function<1> for Between {
    const LITTLE: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn at<A: Arithmetic>(&self, a: A, [b]: [A; 1]) -> A {
        let between = b - a;
        match self.0.abs() < 0.5 {
            true => a + between * A::from_f64(self.0),
            false => b - between * A::from_f64(1.0 - self.0),
        }
    }
}

/// y = a + w (b - a) with a number w
///
/// ∂y/∂a = 1 - w, ∂y/∂b = w
#[derive(Clone)]
struct LerpNumber {
    weight: Scalar,
}

impl Pointwise for LerpNumber {
    const KEEPS: &'static [&'static str] = &[];

    fn name(&self) -> &'static str {
        "LerpBackward0"
    }

    fn shown(&self) -> Attributes {
        shown! { weight: self.weight }
    }

    fn value(&self, inputs: &[Array]) -> Result<Array> {
        let (a, b, w) = (&inputs[0], &inputs[1], self.weight.to_f64());
        if let Scalar::Complex(_) = self.weight {
            return numbers(PLUS, a, &numbers(Mul, &numbers(LESS, b, a)?, self.weight)?);
        }
        if let Some(y) = fused_numbers(Between(w), a, [b])? {
            return Ok(y);
        }
        let between = numbers(LESS, b, a)?;
        // The end that is nearer is where rounding matters.
        match w.abs() < 0.5 {
            true => numbers(PLUS, a, &numbers(Mul, &between, w)?),
            false => numbers(LESS, b, &numbers(Mul, &between, 1.0 - w)?),
        }
    }

    fn conjugated(&self) -> Self {
        LerpNumber { weight: self.weight.conj() }
    }

    fn needs(&self, _of: usize, _index: usize) -> bool {
        false
    }

    fn toward(&self, index: usize, _kept: &LoadedInputs, t: &Tensor) -> Result<Tensor> {
        let w = self.weight.to_complex();
        let share = if index == 0 { 1.0 - w } else { w };
        if share.im == 0.0 { mul(t, share.re) } else { mul(t, Scalar::Complex(share)) }
    }
}

/// The same with a weight for each.
#[derive(Clone, Copy)]
struct BetweenEach;

impl Function<2> for BetweenEach {
    const LITTLE: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn at<A: Arithmetic>(&self, a: A, [b, w]: [A; 2]) -> A {
        let between = b - a;
        let (near, far) = (a + w * between, b - between * (A::from_f64(1.0) - w));
        if w.abs() < A::from_f64(0.5) { near } else { far }
    }
}

/// y = a + w (b - a)
///
/// ∂y/∂a = 1 - w, ∂y/∂b = w, ∂y/∂w = b - a
#[derive(Clone)]
struct Lerp;

impl Pointwise for Lerp {
    const KEEPS: &'static [&'static str] = &["self", "end", "weight"];

    fn name(&self) -> &'static str {
        "LerpBackward1"
    }

    fn value(&self, inputs: &[Array]) -> Result<Array> {
        let (a, b, w) = (&inputs[0], &inputs[1], &inputs[2]);
        if let Some(y) = fused_numbers(BetweenEach, a, [b, w])? {
            return Ok(y);
        }
        let between = numbers(LESS, b, a)?;
        let near = numbers(PLUS, a, &numbers(Mul, w, &between)?)?;
        let far = numbers(LESS, b, &numbers(Mul, &between, &numbers(LESS, 1, w)?)?)?;
        let size = if w.dtype.is_complex() { complex::magnitudes(w)? } else { unary::numbers(Abs, w)? };
        let is_near = compare::numbers(Question::Less, &size, 0.5)?;
        select::choose(&is_near, &near, &far, near.dtype)
    }

    fn needs(&self, of: usize, index: usize) -> bool {
        // The weight itself too: torch keeps it for tangents.
        of == 2 || index == 2
    }

    fn toward(&self, index: usize, kept: &LoadedInputs, t: &Tensor) -> Result<Tensor> {
        match index {
            0 => mul(t, &sub(1, kept.input(2))?),
            1 => mul(t, kept.input(2)),
            _ => mul(t, &sub(kept.input(1), kept.input(0))?),
        }
    }
}

/// `x + value · a · b`.
pub fn addcmul(x: &Tensor, a: &Tensor, b: &Tensor, value: Scalar) -> Result<Tensor> {
    let common = result_type(&[x, a, b].map(|x| Operand::from(x).numbers()))?;
    if common == DType::Bool {
        return Err(Error::NotImplementedFor { operation: "addcmul_cpu_out", dtype: common }.into());
    }
    let value = if common.is_differentiable() { value } else { Scalar::Int(value.to()) };
    apply(Addcmul { value }, &[x, a, b]).or_else(|error| told_in_order(x, a, b).and(Err(error)))
}

/// Refuses sizes that do not go together, from the first tensor on.
fn told_in_order(x: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let shape = shape::broadcast(x.layout().shape(), a.layout().shape())?;
    shape::broadcast(&shape, b.layout().shape()).map(drop)
}

/// `addcmul` in place.
pub fn addcmul_(x: &Tensor, a: &Tensor, b: &Tensor, value: Scalar) -> Result<()> {
    if overwritten(Added::<false>(value.to_f64()), x, [a, b])? {
        return Ok(());
    }
    in_place::through_stretches(x, &[a, b], |x, others| addcmul(x, others[0], others[1], value))
}

/// `x + value · a / b`.
pub fn addcdiv(x: &Tensor, a: &Tensor, b: &Tensor, value: Scalar) -> Result<Tensor> {
    if !a.dtype().is_differentiable() && !b.dtype().is_differentiable() {
        return Err(Error::AddcdivIntegers {}.into());
    }
    apply(Addcdiv { value }, &[x, a, b]).or_else(|error| told_in_order(x, a, b).and(Err(error)))
}

/// `addcdiv` in place.
pub fn addcdiv_(x: &Tensor, a: &Tensor, b: &Tensor, value: Scalar) -> Result<()> {
    if overwritten(Added::<true>(value.to_f64()), x, [a, b])? {
        return Ok(());
    }
    in_place::through_stretches(x, &[a, b], |x, others| addcdiv(x, others[0], others[1], value))
}

/// The way from `a` to `b`, as much of it as `weight` says.
pub fn lerp(a: &Tensor, b: &Tensor, weight: Operand<'_>) -> Result<Tensor> {
    let same = |other: DType, argument: &'static str| -> Result<()> {
        match other == a.dtype() {
            true => Ok(()),
            false => Err(Error::LerpDTypes { argument, expected: a.dtype(), got: other }.into()),
        }
    };
    same(b.dtype(), "end")?;
    if !a.dtype().is_differentiable() {
        let operation = if weight.tensor().is_some() { "lerp_kernel_tensor" } else { "lerp_kernel_scalar" };
        return Err(Error::NotImplementedFor { operation, dtype: a.dtype() }.into());
    }
    match weight {
        Operand::Scalar(weight) => {
            apply(LerpNumber { weight }, &[a, b]).or_else(|error| told_in_order(a, b, b).and(Err(error)))
        }
        Operand::Tensor(weight) => {
            if weight.ndim() > 0 {
                same(weight.dtype(), "weight")?;
            }
            apply(Lerp, &[a, b, weight]).or_else(|error| told_in_order(a, b, weight).and(Err(error)))
        }
    }
}

/// `lerp` in place.
pub fn lerp_(a: &Tensor, b: &Tensor, weight: Operand<'_>) -> Result<()> {
    let is_written = match weight {
        Operand::Scalar(Scalar::Complex(_)) => false,
        Operand::Scalar(weight) => overwritten(Between(weight.to_f64()), a, [b])?,
        Operand::Tensor(weight) => overwritten(BetweenEach, a, [b, weight])?,
    };
    if is_written {
        return Ok(());
    }
    match weight {
        Operand::Scalar(_) => in_place::through_stretches(a, &[b], |a, others| lerp(a, others[0], weight)),
        Operand::Tensor(w) => {
            in_place::through_stretches(a, &[b, w], |a, others| lerp(a, others[0], others[1].into()))
        }
    }
}

const ADDED: &[&str] = &[
    "(Tensor input, Number value, Tensor tensor1, Tensor tensor2, *, Tensor out=None)|deprecated",
    "(Tensor input, Tensor tensor1, Tensor tensor2, *, Number value=1, Tensor out=None)",
];

const ADDED_IN_PLACE: &[&str] = &[
    "(Tensor input, Number value, Tensor tensor1, Tensor tensor2)|deprecated",
    "(Tensor input, Tensor tensor1, Tensor tensor2, *, Number value=1)",
];

const LERP: &[&str] = &[
    "(Tensor input, Tensor end, Tensor weight, *, Tensor out=None)",
    "(Tensor input, Tensor end, Number weight, *, Tensor out=None)",
];

const LERP_IN_PLACE: &[&str] =
    &["(Tensor input, Tensor end, Tensor weight)", "(Tensor input, Tensor end, Number weight)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("addcmul", ADDED, "`input + value * tensor1 * tensor2`.", |a| added_call(a, addcmul))
        .written(&OutPolicy::ALIGNED)
        .operators(&[("AddcmulBackward0", "addcmul@1")]),
    method("addcmul_", ADDED_IN_PLACE, "`addcmul` in place.", |a| added_in_place(a, addcmul_)),
    both("addcdiv", ADDED, "`input + value * tensor1 / tensor2`.", |a| added_call(a, addcdiv))
        .written(&OutPolicy::ALIGNED)
        .operators(&[("AddcdivBackward0", "addcdiv@1")]),
    method("addcdiv_", ADDED_IN_PLACE, "`addcdiv` in place.", |a| added_in_place(a, addcdiv_)),
    both("lerp", LERP, "The linear interpolation `input + weight * (end - input)`.", |a| {
        lerp(a.tensor(0)?, a.tensor(1)?, a.operand(2)?).reply()
    })
    .written(&OutPolicy::ALIGNED.out_as(|given| given.named(3, ".Tensor_out", ".Scalar_out")))
    .operators(&[("LerpBackward0", "lerp.Scalar@1"), ("LerpBackward1", "lerp.Tensor")]),
    method("lerp_", LERP_IN_PLACE, "`lerp` in place.", |a| {
        receiver(a, lerp_(a.tensor(0)?, a.tensor(1)?, a.operand(2)?))
    })
    .written(&OutPolicy::PLAIN.in_place_as(|given| given.named(2, ".Tensor", ".Scalar"))),
];

fn added_call(
    a: &dyn Arguments,
    operation: fn(&Tensor, &Tensor, &Tensor, Scalar) -> Result<Tensor>,
) -> Result<Reply> {
    operation(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.number(3)?).reply()
}

fn added_in_place(
    a: &dyn Arguments,
    operation: fn(&Tensor, &Tensor, &Tensor, Scalar) -> Result<()>,
) -> Result<Reply> {
    receiver(a, operation(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.number(3)?))
}
