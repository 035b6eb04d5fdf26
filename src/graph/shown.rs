//! The parameters of an operation as its node shows them to the host, under torch's names.

use crate::dtype::{Complex, DType, Scalar};
use crate::shape::{Dims, Layout, SharedLayout};

/// What a node shows under one name.
#[derive(Clone)]
pub enum Shown {
    /// Something that the operation did without.
    Nothing,
    /// A tensor that the operation could have kept and did not.
    NoTensor,
    /// A truth value.
    Bool(bool),
    /// A count, a dimension.
    Int(i64),
    /// A whole number that the user gave.
    Whole(i64),
    /// A number with a fraction.
    Float(f64),
    /// A complex number.
    Complex(Complex<f64>),
    /// Sizes, dimensions.
    Ints(Vec<i64>),
    /// A word.
    Text(&'static str),
    /// An element type.
    Type(DType),
    /// A number that stands for a tensor.
    Number(Scalar),
    /// A tensor that is calculated when somebody asks for it: see `Rule::compute`.
    Computed,
    /// Several of the tensors that are saved, by their places, and those that could have been.
    Saved(Vec<Option<usize>>),
}

/// What a node shows, by name.
pub type Attributes = Vec<(&'static str, Shown)>;

/// `shown! { dim: self.dim, keepdim: true }`: attributes from expressions.
macro_rules! shown {
    ($($name:ident: $value:expr),* $(,)?) => {
        vec![$((stringify!($name), $crate::graph::Shown::from($value))),*]
    };
}
pub(crate) use shown;

impl From<bool> for Shown {
    fn from(value: bool) -> Shown {
        Shown::Bool(value)
    }
}

impl From<i64> for Shown {
    fn from(value: i64) -> Shown {
        Shown::Int(value)
    }
}

impl From<usize> for Shown {
    fn from(value: usize) -> Shown {
        Shown::Int(value as i64)
    }
}

impl From<f64> for Shown {
    fn from(value: f64) -> Shown {
        Shown::Float(value)
    }
}

impl From<&'static str> for Shown {
    fn from(value: &'static str) -> Shown {
        Shown::Text(value)
    }
}

impl From<DType> for Shown {
    fn from(value: DType) -> Shown {
        Shown::Type(value)
    }
}

impl From<Scalar> for Shown {
    fn from(value: Scalar) -> Shown {
        match value {
            Scalar::Bool(value) => Shown::Bool(value),
            Scalar::Int(value) => Shown::Whole(value),
            // Nothing that can be differentiated goes with such.
            Scalar::Unsigned(_) => Shown::Number(value),
            Scalar::Float(value) => Shown::Float(value),
            Scalar::Complex(value) => Shown::Complex(value),
        }
    }
}

impl From<&[usize]> for Shown {
    fn from(value: &[usize]) -> Shown {
        Shown::Ints(value.iter().map(|&size| size as i64).collect())
    }
}

impl From<&[i64]> for Shown {
    fn from(value: &[i64]) -> Shown {
        Shown::Ints(value.to_vec())
    }
}

impl From<&Dims> for Shown {
    fn from(value: &Dims) -> Shown {
        value.as_slice().into()
    }
}

/// The sizes.
impl From<&Layout> for Shown {
    fn from(value: &Layout) -> Shown {
        value.shape().into()
    }
}

/// The sizes.
impl From<&SharedLayout> for Shown {
    fn from(value: &SharedLayout) -> Shown {
        value.shape().into()
    }
}

impl<T: Into<Shown>> From<Option<T>> for Shown {
    fn from(value: Option<T>) -> Shown {
        value.map_or(Shown::Nothing, Into::into)
    }
}
