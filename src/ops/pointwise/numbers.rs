//! Arithmetic of a tensor and a number where the number is not made a tensor (`add.Scalar`, `mul.Scalar`): torch's
//! own operations call these forms, and their nodes have names of their own (`AddBackward1`).

use crate::dispatch::composites::composite;
use crate::dispatch::composites::composite::Composite;
use crate::dispatch::composites::saved_inputs::LoadedInputs;
use crate::dispatch::operand::Operand;
use crate::dtype::Scalar;
use crate::error::Result;
use crate::graph::shown::shown;
use crate::graph::{Attributes, mode};
use crate::ops;
use crate::tensor::Tensor;

/// Which operation has the number as an operand.
#[derive(Clone, Copy)]
pub enum WithNumber {
    /// x + c
    Add,
    /// x - c
    Sub,
    /// x c
    Mul,
    /// x / c
    Div,
}

impl WithNumber {
    /// The operation, if it is recorded and one operand is a number: the second, or either one if that
    /// makes no difference.
    pub(crate) fn recorded(self, a: Operand<'_>, b: Operand<'_>) -> Option<Result<Tensor>> {
        let (x, number) = match (self, a, b) {
            (_, Operand::Tensor(x), Operand::Scalar(number)) => (x, number),
            (WithNumber::Add | WithNumber::Mul, Operand::Scalar(number), Operand::Tensor(x)) => (x, number),
            _ => return None,
        };
        let recorded = mode::is_grad_enabled() && x.requires_grad();
        recorded.then(|| composite::apply(Applied { with: self, number }, &[x]))
    }
}

/// y = x ∘ c
///
/// dy = dx, or dx ∘ c; x̄ = ȳ, or ȳ ∘ c
#[derive(Clone)]
struct Applied {
    with: WithNumber,
    number: Scalar,
}

impl Composite for Applied {
    const KEEPS: &'static [&'static str] = &[""];

    fn name(&self) -> &'static str {
        match self.with {
            WithNumber::Add => "AddBackward1",
            WithNumber::Sub => "SubBackward1",
            WithNumber::Mul => "MulBackward1",
            WithNumber::Div => "DivBackward1",
        }
    }

    fn shown(&self) -> Attributes {
        match self.with {
            WithNumber::Add | WithNumber::Sub => Attributes::new(),
            WithNumber::Mul | WithNumber::Div => shown! { other: self.number },
        }
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        let (x, number) = (Operand::Tensor(inputs[0]), Operand::Scalar(self.number));
        match self.with {
            WithNumber::Add => ops::add(x, number),
            WithNumber::Sub => ops::sub(x, number),
            WithNumber::Mul => ops::mul(x, number),
            WithNumber::Div => ops::div(x, number),
        }
    }

    fn conjugated(&self) -> Self {
        Applied { with: self.with, number: self.number.conj() }
    }

    fn vjp(&self, _index: usize, _kept: &LoadedInputs, gradient: &Tensor) -> Result<Tensor> {
        match self.with {
            WithNumber::Add | WithNumber::Sub => Ok(gradient.clone()),
            WithNumber::Mul => ops::mul(gradient, self.number),
            WithNumber::Div => ops::div(gradient, self.number),
        }
    }

    fn jvp(&self, index: usize, kept: &LoadedInputs, tangent: &Tensor) -> Result<Tensor> {
        self.vjp(index, kept, tangent)
    }
}
