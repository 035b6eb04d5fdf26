//! The incomplete gamma functions, and the zeta function of two numbers, with their derivatives of any order
//! that is asked for.

use crate::dispatch::binary;
use crate::dispatch::binary::{Elementwise2, Needs, floating};
use crate::dispatch::operand::{Operand, SavedOperand, Value};
use crate::dtype::{DType, Real};
use crate::error::{Error, Result};
use crate::kernels::pointwise::{incomplete, jets, special as kernels};
use crate::ops::pointwise::gamma;
use crate::ops::{add, digamma, exp, lgamma, log, mul, neg, sub};
use crate::schema::signatures::{MIXED, TENSORS};
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, both, inner, method, receiver};
use crate::tensor::Tensor;

/// y = ∂ⁿP/∂aⁿ for the order n, or the same of Q(a, x) = 1 - P(a, x) for the upper one
///
/// ∂P/∂x = exp(-x) xᵃ⁻¹ / Γ(a)
#[derive(Clone, Copy, Default)]
pub struct Incomplete<const UPPER: bool> {
    order: u8,
}

impl<const UPPER: bool> Elementwise2 for Incomplete<UPPER> {
    const NAME: &'static str = if UPPER { "igammac_cpu" } else { "igamma_cpu" };
    const NODE: &'static str = if UPPER { "IgammacBackward0" } else { "IgammaBackward0" };
    const INTEGERS: bool = false;
    const LEFT_NEEDS: Needs = Needs::Both;
    const RIGHT_NEEDS: Needs = Needs::Both;

    fn result(&self, common: DType) -> Result<DType> {
        match common.is_float() {
            true => Ok(common),
            false => Err(self.refusal(common).into()),
        }
    }

    fn real<T: Real>(&self, a: T, x: T) -> T {
        let (a, x) = (a.to_f64(), x.to_f64());
        let least = if T::DTYPE == DType::Float32 { f64::from(f32::EPSILON) / 4.0 } else { f64::EPSILON };
        T::from_f64(match (self.order, UPPER) {
            (0, true) => incomplete::upper(a, x, least),
            (0, false) => incomplete::lower(a, x, least),
            (order, true) => -incomplete::lower_derivative(order.into(), a, x),
            (order, false) => incomplete::lower_derivative(order.into(), a, x),
        })
    }

    fn left(&self, a: &Value, x: &Value, t: &Tensor) -> Result<Tensor> {
        let function = if UPPER { "igammac: input" } else { "igamma: input" };
        let slope = Incomplete::<UPPER> { order: next(self.order, function)? };
        mul(t, &binary::apply(slope, a.into(), x.into())?)
    }

    fn right(&self, a: &Value, x: &Value, t: &Tensor) -> Result<Tensor> {
        let (Operand::Tensor(a), Operand::Tensor(x)) = (Operand::from(a), Operand::from(x)) else {
            unreachable!("the signatures take tensors")
        };
        let density = density(self.order, a, x)?;
        mul(&if UPPER { neg(t)? } else { t.clone() }, &density)
    }
}

/// The order behind this one, as far as numbers carry derivatives.
fn next(order: u8, function: &'static str) -> Result<u8> {
    if usize::from(order) < jets::ORDERS {
        Ok(order + 1)
    } else {
        Err(Error::NoDerivativeOf { function }.into())
    }
}

/// ∂ⁿ/∂aⁿ of exp(-x) xᵃ⁻¹ / Γ(a), by Leibniz' rule: the slope by a is ln x - ψ(a) times the density.
fn density(order: u8, a: &Tensor, x: &Tensor) -> Result<Tensor> {
    let logarithm = log(x)?;
    let exponent = sub(&sub(&mul(&sub(a, 1.0)?, &logarithm)?, x)?, &lgamma(a)?)?;
    let mut densities = vec![exp(&exponent)?];
    for n in 0..usize::from(order) {
        let mut sum = mul(&densities[n], &sub(&logarithm, &digamma(a)?)?)?;
        let mut choices = 1.0;
        for k in 1..=n {
            choices *= (n + 1 - k) as f64 / k as f64;
            let bend = mul(&gamma::polygamma(k as i64, a)?, choices)?;
            sum = sub(&sum, &mul(&densities[n - k], &bend)?)?;
        }
        densities.push(sum);
    }
    Ok(densities.swap_remove(usize::from(order)))
}

