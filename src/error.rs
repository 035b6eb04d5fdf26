//! Everything that can go wrong, as data: one variant a failure, fields instead of sentences.
//! Hosts word the failures; the `Display` here is for users of the crate from Rust.

use std::any::Any;
use std::fmt;

use crate::dtype::{DType, Scalar};

/// The result of an engine call. The error is boxed so that the good path stays small.
pub type Result<T> = std::result::Result<T, Box<Error>>;

/// The content of one field of an error.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A count, a dimension, an index.
    Int(i64),
    /// A number that may have a fraction.
    Float(f64),
    /// A name or a piece of text.
    Text(String),
    /// Sizes or strides.
    Shape(Vec<i64>),
    /// An element type.
    DType(DType),
    /// A truth value.
    Bool(bool),
}

/// Types that error fields may have.
pub trait Field {
    /// The field as a value for the host.
    fn value(&self) -> Value;
}

/// A failure of the host's own making (an exception raised by a hook), passed through unchanged.
pub struct Foreign(pub Box<dyn Any + Send + Sync>);

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Foreign")
    }
}

/// Declares the enum from a list of `Kind { field: Type }`, together with `kind`, `fields` and
/// `KINDS`. `errors! { /// … Broken { dim: usize } }` gives `Error::Broken { dim }`,
/// `"Broken"`, `[("dim", Value::Int(..))]` and `KINDS == [("Broken", ["dim"])]`.
macro_rules! errors {
    ($($(#[$doc:meta])* $kind:ident { $($field:ident: $T:ty),* $(,)? }),* $(,)?) => {
        /// A failure, by kind.
        #[derive(Debug)]
        #[allow(missing_docs)] // the fields are named for what they are
        pub enum Error {
            $($(#[$doc])* $kind { $($field: $T),* },)*
            /// An exception of the host on its way back to it.
            Foreign(Foreign),
        }
        impl Error {
            /// Every kind that needs words, with the names of its fields.
            pub const KINDS: &'static [(&'static str, &'static [&'static str])] =
                &[$((stringify!($kind), &[$(stringify!($field)),*])),*];
            /// The name of the kind.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Error::$kind { .. } => stringify!($kind),)*
                    Error::Foreign(_) => "Foreign",
                }
            }
            /// The fields by name.
            pub fn fields(&self) -> Vec<(&'static str, Value)> {
                match self {
                    $(Error::$kind { $($field),* } => vec![$((stringify!($field), $field.value())),*],)*
                    Error::Foreign(_) => Vec::new(),
                }
            }
        }
    };
}

