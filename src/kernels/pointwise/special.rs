//! Special functions of one number, in double precision.

use crate::dtype::Real;
use crate::kernels::pointwise::jets::Jet;
use std::f64::consts::{FRAC_2_SQRT_PI, PI, SQRT_2};

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

/// The x of which y is erf x and `rest` erfc x, for positive ones: of the two the smaller one has the digits.
fn error_inverse(y: f64, rest: f64) -> f64 {
    // Winitzki's approximation, then Halley's method.
    let a = 0.147;
    let log = (rest * (1.0 + y)).ln();
    let first = 2.0 / (PI * a) + log / 2.0;
    let mut x = ((first * first - log / a).sqrt() - first).sqrt();
    for _ in 0..4 {
        let error = if x < 0.5 { libm::erf(x) - y } else { rest - libm::erfc(x) };
        let step = error / (FRAC_2_SQRT_PI * (-x * x).exp());
        x -= step / (1.0 + x * step);
    }
    x
}

/// What a normal number is below with this probability.
pub fn normal_quantile(p: f64) -> f64 {
    if p == 0.5 {
        return 0.0;
    }
    if !(p > 0.0 && p < 1.0) {
        return match p {
            0.0 => f64::NEG_INFINITY,
            1.0 => f64::INFINITY,
            _ => f64::NAN,
        };
    }
    // The smaller side is doubled, which is exact: twice the probability less one would not be.
    let rest = 2.0 * p.min(1.0 - p);
    SQRT_2 * error_inverse(1.0 - rest, rest).copysign(p - 0.5)
}

/// exp(x²) erfc x
pub fn erfcx(x: f64) -> f64 {
    if x < 20.0 {
        return (x * x).exp() * libm::erfc(x);
    }
    let square = 1.0 / (2.0 * x * x);
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 0..8 {
        term *= -f64::from(2 * k + 1) * square;
        sum += term;
    }
    sum * FRAC_2_SQRT_PI / (2.0 * x)
}

/// From here on the modified Bessel functions are what they are near infinity, to all digits.
const FAR: f64 = 30.0;

/// Iₙ(x) for 0 ≤ x ≤ `FAR`, the modified Bessel function of order 0 or 1: Σ (x/2)²ᵏ⁺ⁿ/(k! (k + n)!)
///
/// The terms are powers, in which what rounding took from x² would come back many times. It is carried along.
fn bessel_series(order: u32, x: f64) -> f64 {
    let quarter = x * x / 4.0;
    let lost = x.mul_add(x, -(x * x)) / 4.0;
    let (mut term, mut term_lost) = (if order == 0 { 1.0 } else { x / 2.0 }, 0.0);
    let (mut sum, mut sum_lost, mut k) = (0.0, 0.0, 0.0);
    while term > sum * 1e-18 {
        let next = sum + term;
        let of_both = if sum > term { (sum - next) + term } else { (term - next) + sum };
        (sum, sum_lost) = (next, sum_lost + of_both + term_lost);
        k += 1.0;
        let divisor = k * (k + f64::from(order));
        let product = term * quarter;
        let product_lost = term.mul_add(quarter, -product) + (term * lost + term_lost * quarter);
        term = product / divisor;
        term_lost = ((-term).mul_add(divisor, product) + product_lost) / divisor;
    }
    sum + sum_lost
}

/// exp(-x) Iₙ(x) for x > `FAR`
fn bessel_far(order: u32, x: f64) -> f64 {
    let mu = f64::from(4 * order * order);
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..25 {
        let odd = f64::from(2 * k - 1);
        term *= -(mu - odd * odd) / (f64::from(k) * 8.0 * x);
        sum += term;
    }
    // Roots apart: the greatest number times 2π is none.
    sum / ((2.0 * PI).sqrt() * x.sqrt())
}

/// Iₙ(|x|)
fn bessel(order: u32, x: f64) -> f64 {
    let x = x.abs();
    if x <= FAR { bessel_series(order, x) } else { bessel_far(order, x) * x.exp() }
}

/// exp(-|x|) Iₙ(|x|)
fn bessel_scaled(order: u32, x: f64) -> f64 {
    let x = x.abs();
    if x <= FAR { bessel_series(order, x) * (-x).exp() } else { bessel_far(order, x) }
}

/// I₀(x)
pub fn i0(x: f64) -> f64 {
    bessel(0, x)
}

/// exp(-|x|) I₀(x)
pub fn i0e(x: f64) -> f64 {
    bessel_scaled(0, x)
}

/// I₁(x)
pub fn i1(x: f64) -> f64 {
    bessel(1, x).copysign(x)
}

/// exp(-|x|) I₁(x)
pub fn i1e(x: f64) -> f64 {
    bessel_scaled(1, x).copysign(x)
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
        close(i0(1.0), 1.266_065_877_752_008_4);
        close(i1(-1.0), -0.565_159_103_992_485);
        close(i0e(40.0), 0.063_278_279_875_235_32);
        // To the last digit: a series whose terms are powers.
        let far = 2_168_619_088.241_376_4;
        assert!((i0(24.0) - far).abs() <= far * f64::EPSILON);
        for (p, rest) in [(0.001, 0.002), (0.35, 0.7), (0.49, 0.98)] {
            close(libm::erfc(-normal_quantile(p) / SQRT_2), rest);
        }
        close(erfcx(1.0), 0.427_583_576_155_807);
        close(erfcx(19.9), 0.028_315_573_983_185_77);
        close(erfcx(20.1), 0.028_034_523_526_966_88);
    }
}
