//! Factors that a rule computes from values and that are constants for derivatives of higher order: masks, which
//! elements were chosen. They have no history.

use crate::dispatch::apply::Outputs;
use crate::dispatch::direct::misfit;
use crate::dispatch::modes::intercept;
use crate::dispatch::modes::plain::{Portable, Row, plain};
use crate::dispatch::operand::{Numbers, Value};
use crate::dispatch::{batch, binary, unary};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::graph::mode;
use crate::kernels::vector::Function;
use crate::ops::creation::copy;
use crate::tensor::Tensor;
use smallvec::smallvec;

/// What a function makes of a tensor that has samples, or that somebody watches; nothing of others.
fn unusual(
    x: &Tensor,
    name: &'static str,
    again: impl Fn(&Tensor) -> Result<Tensor> + Copy + Send + Sync + 'static,
) -> Option<Result<Tensor>> {
    batch::unary(x, again).or_else(|| {
        if !mode::special() {
            return None;
        }
        intercept::of_subclass(name, &[x.into()], move |operands| again(intercept::first(operands)))
    })
}

/// `f` of every element.
pub(crate) fn map(x: &Tensor, f: impl Fn(f64) -> f64 + Copy + Send + Sync + 'static) -> Result<Tensor> {
    if let Some(y) = unusual(x, "fixed_map", move |x| map(x, f)) {
        return y;
    }
    let (dtype, x) = (x.dtype(), x.array());
    let x = x.widened()?;
    let y = dispatch!(float x.dtype, T => {
        unary::compute::<T, T>(&x, x.dtype, move |x| T::from_f64(f(x.to_f64())))?
    }, else {
        return Err(Error::NotImplementedFor { operation: "derivative", dtype }.into())
    });
    copy::rounded(y, dtype).map(Tensor::from_array)
}

/// A function of every element that is written for vectors, calculated in double precision.
pub(crate) fn evaluate(x: &Tensor, f: impl Function<0> + 'static) -> Result<Tensor> {
    if let Some(y) = unusual(x, "fixed_evaluate", move |x| evaluate(x, f)) {
        return y;
    }
    let x = x.array();
    let y = unary::compute_function::<f64>(&*copy::as_type_in_order(&x, DType::Float64)?, f)?;
    copy::converted_in_order(&y, x.dtype).map(Tensor::from_array)
}

/// One where elements of two tensors are equal, else zero, in the type of the first; with `nan`, what is not a number is
/// equal to what is not one.
pub(crate) fn equal(a: &Tensor, b: &Tensor, nan: bool) -> Result<Tensor> {
    if let Some(y) = batch::both(a, b, |a, b| equal(a, b, nan)) {
        return y;
    }
    if mode::special()
        && let Some(y) = intercept::of_value("fixed_equal", &[a.into(), b.into()], Equal { nan })
    {
        return y;
    }
    Equal { nan }.of(a, b)
}

/// `equal` as a recorded operation.
#[derive(Clone, Copy)]
struct Equal {
    nan: bool,
}

impl Equal {
    fn of(self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        pairs(a, b, move |a, b| f64::from(u8::from(a == b || self.nan && a.is_nan() && b.is_nan())))
    }
}

impl Portable for Equal {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let [a, b] = intercept::tensors(operands)[..] else { return Err(misfit()) };
        Ok(smallvec![self.of(a, b)?])
    }
}

plain! {
    struct Equal { nan }
}

/// How these are written as plain data.
pub(crate) const ROWS: &[Row] = &[Row::of::<Equal>("equal elements")];

/// `f` of every pair of elements, broadcast, in the type of the first tensor.
pub(crate) fn zip(
    a: &Tensor,
    b: &Tensor,
    f: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static,
) -> Result<Tensor> {
    if let Some(y) = batch::both(a, b, |a, b| zip(a, b, f)) {
        return y;
    }
    let both = |operands: &[Value], f| match operands {
        [Value::Tensor(a), Value::Tensor(b)] => zip(a, b, f),
        _ => unreachable!("both are tensors"),
    };
    if mode::special()
        && let Some(y) =
            intercept::of_subclass("fixed_zip", &[a.into(), b.into()], move |operands| both(operands, f))
    {
        return y;
    }
    pairs(a, b, f)
}

/// `zip` of tensors that nobody watches.
fn pairs(
    a: &Tensor,
    b: &Tensor,
    f: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static,
) -> Result<Tensor> {
    let (dtype, a, b) = (a.dtype(), Numbers::Array(a.array()), Numbers::Array(b.array()));
    let y = dispatch!(float dtype.wide(), T => {
        binary::combine::<T, T>(&a, &b, move |a, b| T::from_f64(f(a.to_f64(), b.to_f64())))?
    }, else {
        return Err(Error::NotImplementedFor { operation: "derivative", dtype }.into())
    });
    copy::rounded(y, dtype).map(Tensor::from_array)
}
