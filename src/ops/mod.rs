//! The operations. Each is one block: its equations, what it computes, what it keeps, and how
//! gradients and tangents pass it. This file is the table of contents.
//!
//! How blocks are called: `dispatch::unary` and `dispatch::binary` for functions of elements, `dispatch::apply` for
//! all others.

pub mod complex;
pub mod composite;
pub mod conjugate;
pub mod creation;
pub mod fourier;
pub mod geometry;
pub mod indexing;
pub mod linalg;
pub mod neural;
pub mod pointwise;
pub mod reduction;
pub mod sampling;
pub mod sorting;

use self::neural::units::activation;
use self::pointwise::arithmetic;
use self::pointwise::division;
use self::pointwise::exp_log;
use self::pointwise::extremes;
use self::pointwise::gamma;
use self::pointwise::hyperbolic;
use self::pointwise::pairs;
use self::pointwise::power;
use self::pointwise::representation;
use self::pointwise::rounding;
use self::pointwise::special;
use self::pointwise::trigonometry;
use crate::dispatch::binary;
pub use crate::dispatch::operand::{Argument, Operand, Value};
use crate::dispatch::unary;
use crate::dtype::Scalar;
use crate::error::Result;
use crate::tensor::Tensor;

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
    /// What it makes of integers.
    pub integers: unary::Integers,
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
            $(ElementwiseEntry {
                name: stringify!($name),
                doc: $doc,
                function: $name,
                in_place: $in_place,
                integers: unary::integers_of(&$op),
            }),*
        ];
    };
}

elementwise! {
    abs, abs_: rounding::Abs, "The magnitude of every element.";
    acos, acos_: trigonometry::Acos, "The angle whose cosine every element is.";
    acosh, acosh_: hyperbolic::Acosh, "The number whose hyperbolic cosine every element is.";
    asin, asin_: trigonometry::Asin, "The angle whose sine every element is.";
    asinh, asinh_: hyperbolic::Asinh, "The number whose hyperbolic sine every element is.";
    atan, atan_: trigonometry::Atan, "The angle whose tangent every element is.";
    atanh, atanh_: hyperbolic::Atanh, "The number whose hyperbolic tangent every element is.";
    ceil, ceil_: rounding::Ceil, "Every element rounded up.";
    cos, cos_: trigonometry::Cos, "The cosine of every element.";
    cosh, cosh_: hyperbolic::Cosh, "The hyperbolic cosine of every element.";
    deg2rad, deg2rad_: special::Angle::<false>, "The angles in radians.";
    digamma, digamma_: gamma::Digamma, "The derivative of the logarithm of the gamma function at every element.";
    erf, erf_: exp_log::Erf, "The error function of every element.";
    erfc, erfc_: exp_log::Erfc, "One less the error function of every element.";
    erfinv, erfinv_: special::Erfinv, "The number whose error function every element is.";
    exp, exp_: exp_log::Exp, "The exponential of every element.";
    exp2, exp2_: exp_log::Exp2, "Two to the power of every element.";
    expm1, expm1_: exp_log::Expm1, "The exponential of every element, less one.";
    floor, floor_: rounding::Floor, "Every element rounded down.";
    frac, frac_: rounding::Frac, "What is behind the point of every element.";
    i0, i0_: special::I0, "The modified Bessel function of the first kind of order zero.";
    lgamma, lgamma_: gamma::Lgamma, "The logarithm of the magnitude of the gamma function.";
    log, log_: exp_log::Log, "The natural logarithm of every element.";
    log10, log10_: exp_log::Log10, "The logarithm to base ten of every element.";
    log1p, log1p_: exp_log::Log1p, "The natural logarithm of every element plus one.";
    log2, log2_: exp_log::Log2, "The logarithm to base two of every element.";
    neg, neg_: rounding::Neg, "Every element with its sign turned round.";
    rad2deg, rad2deg_: special::Angle::<true>, "The angles in degrees.";
    reciprocal, reciprocal_: exp_log::Reciprocal, "One divided by every element.";
    relu, relu_: activation::Relu, "Every element, and zero in place of negative ones.";
    round, round_: rounding::Round, "Every element rounded to the nearest integer, halves to even ones.";
    rsqrt, rsqrt_: exp_log::Rsqrt, "One divided by the square root of every element.";
    sgn, sgn_: rounding::Sgn, "The sign of every element: -1, 0 or 1.";
    sigmoid, sigmoid_: activation::Sigmoid, "The logistic function of every element.";
    sign, sign_: rounding::Sign, "The sign of every element: -1, 0 or 1.";
    sin, sin_: trigonometry::Sin, "The sine of every element.";
    sinc, sinc_: special::Sinc, "The sine of every element times π, divided by that.";
    sinh, sinh_: hyperbolic::Sinh, "The hyperbolic sine of every element.";
    sqrt, sqrt_: exp_log::Sqrt, "The square root of every element.";
    tan, tan_: trigonometry::Tan, "The tangent of every element.";
    tanh, tanh_: hyperbolic::Tanh, "The hyperbolic tangent of every element.";
    trunc, trunc_: rounding::Trunc, "Every element without what is behind the point.";
}

