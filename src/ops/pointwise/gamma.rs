//! The gamma function's family: its logarithm, that of several dimensions, and the derivatives of both.

use crate::schema::elementwise;
use crate::schema::{Entry, IntoReply, OutPolicy, Types, both, function, inner, method, receiver};
use std::f64::consts::PI;

use super::special::wide;
use crate::dispatch::default_dtype;
use crate::dispatch::unary;
use crate::dispatch::unary::{Elementwise, Keeps, OutputStrides};
use crate::dtype::{DType, Real};
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::shown::shown;
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::pointwise::special;
use crate::kernels::vector::Vectors;
use crate::ops::add;
use crate::ops::creation::copy;
use crate::ops::geometry::squeeze;
use crate::ops::reduction::reduce;
use crate::tensor::{Array, Tensor};

/// y = ln |Γ(x)|,  dy/dx = ψ(x)
#[derive(Clone, Copy)]
pub struct Lgamma;

impl Elementwise for Lgamma {
    const NAME: &'static str = "lgamma_vml_cpu";
    const NODE: &'static str = "LgammaBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const VECTOR: Vectors = Vectors::All;
    const RARE: bool = true;
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::lgamma(x)
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        unary::apply(Digamma, x)
    }
}

/// y = ψ(x),  dy/dx = ψ′(x)
#[derive(Clone, Copy)]
pub struct Digamma;

impl Elementwise for Digamma {
    const NAME: &'static str = "digamma";
    const NODE: &'static str = "DigammaBackward0";
    const KEEPS: Keeps = Keeps::Input;
    const VECTOR: Vectors = Vectors::Single;
    const SLOW: bool = true;
    const RARE: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn vector<A: Arithmetic>(&self, x: A) -> A {
        math::digamma(x)
    }

    fn real<T: Real>(&self, x: T) -> T {
        wide(x, special::digamma)
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        polygamma(1, x)
    }
}

/// y = ln Γ(x) for p dimensions: the sum of ln Γ(x - j/2) for j below p, and p (p - 1)/4 ln π
///
/// dy/dx = Σ ψ(x - j/2)
#[derive(Clone, Copy)]
struct Mvlgamma {
    /// The number of dimensions.
    dimensions: i64,
}

/// For each element there is a sum over all dimensions, for which torch takes memory.
const MOST_DIMENSIONS: i64 = 1 << 24;

impl Mvlgamma {
    fn shifts(self) -> impl Iterator<Item = f64> {
        (0..self.dimensions).map(|step| -0.5 * step as f64)
    }

    /// Whether there are as many dimensions, and elements that have them.
    fn check(self, dtype: DType) -> Result<()> {
        if dtype == DType::Bool {
            return Err(Error::MvlgammaBool {}.into());
        }
        if self.dimensions < 1 {
            return Err(Error::MvlgammaDimensions {}.into());
        }
        if self.dimensions > MOST_DIMENSIONS {
            return Err(Error::OutOfMemory { bytes: (self.dimensions as u64).saturating_mul(4) }.into());
        }
        Ok(())
    }
}

impl Elementwise for Mvlgamma {
    // Of the terms that are added, the numbers of the dimensions come first.
    const NAME: &'static str = "arange_cpu";
    const NODE: &'static str = "MvlgammaBackward0";
    const STRIDES: OutputStrides = OutputStrides::RowMajor;
    const KEEPS: Keeps = Keeps::Input;

    fn shown(&self) -> Attributes {
        shown! { p: self.dimensions }
    }

    fn real<T: Real>(&self, x: T) -> T {
        let p = self.dimensions as f64;
        let sum: f64 = self.shifts().map(|shift| libm::lgamma(x.to_f64() + shift)).sum();
        T::from_f64(sum + p * (p - 1.0) / 4.0 * PI.ln())
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        let shifts: Vec<f64> = self.shifts().collect();
        let shifts = copy::as_type(&Array::from_slice(&[shifts.len()], &shifts)?, x.dtype())?.into_owned();
        let shifted = add(&Tensor::from_array(shifts), &squeeze::unsqueeze(x, -1)?)?;
        reduce::sum(&unary::apply(Digamma, &shifted)?, Some(&[-1]), false, None)
    }
}

