//! The Rust types of elements, and what kernels may ask of them.

use num_complex::Complex;
use num_traits::AsPrimitive;

use super::{Category, DType, Scalar};

/// A truth value as it lies in memory. Memory from outside may hold any byte, so this is not
/// Rust's `bool`, for which other bytes than 0 and 1 are undefined behaviour.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub struct Bool(u8);

impl Bool {
    /// Wraps a Rust truth value.
    pub const fn new(value: bool) -> Self {
        Bool(value as u8)
    }

    /// The value: everything but zero is true.
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

impl PartialEq for Bool {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl PartialOrd for Bool {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.get().partial_cmp(&other.get())
    }
}

/// A Rust type that tensors can hold. `convert` between any two of them is C's cast, which drops an
/// imaginary part.
pub trait Element: Copy + Default + PartialEq + Send + Sync + std::fmt::Debug + 'static {
    /// The value that stands for this type.
    const DTYPE: DType;
    /// From the widest integer.
    fn from_i64(value: i64) -> Self;
    /// From the widest floating-point type.
    fn from_f64(value: f64) -> Self;
    /// To the widest integer, truncating.
    fn to_i64(self) -> i64;
    /// To the widest floating-point type.
    fn to_f64(self) -> f64;
    /// From the widest complex type.
    fn from_complex(value: Complex<f64>) -> Self {
        Self::from_f64(value.re)
    }
    /// To the widest complex type.
    fn to_complex(self) -> Complex<f64> {
        Complex::new(self.to_f64(), 0.0)
    }
    /// The number as a scalar of its own category.
    fn to_scalar(self) -> Scalar;
    /// Whether the value is not zero.
    fn is_true(self) -> bool;
    /// The value as another element type.
    #[inline]
    fn convert<U: Element>(self) -> U {
        match Self::DTYPE.category() {
            Category::Complex => U::from_complex(self.to_complex()),
            Category::Float => U::from_f64(self.to_f64()),
            _ => U::from_i64(self.to_i64()),
        }
    }
}

/// Elements of which one may be less than another: all but the complex ones.
pub trait Ordered: Element + PartialOrd {}
impl Ordered for Bool {}
impl<T: Number> Ordered for T {}
impl Ordered for u64 {}

/// Elements that can be calculated with: all but `Bool`. Integers wrap around, as in C.
pub trait Ring: Element {
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// a + b
    fn add(self, other: Self) -> Self;
    /// a - b
    fn sub(self, other: Self) -> Self;
    /// a * b
    fn mul(self, other: Self) -> Self;
    /// -a
    fn negative(self) -> Self;
    /// Whether the value is not a number; never for integers.
    fn is_nan(self) -> bool;
}

/// Elements of a ring that are ordered: all but `Bool` and the complex ones.
pub trait Number: Ring + PartialOrd {
    /// The least value, `-inf` for floating-point types.
    const LOWEST: Self;
    /// The greatest value, `inf` for floating-point types.
    const HIGHEST: Self;
}

/// Floating-point elements, and what their bits make cheap.
pub trait Real: Number + num_traits::Float + AsPrimitive<f64> {
    /// Adding this to a number that is much smaller leaves its nearest integer in the low bits.
    const ROUNDING: Self;
    /// 2ⁿ, for a whole n whose power is a normal number.
    fn power_of_two(n: Self) -> Self;
    /// The number times 2ⁿ for a whole n, if both are normal numbers.
    fn raised(self, n: Self) -> Self;
    /// The same where `ROUNDING` was added to n.
    fn raised_by(self, shifted: Self) -> Self;
    /// m and n with m 2ⁿ the number and m from √½ to √2, for normal numbers above zero.
    fn mantissa_and_exponent(self) -> (Self, Self);
    /// One over the square root, to four bits, for normal numbers above zero.
    fn near_inverse_root(self) -> Self;
    /// Whether a whole number is odd that `ROUNDING` was added to.
    fn is_odd(shifted: Self) -> bool;
    /// The number, with the other sign if half of such a whole number is odd, rounded down.
    fn turned(self, shifted: Self) -> Self;
    /// The number without the lower half of its digits: products of two such numbers are exact.
    fn head(self) -> Self;
}

/// The conversion of out-of-range and NaN values that x86 makes: the least `i64`.
fn truncate(value: f64) -> i64 {
    if value.is_nan() || value >= 9_223_372_036_854_775_808.0 { i64::MIN } else { value as i64 }
}

/// What fits into 32 bits, truncated, and else the least of them: narrower types take the lower bits of that, as x86
/// converts and as torch therefore does.
#[inline(always)] // A loop is vectorised in one piece only.
fn truncate_narrow(value: f64) -> i32 {
    if value > -2_147_483_649.0 && value < 2_147_483_648.0 { value as i32 } else { i32::MIN }
}

