//! Functions of mathematics that have no derivative in torch: of one number, and polynomials.

use crate::dispatch::operand::{Operand, result_dtype};
use crate::dispatch::{default_dtype, fixed};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernels::pointwise::polynomials;
use crate::kernels::pointwise::polynomials::Family;
use crate::kernels::pointwise::{bessel, special};
use crate::ops::creation::{cast, create};
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

/// `f` of every element, in the default type if they are integers.
pub fn each(x: &Tensor, operation: &'static str, f: fn(f64) -> f64) -> Result<Tensor> {
    fixed::map(&real(x, x.dtype(), operation)?, f)
}

/// Polynomials at the elements of the first operand, as the second numbers them; of 2x - 1 if `shifted`.
pub fn polynomial(
    family: Family,
    shifted: bool,
    x: Operand<'_>,
    n: Operand<'_>,
    operation: &'static str,
) -> Result<Tensor> {
    let dtype = result_dtype(x, n);
    let operand = |operand: Operand<'_>| match operand {
        Operand::Tensor(tensor) => real(tensor, dtype, operation),
        Operand::Scalar(number) => real(&create::full(&[], number, DType::Float64)?, dtype, operation),
    };
    let (x, n) = (operand(x)?, operand(n)?);
    fixed::zip(&x, &n, move |x, n| polynomials::value(family, if shifted { x + x - 1.0 } else { x }, n))
}

/// A function of every element.
macro_rules! function {
    ($name:literal, $function:path, $doc:literal) => {
        inner(concat!("special_", $name), ONE_OUT, $doc, |a| {
            each(a.tensor(0)?, concat!($name, "_cpu"), $function).reply()
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
    function!("airy_ai", bessel::airy, "Airy's function."),
    function!("bessel_j0", bessel::j0, "Bessel's function of the first kind, of order zero."),
    function!("bessel_j1", bessel::j1, "Bessel's function of the first kind, of order one."),
    function!("bessel_y0", bessel::y0, "Bessel's function of the second kind, of order zero."),
    function!("bessel_y1", bessel::y1, "Bessel's function of the second kind, of order one."),
    function!(
        "modified_bessel_i0",
        special::i0,
        "Bessel's modified function of the first kind, of order zero."
    ),
    function!(
        "modified_bessel_i1",
        special::i1,
        "Bessel's modified function of the first kind, of order one."
    ),
    function!(
        "modified_bessel_k0",
        bessel::k0,
        "Bessel's modified function of the second kind, of order zero."
    ),
    function!(
        "modified_bessel_k1",
        bessel::k1,
        "Bessel's modified function of the second kind, of order one."
    ),
    function!("scaled_modified_bessel_k0", bessel::k0e, "`modified_bessel_k0` times the exponential."),
    function!("scaled_modified_bessel_k1", bessel::k1e, "`modified_bessel_k1` times the exponential."),
    function!("spherical_bessel_j0", bessel::spherical_j0, "Bessel's spherical function of order zero."),
    polynomials!("chebyshev_polynomial_t", T, false, "Chebyshev's polynomials of the first kind."),
    polynomials!("chebyshev_polynomial_u", U, false, "Chebyshev's polynomials of the second kind."),
    polynomials!("chebyshev_polynomial_v", V, false, "Chebyshev's polynomials of the third kind."),
    polynomials!("chebyshev_polynomial_w", W, false, "Chebyshev's polynomials of the fourth kind."),
    polynomials!("shifted_chebyshev_polynomial_t", T, true, "`chebyshev_polynomial_t` of 2x - 1."),
    polynomials!("shifted_chebyshev_polynomial_u", U, true, "`chebyshev_polynomial_u` of 2x - 1."),
    polynomials!("shifted_chebyshev_polynomial_v", V, true, "`chebyshev_polynomial_v` of 2x - 1."),
    polynomials!("shifted_chebyshev_polynomial_w", W, true, "`chebyshev_polynomial_w` of 2x - 1."),
    polynomials!("hermite_polynomial_h", H, false, "Hermite's polynomials as physics has them."),
    polynomials!("hermite_polynomial_he", He, false, "Hermite's polynomials as statistics has them."),
    polynomials!("laguerre_polynomial_l", L, false, "Laguerre's polynomials."),
    polynomials!("legendre_polynomial_p", P, false, "Legendre's polynomials."),
];
