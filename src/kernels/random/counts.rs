//! Counts drawn one at a time: how often something happens (Poisson), and how many of so many (binomial).

use super::Uniform;
use super::generator::Generator;

fn unit(generator: &mut Generator) -> f64 {
    f64::unit(generator)
}

/// ln Γ(k + 1) less Stirling's formula for it.
fn tail(k: f64) -> f64 {
    let square = (k + 1.0) * (k + 1.0);
    match k <= 9.0 {
        true => {
            let stirling = (k + 0.5) * (k + 1.0).ln() - (k + 1.0) + 0.5 * std::f64::consts::TAU.ln();
            libm::lgamma(k + 1.0) - stirling
        }
        false => (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0),
    }
}

/// A count with that mean: by products of uniform numbers if it is small, else by rejection from a
/// transformed one (Hörmann).
pub fn poisson(generator: &mut Generator, mean: f64) -> f64 {
    if mean == 0.0 {
        return 0.0;
    }
    if !mean.is_finite() {
        return mean;
    }
    if mean < 10.0 {
        let (limit, mut product, mut count) = ((-mean).exp(), unit(generator), 0.0);
        while product > limit {
            count += 1.0;
            product *= unit(generator);
        }
        return count;
    }
    let b = 0.931 + 2.53 * mean.sqrt();
    let a = -0.059 + 0.02483 * b;
    let inverse = 1.1239 + 1.1328 / (b - 3.4);
    let sure = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let (u, v) = (unit(generator) - 0.5, unit(generator));
        let side = 0.5 - u.abs();
        let k = ((2.0 * a / side + b) * u + mean + 0.43).floor();
        if side >= 0.07 && v <= sure {
            return k;
        }
        if k < 0.0 || side < 0.013 && v > side {
            continue;
        }
        let bound = -mean + k * mean.ln() - libm::lgamma(k + 1.0);
        if v.ln() + inverse.ln() - (a / (side * side) + b).ln() <= bound {
            return k;
        }
    }
}

/// How many of `count` happen that happen with a probability of at most a half.
fn few(generator: &mut Generator, count: f64, probability: f64) -> f64 {
    if count * probability < 10.0 {
        // Gaps between those that happen.
        let (failure, mut sum, mut happened) = ((-probability).ln_1p(), 0.0, 0.0);
        loop {
            sum += (unit(generator).ln() / failure).ceil();
            if sum > count {
                return happened;
            }
            happened += 1.0;
        }
    }
    let deviation = (count * probability * (1.0 - probability)).sqrt();
    let b = 1.15 + 2.53 * deviation;
    let a = -0.0873 + 0.0248 * b + 0.01 * probability;
    let centre = count * probability + 0.5;
    let sure = 0.92 - 4.2 / b;
    let odds = probability / (1.0 - probability);
    let alpha = (2.83 + 5.1 / b) * deviation;
    let mode = ((count + 1.0) * probability).floor();
    loop {
        let (u, v) = (unit(generator) - 0.5, unit(generator));
        let side = 0.5 - u.abs();
        let k = ((2.0 * a / side + b) * u + centre).floor();
        if side >= 0.07 && v <= sure {
            return k;
        }
        if k < 0.0 || k > count {
            continue;
        }
        let bound = (mode + 0.5) * ((mode + 1.0) / (odds * (count - mode + 1.0))).ln()
            + (count + 1.0) * ((count - mode + 1.0) / (count - k + 1.0)).ln()
            + (k + 0.5) * (odds * (count - k + 1.0) / (k + 1.0)).ln()
            + tail(mode)
            + tail(count - mode)
            - tail(k)
            - tail(count - k);
        if (v * alpha / (a / (side * side) + b)).ln() <= bound {
            return k;
        }
    }
}

/// How many of `count` happen that happen with this probability.
pub fn binomial(generator: &mut Generator, count: f64, probability: f64) -> f64 {
    match () {
        () if count.is_nan() || probability.is_nan() => f64::NAN,
        () if count <= 0.0 || probability <= 0.0 => 0.0,
        () if probability >= 1.0 || count.is_infinite() => count,
        () if probability <= 0.5 => few(generator, count, probability),
        () => count - few(generator, count, 1.0 - probability),
    }
}
