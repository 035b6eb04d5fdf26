//! Element types: the list, their Rust types, promotion between them and the one macro that
//! goes from a `DType` value to a Rust type. No shapes and no memory here.

use num_traits::AsPrimitive;

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
    /// Single precision.
    Float32,
    /// Double precision.
    Float64,
}

/// The coarse order in which promotion looks at types first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// `bool`.
    Bool,
    /// Every integer type.
    Integer,
    /// Every floating-point type.
    Float,
}

impl DType {
    /// Every element type, in declaration order.
    pub const ALL: [DType; 8] = [
        DType::Bool,
        DType::UInt8,
        DType::Int8,
        DType::Int16,
        DType::Int32,
        DType::Int64,
        DType::Float32,
        DType::Float64,
    ];

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::UInt8 | DType::Int8 => 1,
            DType::Int16 => 2,
            DType::Int32 | DType::Float32 => 4,
            DType::Int64 | DType::Float64 => 8,
        }
    }

    /// The category promotion compares first.
    pub const fn category(self) -> Category {
        match self {
            DType::Bool => Category::Bool,
            DType::Float32 | DType::Float64 => Category::Float,
            _ => Category::Integer,
        }
    }

    /// Whether values of this type can carry a gradient.
    pub const fn is_float(self) -> bool {
        matches!(self.category(), Category::Float)
    }

    /// The name after `torch.`, such as `float32`.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::UInt8 => "uint8",
            DType::Int8 => "int8",
            DType::Int16 => "int16",
            DType::Int32 => "int32",
            DType::Int64 => "int64",
            DType::Float32 => "float32",
            DType::Float64 => "float64",
        }
    }

    /// The name that error messages use, such as `Float`.
    pub const fn title(self) -> &'static str {
        match self {
            DType::Bool => "Bool",
            DType::UInt8 => "Byte",
            DType::Int8 => "Char",
            DType::Int16 => "Short",
            DType::Int32 => "Int",
            DType::Int64 => "Long",
            DType::Float32 => "Float",
            DType::Float64 => "Double",
        }
    }

    /// Whether a result of type `self` may be written into memory of type `to`.
    pub fn can_cast(self, to: DType) -> bool {
        self.category() <= to.category()
    }

    /// The smallest type that holds both.
    pub fn promote(self, other: DType) -> DType {
        use DType::{Int8, Int16, UInt8};
        match (self, other) {
            (UInt8, Int8) | (Int8, UInt8) => Int16,
            _ => self.max(other),
        }
    }
}

/// A Python number on its way into an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
}

impl Scalar {
    /// The category the number takes part in promotion with.
    pub const fn category(self) -> Category {
        match self {
            Scalar::Bool(_) => Category::Bool,
            Scalar::Int(_) => Category::Integer,
            Scalar::Float(_) => Category::Float,
        }
    }