/// y = ∂ⁿζ/∂sⁿ for the order n, with ζ(s, q) = Σ (q + k)⁻ˢ
///
/// ∂y/∂q = ∂ⁿ/∂sⁿ of -s ζ(s + 1, q)
#[derive(Clone, Copy, Default)]
pub struct Zeta {
    order: u8,
}

impl Elementwise2 for Zeta {
    const NAME: &'static str = "zeta_cpu";
    const NODE: &'static str = "SpecialZetaBackward0";
    const INTEGERS: bool = false;
    const TAKES_NUMBERS_AS_TENSORS: bool = false;
    const LEFT_NEEDS: Needs = Needs::Both;
    const RIGHT_NEEDS: Needs = Needs::Both;

    fn node(&self, s: &SavedOperand, q: &SavedOperand) -> &'static str {
        match (s, q) {
            (SavedOperand::Scalar(_), _) => "SpecialZetaBackward1",
            (_, SavedOperand::Scalar(_)) => "SpecialZetaBackward2",
            _ => Self::NODE,
        }
    }

    fn result(&self, common: DType) -> Result<DType> {
        floating(common)
    }

    fn real<T: Real>(&self, s: T, q: T) -> T {
        let (s, q) = (s.to_f64(), q.to_f64());
        T::from_f64(match self.order {
            0 => kernels::zeta(s, q),
            order => kernels::zeta_derivative(order.into(), s, q),
        })
    }

    fn left(&self, s: &Value, q: &Value, t: &Tensor) -> Result<Tensor> {
        let slope = Zeta { order: next(self.order, "zeta")? };
        mul(t, &binary::apply(slope, s.into(), q.into())?)
    }

    fn right(&self, s: &Value, q: &Value, t: &Tensor) -> Result<Tensor> {
        let after = match Operand::from(s) {
            Operand::Tensor(s) => Value::Tensor(add(s, 1.0)?),
            Operand::Scalar(s) => Value::Scalar((s.to_f64() + 1.0).into()),
        };
        let sum = |order| binary::apply(Zeta { order }, (&after).into(), q.into());
        let slope = neg(&mul(&sum(self.order)?, Operand::from(s))?)?;
        mul(
            t,
            &match self.order {
                0 => slope,
                order => sub(&slope, &mul(&sum(order - 1)?, f64::from(order))?)?,
            },
        )
    }
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner("special_zeta", MIXED, "The Hurwitz zeta function, element by element.", |a| {
        binary::apply(Zeta::default(), a.operand(0)?, a.operand(1)?).reply()
    })
    .written(&OutPolicy::ALIGNED),
    inner("special_gammainc", TENSORS, "The regularized lower incomplete gamma function.", lower)
        .written(&OutPolicy::ALIGNED.refused_as("igamma")),
    inner("special_gammaincc", TENSORS, "The regularized upper incomplete gamma function.", upper)
        .written(&OutPolicy::ALIGNED.refused_as("igammac")),
    both("igamma", TENSORS, "The regularized lower incomplete gamma function: `special.gammainc`.", lower)
        .written(&OutPolicy::ALIGNED),
    method("igamma_", &["(Tensor input, Tensor other)"], "`igamma` in place.", |a| {
        receiver(a, binary::apply_in_place(Incomplete::<false>::default(), a.tensor(0)?, a.operand(1)?))
    }),
    both("igammac", TENSORS, "The regularized upper incomplete gamma function: `special.gammaincc`.", upper)
        .written(&OutPolicy::ALIGNED),
    method("igammac_", &["(Tensor input, Tensor other)"], "`igammac` in place.", |a| {
        receiver(a, binary::apply_in_place(Incomplete::<true>::default(), a.tensor(0)?, a.operand(1)?))
    }),
];

fn lower(a: &dyn Arguments) -> Result<Reply> {
    binary::apply(Incomplete::<false>::default(), a.operand(0)?, a.operand(1)?).reply()
}

fn upper(a: &dyn Arguments) -> Result<Reply> {
    binary::apply(Incomplete::<true>::default(), a.operand(0)?, a.operand(1)?).reply()
}
