//! Exponentials, logarithms, roots.

use super::unary::{Elementwise, Keeps};
use crate::dtype::Real;
use crate::error::Result;
use crate::tensor::Tensor;

/// y = eˣ,  dy/dx = y
#[derive(Clone, Copy)]
pub struct Exp;

impl Elementwise for Exp {
    const NAME: &'static str = "exp";
    const NODE: &'static str = "ExpBackward0";
    const KEEPS: Keeps = Keeps::Output;

    fn real<T: Real>(&self, x: T) -> T {
        x.exp()
    }

    fn derivative(&self, y: &Tensor) -> Result<Tensor> {
        Ok(y.clone())
    }
}

/// y = ln x,  dy/dx = 1/x
#[derive(Clone, Copy)]
pub struct Log;

impl Elementwise for Log {
    const NAME: &'static str = "log";
    const NODE: &'static str = "LogBackward0";
    const KEEPS: Keeps = Keeps::Input;

    fn real<T: Real>(&self, x: T) -> T {
        x.ln()
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        super::div(1.0, x)
    }

    fn chain(&self, kept: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        match kept {
            Some(x) => super::div(t, x),
            None => unreachable!("the input is kept"),
        }
    }
}
