//! The logarithm of the gamma function and its derivative, of numbers of single precision: they are calculated in
//! double precision, since much cancels around the places where they are zero.

use std::f64::consts::PI;

use super::circular::{sin, tan};
use super::logarithm::ln;
use super::{Arithmetic, polynomial};

/// Stirling's series less its first terms, in 1/x², times x: Bernoulli's numbers.
const STIRLING: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
];

/// The terms of its derivative, in 1/x², times x².
const DERIVATIVE: [f64; 7] =
    [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32_760.0, 1.0 / 12.0];

/// From so many on the series hold: smaller numbers are moved by so many.
const SHIFT: u8 = 8;

/// A number from one half on, or one less it, made as large as the series want it.
struct Shifted<A> {
    /// The number.
    z: A,
    /// The product of the numbers that were passed, and its derivative.
    product: A,
    slope: A,
    /// Whether it is one less the number.
    is_reflected: bool,
}

#[inline(always)]
fn shifted<A: Arithmetic>(x: A) -> Shifted<A> {
    let (one, zero) = (A::from_f64(1.0), A::from_f64(0.0));
    let is_reflected = x < A::from_f64(0.5);
    let x = if is_reflected { one - x } else { x };
    let (mut product, mut slope) = (one, zero);
    for step in 0..SHIFT {
        let next = x + A::from_f64(f64::from(step));
        slope = slope.times_plus(next, product);
        product = product * next;
    }
    let is_small = x < A::from_f64(f64::from(SHIFT));
    Shifted {
        z: if is_small { x + A::from_f64(f64::from(SHIFT)) } else { x },
        product: if is_small { product } else { one },
        slope: if is_small { slope } else { zero },
        is_reflected,
    }
}

/// π times what is behind the point of a number.
#[inline(always)]
fn angle<A: Arithmetic>(x: A) -> A {
    let half = A::from_f64(0.5);
    let rest = x - x.trunc();
    let rest = if rest > half { rest - A::from_f64(1.0) } else { rest };
    let rest = if rest < -half { rest + A::from_f64(1.0) } else { rest };
    rest * A::from_f64(PI)
}

/// ln |Γ(x)|
#[inline(always)]
fn wide_lgamma<A: Arithmetic>(x: A) -> A {
    let infinity = A::from_f64(f64::INFINITY);
    let Shifted { z, product, is_reflected, .. } = shifted(x);
    let inverse = A::from_f64(1.0) / z;
    let tail = inverse * polynomial(inverse * inverse, &STIRLING);
    let constant = A::from_f64(0.918_938_533_204_672_8); // ln(2π)/2
    let series = (z - A::from_f64(0.5)) * ln(z) - z + (constant + tail);
    let reflected = product * (A::from_f64(PI) / sin(angle(x)).abs());
    let log = ln(if is_reflected { reflected } else { product });
    let y = if is_reflected { log - series } else { series - log };
    // Where both are the same they may differ by a rounding.
    let y = if x == A::from_f64(1.0) || x == A::from_f64(2.0) { A::from_f64(0.0) } else { y };
    if x.abs() == infinity { infinity } else { y }
}

/// ψ(x)
#[inline(always)]
fn wide_digamma<A: Arithmetic>(x: A) -> A {
    let (zero, infinity) = (A::from_f64(0.0), A::from_f64(f64::INFINITY));
    let Shifted { z, product, slope, is_reflected } = shifted(x);
    let inverse = A::from_f64(1.0) / z;
    let squared = inverse * inverse;
    let tail = squared.times_plus(polynomial(squared, &DERIVATIVE), A::from_f64(0.5) * inverse);
    let y = (ln(z) - tail) - slope / product;
    let y = if is_reflected { y - A::from_f64(PI) / tan(angle(x)) } else { y };
    let is_pole = x < zero && x.trunc() == x;
    let y = if is_pole { A::from_f64(f64::NAN) } else { y };
    let y = if x == infinity { infinity } else { y };
    if x == zero { infinity.copysign(-x) } else { y }
}

/// ln |Γ(x)| of numbers of single precision
#[inline(always)]
pub fn lgamma<A: Arithmetic>(x: A) -> A {
    A::narrowed(wide_lgamma(x.widened()))
}

/// ψ(x), the derivative of that
#[inline(always)]
pub fn digamma<A: Arithmetic>(x: A) -> A {
    A::narrowed(wide_digamma(x.widened()))
}
