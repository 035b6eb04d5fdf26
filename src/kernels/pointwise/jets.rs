//! Numbers with their derivatives of the first few orders along one variable: the coefficients of Taylor's
//! series, cut off. What a formula makes of them are the derivatives of what it calculates.

use std::ops::{Add, Mul, Sub};

/// How many derivatives there are at most.
pub const ORDERS: usize = 7;

/// The value, and behind it the coefficients of rising powers.
#[derive(Clone, Copy)]
pub struct Jet([f64; ORDERS + 1]);

impl Jet {
    /// A constant.
    pub fn constant(value: f64) -> Jet {
        Jet::line(value, 0.0)
    }

    /// A function of the variable that is a straight line.
    pub fn line(value: f64, slope: f64) -> Jet {
        Jet::of(|order| [value, slope].get(order).copied().unwrap_or(0.0))
    }

    /// These coefficients.
    pub fn of(coefficient: impl FnMut(usize) -> f64) -> Jet {
        Jet(std::array::from_fn(coefficient))
    }

    /// The value.
    pub fn value(&self) -> f64 {
        self.0[0]
    }

    /// The derivative of that order.
    pub fn derivative(&self, order: usize) -> f64 {
        (1..=order).fold(self.0[order], |found, number| found * number as f64)
    }

    /// The same function times a number.
    pub fn times(self, factor: f64) -> Jet {
        Jet(self.0.map(|own| own * factor))
    }

    /// The quotient: what times `other` is this.
    pub fn over(self, other: Jet) -> Jet {
        let mut found = Jet::constant(0.0);
        for order in 0..=ORDERS {
            let before: f64 = (0..order).map(|at| found.0[at] * other.0[order - at]).sum();
            found.0[order] = (self.0[order] - before) / other.0[0];
        }
        found
    }

    /// The exponential: its slope is that of the exponent times itself.
    pub fn exp(self) -> Jet {
        let mut found = Jet::constant(self.0[0].exp());
        for order in 1..=ORDERS {
            let slope = |at: usize| at as f64 * self.0[at] * found.0[order - at];
            found.0[order] = (1..=order).map(slope).sum::<f64>() / order as f64;
        }
        found
    }

    /// Whether none of this counts beside `sum`.
    pub fn is_small_beside(&self, sum: &Jet) -> bool {
        let largest = sum.0.iter().fold(0.0, |most: f64, own| most.max(own.abs()));
        self.0.iter().zip(&sum.0).all(|(own, sum)| {
            own.abs() <= f64::EPSILON * 0.1 * sum.abs().max(f64::EPSILON * largest) || own.is_nan()
        })
    }
}

impl Add for Jet {
    type Output = Jet;

    fn add(self, other: Jet) -> Jet {
        Jet::of(|order| self.0[order] + other.0[order])
    }
}

impl Sub for Jet {
    type Output = Jet;

    fn sub(self, other: Jet) -> Jet {
        Jet::of(|order| self.0[order] - other.0[order])
    }
}

impl Mul for Jet {
    type Output = Jet;

    fn mul(self, other: Jet) -> Jet {
        Jet::of(|order| (0..=order).map(|at| self.0[at] * other.0[order - at]).sum())
    }
}
