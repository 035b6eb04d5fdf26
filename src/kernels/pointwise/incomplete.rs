//! The gamma function's integral up to a number and from it on, as fractions of the whole.

use std::f64::consts::PI;

use crate::kernels::pointwise::jets::Jet;
use crate::kernels::pointwise::special::polygamma;

const TERMS: usize = 20_000;

/// xᵃ exp(-x) / Γ(a)
fn scale(a: f64, x: f64) -> f64 {
    if a < 100.0 {
        return (a * x.ln() - x - libm::lgamma(a)).exp();
    }
    // Stirling's series, so that large terms do not meet: ln Γ(a) = (a - ½) ln a - a + ½ ln 2π + …
    let square = 1.0 / (a * a);
    let rest = (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0)) / a;
    let ratio = (x - a) / a;
    (a * (ratio.ln_1p() - ratio) - rest).exp() * (a / (2.0 * PI)).sqrt()
}

/// The lower integral by its series.
fn series(a: f64, x: f64) -> f64 {
    let (mut sum, mut term) = (1.0 / a, 1.0 / a);
    for k in 1..TERMS {
        term *= x / (a + k as f64);
        sum += term;
        if term <= f64::EPSILON * 0.1 * sum {
            break;
        }
    }
    sum * scale(a, x)
}

/// The upper integral by its continued fraction (Lentz).
fn fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / if b == 0.0 { TINY } else { b };
    let mut found = d;
    for k in 1..TERMS {
        let k = k as f64;
        let factor = -k * (k - a);
        b += 2.0;
        let away = |x: f64| if x.abs() < TINY { TINY } else { x };
        d = 1.0 / away(factor * d + b);
        c = away(b + factor / c);
        found *= c * d;
        if (c * d - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    found * scale(a, x)
}

/// The answers that need no sum: P(a, x).
fn known(a: f64, x: f64) -> Option<f64> {
    match () {
        () if a.is_nan() || x.is_nan() || a < 0.0 || x < 0.0 => Some(f64::NAN),
        () if a == 0.0 => Some(if x > 0.0 { 1.0 } else { f64::NAN }),
        () if x == 0.0 => Some(0.0),
        () if a.is_infinite() => Some(if x.is_infinite() { f64::NAN } else { 0.0 }),
        () if x.is_infinite() => Some(1.0),
        () => None,
    }
}

/// P(a, x): the integral up to x.
pub fn lower(a: f64, x: f64) -> f64 {
    known(a, x).unwrap_or_else(|| if x < a + 1.0 { series(a, x) } else { 1.0 - fraction(a, x) })
}

/// Q(a, x): the integral from x on.
pub fn upper(a: f64, x: f64) -> f64 {
    match known(a, x) {
        Some(lower) => 1.0 - lower,
        None if x < a + 1.0 => 1.0 - series(a, x),
        None => fraction(a, x),
    }
}

/// `scale` as a function of a: the slope of the exponent is ln x - ψ(a).
fn scale_jet(a: f64, x: f64) -> Jet {
    let mut factorial = 1.0;
    let exponent = Jet::of(|order| {
        factorial *= order.max(1) as f64;
        match order {
            0 => 0.0,
            1 => x.ln() - polygamma(0, a),
            _ => -polygamma(order as i64 - 1, a) / factorial,
        }
    });
    exponent.exp().times(scale(a, x))
}

/// `series` as a function of a.
fn series_jet(a: f64, x: f64) -> Jet {
    let mut term = Jet::constant(1.0).over(Jet::line(a, 1.0));
    let mut sum = term;
    for k in 1..TERMS {
        term = term.times(x).over(Jet::line(a + k as f64, 1.0));
        sum = sum + term;
        if term.is_small_beside(&sum) {
            break;
        }
    }
    sum * scale_jet(a, x)
}

/// `fraction` as a function of a, from the last step to the first: as many as the value takes, and more for
/// the derivatives.
fn fraction_jet(a: f64, x: f64) -> Jet {
    let own = |k: f64| Jet::line(x + 1.0 - a + 2.0 * k, -1.0);
    let steps = 60.0 + 200.0 * (1.0 + a).sqrt().min(1e3) / (1.0 + (x - a).max(0.0)).sqrt();
    let mut rest = own(steps.ceil());
    let mut k = steps.ceil();
    while k >= 1.0 {
        rest = own(k - 1.0) + Jet::line(-k * (k - a), k).over(rest);
        k -= 1.0;
    }
    scale_jet(a, x).over(rest)
}

/// The derivative of P(a, x) by a, of that order.
pub fn lower_derivative(order: usize, a: f64, x: f64) -> f64 {
    match () {
        () if a.is_nan() || x.is_nan() || a <= 0.0 || x < 0.0 => f64::NAN,
        () if x == 0.0 || a.is_infinite() || x.is_infinite() => 0.0,
        () if x < a + 1.0 => series_jet(a, x).derivative(order),
        () => -fraction_jet(a, x).derivative(order),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_are_met() {
        for (a, x, wanted) in [(1.0, 1.0, 0.632_120_558_828_557_7), (0.5, 4.0, 0.995_322_265_018_952_7)] {
            assert!((lower(a, x) - wanted).abs() < 1e-14);
            assert!((upper(a, x) - (1.0 - wanted)).abs() < 1e-14);
        }
        assert!((lower(300.0, 310.0) - 0.722_5).abs() < 1e-4);
    }

    #[test]
    fn derivatives_are_those_of_the_function() {
        let step = 1e-4;
        for (a, x) in [(0.3, 0.1), (0.7, 1.5), (1.0, 2.0), (2.5, 0.4), (3.0, 9.0), (20.0, 21.0), (40.0, 41.5)]
        {
            for order in 1..4 {
                let before =
                    |a: f64| if order == 1 { lower(a, x) } else { lower_derivative(order - 1, a, x) };
                let wanted = (before(a + step) - before(a - step)) / (2.0 * step);
                let found = lower_derivative(order, a, x);
                assert!(
                    (found - wanted).abs() < 1e-5 * (1.0 + wanted.abs()),
                    "{order} {a} {x}: {found} {wanted}"
                );
            }
        }
    }
}
