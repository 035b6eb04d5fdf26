//! Functions of Bessel and Airy that are not told from others: by their integrals, and by the equations
//! that they solve.

pub use libm::{j0, j1, y0, y1};
use std::f64::consts::{FRAC_1_PI, FRAC_PI_4, PI};

/// exp(x) K of an order, by the trapezoid rule for ∫ exp(-x (cosh t - 1)) cosh(order t) dt from zero on, whose
/// terms fall so fast at the end that it is exact to the last bits.
fn second_scaled(order: f64, x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::INFINITY;
    }
    if x.is_infinite() {
        return 0.0;
    }
    // The terms are a bell of the width of 1/√x, or less steep.
    let step = (0.5 / x.sqrt()).min(0.0625);
    let term = |t: f64| {
        // Of a large x the square of what is beside it would be too small for a number.
        let reach = x.sqrt() * (0.5 * t).sinh();
        let falling = -2.0 * reach * reach;
        0.5 * ((falling + order * t).exp() + (falling - order * t).exp())
    };
    let (mut sum, mut t) = (0.5 * term(0.0), step);
    loop {
        let next = term(t);
        // Small numbers: the terms grow first.
        if next <= f64::EPSILON * 1e-3 * sum && x * t.sinh() > order {
            break;
        }
        sum += next;
        t += step;
        if t > 1500.0 {
            break;
        }
    }
    sum * step
}

/// K₀(x)
pub fn k0(x: f64) -> f64 {
    (-x).exp() * second_scaled(0.0, x)
}

/// K₁(x)
pub fn k1(x: f64) -> f64 {
    (-x).exp() * second_scaled(1.0, x)
}

/// exp(x) K₀(x)
pub fn k0e(x: f64) -> f64 {
    second_scaled(0.0, x)
}

/// exp(x) K₁(x)
pub fn k1e(x: f64) -> f64 {
    second_scaled(1.0, x)
}

/// sin(x)/x
pub fn spherical_j0(x: f64) -> f64 {
    if x.is_infinite() {
        return 0.0;
    }
    if x == 0.0 { 1.0 } else { x.sin() / x }
}

/// Ai(x): by K of order a third on the right, on the left by steps of the equation y″ = x y, and far away
/// by how it goes on for ever.
pub fn airy(x: f64) -> f64 {
    const AT_ZERO: f64 = 0.355_028_053_887_817_2;
    const SLOPE_AT_ZERO: f64 = -0.258_819_403_792_806_8;
    if !x.is_finite() {
        return f64::NAN;
    }
    let angle = x.abs().powf(1.5) / 1.5;
    if x > 0.5 {
        return FRAC_1_PI * (x / 3.0).sqrt() * (-angle).exp() * second_scaled(1.0 / 3.0, angle);
    }
    if x < -60.0 {
        let near = 5.0 / (72.0 * angle);
        let wave = (angle + FRAC_PI_4).sin() - near * (angle + FRAC_PI_4).cos();
        let second = 385.0 / (10368.0 * angle * angle);
        return (wave - second * (angle + FRAC_PI_4).sin()) / (PI.sqrt() * x.abs().powf(0.25));
    }
    let (mut at, mut y, mut slope) = (0.0, AT_ZERO, SLOPE_AT_ZERO);
    while at != x {
        let step = (x - at).clamp(-0.5, 0.5);
        // The series around `at`: what it has of a power follows from what it has of lower ones.
        let (mut below, mut here, mut next) = (0.0, y, slope);
        let (mut power, mut sum, mut rise) = (1.0, 0.0, 0.0);
        for k in 0..30 {
            let k = f64::from(k);
            sum += here * power;
            rise += (k + 1.0) * next * power;
            power *= step;
            let after = (at * here + below) / ((k + 1.0) * (k + 2.0));
            (below, here, next) = (here, next, after);
        }
        (y, slope) = (sum, rise);
        at = if (x - at).abs() <= 0.5 { x } else { at + step };
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_are_met() {
        let close = |found: f64, wanted: f64| {
            assert!((found - wanted).abs() <= 1e-12 * wanted.abs().max(1e-3), "{found} {wanted}");
        };
        close(k0(1.0), 0.421_024_438_240_708_3);
        close(k1(1.0), 0.601_907_230_197_234_6);
        close(k1e(1e-300), 1e300);
        close(airy(0.0), 0.355_028_053_887_817_2);
        close(airy(2.0), 0.034_924_130_423_274_38);
        close(airy(-5.0), 0.350_761_009_024_114_3);
    }
}