/// An elementwise operation of two operands, as tables list it.
pub struct Elementwise2Entry {
    /// The name in both languages.
    pub name: &'static str,
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
            pub fn $name<'a, A: Argument<'a>, B: Argument<'a>>(a: A, b: B) -> Result<Tensor> {
                // Not generic, so that it is compiled here, and not by whoever calls it again.
                fn compiled(a: Operand<'_>, b: Operand<'_>, own_number: bool) -> Result<Tensor> {
                    binary::apply_to($op, a, b, own_number)
                }
                compiled(a.into(), b.into(), A::OWN_NUMBER || B::OWN_NUMBER)
            }
            #[doc = concat!($doc, " In place of the first.")]
            pub fn $in_place<'a>(x: &Tensor, b: impl Into<Operand<'a>>) -> Result<()> {
                fn compiled(x: &Tensor, b: Operand<'_>) -> Result<()> {
                    binary::apply_in_place($op, x, b)
                }
                compiled(x, b.into())
            }
        )*
        /// Every elementwise operation of two operands and nothing else.
        pub const ELEMENTWISE2: &[Elementwise2Entry] = &[
            $(Elementwise2Entry {
                name: stringify!($name),
                function: |a, b| $name(a, b),
                in_place: |x, b| $in_place(x, b),
            }),*
        ];
    };
}

elementwise2! {
    add, add_: arithmetic::Plus, "The sum of two operands.";
    sub, sub_: arithmetic::Sub { alpha: Scalar::Int(1) }, "The difference of two operands.";
    mul, mul_: arithmetic::Mul, "The product of two operands.";
    div, div_: arithmetic::Div, "The quotient of two operands.";
    rsub, rsub_: arithmetic::Rsub { alpha: Scalar::Int(1) }, "The second operand less the first.";
    ldexp, ldexp_: representation::Ldexp { whole: false }, "The first operand times two to the power of the second.";
    nextafter, nextafter_: representation::Nextafter, "The number next to the first operand on the way to the second.";
    copysign, copysign_: pairs::Copysign, "The magnitude of the first operand with the sign of the second.";
    hypot, hypot_: pairs::Hypot, "The hypotenuse of two legs.";
    logaddexp, logaddexp_: pairs::LogAddExp::<false>, "The logarithm of the sum of the exponentials.";
    logaddexp2, logaddexp2_: pairs::LogAddExp::<true>, "The logarithm to base two of the sum of powers of two.";
    xlogy, xlogy_: pairs::Xlogy::<false>, "The first operand times the logarithm of the second.";
    remainder, remainder_: division::Remainder::<true>, "What a division rounded down leaves over.";
    fmod, fmod_: division::Remainder::<false>, "What a division rounded towards zero leaves over.";
    pow, pow_: power::Pow::default(), "The first operand to the power of the second.";
    maximum, maximum_: extremes::Extreme::<true>, "The greater of two operands.";
    minimum, minimum_: extremes::Extreme::<false>, "The lesser of two operands.";
    fmax, fmax_: extremes::NumberExtreme::<true>, "The greater of two operands, of which one may not be a number.";
    fmin, fmin_: extremes::NumberExtreme::<false>, "The lesser of two operands, of which one may not be a number.";
    atan2, atan2_: trigonometry::Atan2, "The angle of the points whose coordinates are the second and the first operand.";
}

/// Every other operation that gradients pass, by the name under which derivatives are checked.
pub const DIFFERENTIABLE: &[&str] = &[
    "adaptive_max_pool",
    "adaptive_mean_pool",
    "addcdiv",
    "addcmul",
    "addmm",
    "addmv",
    "alias",
    "amax",
    "amin",
    "as_strided",
    "baddbmm",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "bmm",
    "cat",
    "celu",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "clamp",
    "clone",
    "col2im",
    "constant_pad",
    "convolution",
    "copy_",
    "cross_entropy",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "det",
    "diag",
    "diagonal",
    "div_rounded",
    "dot",
    "eig",
    "eigh",
    "elu",
    "embedding",
    "entr",
    "erfcx",
    "expand",
    "fft_c2c",
    "fft_c2r",
    "fft_r2c",
    "fill_",
    "flatten",
    "flip",
    "frexp",
    "gather",
    "gelu",
    "glu",
    "group_norm",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "huber_loss",
    "i0e",
    "i1",
    "i1e",
    "igamma",
    "igammac",
    "im2col",
    "index",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_reduce",
    "index_select",
    "inner",
    "inner_pad",
    "inverse",
    "kthvalue",
    "layer_norm",
    "leaky_relu",
    "lerp",
    "linear",
    "log_sigmoid",
    "log_softmax",
    "logcumsumexp",
    "logit",
    "logsumexp",
    "lstsq",
    "lu_factor",
    "lu_solve",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "max",
    "max_pool",
    "mean",
    "mean_pool",
    "median",
    "min",
    "mish",
    "mm",
    "mode",
    "mse_loss",
    "mv",
    "nan_to_num",
    "nansum",
    "nll_loss",
    "outer",
    "permute",
    "pinv",
    "polygamma",
    "prelu",
    "prod",
    "qr",
    "ravel",
    "repeat",
    "reshape",
    "roll",
    "round_decimals",
    "rrelu",
    "scaled_dot_product_attention",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "select",
    "silu",
    "slice",
    "slogdet",
    "smooth_l1_loss",
    "softmax",
    "softplus",
    "softshrink",
    "solve",
    "solve_triangular",
    "sort",
    "split",
    "square",
    "squeeze",
    "stack",
    "std",
    "std_mean",
    "sum",
    "svd",
    "t",
    "take",
    "threshold",
    "to",
    "topk",
    "trace",
    "transpose",
    "triangular_solve",
    "tril",
    "triu",
    "unbind",
    "unflatten",
    "unfold",
    "unsqueeze",
    "upsample",
    "var",
    "var_mean",
    "vdot",
    "vector_norm",
    "view",
    "where",
    "xlog1py",
    "zeta",
];
