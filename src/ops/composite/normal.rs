//! Probabilities of normal numbers: their logarithms, and the numbers that have them.

use crate::schema::signatures::ONE_OUT;
use crate::schema::{Entry, IntoReply, inner};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

use crate::dispatch::composites::composite;
use crate::dispatch::composites::composite::Composite;
use crate::dispatch::composites::saved_inputs::LoadedInputs;
use crate::dispatch::unary;
use crate::error::Result;
use crate::graph::Attributes;
use crate::ops::pointwise::power::square;
use crate::ops::pointwise::special::Erfcx;
use crate::ops::pointwise::{clamp, compare, select};
use crate::ops::{add, div, erfc, erfinv, exp, log, log1p, mul, neg, sub};
use crate::tensor::Tensor;

/// A function of the distribution Φ of normal numbers, whose density is exp(-x²/2)/√(2π).
#[derive(Clone, Copy)]
pub enum Normal {
    /// y = ln Φ(x),  dy/dx = exp(-(y + x²/2))/√(2π)
    LogProbability,
    /// Φ(y) = x,  dy/dx = √(2π) exp(y²/2)
    Quantile,
}

impl Composite for Normal {
    const KEEPS: &'static [&'static str] = &["self"];
    const CURVED: bool = true;
    const KEEPS_RESULT: bool = true;

    fn name(&self) -> &'static str {
        match self {
            Normal::LogProbability => "SpecialLogNdtrBackward0",
            Normal::Quantile => "SpecialNdtriBackward0",
        }
    }

    fn names(&self) -> &'static [&'static str] {
        match self {
            Normal::LogProbability => &["self", "result"],
            Normal::Quantile => &["", "result"],
        }
    }

    fn shown(&self) -> Attributes {
        Attributes::new()
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        let x = inputs[0];
        match self {
            Normal::Quantile => div(&erfinv(&sub(&mul(x, 2.0)?, 1.0)?)?, FRAC_1_SQRT_2),
            Normal::LogProbability => {
                let t = mul(x, FRAC_1_SQRT_2)?;
                let low = clamp::clamp_max(&t, 0.0)?;
                let far = sub(&log(&div(&unary::apply(Erfcx, &neg(&low)?)?, 2.0)?)?, &square(&low)?)?;
                // Where the probability is near to one, what is missing from one says more.
                let missing = div(&erfc(&clamp::clamp_min(&t, -1.0)?)?, 2.0)?;
                select::where_(&compare::lt(&t, -FRAC_1_SQRT_2)?, &far, &log1p(&neg(&missing)?)?)
            }
        }
    }

    fn vjp(&self, _index: usize, kept: &LoadedInputs, gradient: &Tensor) -> Result<Tensor> {
        let (x, y, root) = (kept.input(0), kept.result(), (2.0 * PI).sqrt());
        match self {
            Normal::LogProbability => {
                let exponent = add(y, &div(&square(x)?, 2.0)?)?;
                mul(&div(gradient, root)?, &exp(&neg(&exponent)?)?)
            }
            Normal::Quantile => mul(&mul(gradient, root)?, &exp(&div(&square(y)?, 2.0)?)?),
        }
    }

    fn jvp(&self, index: usize, kept: &LoadedInputs, tangent: &Tensor) -> Result<Tensor> {
        self.vjp(index, kept, tangent)
    }
}

impl Normal {
    /// The function of every element.
    pub fn of(self, x: &Tensor) -> Result<Tensor> {
        composite::apply(self, &[x])
    }
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "special_log_ndtr",
        ONE_OUT,
        "The logarithm of the cumulative distribution function of the standard normal distribution.",
        |a| Normal::LogProbability.of(a.tensor(0)?).reply(),
    )
    .operators(&[("SpecialLogNdtrBackward0", "special_log_ndtr")]),
    inner(
        "special_ndtri",
        ONE_OUT,
        "The inverse of the cumulative distribution function of the standard normal distribution.",
        |a| Normal::Quantile.of(a.tensor(0)?).reply(),
    )
    .operators(&[("SpecialNdtriBackward0", "special_ndtri")]),
];
