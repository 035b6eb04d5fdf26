//! Derivatives that are functions of vectors: a gradient becomes the next one in one pass, where nothing is recorded.

use super::Elementwise2;
use crate::dispatch::fused::fused;
use crate::dispatch::operand::Value;
use crate::dtype::Scalar;
use crate::error::Result;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Function;
use crate::tensor::Tensor;

/// What a gradient becomes, of two operands.
#[derive(Clone, Copy)]
struct Sloped<E, const SECOND: bool>(E);

impl<E: Elementwise2, const SECOND: bool> Function<2> for Sloped<E, SECOND> {
    const RARE: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn at<A: Arithmetic>(&self, t: A, [a, b]: [A; 2]) -> A {
        self.0.slope(a, b, t, SECOND)
    }
}

/// The same of the first operand and a number.
#[derive(Clone, Copy)]
struct Beside<E>(E, f64);

impl<E: Elementwise2> Function<1> for Beside<E> {
    #[inline(always)]
    fn at<A: Arithmetic>(&self, t: A, [a]: [A; 1]) -> A {
        self.0.slope(a, A::from_f64(self.1), t, false)
    }
}

/// `t · ∂y/∂a`, or `t · ∂y/∂b` if it is the second, if that is a function of vectors and nothing is recorded.
pub(super) fn at_once<E: Elementwise2>(
    op: E,
    a: &Value,
    b: &Value,
    t: &Tensor,
    is_second: bool,
) -> Result<Option<Tensor>> {
    if const { !E::SLOPES } {
        return Ok(None);
    }
    match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) if is_second => fused(Sloped::<E, true>(op), t, [a, b]),
        (Value::Tensor(a), Value::Tensor(b)) => fused(Sloped::<E, false>(op), t, [a, b]),
        (Value::Tensor(_), Value::Scalar(Scalar::Complex(_))) => Ok(None),
        (Value::Tensor(a), Value::Scalar(b)) if !is_second && op.slopes_beside(b.to_f64()) => {
            fused(Beside(op, b.to_f64()), t, [a])
        }
        _ => Ok(None),
    }
}