impl Element for Bool {
    const DTYPE: DType = DType::Bool;
    fn from_i64(value: i64) -> Self {
        Bool::new(value != 0)
    }
    fn from_f64(value: f64) -> Self {
        Bool::new(value != 0.0)
    }
    fn from_complex(value: Complex<f64>) -> Self {
        Bool::new(value.is_true())
    }
    fn to_i64(self) -> i64 {
        i64::from(self.get())
    }
    fn to_f64(self) -> f64 {
        f64::from(u8::from(self.get()))
    }
    fn to_scalar(self) -> Scalar {
        Scalar::Bool(self.get())
    }
    fn is_true(self) -> bool {
        self.get()
    }
}

/// Implements `Element`, `Ring` and `Number` for one integer type, to which a function truncates:
/// `integer!(i32, Int32, truncate_narrow);`
macro_rules! integer {
    ($T:ty, $dtype:ident, $truncate:ident) => {
        impl Element for $T {
            const DTYPE: DType = DType::$dtype;
            fn from_i64(value: i64) -> Self {
                value as $T
            }
            #[inline(always)] // A loop is vectorised in one piece only.
            fn from_f64(value: f64) -> Self {
                $truncate(value) as $T
            }
            fn to_i64(self) -> i64 {
                i64::from(self)
            }
            #[inline(always)] // A loop is vectorised in one piece only.
            fn to_f64(self) -> f64 {
                self as f64
            }
            fn to_scalar(self) -> Scalar {
                Scalar::Int(i64::from(self))
            }
            fn is_true(self) -> bool {
                self != 0
            }
        }
        impl Number for $T {
            const LOWEST: Self = <$T>::MIN;
            const HIGHEST: Self = <$T>::MAX;
        }
        impl Ring for $T {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)] // A loop is vectorised in one piece only.
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)] // A loop is vectorised in one piece only.
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)] // A loop is vectorised in one piece only.
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn negative(self) -> Self {
                self.wrapping_neg()
            }
            fn is_nan(self) -> bool {
                false
            }
        }
    };
}
integer!(u8, UInt8, truncate_narrow);
integer!(i8, Int8, truncate_narrow);
integer!(i16, Int16, truncate_narrow);
integer!(i32, Int32, truncate_narrow);
integer!(i64, Int64, truncate);

/// Implements `Element`, `Ring`, `Number` and `Real` for one floating-point type, whose bits are an
/// integer, with the start of `near_inverse_root`: `real!(f32, u32, Float32, 0x5f37_5a86);`
macro_rules! real {
    ($T:ident, $Bits:ident, $dtype:ident, $start:literal) => {
        impl Element for $T {
            const DTYPE: DType = DType::$dtype;
            fn from_i64(value: i64) -> Self {
                value as $T
            }
            #[inline(always)] // A loop is vectorised in one piece only.
            fn from_f64(value: f64) -> Self {
                value as $T
            }
            fn to_i64(self) -> i64 {
                truncate(f64::from(self))
            }
            #[inline(always)] // A loop is vectorised in one piece only.
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn to_scalar(self) -> Scalar {
                Scalar::Float(f64::from(self))
            }
            fn is_true(self) -> bool {
                self != 0.0
            }
        }
        impl Number for $T {
            const LOWEST: Self = $T::NEG_INFINITY;
            const HIGHEST: Self = $T::INFINITY;
        }
        impl Real for $T {
            const ROUNDING: Self = 1.5 * ((1 as $Bits) << ($T::MANTISSA_DIGITS - 1)) as $T;
            #[inline(always)]
            fn power_of_two(n: Self) -> Self {
                const FRACTION: u32 = $T::MANTISSA_DIGITS - 1;
                const BIAS: $T = ($T::MAX_EXP - 1) as $T;
                // The shift drops all but the low bits, and puts them where exponents lie.
                $T::from_bits((n + (Self::ROUNDING + BIAS)).to_bits() << FRACTION)
            }
            #[inline(always)]
            fn raised(self, n: Self) -> Self {
                self.raised_by(n + Self::ROUNDING)
            }
            #[inline(always)]
            fn raised_by(self, shifted: Self) -> Self {
                const FRACTION: u32 = $T::MANTISSA_DIGITS - 1;
                // Of the sum, the shift leaves n where exponents lie.
                $T::from_bits(self.to_bits().wrapping_add(shifted.to_bits() << FRACTION))
            }
            #[inline(always)]
            fn mantissa_and_exponent(self) -> (Self, Self) {
                const FRACTION: u32 = $T::MANTISSA_DIGITS - 1;
                const BIAS: $T = ($T::MAX_EXP - 1) as $T;
                const ONE: $Bits = (1.0 as $T).to_bits();
                const LEAST: $Bits = (std::f64::consts::FRAC_1_SQRT_2 as $T).to_bits();
                // From √2 on, the difference carries into the exponent.
                let bits = self.to_bits().wrapping_add(ONE - LEAST);
                let exponent =
                    $T::from_bits(Self::ROUNDING.to_bits() | (bits >> FRACTION)) - (Self::ROUNDING + BIAS);
                let fraction = bits & ((1 << FRACTION) - 1);
                ($T::from_bits(fraction.wrapping_add(LEAST)), exponent)
            }
            #[inline(always)]
            fn near_inverse_root(self) -> Self {
                // What the bits of a number and half those of its square come to, nearly: the exponent is halved, and the
                // fraction with it.
                $T::from_bits($start - (self.to_bits() >> 1))
            }
            #[inline(always)]
            fn is_odd(shifted: Self) -> bool {
                shifted.to_bits() & 1 != 0
            }
            #[inline(always)]
            fn turned(self, shifted: Self) -> Self {
                $T::from_bits(self.to_bits() ^ ((shifted.to_bits() & 2) << ($Bits::BITS - 2)))
            }
            #[inline(always)]
            fn head(self) -> Self {
                $T::from_bits(self.to_bits() & ($Bits::MAX << $T::MANTISSA_DIGITS.div_ceil(2)))
            }
        }
        impl Ring for $T {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)] // A loop is vectorised in one piece only.
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)] // A loop is vectorised in one piece only.
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)] // A loop is vectorised in one piece only.
            fn mul(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)] // A loop is vectorised in one piece only.
            fn negative(self) -> Self {
                -self
            }
            #[inline(always)] // A loop is vectorised in one piece only.
            fn is_nan(self) -> bool {
                $T::is_nan(self)
            }
        }
    };
}
real!(f32, u32, Float32, 0x5f37_5a86);
real!(f64, u64, Float64, 0x5fe6_eb50_c7b5_37a9);

