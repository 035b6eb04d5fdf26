//! Element types: the list, and promotion between them. Their Rust types are in `element`, the one
//! macro that goes from a `DType` value to a Rust type in `dispatch`. No shapes and no memory here.

#[macro_use]
mod dispatch;
mod element;
mod float8;
mod half;
mod names;
mod promotion;
mod scalar;
mod unsigned;

pub use element::{Bool, Element, Number, Ordered, Real, Ring};
pub use float8::{Float8E4M3Fn, Float8E4M3FnUz, Float8E5M2, Float8E5M2FnUz, Float8E8M0FnU};
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
    /// Unsigned 16-bit integers.
    UInt16,
    /// Unsigned 32-bit integers.
    UInt32,
    /// Unsigned 64-bit integers.
    UInt64,
    /// Powers of two, and nothing else.
    Float8E8M0FnU,
    /// Five bits of exponent and two of fraction, one zero and no infinities.
    Float8E5M2FnUz,
    /// Four bits of exponent and three of fraction, one zero and no infinities.
    Float8E4M3FnUz,
    /// Five bits of exponent and two of fraction.
    Float8E5M2,
    /// Four bits of exponent and three of fraction, no infinities.
    Float8E4M3Fn,
    /// Half precision.
    Float16,
    /// Single precision with a shorter fraction.
    BFloat16,
    /// Single precision.
    Float32,
    /// Double precision.
    Float64,
    /// Complex numbers of two parts in half precision.
    Complex32,
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

// Note [Stored types]
// ----
// Half types, the floating-point types of eight bits, complex numbers of two halves and the wider unsigned integers are
// there to be stored and moved: no kernel calculates with them. The entry points of operations give the forward
// numbers of a wider type instead, `DType::wide`, and round what it answers; those of elementwise
// operations are in `unary` and `binary`, that of all others is `dispatch/stored.rs`. Rules are written in
// operations, and so calculate with stored types as these do. No type of the house holds all integers of `UInt64`:
// operations are refused that would have to, but those that are the same of all integers that differ by 2⁶⁴.

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
    pub const ALL: [DType; 21] = [
        DType::Bool,
        DType::UInt8,
        DType::Int8,
        DType::Int16,
        DType::Int32,
        DType::Int64,
        DType::UInt16,
        DType::UInt32,
        DType::UInt64,
        DType::Float8E8M0FnU,
        DType::Float8E5M2FnUz,
        DType::Float8E4M3FnUz,
        DType::Float8E5M2,
        DType::Float8E4M3Fn,
        DType::Float16,
        DType::BFloat16,
        DType::Float32,
        DType::Float64,
        DType::Complex32,
        DType::Complex64,
        DType::Complex128,
    ];

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self.resolved() {
            DType::Bool | DType::UInt8 | DType::Int8 => 1,
            DType::Int16 | DType::UInt16 | DType::Float16 | DType::BFloat16 => 2,
            DType::Int32 | DType::UInt32 | DType::Float32 | DType::Complex32 => 4,
            DType::Int64 | DType::UInt64 | DType::Float64 | DType::Complex64 => 8,
            dtype if dtype.is_float8() => 1,
            _ => 16,
        }
    }

    /// The category promotion compares first.
    pub const fn category(self) -> Category {
        match self {
            DType::Bool => Category::Bool,
            DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64 => Category::Float,
            DType::Complex32 | DType::Complex64 | DType::Complex128 => Category::Complex,
            other if other.is_float8() => Category::Float,
            other if other.is_pending() => Category::Pending,
            _ => Category::Integer,
        }
    }

    /// Whether values of this type are real numbers with a fraction.
    pub const fn is_float(self) -> bool {
        matches!(self.category(), Category::Float)
    }

    /// Whether this is one of the two types of half precision.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::Float16 | DType::BFloat16)
    }

    /// Whether numbers of this type are real ones of eight bits.
    pub const fn is_float8(self) -> bool {
        self as u8 >= DType::Float8E8M0FnU as u8 && self as u8 <= DType::Float8E4M3Fn as u8
    }

    /// Whether integers of this type are unsigned ones of more than eight bits.
    pub const fn is_wide_unsigned(self) -> bool {
        matches!(self, DType::UInt16 | DType::UInt32 | DType::UInt64)
    }

    /// Whether nothing is calculated in this type: see Note [Stored types].
    pub const fn is_stored(self) -> bool {
        self.wide() as u8 != self as u8
    }

    /// The number as a floating-point type holds it.
    pub fn rounded(self, x: f64) -> f64 {
        match self {
            DType::Float64 => x,
            dtype if dtype.is_float() => dispatch!(stored dtype, T => T::from_f64(x).to_f64()),
            _ => x,
        }
    }

    /// The greatest number of a floating-point type.
    pub const fn greatest(self) -> f64 {
        match self {
            DType::Float8E4M3Fn => 448.0,
            DType::Float8E4M3FnUz => 240.0,
            DType::Float8E5M2 | DType::Float8E5M2FnUz => 57344.0,
            // 2¹²⁷
            DType::Float8E8M0FnU => 1.701_411_834_604_692_3e38,
            DType::Float16 => 65504.0,
            DType::BFloat16 => 3.389_531_389_251_535_5e38,
            DType::Float32 => f32::MAX as f64,
            _ => f64::MAX,
        }
    }

    /// The type that numbers of this type are calculated in.
    pub const fn wide(self) -> DType {
        match self {
            DType::Float16 | DType::BFloat16 => DType::Float32,
            DType::UInt16 => DType::Int32,
            DType::UInt32 | DType::UInt64 => DType::Int64,
            DType::Complex32 => DType::Complex64,
            dtype if dtype.is_float8() => DType::Float32,
            other => other,
        }
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
            DType::Complex32 => DType::Float16,
            DType::Complex64 => DType::Float32,
            DType::Complex128 => DType::Float64,
            other => other,
        }
    }

    /// The complex type whose parts are of this type, for those that have one.
    pub const fn to_complex(self) -> DType {
        match self {
            DType::Float16 => DType::Complex32,
            DType::BFloat16 | DType::Float32 => DType::Complex64,
            dtype if dtype.is_float8() => DType::Complex64,
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
}
