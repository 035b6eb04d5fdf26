//! What functions of numbers calculate with: single or double precision, and multiplication with addition in one
//! rounding where the processor does so.

use num_traits::Float;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::dtype::{DType, Element, Real};

/// Numbers of one precision. Plain ones are rounded after each operation; `Fused` ones are not between a
/// multiplication and the addition that follows, where `times_plus` says so.
///
/// Functions are written once for both. Never take the one for a part of a number and the other for the rest: what
/// cancels in one arithmetic does not in the other.
pub trait Arithmetic:
    Copy
    + PartialOrd
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// The numbers as they lie in memory.
    type Plain: Real;
    /// The same arithmetic in double precision.
    type Wide: Arithmetic<Plain = f64>;
    /// Whether `times_plus` rounds once.
    const FUSED: bool;
    /// Whether these are numbers of single precision.
    const SINGLE: bool = matches!(Self::Plain::DTYPE, DType::Float32);

    /// A number of memory.
    fn new(x: Self::Plain) -> Self;

    /// The number as it lies in memory.
    fn get(self) -> Self::Plain;

    /// `self · factor + summand`
    fn times_plus(self, factor: Self, summand: Self) -> Self;

    /// A constant.
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        Self::new(<Self::Plain as Element>::from_f64(x))
    }

    /// The number in double precision.
    #[inline(always)]
    fn widened(self) -> Self::Wide {
        Self::Wide::new(self.get().to_f64())
    }

    /// A number of double precision, rounded.
    #[inline(always)]
    fn narrowed(x: Self::Wide) -> Self {
        Self::from_f64(x.get())
    }

    /// The magnitude.
    #[inline(always)]
    fn abs(self) -> Self {
        Self::new(Float::abs(self.get()))
    }

    /// The magnitude with the sign of another number.
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        Self::new(Float::copysign(self.get(), sign.get()))
    }

    /// The square root.
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self::new(Float::sqrt(self.get()))
    }

    /// The number without what is behind the point.
    #[inline(always)]
    fn trunc(self) -> Self {
        Self::new(Float::trunc(self.get()))
    }

    /// The nearest integer, of numbers far below 2²² or 2⁵¹.
    #[inline(always)]
    fn rounded(self) -> Self {
        let shift = Self::new(Self::Plain::ROUNDING);
        (self + shift) - shift
    }

    /// The nearest integer to `self · factor`, of numbers as small.
    #[inline(always)]
    fn rounded_product(self, factor: Self) -> Self {
        let shift = Self::new(Self::Plain::ROUNDING);
        self.times_plus(factor, shift) - shift
    }

    /// 2ⁿ, for a whole n whose power is a normal number.
    #[inline(always)]
    fn power_of_two(self) -> Self {
        Self::new(Real::power_of_two(self.get()))
    }

    /// The number times 2ⁿ for a whole n, if both are normal numbers.
    #[inline(always)]
    fn raised(self, n: Self) -> Self {
        Self::new(Real::raised(self.get(), n.get()))
    }

    /// m and n with m 2ⁿ the number and m from √½ to √2, for normal numbers above zero.
    #[inline(always)]
    fn mantissa_and_exponent(self) -> (Self, Self) {
        let (mantissa, exponent) = Real::mantissa_and_exponent(self.get());
        (Self::new(mantissa), Self::new(exponent))
    }

    /// p and e with p + e the product, of numbers whose product is far from the least ones.
    #[inline(always)]
    fn exact_product(self, factor: Self) -> (Self, Self) {
        let product = self * factor;
        if Self::FUSED {
            return (product, self.times_plus(factor, -product));
        }
        let (a, b) = (Self::new(self.get().head()), Self::new(factor.get().head()));
        let (c, d) = (self - a, factor - b);
        (product, ((a * b - product) + a * d + c * b) + c * d)
    }

    /// `self - a · b` with one rounding if the product is near the number, which it then cancels.
    #[inline(always)]
    fn less_product(self, a: Self, b: Self) -> Self {
        if Self::FUSED {
            return (-a).times_plus(b, self);
        }
        let (product, rest) = a.exact_product(b);
        (self - product) - rest
    }
}

impl<T: Real> Arithmetic for T {
    type Plain = T;
    type Wide = f64;
    const FUSED: bool = false;

    #[inline(always)]
    fn new(x: T) -> T {
        x
    }

    #[inline(always)]
    fn get(self) -> T {
        self
    }

    #[inline(always)]
    fn times_plus(self, factor: T, summand: T) -> T {
        self * factor + summand
    }
}

/// A number that a processor with such instructions calculates with: elsewhere `times_plus` is a call.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct Fused<T>(pub T);

impl<T: Real> Arithmetic for Fused<T> {
    type Plain = T;
    type Wide = Fused<f64>;
    const FUSED: bool = true;

    #[inline(always)]
    fn new(x: T) -> Self {
        Fused(x)
    }

    #[inline(always)]
    fn get(self) -> T {
        self.0
    }

    #[inline(always)]
    fn times_plus(self, factor: Self, summand: Self) -> Self {
        Fused(self.0.mul_add(factor.0, summand.0))
    }
}

impl<T: Real> Neg for Fused<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Fused(-self.0)
    }
}

/// Implements an operator for `Fused`: `operator!(Add, add, +);`
macro_rules! operator {
    ($Operator:ident, $method:ident, $sign:tt) => {
        impl<T: Real> $Operator for Fused<T> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Fused(self.0 $sign other.0)
            }
        }
    };
}
operator!(Add, add, +);
operator!(Sub, sub, -);
operator!(Mul, mul, *);
operator!(Div, div, /);
