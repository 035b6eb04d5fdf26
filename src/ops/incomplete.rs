//! The incomplete gamma functions, and the zeta function of two numbers.

use super::binary::{Elementwise2, Needs, floating};
use super::operand::{Kept, Operand, Value};
use super::{add, exp, lgamma, log, mul, neg, sub};
use crate::dtype::{DType, Real};
use crate::error::{Error, Result};
use crate::kernels::{incomplete, special};
use crate::tensor::Tensor;

/// y = P(a, x), or Q(a, x) = 1 - P(a, x) for the upper one
///
/// ∂P/∂x = exp(-x) xᵃ⁻¹ / Γ(a)
#[derive(Clone, Copy)]
pub struct Incomplete<const UPPER: bool>;

impl<const UPPER: bool> Elementwise2 for Incomplete<UPPER> {
    const NAME: &'static str = if UPPER { "igammac_cpu" } else { "igamma_cpu" };
    const NODE: &'static str = if UPPER { "IgammacBackward0" } else { "IgammaBackward0" };
    const RIGHT_NEEDS: Needs = Needs::Both;

    fn result(&self, common: DType) -> Result<DType> {
        match common.is_float() {
            true => Ok(common),
            false => Err(self.refusal(common).into()),
        }
    }

    fn real<T: Real>(&self, a: T, x: T) -> T {
        let f = if UPPER { incomplete::upper } else { incomplete::lower };
        T::from_f64(f(a.to_f64(), x.to_f64()))
    }

    fn left(&self, _a: &Value, _x: &Value, _t: &Tensor) -> Result<Tensor> {
        let function = if UPPER { "igammac: input" } else { "igamma: input" };
        Err(Error::NoDerivativeOf { function }.into())
    }

    fn right(&self, a: &Value, x: &Value, t: &Tensor) -> Result<Tensor> {
        let (Operand::Tensor(a), Operand::Tensor(x)) = (Operand::from(a), Operand::from(x)) else {
            unreachable!("the signatures take tensors")
        };
        let exponent = sub(&sub(&mul(&sub(a, 1.0)?, &log(x)?)?, x)?, &lgamma(a)?)?;
        match UPPER {
            true => mul(&neg(t)?, &exp(&exponent)?),
            false => mul(t, &exp(&exponent)?),
        }
    }
}

/// y = ζ(s, q) = Σ (q + k)⁻ˢ
///
/// ∂y/∂q = -s ζ(s + 1, q)
#[derive(Clone, Copy)]
pub struct Zeta;

impl Elementwise2 for Zeta {
    const NAME: &'static str = "zeta_cpu";
    const NODE: &'static str = "SpecialZetaBackward0";
    const TAKES_NUMBERS_AS_TENSORS: bool = false;
    const LEFT_NEEDS: Needs = Needs::Nothing;
    const RIGHT_NEEDS: Needs = Needs::Both;

    fn node(&self, s: &Kept, q: &Kept) -> &'static str {
        match (s, q) {
            (Kept::Scalar(_), _) => "SpecialZetaBackward1",
            (_, Kept::Scalar(_)) => "SpecialZetaBackward2",
            _ => Self::NODE,
        }
    }

    fn result(&self, common: DType) -> Result<DType> {
        if common.is_half() {
            return Err(self.refusal(common).into());
        }
        floating(common)
    }

    fn real<T: Real>(&self, s: T, q: T) -> T {
        T::from_f64(special::zeta(s.to_f64(), q.to_f64()))
    }

    fn left(&self, _s: &Value, _q: &Value, _t: &Tensor) -> Result<Tensor> {
        Err(Error::NoDerivativeOf { function: "zeta" }.into())
    }

    fn right(&self, s: &Value, q: &Value, t: &Tensor) -> Result<Tensor> {
        let next = |s: Operand<'_>| super::binary::apply(Zeta, s, q.into());
        match Operand::from(s) {
            Operand::Tensor(s) => mul(&mul(t, &neg(s)?)?, &next((&add(s, 1.0)?).into())?),
            Operand::Scalar(s) => mul(&mul(t, -s.to_f64())?, &next((s.to_f64() + 1.0).into())?),
        }
    }
}
