//! Functions of numbers as plain arithmetic, which the compiler vectorises inside an elementwise loop; the
//! functions of the standard library are calls, one element at a time.
//!
//! Each is computed in the type of its argument, for all arguments, and is within one to two units in the last
//! place. There are no branches: what holds in a part of the range is chosen in the end. Polynomials were fitted to
//! more digits than are written; what they are off by is far below the rounding of the sum that they go into.

mod arithmetic;
mod bessel;
mod circular;
mod error;
mod exponential;
mod gamma;
mod hyperbolic;
mod inverse;
mod logarithm;
mod oscillating;
mod power;
mod quotient;
mod root;
mod second;
#[cfg(test)]
mod tests;

pub use arithmetic::{Arithmetic, Fused};
pub use bessel::{i0, i0e, i1, i1e};
pub use circular::{cos, is_many_turns, sin, tan};
pub use error::{erf, erfc, erfcx, erfinv, normal_quantile, normal_share};
pub use exponential::{exp, exp_2, exp_m1, exp_of_near, has_normal_power, sigmoid, sigmoid_of_near};
pub use gamma::{digamma, lgamma};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub use inverse::{acos, asin, atan, atan2};
pub use logarithm::{entropy, ln, ln_1p, ln_1p_of_share, log_2, log_10, log_add_exp};
pub use oscillating::bessel;
pub use power::{hypot, pow};
pub use quotient::{floor_quotient, fmod, is_large_quotient, remainder};
pub use root::{has_root_by_products, root_by_products};
pub use second::{airy, second};

/// One of two numbers that stand for single and double precision.
#[inline(always)]
fn of<A: Arithmetic>(numbers: [f64; 2]) -> A {
    A::from_f64(numbers[usize::from(!A::SINGLE)])
}

/// c₀ + x c₁ + x² c₂ ... with the coefficients for single or double precision
#[inline(always)]
fn series<A: Arithmetic>(x: A, single: &[f64], double: &[f64]) -> A {
    polynomial(x, if A::SINGLE { single } else { double })
}

/// c₀ + x c₁ + x² c₂ ...
#[inline(always)]
fn polynomial<A: Arithmetic>(x: A, coefficients: &[f64]) -> A {
    let mut term = coefficients.len() - 1;
    let mut sum = A::from_f64(coefficients[term]);
    while term > 0 {
        term -= 1;
        sum = sum.times_plus(x, A::from_f64(coefficients[term]));
    }
    sum
}

/// The sum of two numbers, of which the first is the larger one, and what rounding took from it.
#[inline(always)]
fn exact_sum<A: Arithmetic>(large: A, small: A) -> (A, A) {
    let sum = large + small;
    (sum, small - (sum - large))
}
