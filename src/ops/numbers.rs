//! Arithmetic with a number that never stands for a tensor: as torch's own operations call it, whose
//! nodes have names of their own for that.

use super::composed::{self, Composed};
use super::kept::Kept;
use crate::dtype::Scalar;
use crate::error::Result;
use crate::graph::Attributes;
use crate::graph::shown::shown;
use crate::tensor::Tensor;

/// What is done with the number.
#[derive(Clone, Copy)]
enum Kind {
    Add,
    Sub,
    Mul,
    Div,
}

/// y = x ∘ c
///
/// dy = dx, or dx ∘ c; x̄ = ȳ, or ȳ ∘ c
#[derive(Clone)]
struct WithNumber {
    kind: Kind,
    number: Scalar,
}

impl Composed for WithNumber {
    const KEEPS: &'static [&'static str] = &[""];

    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Add => "AddBackward1",
            Kind::Sub => "SubBackward1",
            Kind::Mul => "MulBackward1",
            Kind::Div => "DivBackward1",
        }
    }

    fn shown(&self) -> Attributes {
        match self.kind {
            Kind::Add | Kind::Sub => Attributes::new(),
            Kind::Mul | Kind::Div => shown! { other: self.number },
        }
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        let (x, number) = (inputs[0], self.number);
        match self.kind {
            Kind::Add => super::add(x, number),
            Kind::Sub => super::sub(x, number),
            Kind::Mul => super::mul(x, number),
            Kind::Div => super::div(x, number),
        }
    }

    fn conjugated(&self) -> Self {
        WithNumber { kind: self.kind, number: self.number.conj() }
    }

    fn back(&self, _index: usize, _kept: &Kept, gradient: &Tensor) -> Result<Tensor> {
        match self.kind {
            Kind::Add | Kind::Sub => Ok(gradient.clone()),
            Kind::Mul | Kind::Div => composed::apply(self.clone(), &[gradient]),
        }
    }

    fn forth(&self, index: usize, kept: &Kept, tangent: &Tensor) -> Result<Tensor> {
        self.back(index, kept, tangent)
    }
}

fn apply(kind: Kind, x: &Tensor, number: Scalar) -> Result<Tensor> {
    composed::apply(WithNumber { kind, number }, &[x])
}

/// The sum.
pub fn add_number(x: &Tensor, number: Scalar) -> Result<Tensor> {
    apply(Kind::Add, x, number)
}

/// The difference.
pub fn sub_number(x: &Tensor, number: Scalar) -> Result<Tensor> {
    apply(Kind::Sub, x, number)
}

/// The product.
pub fn mul_number(x: &Tensor, number: Scalar) -> Result<Tensor> {
    apply(Kind::Mul, x, number)
}

/// The quotient.
pub fn div_number(x: &Tensor, number: Scalar) -> Result<Tensor> {
    apply(Kind::Div, x, number)
}
