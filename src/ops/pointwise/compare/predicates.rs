//! Questions about every element by itself: whether it is a number, whether it is finite.

use crate::dispatch::apply::Outputs;
use crate::dispatch::modes::intercept;
use crate::dispatch::modes::plain::{Portable, plain};
use crate::dispatch::operand::Value;
use crate::dispatch::{batch, memory_order, unary};
use crate::dtype::{Bool, Complex, DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::mode;
use crate::ops;
use crate::ops::creation::{copy, create};
use crate::ops::pointwise::compare::eq;
use crate::tensor::{Array, Tensor};
use smallvec::smallvec;

/// The questions.
#[derive(Clone, Copy)]
pub(super) enum Predicate {
    Nan,
    Infinite,
    Finite,
    PositiveInfinite,
    NegativeInfinite,
}

impl Predicate {
    /// torch's name of the function.
    fn name(self) -> &'static str {
        match self {
            Predicate::Nan => "isnan",
            Predicate::Infinite => "isinf",
            Predicate::Finite => "isfinite",
            Predicate::PositiveInfinite => "isposinf",
            Predicate::NegativeInfinite => "isneginf",
        }
    }
}

impl Portable for Predicate {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        Ok(smallvec![predicate(*self, intercept::only(operands)?)?])
    }
}

plain! {
    enum Predicate { Nan, Infinite, Finite, PositiveInfinite, NegativeInfinite }
}

/// A question about every element.
fn predicate(predicate: Predicate, x: &Tensor) -> Result<Tensor> {
    if let Some(y) = batch::unary(x, |x| self::predicate(predicate, x)) {
        return y;
    }
    if mode::special()
        && let Some(y) = intercept::of_value(predicate.name(), &[x.into()], predicate)
    {
        return y;
    }
    match predicate {
        Predicate::Nan => told(x, false, f32::is_nan, f64::is_nan),
        Predicate::Infinite => told(x, false, f32::is_infinite, f64::is_infinite),
        Predicate::Finite => told(x, true, f32::is_finite, f64::is_finite),
        Predicate::PositiveInfinite => told(x, false, |x| x == f32::INFINITY, |x| x == f64::INFINITY),
        Predicate::NegativeInfinite => told(x, false, |x| x == f32::NEG_INFINITY, |x| x == f64::NEG_INFINITY),
    }
}

/// The answer to a question about every floating-point number; all others have the same answer. Of a
/// complex number both parts are asked, and `others` says whether the answers have to be the same: it
/// is the answer where no part says otherwise.
fn told(
    x: &Tensor,
    others: bool,
    single: impl Fn(f32) -> bool + Copy + Send + Sync + 'static,
    double: impl Fn(f64) -> bool + Copy + Send + Sync + 'static,
) -> Result<Tensor> {
    let x = x.array();
    let x = if x.dtype.is_float() { x.widened()? } else { x };
    let answers = match x.dtype {
        DType::Float32 => unary::compute::<f32, Bool>(&x, DType::Bool, move |x| Bool::new(single(x))),
        DType::Float64 => unary::compute::<f64, Bool>(&x, DType::Bool, move |x| Bool::new(double(x))),
        dtype if dtype.is_complex() => {
            let ask = move |x: Complex<f64>| {
                let (re, im) = (double(x.re), double(x.im));
                Bool::new(if others { re && im } else { re || im })
            };
            unary::compute::<Complex<f64>, Bool>(
                &*copy::as_type_in_order(&x, DType::Complex128)?,
                DType::Bool,
                ask,
            )
        }
        _ => {
            let mut same = Array::uninit(&x.layout, DType::Bool)?;
            crate::kernels::pointwise::map::fill_slice(same.fresh(), Bool::new(others));
            memory_order::settled(same, &[&x.layout])
        }
    };
    Ok(Tensor::from_array(answers?))
}

/// Whether elements are not numbers.
pub fn isnan(x: &Tensor) -> Result<Tensor> {
    predicate(Predicate::Nan, x)
}

/// Whether elements are infinite.
pub fn isinf(x: &Tensor) -> Result<Tensor> {
    predicate(Predicate::Infinite, x)
}

/// Whether elements are neither infinite nor something else than numbers.
pub fn isfinite(x: &Tensor) -> Result<Tensor> {
    predicate(Predicate::Finite, x)
}

/// Whether elements are real: without an imaginary part.
pub fn isreal(x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex() {
        return eq(&ops::conjugate::imag(x)?, 0);
    }
    create::full_like(x, Scalar::Bool(true), DType::Bool)
}

fn refuse_complex(x: &Tensor, operation: &'static str) -> Result<()> {
    match x.dtype().is_complex() {
        true => Err(Error::ComplexInputs { operation }.into()),
        false => Ok(()),
    }
}

/// Whether elements are +∞.
pub fn isposinf(x: &Tensor) -> Result<Tensor> {
    refuse_complex(x, "isposinf")?;
    predicate(Predicate::PositiveInfinite, x)
}

/// Whether elements are -∞.
pub fn isneginf(x: &Tensor) -> Result<Tensor> {
    refuse_complex(x, "isneginf")?;
    predicate(Predicate::NegativeInfinite, x)
}
