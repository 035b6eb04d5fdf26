//! Indexing: what stands between the brackets of `x[...]`, as data.

use crate::tensor::Tensor;

/// One item of an index expression.
#[derive(Clone)]
pub enum Index {
    /// One element of a dimension, which goes; counted from the end when negative.
    Int(i64),
    /// A range of a dimension. Python's rules; the step is positive.
    Slice {
        /// The first element; from the start if left out.
        start: Option<i64>,
        /// The element before which to stop; to the end if left out.
        stop: Option<i64>,
        /// 1 if left out.
        step: Option<i64>,
    },
    /// A new dimension of size one (`None`).
    NewAxis,
    /// All dimensions that no other item names (`...`).
    Ellipsis,
    /// A new dimension of size one, or of size zero for `false`.
    Bool(bool),
    /// Integers that name elements of a dimension, or a mask (of type bool or uint8) over as many
    /// dimensions as it has.
    Indices(Tensor),
}
