//! The operations. Each is one block: its equations, what it computes, what it keeps, and how
//! gradients and tangents pass it. This file is the table of contents.
//!
//! How blocks are made: `unary` and `binary` for functions of elements, `apply` for all others.

pub mod accumulate;
pub mod add_products;
pub mod along;
pub mod apply;
pub mod arithmetic;
mod bilinear;
pub mod binary;
pub mod cast;
pub mod choose;
mod copy;
pub mod create;
pub mod default_dtype;
mod distribution;
pub mod exp_log;
pub mod expand;
pub mod extremes_along;
pub mod extremes_over;
mod fixed;
pub mod gather;
mod generator;
pub mod in_place;
pub mod index;
pub mod indexed;
pub mod join;
pub mod linear;
pub mod loss;
pub mod masked;
pub mod matmul;
pub mod moments;
pub mod norm;
pub mod operand;
pub mod part;
pub mod permute;
mod places;
pub mod product;
pub mod products;
pub mod random;
pub mod ranges;
pub mod rearrange;
pub mod reduce;
pub mod reshape;
pub mod scan;
pub mod softmax;
pub mod split;
pub mod squeeze;
pub mod strided;
pub mod triangle;
pub mod truth;
pub mod unary;
pub mod view;

use crate::dtype::Scalar;
use crate::error::Result;
use crate::tensor::Tensor;
pub use operand::{Operand, Value};

/// An elementwise operation of one tensor, as tables list it.
pub struct ElementwiseEntry {
    /// The name in both languages.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub doc: &'static str,
    /// The operation.
    pub function: fn(&Tensor) -> Result<Tensor>,
    /// The operation in place.
    pub in_place: fn(&Tensor) -> Result<()>,
}

/// Makes a function, an in-place function and a table entry of each line:
/// `sin, sin_: trigonometry::Sin, "…";` gives `ops::sin(&x)`, `ops::sin_(&x)` and an entry.
macro_rules! elementwise {
    ($($name:ident, $in_place:ident: $op:expr, $doc:literal;)*) => {
        $(
            #[doc = $doc]
            pub fn $name(x: &Tensor) -> Result<Tensor> {
                unary::apply($op, x)
            }
            #[doc = concat!($doc, " In place.")]
            pub fn $in_place(x: &Tensor) -> Result<()> {
                unary::apply_in_place($op, x)
            }
        )*
        /// Every elementwise operation of one tensor and nothing else.
        pub const ELEMENTWISE: &[ElementwiseEntry] = &[
            $(ElementwiseEntry { name: stringify!($name), doc: $doc, function: $name, in_place: $in_place }),*
        ];
    };
}

elementwise! {
    exp, exp_: exp_log::Exp, "The exponential of every element.";
    log, log_: exp_log::Log, "The natural logarithm of every element.";
    neg, neg_: arithmetic::Neg, "Every element with its sign turned round.";
}

/// An elementwise operation of two operands, as tables list it.
pub struct Elementwise2Entry {
    /// The name in both languages.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub doc: &'static str,
    /// The operation.
    pub function: fn(Operand<'_>, Operand<'_>) -> Result<Tensor>,
    /// The operation in place of the first operand.
    pub in_place: fn(&Tensor, Operand<'_>) -> Result<()>,
}

/// The same for operations of two operands: `mul, mul_: arithmetic::Mul, "…";` gives
/// `ops::mul(a, b)`, `ops::mul_(&x, b)` and an entry.
macro_rules! elementwise2 {
    ($($name:ident, $in_place:ident: $op:expr, $doc:literal;)*) => {
        $(
            #[doc = $doc]
            pub fn $name<'a>(a: impl Into<Operand<'a>>, b: impl Into<Operand<'a>>) -> Result<Tensor> {
                binary::apply($op, a.into(), b.into())
            }
            #[doc = concat!($doc, " In place of the first.")]
            pub fn $in_place<'a>(x: &Tensor, b: impl Into<Operand<'a>>) -> Result<()> {
                binary::apply_in_place($op, x, b.into())
            }
        )*
        /// Every elementwise operation of two operands and nothing else.
        pub const ELEMENTWISE2: &[Elementwise2Entry] = &[
            $(Elementwise2Entry {
                name: stringify!($name),
                doc: $doc,
                function: |a, b| binary::apply($op, a, b),
                in_place: |x, b| binary::apply_in_place($op, x, b),
            }),*
        ];
    };
}

elementwise2! {
    add, add_: arithmetic::Add { alpha: Scalar::Int(1) }, "The sum of two operands.";
    sub, sub_: arithmetic::Sub { alpha: Scalar::Int(1) }, "The difference of two operands.";
    mul, mul_: arithmetic::Mul, "The product of two operands.";
    div, div_: arithmetic::Div, "The quotient of two operands.";
}

/// Every other operation that gradients pass, by the name under which derivatives are checked.
pub const DIFFERENTIABLE: &[&str] = &[
    "addmm",
    "addmv",
    "alias",
    "amax",
    "amin",
    "as_strided",
    "baddbmm",
    "binary_cross_entropy_with_logits",
    "bmm",
    "cat",
    "clone",
    "copy_",
    "cross_entropy",
    "cumprod",
    "cumsum",
    "diag",
    "diagonal",
    "dot",
    "expand",
    "fill_",
    "flatten",
    "flip",
    "gather",
    "huber_loss",
    "index",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_select",
    "inner",
    "linear",
    "log_softmax",
    "logsumexp",
    "masked_scatter",
    "masked_select",
    "matmul",
    "max",
    "mean",
    "min",
    "mm",
    "mse_loss",
    "mv",
    "nll_loss",
    "outer",
    "permute",
    "prod",
    "ravel",
    "repeat",
    "reshape",
    "roll",
    "scatter",
    "scatter_add",
    "select",
    "slice",
    "smooth_l1_loss",
    "softmax",
    "split",
    "squeeze",
    "stack",
    "std",
    "std_mean",
    "sum",
    "t",
    "take",
    "to",
    "transpose",
    "tril",
    "triu",
    "unbind",
    "unflatten",
    "unsqueeze",
    "var",
    "var_mean",
    "vdot",
    "vector_norm",
    "view",
];
