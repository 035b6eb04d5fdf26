//! Functions of mathematics that have no derivative in torch: of one number, and polynomials.

use crate::dispatch::operand::{Operand, result_dtype};
use crate::dispatch::{default_dtype, fixed, unary};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernels::pointwise::bessel;
use crate::kernels::pointwise::bessel::{Oscillating, SecondKind};
use crate::kernels::pointwise::polynomials;
use crate::kernels::pointwise::polynomials::Family;
use crate::ops::creation::{cast, create};
use crate::ops::pointwise::special::{I0, I1};
use crate::schema::signatures::ONE_OUT;
use crate::schema::{Entry, IntoReply, OutPolicy, inner};
use crate::tensor::Tensor;

/// `x` as floating-point numbers without history.
fn real(x: &Tensor, dtype: DType, operation: &'static str) -> Result<Tensor> {
    match () {
        () if dtype.is_complex() => Err(Error::NotImplementedFor { operation, dtype }.into()),
        () if dtype.is_float() => cast::to_dtype(&x.detach(), dtype),
        () => cast::to_dtype(&x.detach(), default_dtype::get()),
    }
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
    if dtype.is_complex() {
        return Err(Error::NotImplementedFor { operation, dtype }.into());
    }
    let operand = |operand: Operand<'_>| match operand {
        Operand::Tensor(tensor) => real(tensor, dtype, operation),
        Operand::Scalar(number) => real(&create::full(&[], number, DType::Float64)?, dtype, operation),
    };
    let (x, n) = (operand(x)?, operand(n)?);
    fixed::zip(&x, &n, move |x, n| polynomials::value(family, if shifted { x + x - 1.0 } else { x }, n))
}

const OF_X: &[&str] = &["(Tensor x, *, Tensor out=None)"];

/// A function of every element that is written for vectors.
macro_rules! evaluated {
    ($name:literal, $function:expr, $doc:literal, $signatures:expr) => {
        inner(concat!("special_", $name), $signatures, $doc, |a| {
            let x = a.tensor(0)?;
            fixed::evaluate(&real(x, x.dtype(), concat!($name, "_cpu"))?, $function).reply()
        })
        .written(&OutPolicy::COMPARED)
    };
}

/// A modified Bessel function of the first kind of every element, without history.
macro_rules! modified {
    ($name:literal, $Function:ident, $doc:literal) => {
        inner(concat!("special_", $name), ONE_OUT, $doc, |a| {
            let x = a.tensor(0)?;
            unary::apply($Function, &real(x, x.dtype(), concat!($name, "_cpu"))?).reply()
        })
        .written(&OutPolicy::COMPARED)
    };
}

/// The polynomials of a family, perhaps of 2x - 1.
macro_rules! polynomials {
    ($name:literal, $family:ident, $shifted:literal, $doc:literal) => {
        inner(concat!("special_", $name), POLYNOMIAL, $doc, |a| {
            let (x, n) = (a.operand(0)?, a.operand(1)?);
            polynomial(Family::$family, $shifted, x, n, concat!($name, "_cpu")).reply()
        })
        .written(&OutPolicy::COMPARED)
    };
}

const POLYNOMIAL: &[&str] = &[
    "(Tensor x, Tensor n, *, Tensor out=None)",
    "(Number x, Tensor n, *, Tensor out=None)",
    "(Tensor x, Number n, *, Tensor out=None)",
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    evaluated!("airy_ai", bessel::Airy, "The Airy function Ai.", OF_X),
    evaluated!(
        "bessel_j0",
        Oscillating::<false> { is_first: false },
        "The Bessel function of the first kind of order 0.",
        ONE_OUT
    ),
    evaluated!(
        "bessel_j1",
        Oscillating::<false> { is_first: true },
        "The Bessel function of the first kind of order 1.",
        ONE_OUT
    ),
    evaluated!(
        "bessel_y0",
        Oscillating::<true> { is_first: false },
        "The Bessel function of the second kind of order 0.",
        ONE_OUT
    ),
    evaluated!(
        "bessel_y1",
        Oscillating::<true> { is_first: true },
        "The Bessel function of the second kind of order 1.",
        ONE_OUT
    ),
    modified!("modified_bessel_i0", I0, "The modified Bessel function of the first kind of order 0."),
    modified!("modified_bessel_i1", I1, "The modified Bessel function of the first kind of order 1."),
    evaluated!(
        "modified_bessel_k0",
        SecondKind { is_first: false, is_scaled: false },
        "The modified Bessel function of the second kind of order 0.",
        ONE_OUT
    ),
    evaluated!(
        "modified_bessel_k1",
        SecondKind { is_first: true, is_scaled: false },
        "The modified Bessel function of the second kind of order 1.",
        ONE_OUT
    ),
    evaluated!(
        "scaled_modified_bessel_k0",
        SecondKind { is_first: false, is_scaled: true },
        "The modified Bessel function of the second kind of order 0, times exp(x).",
        OF_X
    ),
    evaluated!(
        "scaled_modified_bessel_k1",
        SecondKind { is_first: true, is_scaled: true },
        "The modified Bessel function of the second kind of order 1, times exp(x).",
        OF_X
    ),
    evaluated!(
        "spherical_bessel_j0",
        bessel::Spherical,
        "The spherical Bessel function of the first kind of order 0.",
        OF_X
    ),
    polynomials!(
        "chebyshev_polynomial_t",
        T,
        false,
        "The Chebyshev polynomial of the first kind, of degree `n`."
    ),
    polynomials!(
        "chebyshev_polynomial_u",
        U,
        false,
        "The Chebyshev polynomial of the second kind, of degree `n`."
    ),
    polynomials!(
        "chebyshev_polynomial_v",
        V,
        false,
        "The Chebyshev polynomial of the third kind, of degree `n`."
    ),
    polynomials!(
        "chebyshev_polynomial_w",
        W,
        false,
        "The Chebyshev polynomial of the fourth kind, of degree `n`."
    ),
    polynomials!(
        "shifted_chebyshev_polynomial_t",
        T,
        true,
        "The shifted Chebyshev polynomial of the first kind: that of 2x - 1."
    ),
    polynomials!(
        "shifted_chebyshev_polynomial_u",
        U,
        true,
        "The shifted Chebyshev polynomial of the second kind: that of 2x - 1."
    ),
    polynomials!(
        "shifted_chebyshev_polynomial_v",
        V,
        true,
        "The shifted Chebyshev polynomial of the third kind: that of 2x - 1."
    ),
    polynomials!(
        "shifted_chebyshev_polynomial_w",
        W,
        true,
        "The shifted Chebyshev polynomial of the fourth kind: that of 2x - 1."
    ),
    polynomials!("hermite_polynomial_h", H, false, "The physicist's Hermite polynomial of degree `n`."),
    polynomials!("hermite_polynomial_he", He, false, "The probabilist's Hermite polynomial of degree `n`."),
    polynomials!("laguerre_polynomial_l", L, false, "The Laguerre polynomial of degree `n`."),
    polynomials!("legendre_polynomial_p", P, false, "The Legendre polynomial of degree `n`."),
];
