//! Special functions of one number, in double precision.

use crate::dtype::Real;
use crate::kernels::pointwise::jets::Jet;
use std::f64::consts::PI;

/// ψ(x), the derivative of ln Γ.
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    if x < 0.0 {
        if x == x.trunc() {
            return f64::NAN;
        }
        // Reflection; the angle is reduced first, so that the tangent is of a small number.
        return digamma(1.0 - x) - PI / (PI * x.fract()).tan();
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    // Bernoulli's numbers over twice their index.
    const SERIES: [f64; 7] =
        [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0];
    let square = 1.0 / (x * x);
    let tail = SERIES.iter().rev().fold(0.0, |tail, term| (tail + term) * square);
    sum + x.ln() - 0.5 / x - tail
}

/// Euler and Maclaurin's formula for the rest of such a sum: B₂ₖ/(2k)!.
const REST: [f64; 10] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30240.0,
    -1.0 / 1209600.0,
    1.0 / 47900160.0,
    -691.0 / 1307674368000.0,
    1.0 / 74724249600.0,
    -3617.0 / 10670622842880000.0,
    43867.0 / 5109094217170944000.0,
    -174611.0 / 802857662698291200000.0,
];

/// ζ(s, q) = Σ (q + k)⁻ˢ for s > 1.
pub fn zeta(s: f64, q: f64) -> f64 {
    if s == 1.0 {
        return f64::INFINITY;
    }
    if s < 1.0 {
        return f64::NAN;
    }
    if q <= 0.0 {
        if q == q.floor() {
            return f64::INFINITY;
        }
        if s != s.floor() {
            return f64::NAN;
        }
    }
    if q < -1e7 {
        // More terms than anybody waits for, in none of which a digit behind the point is left.
        return f64::NAN;
    }
    let (mut sum, mut at) = (0.0, q);
    let mut count = 0;
    while count < 10 || at <= 9.0 {
        sum += at.powf(-s);
        at += 1.0;
        count += 1;
    }
    let power = at.powf(-s);
    sum += at * power / (s - 1.0) + 0.5 * power;
    let (mut factor, mut power) = (s, power / at);
    for (index, term) in REST.iter().enumerate() {
        sum += term * factor * power;
        let next = s + 2.0 * index as f64;
        factor *= (next + 1.0) * (next + 2.0);
        power /= at * at;
    }
    sum
}

/// The derivative of ζ(s, q) by s, of that order: the same sum. There is none where powers are not real.
pub fn zeta_derivative(order: usize, s: f64, q: f64) -> f64 {
    if s.is_nan() || s <= 1.0 || q.is_nan() || q <= 0.0 {
        return f64::NAN;
    }
    let exponent = Jet::line(s, 1.0);
    let power = |at: f64| exponent.times(-at.ln()).exp();
    let (mut sum, mut at) = (Jet::constant(0.0), q);
    for _ in 0..10 {
        sum = sum + power(at);
        at += 1.0;
    }
    while at <= 9.0 {
        sum = sum + power(at);
        at += 1.0;
    }
    let mut rest = power(at);
    sum = sum + rest.times(at).over(Jet::line(s - 1.0, 1.0)) + rest.times(0.5);
    rest = (rest * exponent).times(1.0 / at);
    for (index, term) in REST.iter().enumerate() {
        sum = sum + rest.times(*term);
        let next = s + 2.0 * index as f64;
        rest = (rest * Jet::line(next + 1.0, 1.0) * Jet::line(next + 2.0, 1.0)).times(1.0 / (at * at));
    }
    sum.derivative(order)
}

/// The first derivative of ψ. At its poles there is what rounding leaves of the reflection.
pub fn trigamma<T: Real>(x: T) -> T {
    let number = T::from_f64;
    let (mut x, mut sum, reflected) = (x, T::ZERO, x < number(0.5));
    if reflected {
        let sine = (number(PI) * x).sin();
        sum = -(number(PI) * number(PI)) / (sine * sine);
        x = T::ONE - x;
    }
    for _ in 0..6 {
        sum = sum + T::ONE / (x * x);
        x = x + T::ONE;
    }
    let square = T::ONE / (x * x);
    let inner = number(1.0 / 30.0) - square * number(1.0 / 42.0);
    let series = T::ONE + T::ONE / (number(2.0) * x) + square * (number(1.0 / 6.0) - square * inner);
    sum = sum + series / x;
    if reflected { -sum } else { sum }
}

/// The n-th derivative of ψ.
pub fn polygamma(n: i64, x: f64) -> f64 {
    match n {
        0 => digamma(x),
        n => {
            let order = n as f64;
            let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
            sign * libm::tgamma(order + 1.0) * zeta(order + 1.0, x)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_are_met() {
        let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-13 * b.abs().max(1.0), "{a} is not {b}");
        close(digamma(1.0), -0.577_215_664_901_532_9);
        close(digamma(-0.5), 0.036_489_973_978_576_52);
        close(zeta(2.0, 1.0), PI * PI / 6.0);
        close(polygamma(1, 0.5), PI * PI / 2.0);
    }
}
