//! The logarithms of probabilities of normal numbers.

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
use crate::ops::{add, div, erfc, exp, log, log1p, mul, neg, sub};
use crate::tensor::Tensor;

/// y = ln Φ(x) of the distribution Φ of normal numbers, whose density is exp(-x²/2)/√(2π)
///
/// dy/dx = exp(-(y + x²/2))/√(2π)
#[derive(Clone, Copy)]
struct LogProbability;

impl Composite for LogProbability {
    const KEEPS: &'static [&'static str] = &["self"];
    const CURVED: bool = true;
    const KEEPS_RESULT: bool = true;

    fn name(&self) -> &'static str {
        "SpecialLogNdtrBackward0"
    }

    fn names(&self) -> &'static [&'static str] {
        &["self", "result"]
    }

    fn shown(&self) -> Attributes {
        Attributes::new()
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        let t = mul(inputs[0], FRAC_1_SQRT_2)?;
        let low = clamp::clamp_max(&t, 0.0)?;
        let far = sub(&log(&div(&unary::apply(Erfcx, &neg(&low)?)?, 2.0)?)?, &square(&low)?)?;
        // Where the probability is near to one, what is missing from one says more.
        let missing = div(&erfc(&clamp::clamp_min(&t, -1.0)?)?, 2.0)?;
        select::where_(&compare::lt(&t, -FRAC_1_SQRT_2)?, &far, &log1p(&neg(&missing)?)?)
    }

    fn vjp(&self, _index: usize, kept: &LoadedInputs, gradient: &Tensor) -> Result<Tensor> {
        let (x, y, root) = (kept.input(0), kept.result(), (2.0 * PI).sqrt());
        let exponent = add(y, &div(&square(x)?, 2.0)?)?;
        mul(&div(gradient, root)?, &exp(&neg(&exponent)?)?)
    }

    fn jvp(&self, index: usize, kept: &LoadedInputs, tangent: &Tensor) -> Result<Tensor> {
        self.vjp(index, kept, tangent)
    }
}

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "special_log_ndtr",
    ONE_OUT,
    "The logarithm of the cumulative distribution function of the standard normal distribution.",
    |a| composite::apply(LogProbability, &[a.tensor(0)?]).reply(),
)
.operators(&[("SpecialLogNdtrBackward0", "special_log_ndtr")])];