errors! {
    // Shapes
    /// Two sizes that neither agree nor broadcast.
    NotBroadcastable { left: usize, right: usize, dim: usize },
    /// A dimension outside of the tensor's.
    DimOutOfRange { dim: i64, low: i64, high: i64 },
    /// A dimension asked of a tensor that has none.
    DimOfScalar { dim: i64, operation: &'static str },
    /// The same dimension named twice.
    DimRepeated { dim: usize, operation: &'static str },
    /// A negative size.
    NegativeDimension { dim: i64, shape: Vec<i64> },
    /// More elements than memory can be addressed for.
    TooManyElements { shape: Vec<i64> },
    /// `view` or `reshape` to a number of elements that differs.
    ViewSize { shape: Vec<i64>, numel: usize },
    /// A `-1` in a shape that leaves its size open.
    ViewAmbiguous { shape: Vec<i64> },
    /// Two `-1` in one shape.
    ViewInferTwice {},
    /// A `view` that the strides do not allow.
    ViewStride {},
    /// `expand` to fewer dimensions.
    ExpandRank { dtype: DType, expand: Vec<i64>, shape: Vec<usize>, wanted: usize, ndim: usize },
    /// `expand` of a size that is neither one nor equal.
    ExpandSize { wanted: i64, size: usize, dim: usize, target: Vec<i64>, shape: Vec<usize> },
    /// `expand` by `-1` in a new leading dimension.
    ExpandLeading { wanted: i64, dim: usize },
    /// `as_strided` with as many strides as sizes not given.
    StridedRank { sizes: usize, strides: usize },
    /// A negative stride.
    StridedNegative { stride: i64, strides: Vec<i64> },
    /// A negative offset.
    StridedOffset { offset: i64 },
    /// A window beyond the end of the storage.
    StridedBounds { shape: Vec<i64>, strides: Vec<i64>, offset: i64, item: usize, needed: i64, bytes: usize },
    /// A shape that one operation needs and another that it got.
    OutputShape { output: Vec<usize>, broadcast: Vec<usize> },

    // Types
    /// A result that may not be written into memory of that type.
    ResultCast { from: DType, to: DType },
    /// A difference of truth values.
    SubtractBool {},
    /// A difference of a truth value and something else.
    SubtractWithBool {},
    /// The negative of truth values.
    NegateBool {},
    /// The positive of truth values.
    PositiveBool {},
    /// `relu` of truth values.
    ReluBool {},
    /// A factor with a fraction for integers.
    AlphaFloat {},
    /// A truth value as factor for something else.
    AlphaBool {},
    /// Two tensors whose types must be the same.
    DTypesDiffer { left: DType, right: DType },
    /// `where` with a condition that is not made of truth values.
    WhereCondition { dtype: DType },
    /// `masked_fill` with a mask that is not made of truth values.
    MaskedFillMask { dtype: DType },
    /// An operation that does not exist for this type.
    NotImplementedFor { operation: &'static str, dtype: DType },
    /// A gradient asked of integers.
    RequiresGradDType {},

    // Values
    /// Integers divided by zero.
    IntegerDivision {},
    /// Integers to a negative power.
    IntegerPower {},
    /// A rounding that does not exist.
    RoundingMode { mode: String },
    /// `clamp` without bounds.
    ClampBounds {},
    /// `masked_fill` with a tensor that has dimensions.
    MaskedFillValue { ndim: usize },
    /// A tolerance below zero.
    NegativeTolerance { argument: &'static str, value: f64 },

    // Memory
    /// Memory that could not be had.
    OutOfMemory { bytes: u64 },

    // Autograd
    /// `requires_grad` set on a tensor that an operation made.
    RequiresGradNonLeaf {},
    /// An in-place operation on a leaf.
    LeafModified {},
    /// An in-place operation on a view of a leaf.
    LeafViewModified {},
    /// An in-place operation on one of several views made at once.
    MultiViewModified { function: String, output: u32 },
    /// An in-place operation with gradient on a view made without.
    NoGradViewModified {},
    /// A saved tensor that was overwritten.
    Modified { dtype: DType, shape: Vec<usize>, source: String, output: u32, version: u32, expected: u32 },
    /// The graph was freed by an earlier backward.
    BackwardTwice {},
    /// A root without history.
    NoGrad { index: usize },
    /// More roots than gradients, or fewer.
    RootAndGradientCounts { roots: usize, gradients: usize },
    /// An input that does not require grad.
    InputNoGrad {},
    /// An input that is something else.
    InputNotTensor { got: String },
    /// A gradient asked for that the graph does not reach.
    Unused { index: usize },
    /// A root that is not a scalar and has no gradient given.
    ImplicitGradient {},
    /// A root that is not a floating-point scalar and has no gradient given.
    ImplicitGradientDType { dtype: DType },
    /// A rule that returned a gradient of the wrong shape.
    GradientShape { function: String, index: usize, got: Vec<usize>, expected: Vec<usize> },
    /// A rule that returned another number of gradients.
    GradientCount { function: String, expected: usize, got: usize },
    /// An operation that has no derivative.
    NoDerivative { operation: &'static str },
    /// `retain_grad` on a tensor without gradient.
    RetainGradNoGrad {},
    /// A hook on a tensor without gradient.
    HookNoGrad {},
    /// A write to memory that shows one element several times.
    OverlapModified {},
    /// `detach_` on a view.
    DetachView {},
    /// `.grad` assigned a tensor of another type.
    GradDType { got: DType, expected: DType },
    /// `.grad` assigned a tensor of another shape.
    GradSize { got: Vec<usize>, expected: Vec<usize> },
    /// `item` of a tensor with another number of elements than one.
    ItemOfMany { numel: usize },
    /// The truth value of many elements.
    AmbiguousTruth {},
    /// The truth value of no element.
    EmptyTruth {},
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind())?;
        for (name, value) in self.fields() {
            write!(f, " {name}={value:?}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// Makes integer types fields: they all become `Value::Int`.
macro_rules! integer_fields {
    ($($T:ty),*) => {$(
        impl Field for $T {
            fn value(&self) -> Value {
                Value::Int(*self as i64)
            }
        }
    )*};
}
integer_fields!(i64, usize, u32, u64);

impl Field for f64 {
    fn value(&self) -> Value {
        Value::Float(*self)
    }
}

impl Field for bool {
    fn value(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Field for &'static str {
    fn value(&self) -> Value {
        Value::Text((*self).to_owned())
    }
}

impl Field for String {
    fn value(&self) -> Value {
        Value::Text(self.clone())
    }
}

impl Field for DType {
    fn value(&self) -> Value {
        Value::DType(*self)
    }
}

impl Field for Scalar {
    fn value(&self) -> Value {
        match *self {
            Scalar::Bool(b) => Value::Bool(b),
            Scalar::Int(i) => Value::Int(i),
            Scalar::Float(f) => Value::Float(f),
        }
    }
}

impl Field for Vec<usize> {
    fn value(&self) -> Value {
        Value::Shape(self.iter().map(|&size| size as i64).collect())
    }
}

impl Field for Vec<i64> {
    fn value(&self) -> Value {
        Value::Shape(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_itself_and_its_fields() {
        let error = Error::NotBroadcastable { left: 2, right: 3, dim: 0 };
        assert_eq!(error.kind(), "NotBroadcastable");
        assert_eq!(error.fields()[1], ("right", Value::Int(3)));
        assert!(Error::KINDS.contains(&("NotBroadcastable", &["left", "right", "dim"])));
    }
}