/// The logarithms of the gamma function of several dimensions.
pub fn mvlgamma(x: &Tensor, dimensions: i64) -> Result<Tensor> {
    let op = Mvlgamma { dimensions };
    op.check(x.dtype())?;
    unary::apply(op, x)
}

/// `mvlgamma` in place.
pub fn mvlgamma_(x: &Tensor, dimensions: i64) -> Result<()> {
    let op = Mvlgamma { dimensions };
    if !x.dtype().is_differentiable() {
        return Err(Error::MvlgammaCast { dtype: x.dtype(), to: default_dtype::get() }.into());
    }
    op.check(x.dtype())?;
    unary::apply_in_place(op, x)
}

/// y = ψ⁽ⁿ⁾(x),  dy/dx = ψ⁽ⁿ⁺¹⁾(x)
#[derive(Clone, Copy)]
struct Polygamma {
    order: i64,
}

impl Elementwise for Polygamma {
    const NAME: &'static str = "polygamma";
    const NODE: &'static str = "PolygammaBackward0";

    fn refusal(&self, dtype: DType) -> Error {
        let operation = match self.order {
            0 => "digamma",
            1 => "trigamma",
            _ => Self::NAME,
        };
        Error::NotImplementedFor { operation, dtype }
    }

    const NODE_IN_PLACE: &'static str = "PolygammaBackward1";
    const KEEPS: Keeps = Keeps::Input;

    fn shown(&self) -> Attributes {
        shown! { n: self.order }
    }

    fn real<T: Real>(&self, x: T) -> T {
        match self.order {
            1 => special::trigamma(x),
            order => wide(x, |x| special::polygamma(order, x)),
        }
    }

    fn derivative(&self, x: &Tensor) -> Result<Tensor> {
        polygamma(self.order.saturating_add(1), x)
    }
}

/// The derivative of that order of the digamma function.
pub fn polygamma(order: i64, x: &Tensor) -> Result<Tensor> {
    if order < 0 {
        return Err(Error::PolygammaOrder {}.into());
    }
    unary::apply(Polygamma { order }, x)
}

/// `polygamma` in place.
pub fn polygamma_(order: i64, x: &Tensor) -> Result<()> {
    if order < 0 {
        return Err(Error::PolygammaOrder {}.into());
    }
    unary::apply_in_place(Polygamma { order }, x)
}

const GAMMA: &[&str] = &["(Tensor input, int p, *, Tensor out=None)"];

elementwise! {
    digamma, digamma_: Digamma, "The logarithmic derivative of the gamma function, element by element.";
    lgamma, lgamma_: Lgamma, "The natural logarithm of the absolute value of the gamma function, element by element.";
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "mvlgamma",
        GAMMA,
        "The multivariate log-gamma function of dimension `p`, element by element.",
        |a| mvlgamma(a.tensor(0)?, a.int(1)?).reply(),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Mvlgamma)),
    method("mvlgamma_", &["(Tensor input, int p)"], "`mvlgamma` in place.", |a| {
        receiver(a, mvlgamma_(a.tensor(0)?, a.int(1)?))
    }),
    inner(
        "special_multigammaln",
        GAMMA,
        "The multivariate log-gamma function of dimension `p`, element by element.",
        |a| mvlgamma(a.tensor(0)?, a.int(1)?).reply(),
    )
    .written(&OutPolicy::PLAIN.refused_as("mvlgamma").typed(Types::Mvlgamma)),
    function(
        "polygamma",
        &["(int n, Tensor input, *, Tensor out=None)"],
        "The n-th derivative of the digamma function, element by element.",
        |a| polygamma(a.int(0)?, a.tensor(1)?).reply(),
    )
    .written(&OutPolicy::ALIGNED)
    .operators(&[("PolygammaBackward0", "polygamma(int n, Tensor self) -> Tensor")]),
    method(
        "polygamma",
        &["(Tensor input, int n)"],
        "The n-th derivative of the digamma function, element by element.",
        |a| polygamma(a.int(1)?, a.tensor(0)?).reply(),
    ),
    method("polygamma_", &["(Tensor input, int n)"], "`polygamma` in place.", |a| {
        receiver(a, polygamma_(a.int(1)?, a.tensor(0)?))
    }),
];