/// Implements `Element` and `Ring` for the complex numbers of one floating-point type.
macro_rules! complex {
    ($T:ident, $dtype:ident) => {
        impl Element for Complex<$T> {
            const DTYPE: DType = DType::$dtype;
            fn from_i64(value: i64) -> Self {
                Complex::new(value as $T, 0.0)
            }
            fn from_f64(value: f64) -> Self {
                Complex::new(value as $T, 0.0)
            }
            fn to_i64(self) -> i64 {
                self.re.to_i64()
            }
            fn to_f64(self) -> f64 {
                f64::from(self.re)
            }
            fn from_complex(value: Complex<f64>) -> Self {
                Complex::new(value.re as $T, value.im as $T)
            }
            fn to_complex(self) -> Complex<f64> {
                Complex::new(f64::from(self.re), f64::from(self.im))
            }
            fn to_scalar(self) -> Scalar {
                Scalar::Complex(self.to_complex())
            }
            fn is_true(self) -> bool {
                self.re != 0.0 || self.im != 0.0
            }
        }
        impl Ring for Complex<$T> {
            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
            fn add(self, other: Self) -> Self {
                self + other
            }
            fn sub(self, other: Self) -> Self {
                self - other
            }
            fn mul(self, other: Self) -> Self {
                self * other
            }
            fn negative(self) -> Self {
                -self
            }
            fn is_nan(self) -> bool {
                self.re.is_nan() || self.im.is_nan()
            }
        }
    };
}
complex!(f32, Complex64);
complex!(f64, Complex128);

/// Implements `Element` for a stored type, by way of single precision: `by_single!(Half, Float16);`
macro_rules! by_single {
    ($T:ident, $dtype:ident) => {
        impl PartialEq for $T {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }
        impl Element for $T {
            const DTYPE: DType = DType::$dtype;
            fn from_i64(value: i64) -> Self {
                $T::from_f32(value as f32)
            }
            fn from_f64(value: f64) -> Self {
                $T::from_f32(value as f32)
            }
            fn to_i64(self) -> i64 {
                self.to_f32().to_i64()
            }
            fn to_f64(self) -> f64 {
                f64::from(self.to_f32())
            }
            fn to_scalar(self) -> Scalar {
                Scalar::Float(self.to_f64())
            }
            fn is_true(self) -> bool {
                self.to_f32() != 0.0
            }
        }
    };
}
pub(super) use by_single;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_from_outside_are_truth_values() {
        assert!(Bool(7).get());
        assert_eq!(Bool(7), Bool::new(true));
        assert_eq!(Bool(7).convert::<i32>(), 1);
    }

    #[test]
    fn casts_are_those_of_c_on_x86() {
        assert_eq!(f64::NAN.convert::<i64>(), i64::MIN);
        assert_eq!((-1.5f32).convert::<u8>(), 255);
        assert_eq!(300i32.convert::<u8>(), 44);
        assert!(f32::NAN.convert::<Bool>().get());
        assert_eq!(Complex::new(2.5f32, 1.0).convert::<i64>(), 2);
        assert_eq!(3u8.convert::<Complex<f64>>(), Complex::new(3.0, 0.0));
        assert!(Complex::new(0.0, 1.0).is_true());
    }
}
