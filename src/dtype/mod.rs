//! Element types: the list, and promotion between them. Their Rust types are in `element`, the one
//! macro that goes from a `DType` value to a Rust type in `dispatch`. No shapes and no memory here.

#[macro_use]
mod dispatch;
mod element;
mod half;
mod scalar;

pub use element::{Bool, Element, Number, Ordered, Real, Ring};
pub use half::{BFloat16, Half};
pub use num_complex::Complex;
pub use scalar::Scalar;

/// The element type of a tensor. The order is the order of promotion within a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DType {
    /// Truth values, one byte each.
    Bool,
    /// Unsigned 8-bit integers.
    UInt8,
    /// Signed 8-bit integers.
    Int8,
    /// Signed 16-bit integers.
    Int16,
    /// Signed 32-bit integers.
    Int32,
    /// Signed 64-bit integers.
    Int64,
    /// Half precision.
    Float16,
    /// Single precision with a shorter fraction.
    BFloat16,
    /// Single precision.
    Float32,
    /// Double precision.
    Float64,
    /// Complex numbers of two parts in single precision.
    Complex64,
    /// Complex numbers of two parts in double precision.
    Complex128,
    /// `Complex64` whose conjugates lie in memory: see Note [What is still to be done].
    Conjugate64,
    /// `Complex128` whose conjugates lie in memory.
    Conjugate128,
    /// `Float32` whose negatives lie in memory.
    Negative32,
    /// `Float64` whose negatives lie in memory.
    Negative64,
}

// Note [What is still to be done]
// ----
// `x.conj()` is a view of `x`: it shows the memory of `x`, and a write to one is seen in the other. So
// the conjugation is a matter of how memory is read, which is what an element type says; and the
// imaginary part of such a view is the negative of what lies there. Four element types say so. They
// stand in arrays that show memory and nowhere else: they are not in `DType::ALL`, `Tensor::dtype` does
// not answer them, they are of the category `Pending`, and no kernel is compiled for them. Who asks a
// tensor for its numbers gets them resolved; views, writes and what is saved deal with the memory.

// Note [Half types]
// ----
// Two types are there to be stored and moved: no kernel calculates with them. The entry points of operations give
// the forward numbers of single precision instead, and round what it answers; those of elementwise
// operations are in `unary` and `binary`, that of all others is `dispatch/half.rs`. Rules are written in
// operations, and so calculate with half types as these do.

/// The coarse order in which promotion looks at types first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// `bool`.
    Bool,
    /// Every integer type.
    Integer,
    /// Every floating-point type.
    Float,
    /// Every complex type.
    Complex,
    /// The types that are resolved before anything is calculated.
    Pending,
}

