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

/// The lower integral by its series, to so small a part of it.
fn series(a: f64, x: f64, least: f64) -> f64 {
    let (mut sum, mut term) = (1.0 / a, 1.0 / a);
    for k in 1..TERMS {
        term *= x / (a + k as f64);
        sum += term;
        if term <= least * 0.1 * sum {
            break;
        }
    }
    sum * scale(a, x)
}

/// The upper integral by its continued fraction, to so small a part of it: numerators and denominators of what it is up to
/// each step.
fn fraction(a: f64, x: f64, least: f64) -> f64 {
    /// Steps between two quotients.
    const TOGETHER: usize = 4;
    const LARGE: f64 = 1e100;
    let mut own = x + 1.0 - a;
    let ([mut above, mut below], mut before, mut found) = ([1.0, own], [0.0, 1.0], 1.0 / own);
    for step in (1..TERMS).step_by(TOGETHER) {
        for k in step..step + TOGETHER {
            let k = k as f64;
            let factor = k * (a - k);
            own += 2.0;
            let next = [own * above + factor * before[0], own * below + factor * before[1]];
            before = [above, below];
            [above, below] = next;
        }
        if above.abs() > LARGE || below.abs() > LARGE {
            let smaller = |x: f64| x / LARGE;
            (above, below, before) = (smaller(above), smaller(below), before.map(smaller));
        }
        let quotient = above / below;
        if !quotient.is_finite() {
            break; // Nothing is left of the integral.
        }
        let is_near = (quotient - found).abs() <= least * TOGETHER as f64 * quotient.abs();
        found = quotient;
        if is_near {
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

/// So far beyond the order the lower integral is still summed up: it takes fewer steps than the fraction.
const BEYOND: f64 = 12.0;

/// A difference from one that has the digits of single precision.
const ENOUGH: f64 = 1e-6;

/// P(a, x): the integral up to x, to so small a part of it.
pub fn lower(a: f64, x: f64, least: f64) -> f64 {
    let sum = || if x < a + BEYOND { series(a, x, least) } else { 1.0 - fraction(a, x, least) };
    known(a, x).unwrap_or_else(sum)
}

/// Q(a, x): the integral from x on, to so small a part of it.
pub fn upper(a: f64, x: f64, least: f64) -> f64 {
    match known(a, x) {
        Some(lower) => 1.0 - lower,
        // As long as the order is not small, much is left.
        None if x < a + 1.0 => 1.0 - series(a, x, if a > 0.5 { least } else { f64::EPSILON }),
        None if x < a + BEYOND && least > f64::EPSILON => {
            // Single precision has fewer digits than are left of most differences.
            let rest = 1.0 - series(a, x, f64::EPSILON);
            if rest > ENOUGH { rest } else { fraction(a, x, least) }
        }
        None => fraction(a, x, least),
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

    /// An order, a number, and both parts of the integral.
    const KNOWN: [(f64, f64, f64, f64); 14] = [
        (1.0, 1.0, 0.6321205588285577, 0.36787944117144233),
        (0.5, 4.0, 0.9953222650189527, 0.004677734981047266),
        (300.0, 310.0, 0.7224887541718611, 0.2775112458281389),
        (300.0, 250.0, 0.0011623936310546183, 0.9988376063689454),
        (0.1, 0.01, 0.6626212599544798, 0.3373787400455202),
        (0.1, 11.5, 0.9999998898073769, 1.1019262318569306e-07),
        (0.1, 13.0, 0.9999999778176571, 2.2182342798584995e-08),
        (5.0, 16.5, 0.9997276141655124, 0.00027238583448765475),
        (5.0, 17.5, 0.999875134747217, 0.00012486525278303777),
        (2.5, 3.4, 0.7640554623054786, 0.2359445376945214),
        (2.5, 3.6, 0.7938140802904441, 0.20618591970955588),
        (40.0, 60.0, 0.9974518076963866, 0.0025481923036133223),
        (1000.0, 1001.0, 0.5168114529297863, 0.4831885470702138),
        (0.001, 2.0, 0.999951023082169, 4.897691783098148e-05),
    ];

    #[test]
    fn known_values_are_met() {
        for (a, x, low, high) in KNOWN {
            for (least, bound) in [(f64::EPSILON, 2e-13), (f64::from(f32::EPSILON) / 4.0, 5e-8)] {
                for (found, wanted) in [(lower(a, x, least), low), (upper(a, x, least), high)] {
                    let off =
                        if wanted > 1e-3 { (found / wanted - 1.0).abs() } else { (found - wanted).abs() };
                    assert!(off < bound, "{a} {x} {least}: {found}, not {wanted}");
                }
            }
        }
        assert_eq!([lower(2.0, 1e300, f64::EPSILON), upper(2.0, 1e300, f64::EPSILON)], [1.0, 0.0]);
    }

    #[test]
    fn derivatives_are_those_of_the_function() {
        let step = 1e-4;
        for (a, x) in [(0.3, 0.1), (0.7, 1.5), (1.0, 2.0), (2.5, 0.4), (3.0, 9.0), (20.0, 21.0), (40.0, 41.5)]
        {
            for order in 1..4 {
                let before = |a: f64| {
                    if order == 1 { lower(a, x, f64::EPSILON) } else { lower_derivative(order - 1, a, x) }
                };
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
