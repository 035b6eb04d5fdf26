//! Numbers of the host, which have a category but no element type yet.

use super::{Category, Complex, Element};

/// A Python number on its way into an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer that is greater than those.
    Unsigned(u64),
    /// A floating-point number.
    Float(f64),
    /// A complex number.
    Complex(Complex<f64>),
}

impl Scalar {
    /// The category the number takes part in promotion with.
    pub const fn category(self) -> Category {
        match self {
            Scalar::Bool(_) => Category::Bool,
            Scalar::Int(_) | Scalar::Unsigned(_) => Category::Integer,
            Scalar::Float(_) => Category::Float,
            Scalar::Complex(_) => Category::Complex,
        }
    }

    /// The number as `f64`, which drops an imaginary part.
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::Bool(b) => f64::from(u8::from(b)),
            Scalar::Int(i) => i as f64,
            Scalar::Unsigned(i) => i as f64,
            Scalar::Float(f) => f,
            Scalar::Complex(c) => c.re,
        }
    }

    /// The number with an imaginary part.
    pub fn to_complex(self) -> Complex<f64> {
        match self {
            Scalar::Complex(c) => c,
            other => Complex::new(other.to_f64(), 0.0),
        }
    }

    /// The number without its imaginary part, where that is zero.
    pub fn real(self) -> Option<f64> {
        match self {
            Scalar::Complex(c) if c.im != 0.0 => None,
            other => Some(other.to_f64()),
        }
    }

    /// Whether the number is not zero.
    pub fn is_true(self) -> bool {
        match self {
            Scalar::Complex(c) => c.re != 0.0 || c.im != 0.0,
            other => other.to_f64() != 0.0,
        }
    }

    /// The conjugate: the number itself where it is real.
    pub fn conj(self) -> Scalar {
        match self {
            Scalar::Complex(c) => Scalar::Complex(c.conj()),
            other => other,
        }
    }

    /// The number as an element of type `T`.
    pub fn to<T: Element>(self) -> T {
        match self {
            Scalar::Bool(b) => T::from_i64(i64::from(b)),
            Scalar::Int(i) => T::from_i64(i),
            Scalar::Unsigned(i) => i.convert(),
            Scalar::Float(f) => T::from_f64(f),
            Scalar::Complex(c) => T::from_complex(c),
        }
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Self {
        Scalar::Float(value)
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Self {
        Scalar::Int(value)
    }
}

impl From<Complex<f64>> for Scalar {
    fn from(value: Complex<f64>) -> Self {
        Scalar::Complex(value)
    }
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Self {
        Scalar::Bool(value)
    }
}