    /// The number as `f64`.
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::Bool(b) => f64::from(u8::from(b)),
            Scalar::Int(i) => i as f64,
            Scalar::Float(f) => f,
        }
    }

    /// The number as an element of type `T`.
    pub fn to<T: Element>(self) -> T {
        match self {
            Scalar::Bool(b) => T::from_i64(i64::from(b)),
            Scalar::Int(i) => T::from_i64(i),
            Scalar::Float(f) => T::from_f64(f),
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

impl From<bool> for Scalar {
    fn from(value: bool) -> Self {
        Scalar::Bool(value)
    }
}

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

/// A Rust type that tensors can hold. `convert` between any two of them is C's cast.
pub trait Element: Copy + Default + PartialEq + PartialOrd + Send + Sync + std::fmt::Debug + 'static {
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
    /// The number as a scalar of its own category.
    fn to_scalar(self) -> Scalar;
    /// Whether the value is not zero.
    fn is_true(self) -> bool;
    /// The value as another element type.
    #[inline]
    fn convert<U: Element>(self) -> U {
        if Self::DTYPE.is_float() { U::from_f64(self.to_f64()) } else { U::from_i64(self.to_i64()) }
    }
}

/// Elements that can be calculated with: all but `Bool`. Integers wrap around, as in C.
pub trait Number: Element {
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// The least value, `-inf` for floating-point types.
    const LOWEST: Self;
    /// The greatest value, `inf` for floating-point types.
    const HIGHEST: Self;
    /// a + b
    fn add(self, other: Self) -> Self;
    /// a - b
    fn sub(self, other: Self) -> Self;
    /// a * b
    fn mul(self, other: Self) -> Self;
    /// Whether the value is not a number; never for integers.
    fn is_nan(self) -> bool;
}

/// Floating-point elements.
pub trait Real: Number + num_traits::Float + AsPrimitive<f64> {}
impl Real for f32 {}
impl Real for f64 {}

/// The conversion of out-of-range and NaN values that x86 makes: the least `i64`.
fn truncate(value: f64) -> i64 {
    if value.is_nan() || value >= 9_223_372_036_854_775_808.0 { i64::MIN } else { value as i64 }
}

impl Element for Bool {
    const DTYPE: DType = DType::Bool;
    fn from_i64(value: i64) -> Self {
        Bool::new(value != 0)
    }
    fn from_f64(value: f64) -> Self {
        Bool::new(value != 0.0)
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

/// Implements `Element` and `Number` for one integer type: `integer!(i32, Int32);`
macro_rules! integer {
    ($T:ty, $dtype:ident) => {
        impl Element for $T {
            const DTYPE: DType = DType::$dtype;
            fn from_i64(value: i64) -> Self {
                value as $T
            }
            fn from_f64(value: f64) -> Self {
                truncate(value) as $T
            }
            fn to_i64(self) -> i64 {
                i64::from(self)
            }
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
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const LOWEST: Self = <$T>::MIN;
            const HIGHEST: Self = <$T>::MAX;
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn is_nan(self) -> bool {
                false
            }
        }
    };
}
integer!(u8, UInt8);
integer!(i8, Int8);
integer!(i16, Int16);
integer!(i32, Int32);
integer!(i64, Int64);

/// Implements `Element` and `Number` for one floating-point type: `real!(f32, Float32);`
macro_rules! real {
    ($T:ident, $dtype:ident) => {
        impl Element for $T {
            const DTYPE: DType = DType::$dtype;
            fn from_i64(value: i64) -> Self {
                value as $T
            }
            fn from_f64(value: f64) -> Self {
                value as $T
            }
            fn to_i64(self) -> i64 {
                truncate(f64::from(self))
            }
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
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const LOWEST: Self = $T::NEG_INFINITY;
            const HIGHEST: Self = $T::INFINITY;
            fn add(self, other: Self) -> Self {
                self + other
            }
            fn sub(self, other: Self) -> Self {
                self - other
            }
            fn mul(self, other: Self) -> Self {
                self * other
            }
            fn is_nan(self) -> bool {
                $T::is_nan(self)
            }
        }
    };
}
real!(f32, Float32);
real!(f64, Float64);

/// Runs a block with `$T` bound to the Rust type of a `DType` value.
///
/// The first word picks which types take part; the block after `else` answers for the others:
/// `all` (no `else`), `number` (all but bool), `integer`, `float`. Half and complex types join here.
///
/// ```
/// use rushlight::{dispatch, dtype::{DType, Element}};
/// let bytes = dispatch!(all DType::Int16, T => std::mem::size_of::<T>());
/// assert_eq!(bytes, 2);
/// ```
#[macro_export]
macro_rules! dispatch {
    (@one $T:ident, $R:ty, $body:expr) => {{
        type $T = $R;
        $body
    }};
    (@float $dtype:expr, $T:ident => $body:expr, $rest:tt) => {
        match $dtype {
            $crate::dtype::DType::Float32 => $crate::dispatch!(@one $T, f32, $body),
            $crate::dtype::DType::Float64 => $crate::dispatch!(@one $T, f64, $body),
            _ => $rest,
        }
    };
    (@integer $dtype:expr, $T:ident => $body:expr, $rest:tt) => {
        match $dtype {
            $crate::dtype::DType::UInt8 => $crate::dispatch!(@one $T, u8, $body),
            $crate::dtype::DType::Int8 => $crate::dispatch!(@one $T, i8, $body),
            $crate::dtype::DType::Int16 => $crate::dispatch!(@one $T, i16, $body),
            $crate::dtype::DType::Int32 => $crate::dispatch!(@one $T, i32, $body),
            $crate::dtype::DType::Int64 => $crate::dispatch!(@one $T, i64, $body),
            _ => $rest,
        }
    };
    (float $dtype:expr, $T:ident => $body:expr, else $other:block) => {
        $crate::dispatch!(@float $dtype, $T => $body, $other)
    };
    (integer $dtype:expr, $T:ident => $body:expr, else $other:block) => {
        $crate::dispatch!(@integer $dtype, $T => $body, $other)
    };
    (number $dtype:expr, $T:ident => $body:expr, else $other:block) => {
        $crate::dispatch!(@float $dtype, $T => $body, { $crate::dispatch!(@integer $dtype, $T => $body, $other) })
    };
    (all $dtype:expr, $T:ident => $body:expr) => {
        $crate::dispatch!(number $dtype, $T => $body, else {
            $crate::dispatch!(@one $T, $crate::dtype::Bool, $body)
        })
    };
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
                assert!(joined == a || joined == b || joined == DType::Int16);
            }
        }
        assert_eq!(DType::UInt8.promote(DType::Int8), DType::Int16);
    }

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
    }

    #[test]
    fn every_type_is_dispatched_to_its_own_rust_type() {
        for dtype in DType::ALL {
            assert_eq!(dispatch!(all dtype, T => T::DTYPE), dtype);
            assert_eq!(dispatch!(all dtype, T => std::mem::size_of::<T>()), dtype.size());
        }
    }
}
