//! What divisions leave over.

use super::Arithmetic;
use crate::dtype::{DType, Real};

/// Whether a quotient has more digits than there are here, or a product with it would lose some.
#[inline(always)]
pub fn is_large_quotient<T: Real>(a: T, b: T) -> bool {
    let (most, least) = if T::DTYPE == DType::Float32 { (4e6, 1e-25) } else { (1e15, 1e-250) };
    (a / b).abs() > T::from_f64(most) || b.abs() < T::from_f64(least)
}

/// a - b times their quotient rounded towards zero, unless `is_large_quotient`: exact
#[inline(always)]
pub fn fmod<A: Arithmetic>(a: A, b: A) -> A {
    let (zero, infinity) = (A::from_f64(0.0), A::from_f64(f64::INFINITY));
    let (x, y) = (a.abs(), b.abs());
    let left = x.less_product((x / y).trunc(), y);
    // The quotient may have been rounded to the next integer.
    let left = if left < zero { left + y } else { left };
    let left = if left >= y { left - y } else { left };
    let left = if y == infinity && x < infinity { x } else { left };
    left.copysign(a)
}

/// `fmod` with the sign of the second number
#[inline(always)]
pub fn remainder<A: Arithmetic>(a: A, b: A) -> A {
    let zero = A::from_f64(0.0);
    let left = fmod(a, b);
    if left != zero && (b < zero) != (left < zero) { left + b } else { left }
}
