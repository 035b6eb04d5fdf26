//! Which type holds the numbers of two others.

use super::DType;

impl DType {
    /// Whether a result of type `self` may be written into memory of type `to`.
    pub fn can_cast(self, to: DType) -> bool {
        self.category() <= to.category()
    }

    /// The smallest type that holds both. Where `is_promoted_with` says that there is none, one of the two.
    pub fn promote(self, other: DType) -> DType {
        use DType::{
            BFloat16, Complex32, Complex64, Complex128, Float16, Float32, Float64, Int8, Int16, Int32, Int64,
            UInt8, UInt16, UInt32,
        };
        match (self, other) {
            (Float16, BFloat16) | (BFloat16, Float16) => Float32,
            (UInt8, Int8) | (Int8, UInt8) => Int16,
            (Complex32, BFloat16 | Float32) | (BFloat16 | Float32, Complex32) => Complex64,
            (Complex32 | Complex64, Float64) | (Float64, Complex32 | Complex64) => Complex128,
            (UInt16, Int8 | Int16) | (Int8 | Int16, UInt16) => Int32,
            (UInt16, Int32) | (Int32, UInt16) => Int32,
            (UInt16 | UInt32, Int64) | (Int64, UInt16 | UInt32) => Int64,
            (UInt32, Int8 | Int16 | Int32) | (Int8 | Int16 | Int32, UInt32) => Int64,
            _ => self.max(other),
        }
    }

    /// Whether some type holds the numbers of both: none does of signed integers and those of `UInt64`, and which one is
    /// to hold two kinds of eight bits is for the program to say.
    pub fn is_promoted_with(self, other: DType) -> bool {
        let is_signed =
            |dtype: DType| matches!(dtype, DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64);
        match (self, other) {
            (left, right) if left == right => true,
            (DType::UInt64, other) | (other, DType::UInt64) if is_signed(other) => false,
            (left, right) => !left.is_float8() && !right.is_float8(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_symmetric_and_never_narrows() {
        for a in DType::ALL {
            assert_eq!(a.promote(a), a);
            for b in DType::ALL {
                let joined = a.promote(b);
                assert_eq!(joined, b.promote(a));
                assert_eq!(a.is_promoted_with(b), b.is_promoted_with(a));
                assert!(joined.category() >= a.category());
            }
        }
        assert_eq!(DType::UInt8.promote(DType::Int8), DType::Int16);
        assert_eq!(DType::UInt16.promote(DType::Int16), DType::Int32);
        assert_eq!(DType::UInt16.promote(DType::UInt8), DType::UInt16);
        assert_eq!(DType::UInt32.promote(DType::UInt64), DType::UInt64);
        assert_eq!(DType::Float64.promote(DType::Complex64), DType::Complex128);
    }
}
