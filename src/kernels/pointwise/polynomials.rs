//! Polynomials that are orthogonal to each other, by how each follows from the two before it.

/// Which polynomials.
#[derive(Clone, Copy, PartialEq)]
pub enum Family {
    /// Chebyshev's of the first kind.
    T,
    /// Chebyshev's of the second kind.
    U,
    /// Chebyshev's of the third kind.
    V,
    /// Chebyshev's of the fourth kind.
    W,
    /// Hermite's, of physics.
    H,
    /// Hermite's, of probabilities.
    He,
    /// Laguerre's.
    L,
    /// Legendre's.
    P,
}

/// How many are counted up to: what follows is not finite, or has no digit that is right.
const HIGHEST: f64 = 1e6;

/// The value of the `n`th polynomial, which is zero for negative n, and where n is no number.
pub fn value(family: Family, x: f64, n: f64) -> f64 {
    // What no integer of 64 bits is becomes the least of them.
    if n.is_nan() || n <= -1.0 || n >= 2f64.powi(63) {
        return 0.0;
    }
    let n = n.trunc();
    if n > HIGHEST {
        return f64::NAN;
    }
    let first = match family {
        Family::T | Family::P | Family::He => x,
        Family::U | Family::H => x + x,
        Family::V => x + x - 1.0,
        Family::W => x + x + 1.0,
        Family::L => 1.0 - x,
    };
    if n == 0.0 {
        return 1.0;
    }
    let (mut before, mut here) = (1.0, first);
    for k in 1..n as u64 {
        let k = k as f64;
        let next = match family {
            Family::T | Family::U | Family::V | Family::W => (x + x) * here - before,
            Family::H => (x + x) * here - 2.0 * k * before,
            Family::He => x * here - k * before,
            Family::L => ((k + k + 1.0 - x) * here - k * before) / (k + 1.0),
            Family::P => ((k + k + 1.0) * x * here - k * before) / (k + 1.0),
        };
        (before, here) = (here, next);
    }
    here
}
