//! Discrete Fourier transforms of one line, of any length: split by its factors, or as a convolution if a
//! prime among them is large.

use std::f64::consts::TAU;

use crate::dtype::Complex;

type Number = Complex<f64>;

/// The largest prime factor that is summed as it stands.
const LARGEST: usize = 61;

/// What transforms lines of one length in one direction.
pub struct Transform {
    /// exp(∓2πi k/n) for all k below n.
    roots: Vec<Number>,
    /// The prime factors of n, in ascending order.
    factors: Vec<usize>,
    convolution: Option<Box<Convolution>>,
}

/// A transform as a convolution: k j = (k² + j² - (k - j)²)/2 (Bluestein).
struct Convolution {
    /// exp(∓πi k²/n)
    chirp: Vec<Number>,
    /// The transformed conjugates of the chirp, around zero.
    kernel: Vec<Number>,
    there: Transform,
    back: Transform,
}

fn root(numerator: usize, denominator: usize, forward: bool) -> Number {
    let angle = TAU * (numerator as f64 / denominator as f64);
    // Quarters of a turn are exact.
    let quarters = (4 * numerator).is_multiple_of(denominator).then(|| 4 * numerator / denominator % 4);
    let turned = match quarters {
        Some(0) => Complex::new(1.0, 0.0),
        Some(1) => Complex::new(0.0, 1.0),
        Some(2) => Complex::new(-1.0, 0.0),
        Some(_) => Complex::new(0.0, -1.0),
        None => Complex::from_polar(1.0, angle),
    };
    if forward { turned.conj() } else { turned }
}

fn prime_factors(mut n: usize) -> Vec<usize> {
    let (mut factors, mut factor) = (Vec::new(), 2);
    while n > 1 {
        if factor * factor > n {
            factor = n;
        }
        while n.is_multiple_of(factor) {
            factors.push(factor);
            n /= factor;
        }
        factor += 1;
    }
    factors
}

impl Convolution {
    fn new(n: usize, forward: bool) -> Convolution {
        let chirp: Vec<Number> = (0..n).map(|k| root(k * k % (2 * n), 2 * n, forward)).collect();
        let size = (2 * n - 1).next_power_of_two();
        let (there, back) = (Transform::new(size, true), Transform::new(size, false));
        let mut kernel = vec![Number::default(); size];
        for (k, chirp) in chirp.iter().enumerate() {
            kernel[k] = chirp.conj();
            kernel[(size - k) % size] = chirp.conj();
        }
        let kernel = there.of(&kernel);
        Convolution { chirp, kernel, there, back }
    }

    fn of(&self, line: &[Number]) -> Vec<Number> {
        let mut wide = vec![Number::default(); self.kernel.len()];
        wide.iter_mut().zip(line).zip(&self.chirp).for_each(|((wide, x), chirp)| *wide = x * chirp);
        let mut product = self.there.of(&wide);
        product.iter_mut().zip(&self.kernel).for_each(|(x, kernel)| *x *= kernel);
        let scale = 1.0 / self.kernel.len() as f64;
        let found = self.back.of(&product);
        found.iter().zip(&self.chirp).map(|(x, chirp)| x * chirp * scale).collect()
    }
}

impl Transform {
    /// That of lines of `n` elements: with exp(-2πi kj/n) if `forward`, else with the conjugates.
    pub fn new(n: usize, forward: bool) -> Transform {
        let factors = prime_factors(n);
        match factors.last() {
            Some(&largest) if largest > LARGEST => {
                let convolution = Some(Box::new(Convolution::new(n, forward)));
                Transform { roots: Vec::new(), factors, convolution }
            }
            _ => {
                let roots = (0..n).map(|k| root(k, n, forward)).collect();
                Transform { roots, factors, convolution: None }
            }
        }
    }

    /// The transformed line.
    pub fn of(&self, line: &[Number]) -> Vec<Number> {
        if let Some(convolution) = &self.convolution {
            return convolution.of(line);
        }
        let mut result = vec![Number::default(); line.len()];
        self.split(line, 1, &self.factors, &mut result);
        result
    }

    /// The transform of every `step`th element, as many as `result` has, whose factors these are.
    fn split(&self, line: &[Number], step: usize, factors: &[usize], result: &mut [Number]) {
        let Some((&parts, rest)) = factors.split_first() else {
            result.copy_from_slice(&line[..result.len()]);
            return;
        };
        let (whole, size) = (self.roots.len(), result.len() / parts);
        for part in 0..parts {
            let result = &mut result[part * size..(part + 1) * size];
            self.split(&line[part * step..], step * parts, rest, result);
        }
        let mut terms = [Number::default(); LARGEST];
        for k in 0..size {
            for (part, term) in terms[..parts].iter_mut().enumerate() {
                *term = result[part * size + k] * self.roots[part * k * step % whole];
            }
            for place in 0..parts {
                let turn = place * size * step;
                let sum = terms[1..parts]
                    .iter()
                    .enumerate()
                    .fold(terms[0], |sum, (part, term)| sum + term * self.roots[(part + 1) * turn % whole]);
                result[place * size + k] = sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_length_are_the_sums_that_they_should_be() {
        for n in [1, 2, 3, 4, 5, 8, 12, 30, 61, 64, 67, 134] {
            let line: Vec<Number> = (0..n).map(|k| Complex::new((k as f64).sin(), k as f64 * 0.1)).collect();
            for forward in [true, false] {
                for (k, found) in Transform::new(n, forward).of(&line).iter().enumerate() {
                    let wanted: Number =
                        line.iter().enumerate().map(|(j, x)| x * root(k * j % n, n, forward)).sum();
                    assert!((found - wanted).norm() < 1e-10, "{n} {k}");
                }
            }
        }
    }
}
