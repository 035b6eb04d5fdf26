//! The unsigned integers of more than eight bits as elements. Nothing is calculated with them here: Note [Stored
//! types] in `dtype`.

use super::{Category, Complex, DType, Element, Scalar};

/// Implements `Element` for a type whose integers a signed one holds.
macro_rules! unsigned {
    ($T:ty, $dtype:ident) => {
        impl Element for $T {
            const DTYPE: DType = DType::$dtype;
            fn from_i64(value: i64) -> Self {
                value as $T
            }
            fn from_f64(value: f64) -> Self {
                <i64 as Element>::from_f64(value) as $T
            }
            fn to_i64(self) -> i64 {
                i64::from(self)
            }
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn to_scalar(self) -> Scalar {
                Scalar::Int(i64::from(self))
            }
            fn is_true(self) -> bool {
                self != 0
            }
        }
    };
}
unsigned!(u16, UInt16);
unsigned!(u32, UInt32);

/// 2⁶³
const MIDDLE: f64 = 9_223_372_036_854_775_808.0;

impl Element for u64 {
    const DTYPE: DType = DType::UInt64;
    fn from_i64(value: i64) -> Self {
        value.cast_unsigned()
    }
    /// As processors do it that know signed integers only.
    fn from_f64(value: f64) -> Self {
        match value >= MIDDLE {
            true => i64::from_f64(value - MIDDLE).cast_unsigned() ^ 1 << 63,
            false => i64::from_f64(value).cast_unsigned(),
        }
    }
    /// The integer that has the same bits.
    fn to_i64(self) -> i64 {
        self.cast_signed()
    }
    fn to_f64(self) -> f64 {
        self as f64
    }
    fn to_scalar(self) -> Scalar {
        i64::try_from(self).map_or(Scalar::Unsigned(self), Scalar::Int)
    }
    fn is_true(self) -> bool {
        self != 0
    }
    fn convert<U: Element>(self) -> U {
        match U::DTYPE.category() {
            Category::Complex => U::from_complex(Complex::new(self.to_f64(), 0.0)),
            Category::Float => U::from_f64(self.to_f64()),
            _ => U::from_i64(self.to_i64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_beyond_those_of_a_sign_are_what_they_are() {
        assert_eq!(u64::MAX.convert::<f64>(), 18_446_744_073_709_551_615.0);
        assert_eq!(1e19f64.convert::<u64>(), 10_000_000_000_000_000_000);
        assert_eq!((-1.5f64).convert::<u64>(), u64::MAX);
        assert_eq!(2e19f64.convert::<u64>(), 0);
        assert_eq!(u64::MAX.to_scalar(), Scalar::Unsigned(u64::MAX));
        assert_eq!(7u64.to_scalar(), Scalar::Int(7));
        assert_eq!(70_000i64.convert::<u16>(), 4464);
    }
}
