//! Functions of mathematics, reached as `special.…`, Fourier transforms, reached as `fft.…`, and eigenvalues.
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, types};
use crate::error::raise;
use crate::functions::entries::{both, in_place, inner, method};
use crate::values::arguments::Arguments;
use crate::values::returns::{Named, ToPython};
use pyo3::prelude::*;
use rushlight::dispatch::binary;
use rushlight::kernels::pointwise::polynomials::Family;
use rushlight::kernels::pointwise::{bessel, special};
use rushlight::ops::fourier::{Scale, fourier, half_fourier, real_fourier};
use rushlight::ops::linalg::eigen::eig;
use rushlight::ops::pointwise::incomplete::{Incomplete, Zeta};
use rushlight::ops::pointwise::mathematics::{each, polynomial};

const ONE: &[&str] = &["(Tensor input, *, Tensor out=None)"];
const TWO: &[&str] = &["(Tensor input, Tensor other, *, Tensor out=None)"];
const MIXED: &[&str] = &[
    "(Tensor input, Tensor other, *, Tensor out=None)",
    "(Number self, Tensor other, *, Tensor out=None)",
    "(Tensor input, Number other, *, Tensor out=None)",
];
const POLYNOMIAL: &[&str] = &[
    "(Tensor x, Tensor n, *, Tensor out=None)",
    "(Number x, Tensor n, *, Tensor out=None)",
    "(Tensor x, Number n, *, Tensor out=None)",
];

/// A function of every element.
macro_rules! function {
    ($name:literal, $function:path, $doc:literal) => {
        inner(concat!("special_", $name), ONE, $doc, |a| {
            each(a.tensor(0)?, concat!($name, "_cpu"), $function).answer(a.py())
        })
        .written(&OutPolicy::COMPARED)
    };
}

/// The polynomials of a family, perhaps of 2x - 1.
macro_rules! polynomials {
    ($name:literal, $family:ident, $shifted:literal, $doc:literal) => {
        inner(concat!("special_", $name), POLYNOMIAL, $doc, |a| {
            let (x, n) = (a.operand(0)?, a.operand(1)?);
            polynomial(Family::$family, $shifted, x, n, concat!($name, "_cpu")).answer(a.py())
        })
        .written(&OutPolicy::COMPARED)
    };
}

fn lower(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    binary::apply(Incomplete::<false>::default(), a.operand(0)?, a.operand(1)?).answer(a.py())
}

fn upper(a: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    binary::apply(Incomplete::<true>::default(), a.operand(0)?, a.operand(1)?).answer(a.py())
}

/// How a transform is scaled, from torch's number for it.
fn scale(a: &Arguments<'_, '_>, index: usize) -> PyResult<Scale> {
    Ok(match a.int(index)? {
        0 => Scale::None,
        1 => Scale::Root,
        _ => Scale::Count,
    })
}

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[
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
    inner("special_zeta", MIXED, "The sum of powers of all numbers from `other` on.", |a| {
        binary::apply(Zeta::default(), a.operand(0)?, a.operand(1)?).answer(a.py())
    })
    .written(&OutPolicy::ALIGNED),
    inner("special_gammainc", TWO, "The gamma function's integral up to `other`, as a fraction.", lower)
        .written(&OutPolicy::ALIGNED.refused_as("igamma")),
    inner("special_gammaincc", TWO, "The gamma function's integral from `other` on, as a fraction.", upper)
        .written(&OutPolicy::ALIGNED.refused_as("igammac")),
    both("igamma", TWO, "The gamma function's integral up to `other`, as a fraction.", lower)
        .written(&OutPolicy::ALIGNED),
    method("igamma_", &["(Tensor input, Tensor other)"], "`igamma` in place.", |a| {
        in_place(a, binary::apply_in_place(Incomplete::<false>::default(), a.tensor(0)?, a.operand(1)?))
    }),
    both("igammac", TWO, "The gamma function's integral from `other` on, as a fraction.", upper)
        .written(&OutPolicy::ALIGNED),
    method("igammac_", &["(Tensor input, Tensor other)"], "`igammac` in place.", |a| {
        in_place(a, binary::apply_in_place(Incomplete::<true>::default(), a.tensor(0)?, a.operand(1)?))
    }),
    inner(
        "fft_c2c",
        &["(Tensor input, int[] dim, int normalization, bool forward)"],
        "The Fourier transform of complex numbers.",
        |a| fourier(a.tensor(0)?, &a.ints(1)?, scale(a, 2)?, a.boolean(3)).answer(a.py()),
    ),
    inner(
        "fft_r2c",
        &["(Tensor input, int[] dim, int normalization, bool onesided)"],
        "The Fourier transform of real numbers.",
        |a| real_fourier(a.tensor(0)?, &a.ints(1)?, scale(a, 2)?, a.boolean(3)).answer(a.py()),
    ),
    inner(
        "fft_c2r",
        &["(Tensor input, int[] dim, int normalization, int last_dim_size)"],
        "The real numbers that have a Fourier transform.",
        |a| half_fourier(a.tensor(0)?, &a.ints(1)?, scale(a, 2)?, a.int(3)?).answer(a.py()),
    ),
    inner(
        "linalg_eig",
        &["(Tensor input, *, Tensor[] out=None) -> return_types.linalg_eig"],
        "The eigenvalues and eigenvectors of matrices.",
        |a| {
            let elements = eig(a.tensor(0)?, "linalg.eig").map_err(raise)?;
            Named { class: "linalg_eig", elements }.answer(a.py())
        },
    )
    .written(&OutPolicy::PLAIN.typed(types::eigenvectors)),
    inner("linalg_eigvals", &["(Tensor input, *, Tensor out=None)"], "The eigenvalues of matrices.", |a| {
        eig(a.tensor(0)?, "linalg.eigvals").map(|(values, _)| values).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.unknown("linalg_eigvals").typed(types::eigenvalues)),
];
