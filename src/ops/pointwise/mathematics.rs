//! Functions of mathematics that have no derivative in torch: of one number, and polynomials.

use crate::dispatch::operand::{Operand, result_dtype};
use crate::dispatch::{default_dtype, fixed};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernels::pointwise::polynomials;
use crate::kernels::pointwise::polynomials::Family;
use crate::ops::creation::{cast, create};
use crate::tensor::Tensor;

/// `x` as floating-point numbers without history.
fn real(x: &Tensor, dtype: DType, operation: &'static str) -> Result<Tensor> {
    match () {
        () if dtype.is_complex() => Err(Error::NotImplementedFor { operation, dtype }.into()),
        () if dtype.is_float() => cast::to_dtype(&x.detach(), dtype),
        () => cast::to_dtype(&x.detach(), default_dtype::get()),
    }
}

/// `f` of every element, in the default type if they are integers.
pub fn each(x: &Tensor, operation: &'static str, f: fn(f64) -> f64) -> Result<Tensor> {
    fixed::map(&real(x, x.dtype(), operation)?, f)
}

/// Polynomials at the elements of the first operand, as the second numbers them; of 2x - 1 if `shifted`.
pub fn polynomial(
    family: Family,
    shifted: bool,
    x: Operand<'_>,
    n: Operand<'_>,
    operation: &'static str,
) -> Result<Tensor> {
    let dtype = result_dtype(x, n)?;
    let operand = |operand: Operand<'_>| match operand {
        Operand::Tensor(tensor) => real(tensor, dtype, operation),
        Operand::Scalar(number) => real(&create::full(&[], number, DType::Float64)?, dtype, operation),
    };
    let (x, n) = (operand(x)?, operand(n)?);
    fixed::zip(&x, &n, move |x, n| polynomials::value(family, if shifted { x + x - 1.0 } else { x }, n))
}
