//! Activation functions without parameters: ReLU, sigmoid and their kin, and the operations that their gradients are.

use crate::dispatch::binary;
use crate::dispatch::binary::{Elementwise2, Needs};
use crate::dispatch::modes::plain::{Row, plain};
use crate::dispatch::operand::{Operand, Value};
use crate::dispatch::unary::{Elementwise, Integers, Keeps};
use crate::dtype::{Complex, DType, Number, Real};
use crate::error::{Error, Result};
use crate::kernels::pointwise::complex;
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Vectors;
use crate::ops;
use crate::ops::creation::create;
use crate::ops::{mul, sub};
use crate::schema::elementwise;
use crate::schema::signatures::ONE;
use crate::schema::{Entry, IntoReply, both, receiver};
use crate::tensor::Tensor;

/// y = max(x, 0),  dy/dx = 1 where y > 0, else 0
#[derive(Clone, Copy)]
pub struct Relu;

impl Elementwise for Relu {
    const NAME: &'static str = "relu";
    const NODE: &'static str = "ReluBackward0";
    const KEEPS: Keeps = Keeps::Output;
    const INTEGERS: Integers = Integers::Stay;

    // NaN is not below zero, and stays.
    fn real<T: Real>(&self, x: T) -> T {
        if x < T::ZERO { T::ZERO } else { x }
    }

    fn integer<T: Number>(&self, x: T) -> T {
        if x < T::ZERO { T::ZERO } else { x }
    }

    fn refusal(&self, dtype: DType) -> Error {
        if dtype.is_complex() { Error::ClampedComplex {} } else { Error::ReluBool {} }
    }

    fn chain(&self, y: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        let Some(y) = y else { unreachable!("the output is kept") };
        binary::apply(Gate, t.into(), y.into())
    }
}

/// z = g where not y ≤ 0, else 0,  ∂z/∂g = 1 there, ∂z/∂y = 0
#[derive(Clone, Copy)]
struct Gate;

impl Elementwise2 for Gate {
    const NAME: &'static str = "threshold_backward";
    const NODE: &'static str = "ThresholdBackwardBackward0";
    const INTEGERS: bool = false;
    const LEFT_NEEDS: Needs = Needs::Right;

    fn real<T: Real>(&self, g: T, y: T) -> T {
        if y <= T::ZERO { T::ZERO } else { g }
    }

    fn left(&self, _g: &Value, y: &Value, t: &Tensor) -> Result<Tensor> {
        binary::apply(Gate, t.into(), y.into())
    }

    fn right(&self, _g: &Value, _y: &Value, t: &Tensor) -> Result<Tensor> {
        create::zeros_like(t)
    }
}

/// y = 1/(1 + e⁻ˣ),  dy/dx = y(1 - y)
#[derive(Clone, Copy)]
pub struct Sigmoid;

impl Elementwise for Sigmoid {
    const NAME: &'static str = "sigmoid";
    const NODE: &'static str = "SigmoidBackward0";
    const KEEPS: Keeps = Keeps::Output;
    const COMPLEX: bool = true;

    const VECTOR: Vectors = Vectors::All;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::sigmoid(x)
    }

    const HAS_NEAR: bool = true;

    #[inline(always)]
    fn is_near<T: Real>(&self, x: T) -> bool {
        math::has_normal_power(-x)
    }

    #[inline(always)]
    fn near<A: Arithmetic>(&self, x: A) -> A {
        math::sigmoid_of_near(x)
    }

    fn complex(&self, x: Complex<f64>) -> Complex<f64> {
        complex::reciprocal(complex::exp(-x) + 1.0)
    }

    fn chain(&self, y: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        let Some(y) = y else { unreachable!("the output is kept") };
        binary::apply(SigmoidGradient, t.into(), y.into())
    }
}

/// z = gy(1 - y),  ∂z/∂g = y(1 - y),  ∂z/∂y = g(1 - 2y)
#[derive(Clone, Copy)]
struct SigmoidGradient;

impl Elementwise2 for SigmoidGradient {
    const NAME: &'static str = "sigmoid_backward";
    const NODE: &'static str = "SigmoidBackwardBackward0";
    const INTEGERS: bool = false;
    const LEFT_NEEDS: Needs = Needs::Right;
    const RIGHT_NEEDS: Needs = Needs::Both;
    const COMPLEX: bool = true;

    fn real<T: Real>(&self, g: T, y: T) -> T {
        g * ((T::ONE - y) * y)
    }

    fn complex(&self, g: Complex<f64>, y: Complex<f64>) -> Complex<f64> {
        g * ((1.0 - y) * y)
    }

    fn left(&self, _g: &Value, y: &Value, t: &Tensor) -> Result<Tensor> {
        binary::apply(SigmoidGradient, t.into(), y.into())
    }

    fn right(&self, g: &Value, y: &Value, t: &Tensor) -> Result<Tensor> {
        let slope = sub(1, &mul(Operand::from(y), 2)?)?;
        mul(t, &mul(Operand::from(g), &slope)?)
    }
}

elementwise! {
    relu, relu_: Relu, "The rectified linear unit of every element: max(0, x).", apart;
    sigmoid, sigmoid_: Sigmoid, "The logistic sigmoid of every element: 1 / (1 + exp(-x)).";
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("relu", ONE, "The rectified linear unit of every element: max(0, x).", |a| {
        ops::relu(a.tensor(0)?).reply()
    })
    .operators(&[("ReluBackward0", "relu")]),
    both("relu_", ONE, "`relu` in place.", |a| receiver(a, ops::relu_(a.tensor(0)?))),
];

plain! {
    struct Gate {}
    struct SigmoidGradient {}
}

/// How these are written as plain data.
pub const ROWS: &[Row] =
    &[binary::portable::row::<Gate>("gate"), binary::portable::row::<SigmoidGradient>("sigmoid gradient")];