impl DType {
    /// Every element type, in declaration order.
    pub const ALL: [DType; 12] = [
        DType::Bool,
        DType::UInt8,
        DType::Int8,
        DType::Int16,
        DType::Int32,
        DType::Int64,
        DType::Float16,
        DType::BFloat16,
        DType::Float32,
        DType::Float64,
        DType::Complex64,
        DType::Complex128,
    ];

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self.resolved() {
            DType::Bool | DType::UInt8 | DType::Int8 => 1,
            DType::Int16 | DType::Float16 | DType::BFloat16 => 2,
            DType::Int32 | DType::Float32 => 4,
            DType::Int64 | DType::Float64 | DType::Complex64 => 8,
            _ => 16,
        }
    }

    /// The category promotion compares first.
    pub const fn category(self) -> Category {
        match self {
            DType::Bool => Category::Bool,
            DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64 => Category::Float,
            DType::Complex64 | DType::Complex128 => Category::Complex,
            other if other.is_pending() => Category::Pending,
            _ => Category::Integer,
        }
    }

    /// Whether values of this type are real numbers with a fraction.
    pub const fn is_float(self) -> bool {
        matches!(self.category(), Category::Float)
    }

    /// Whether this is one of the two types that nothing is calculated in: see Note [Half types].
    pub const fn is_half(self) -> bool {
        matches!(self, DType::Float16 | DType::BFloat16)
    }

    /// The number as a floating-point type holds it.
    pub fn rounded(self, x: f64) -> f64 {
        match self {
            DType::Float16 => Half::from_f64(x).to_f64(),
            DType::BFloat16 => BFloat16::from_f64(x).to_f64(),
            DType::Float32 => f64::from(x as f32),
            _ => x,
        }
    }

    /// The greatest number of a floating-point type.
    pub const fn greatest(self) -> f64 {
        match self {
            DType::Float16 => 65504.0,
            DType::BFloat16 => 3.389_531_389_251_535_5e38,
            DType::Float32 => f32::MAX as f64,
            _ => f64::MAX,
        }
    }

    /// The type that numbers of this type are calculated in.
    pub const fn wide(self) -> DType {
        if self.is_half() { DType::Float32 } else { self }
    }

    /// Whether values of this type have an imaginary part.
    pub const fn is_complex(self) -> bool {
        matches!(self.category(), Category::Complex)
    }

    /// Whether values of this type can carry a gradient.
    pub const fn is_differentiable(self) -> bool {
        matches!(self.category(), Category::Float | Category::Complex)
    }

    /// Whether nothing unusual is to be thought of: the type is neither complex nor pending.
    pub const fn is_plain(self) -> bool {
        self as u8 <= DType::Float64 as u8
    }

    /// The type of the numbers, whatever is still to be done with what lies in memory.
    pub const fn resolved(self) -> DType {
        match self {
            DType::Conjugate64 => DType::Complex64,
            DType::Conjugate128 => DType::Complex128,
            DType::Negative32 => DType::Float32,
            DType::Negative64 => DType::Float64,
            other => other,
        }
    }

    /// Whether something is still to be done with what lies in memory.
    pub const fn is_pending(self) -> bool {
        self as u8 > DType::Complex128 as u8
    }

    /// The type as which memory shows the conjugates of what it shows as this type.
    pub const fn conjugated(self) -> DType {
        match self {
            DType::Complex64 => DType::Conjugate64,
            DType::Complex128 => DType::Conjugate128,
            DType::Conjugate64 => DType::Complex64,
            DType::Conjugate128 => DType::Complex128,
            other => other,
        }
    }

    /// The type as which memory shows the negatives of what it shows as this type.
    pub const fn negated(self) -> DType {
        match self {
            DType::Float32 => DType::Negative32,
            DType::Float64 => DType::Negative64,
            DType::Negative32 => DType::Float32,
            DType::Negative64 => DType::Float64,
            other => other,
        }
    }

    /// The type of the parts of complex numbers; itself for every other type.
    pub const fn to_real(self) -> DType {
        match self {
            DType::Complex64 => DType::Float32,
            DType::Complex128 => DType::Float64,
            other => other,
        }
    }

    /// The complex type whose parts are of this type, for those that have one.
    pub const fn to_complex(self) -> DType {
        match self {
            DType::Float16 | DType::BFloat16 | DType::Float32 => DType::Complex64,
            DType::Float64 => DType::Complex128,
            other => other,
        }
    }

    /// A type that stands for all of this size, for kernels that only move elements.
    pub const fn bits(self) -> DType {
        match self.size() {
            1 => DType::UInt8,
            2 => DType::Int16,
            4 => DType::Int32,
            8 => DType::Int64,
            _ => DType::Complex128,
        }
    }

    /// The name after `torch.`, such as `float32`.
    pub const fn name(self) -> &'static str {
        match self.resolved() {
            DType::Bool => "bool",
            DType::UInt8 => "uint8",
            DType::Int8 => "int8",
            DType::Int16 => "int16",
            DType::Int32 => "int32",
            DType::Int64 => "int64",
            DType::Float16 => "float16",
            DType::BFloat16 => "bfloat16",
            DType::Float32 => "float32",
            DType::Float64 => "float64",
            DType::Complex64 => "complex64",
            _ => "complex128",
        }
    }

    /// The name that error messages use, such as `Float`.
    pub const fn title(self) -> &'static str {
        match self.resolved() {
            DType::Bool => "Bool",
            DType::UInt8 => "Byte",
            DType::Int8 => "Char",
            DType::Int16 => "Short",
            DType::Int32 => "Int",
            DType::Int64 => "Long",
            DType::Float16 => "Half",
            DType::BFloat16 => "BFloat16",
            DType::Float32 => "Float",
            DType::Float64 => "Double",
            DType::Complex64 => "ComplexFloat",
            _ => "ComplexDouble",
        }
    }

    /// Whether a result of type `self` may be written into memory of type `to`.
    pub fn can_cast(self, to: DType) -> bool {
        self.category() <= to.category()
    }

    /// The smallest type that holds both.
    pub fn promote(self, other: DType) -> DType {
        use DType::{BFloat16, Complex64, Complex128, Float16, Float32, Float64, Int8, Int16, UInt8};
        match (self, other) {
            (Float16, BFloat16) | (BFloat16, Float16) => Float32,
            (UInt8, Int8) | (Int8, UInt8) => Int16,
            (Complex64, Float64) | (Float64, Complex64) => Complex128,
            _ => self.max(other),
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
                assert!(joined.category() >= a.category());
                assert!(
                    joined == a
                        || joined == b
                        || matches!(joined, DType::Int16 | DType::Float32 | DType::Complex128)
                );
            }
        }
        assert_eq!(DType::UInt8.promote(DType::Int8), DType::Int16);
        assert_eq!(DType::Float64.promote(DType::Complex64), DType::Complex128);
    }
}
