//! What a failure says besides its kind: fields, and their content as the host gets it.

use crate::dtype::{Complex, DType, Scalar};
use crate::origin::Origin;

/// The content of one field of an error.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A count, a dimension, an index.
    Int(i64),
    /// A number that may have a fraction.
    Float(f64),
    /// A complex number.
    Complex(Complex<f64>),
    /// A name or a piece of text.
    Text(String),
    /// Sizes or strides.
    Shape(Vec<i64>),
    /// An element type.
    DType(DType),
    /// A truth value.
    Bool(bool),
    /// A place in the host's program.
    Origin(Origin),
}

/// Types that error fields may have.
pub trait Field {
    /// The field as a value for the host.
    fn value(&self) -> Value;
}

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

impl Field for Origin {
    fn value(&self) -> Value {
        Value::Origin(*self)
    }
}

impl Field for Scalar {
    fn value(&self) -> Value {
        match *self {
            Scalar::Bool(b) => Value::Bool(b),
            Scalar::Int(i) => Value::Int(i),
            Scalar::Unsigned(i) => Value::Float(i as f64),
            Scalar::Float(f) => Value::Float(f),
            Scalar::Complex(c) => Value::Complex(c),
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
