//! Sums, differences, products, quotients.

use super::binary::{Elementwise2, Needs};
use super::operand::{Operand, Value};
use super::unary::{Elementwise, Integers, Keeps};
use super::{default_dtype, mul};
use crate::dtype::{DType, Number, Real, Scalar};
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// t · factor, without a multiplication by one
pub(super) fn times(t: &Tensor, factor: Scalar) -> Result<Tensor> {
    if factor.to_f64() == 1.0 { Ok(t.clone()) } else { mul(t, factor) }
}

/// y = a + αb,  ∂y/∂a = 1,  ∂y/∂b = α
#[derive(Clone, Copy)]
pub struct Add {
    /// α
    pub alpha: Scalar,
}

impl Elementwise2 for Add {
    const NAME: &'static str = "add";
    const NODE: &'static str = "AddBackward0";
    const LEFT_NEEDS: Needs = Needs::Nothing;
    const RIGHT_NEEDS: Needs = Needs::Nothing;

    fn real<T: Real>(&self, a: T, b: T) -> T {
        a + b * self.alpha.to::<T>()
    }

    fn integer<T: Number>(&self, a: T, b: T) -> T {
        a.add(b.mul(self.alpha.to()))
    }

    fn boolean(&self, a: bool, b: bool) -> Option<bool> {
        Some(a || b && self.alpha.to_f64() != 0.0)
    }

    fn left(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        Ok(t.clone())
    }

    fn right(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        times(t, self.alpha)
    }
}

/// y = a - αb,  ∂y/∂a = 1,  ∂y/∂b = -α
#[derive(Clone, Copy)]
pub struct Sub {
    /// α
    pub alpha: Scalar,
}

impl Elementwise2 for Sub {
    const NAME: &'static str = "sub";
    const NODE: &'static str = "SubBackward0";
    const LEFT_NEEDS: Needs = Needs::Nothing;
    const RIGHT_NEEDS: Needs = Needs::Nothing;

    fn result(&self, common: DType) -> Result<DType> {
        if common == DType::Bool { Err(Error::SubtractBool {}.into()) } else { Ok(common) }
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        a - b * self.alpha.to::<T>()
    }

    fn integer<T: Number>(&self, a: T, b: T) -> T {
        a.sub(b.mul(self.alpha.to()))
    }

    fn left(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        Ok(t.clone())
    }

    fn right(&self, _a: &Value, _b: &Value, t: &Tensor) -> Result<Tensor> {
        times(&super::neg(t)?, self.alpha)
    }
}

/// y = ab,  ∂y/∂a = b,  ∂y/∂b = a
#[derive(Clone, Copy)]
pub struct Mul;

impl Elementwise2 for Mul {
    const NAME: &'static str = "mul";
    const NODE: &'static str = "MulBackward0";
    const LEFT_NEEDS: Needs = Needs::Right;
    const RIGHT_NEEDS: Needs = Needs::Left;

    fn real<T: Real>(&self, a: T, b: T) -> T {
        a * b
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
    const LEFT_NEEDS: Needs = Needs::Right;
    const RIGHT_NEEDS: Needs = Needs::Both;

    fn result(&self, common: DType) -> Result<DType> {
        Ok(if common.is_float() { common } else { default_dtype::get() })
    }

    fn real<T: Real>(&self, a: T, b: T) -> T {
        a / b
    }

    fn integer<T: Number>(&self, _a: T, _b: T) -> T {
        unreachable!("integers are divided as floating-point numbers")
    }

    fn left(&self, _a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        super::div(t, b)
    }

    fn right(&self, a: &Value, b: &Value, t: &Tensor) -> Result<Tensor> {
        let quotient = super::div(&super::div(Operand::from(a), b)?, b)?;
        super::neg(&mul(t, &quotient)?)
    }
}

/// y = -x,  dy/dx = -1
#[derive(Clone, Copy)]
pub struct Neg;

impl Elementwise for Neg {
    const NAME: &'static str = "neg";
    const NODE: &'static str = "NegBackward0";
    const KEEPS: Keeps = Keeps::Nothing;
    const INTEGERS: Integers = Integers::Stay;

    fn real<T: Real>(&self, x: T) -> T {
        -x
    }

    fn integer<T: Number>(&self, x: T) -> T {
        T::ZERO.sub(x)
    }

    fn derivative(&self, _kept: &Tensor) -> Result<Tensor> {
        unreachable!("chain says it")
    }

    fn chain(&self, _kept: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        super::neg(t)
    }
}
