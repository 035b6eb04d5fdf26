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
pub mod portable;
pub mod properties;
pub mod reduction;
pub mod sampling;
pub mod sorting;

pub use self::neural::units::activation::{relu, relu_, sigmoid, sigmoid_};
pub use self::pointwise::arithmetic::{add, add_, div, div_, mul, mul_, rsub, rsub_, sub, sub_};
pub use self::pointwise::division::{fmod, fmod_, remainder, remainder_};
pub use self::pointwise::exp_log::{
    erf, erf_, erfc, erfc_, exp, exp_, exp2, exp2_, expm1, expm1_, log, log_, log1p, log1p_, log2, log2_,
    log10, log10_, reciprocal, reciprocal_, rsqrt, rsqrt_, sqrt, sqrt_,
};
pub use self::pointwise::extremes::{fmax, fmax_, fmin, fmin_, maximum, maximum_, minimum, minimum_};
pub use self::pointwise::gamma::{digamma, digamma_, lgamma, lgamma_};
pub use self::pointwise::hyperbolic::{
    acosh, acosh_, asinh, asinh_, atanh, atanh_, cosh, cosh_, sinh, sinh_, tanh, tanh_,
};
pub use self::pointwise::pairs::{
    copysign, copysign_, hypot, hypot_, logaddexp, logaddexp_, logaddexp2, logaddexp2_, xlogy, xlogy_,
};
pub use self::pointwise::power::{pow, pow_};
pub use self::pointwise::representation::{ldexp, ldexp_, nextafter, nextafter_};
pub use self::pointwise::rounding::{
    abs, abs_, ceil, ceil_, floor, floor_, frac, frac_, neg, neg_, round, round_, sgn, sgn_, sign, sign_,
    trunc, trunc_,
};
pub use self::pointwise::special::{
    deg2rad, deg2rad_, erfinv, erfinv_, i0, i0_, rad2deg, rad2deg_, sinc, sinc_,
};
pub use self::pointwise::trigonometry::{
    acos, acos_, asin, asin_, atan, atan_, atan2, atan2_, cos, cos_, sin, sin_, tan, tan_,
};
pub use crate::dispatch::operand::{Argument, Operand, Value};
use crate::schema::{Elementwise2Entry, ElementwiseEntry, Entry, Operator, schema_of};
use std::borrow::Cow;

/// Every elementwise operation of one tensor.
pub fn elementwise() -> impl Iterator<Item = &'static ElementwiseEntry> {
    let families = [
        neural::units::activation::ELEMENTWISE,
        pointwise::exp_log::ELEMENTWISE,
        pointwise::gamma::ELEMENTWISE,
        pointwise::hyperbolic::ELEMENTWISE,
        pointwise::rounding::ELEMENTWISE,
        pointwise::special::ELEMENTWISE,
        pointwise::trigonometry::ELEMENTWISE,
    ];
    families.into_iter().flatten()
}

/// Every elementwise operation of two operands.
pub fn elementwise2() -> impl Iterator<Item = &'static Elementwise2Entry> {
    let families = [
        pointwise::arithmetic::ELEMENTWISE2,
        pointwise::division::ELEMENTWISE2,
        pointwise::extremes::ELEMENTWISE2,
        pointwise::pairs::ELEMENTWISE2,
        pointwise::power::ELEMENTWISE2,
        pointwise::representation::ELEMENTWISE2,
        pointwise::trigonometry::ELEMENTWISE2,
    ];
    families.into_iter().flatten()
}

/// Every entry.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    elementwise()
        .flat_map(|line| line.entries)
        .chain([ENTRIES, POINTWISE].into_iter().flatten().copied().flatten())
}

/// The entries of all files but those that follow from lines of `elementwise`.
const ENTRIES: &[&[Entry]] = &[
    complex::ENTRIES,
    composite::contract::ENTRIES,
    composite::curvature::ENTRIES,
    composite::distances::ENTRIES,
    composite::einsum::ENTRIES,
    composite::normal::ENTRIES,
    composite::pairs::ENTRIES,
    composite::places::ENTRIES,
    composite::series::ENTRIES,
    composite::statistics::ENTRIES,
    conjugate::ENTRIES,
    creation::cast::ENTRIES,
    creation::create::ENTRIES,
    creation::ranges::ENTRIES,
    fourier::ENTRIES,
    geometry::expand::ENTRIES,
    geometry::join::ENTRIES,
    geometry::join::diagonal::ENTRIES,
    geometry::part::ENTRIES,
    geometry::permute::ENTRIES,
    geometry::rearrange::ENTRIES,
    geometry::reinterpret::ENTRIES,
    geometry::reshape::ENTRIES,
    geometry::resize::ENTRIES,
    geometry::split::ENTRIES,
    geometry::squeeze::ENTRIES,
    geometry::strided::ENTRIES,
    geometry::triangle::ENTRIES,
    geometry::view_copy::ENTRIES,
    indexing::along::ENTRIES,
    indexing::gather::ENTRIES,
    indexing::gather::scatter::ENTRIES,
    indexing::indexed::ENTRIES,
    indexing::masked::ENTRIES,
    indexing::nonzero::ENTRIES,
    indexing::scatter_reduce::ENTRIES,
    linalg::add_products::ENTRIES,
    linalg::cholesky::ENTRIES,
    linalg::determinant::ENTRIES,
    linalg::eigen::ENTRIES,
    linalg::elimination::ENTRIES,
    linalg::exponential::ENTRIES,
    linalg::factors::ENTRIES,
    linalg::indefinite::ENTRIES,
    linalg::linear::ENTRIES,
    linalg::matmul::ENTRIES,
    linalg::norms::ENTRIES,
    linalg::old_triangular::ENTRIES,
    linalg::orthogonal::ENTRIES,
    linalg::products::ENTRIES,
    linalg::products::chain::ENTRIES,
    linalg::pseudo::ENTRIES,
    linalg::singular::ENTRIES,
    linalg::solve::ENTRIES,
    linalg::sparse::ENTRIES,
    linalg::symmetric::ENTRIES,
    linalg::triangular::ENTRIES,
    neural::attention::ENTRIES,
    neural::convolution::ENTRIES,
    neural::dropout::ENTRIES,
    neural::embedding::ENTRIES,
    neural::images::fold::ENTRIES,
    neural::images::pad::ENTRIES,
    neural::images::shuffle::ENTRIES,
    neural::images::upsample::ENTRIES,
    neural::labelling::ENTRIES,
    neural::loss::binary::ENTRIES,
    neural::loss::cross_entropy::ENTRIES,
    neural::loss::margins::ENTRIES,
    neural::loss::nll::ENTRIES,
    neural::loss::probability::ENTRIES,
    neural::loss::robust::ENTRIES,
    neural::loss::squared::ENTRIES,
    neural::normalise::ENTRIES,
    neural::pooling::ENTRIES,
    neural::recurrent::ENTRIES,
    neural::softmax::ENTRIES,
    neural::units::gated::ENTRIES,
    neural::units::prelu::ENTRIES,
    properties::ENTRIES,
    reduction::extremes_along::ENTRIES,
    reduction::extremes_over::ENTRIES,
    reduction::middle::ENTRIES,
    reduction::moments::ENTRIES,
    reduction::norm::ENTRIES,
    reduction::product::ENTRIES,
    reduction::reduce::ENTRIES,
    reduction::running::ENTRIES,
    reduction::scan::ENTRIES,
    reduction::truth::ENTRIES,
    sampling::choose::ENTRIES,
    sampling::counts::ENTRIES,
    sampling::random::ENTRIES,
    sampling::random::FRESH,
    sorting::distinct::ENTRIES,
    sorting::picked::ENTRIES,
    sorting::tally::ENTRIES,
];

/// The entries of functions of elements: what they answer has at each place what they make of the operands there.
const POINTWISE: &[&[Entry]] = &[
    neural::units::activation::ENTRIES,
    neural::units::rectifiers::ENTRIES,
    neural::units::rectifiers::PAIRS,
    neural::units::smooth_units::ENTRIES,
    neural::units::smooth_units::PAIRS,
    pointwise::arithmetic::ENTRIES,
    pointwise::arithmetic::PAIRS,
    pointwise::blend::ENTRIES,
    pointwise::clamp::ENTRIES,
    pointwise::compare::ENTRIES,
    pointwise::compare::PAIRS,
    pointwise::division::ENTRIES,
    pointwise::division::PAIRS,
    pointwise::extremes::ENTRIES,
    pointwise::gamma::ENTRIES,
    pointwise::hyperbolic::PAIRS,
    pointwise::incomplete::ENTRIES,
    pointwise::logical::PAIRS,
    pointwise::mathematics::ENTRIES,
    pointwise::pairs::ENTRIES,
    pointwise::pairs::PAIRS,
    pointwise::power::PAIRS,
    pointwise::representation::ENTRIES,
    pointwise::representation::PAIRS,
    pointwise::rounding::ENTRIES,
    pointwise::rounding::PAIRS,
    pointwise::select::ENTRIES,
    pointwise::special::ENTRIES,
    pointwise::trigonometry::PAIRS,
];

/// Every operator as torch's dispatcher has it: the name of its node, or `-`, and its schema.
pub fn operators() -> impl Iterator<Item = (&'static str, Cow<'static, str>)> {
    let others = [OPERATORS, POINTWISE_OPERATORS].into_iter().flatten().copied();
    entries().flat_map(operators_of).chain(others.flat_map(named_apart))
}

/// The schemas of the operators that are functions of elements.
pub fn pointwise_operators() -> impl Iterator<Item = Cow<'static, str>> {
    let entries = elementwise().flat_map(|line| line.entries).chain(POINTWISE.iter().copied().flatten());
    let others = POINTWISE_OPERATORS.iter().copied();
    entries.flat_map(operators_of).chain(others.flat_map(named_apart)).map(|(_, schema)| schema)
}

/// The operators that an entry names.
fn operators_of(entry: &'static Entry) -> impl Iterator<Item = (&'static str, Cow<'static, str>)> {
    entry.operators.iter().map(|&(node, said)| (node, schema_of(entry, said)))
}

/// Operators without an entry, whose schemas are said in full.
fn named_apart(operators: &'static [Operator]) -> impl Iterator<Item = (&'static str, Cow<'static, str>)> {
    operators.iter().map(|&(node, schema)| (node, Cow::Borrowed(schema)))
}

/// The operators that no entry names.
const OPERATORS: &[&[Operator]] = &[
    creation::cast::OPERATORS,
    geometry::reshape::OPERATORS,
    indexing::along::writes::OPERATORS,
    indexing::gather::scatter::OPERATORS,
    indexing::indexed::OPERATORS,
    linalg::products::vectors::OPERATORS,
    neural::convolution::OPERATORS,
    neural::convolution_gradients::OPERATORS,
    neural::images::upsample::OPERATORS,
    neural::pooling::mean_pool::OPERATORS,
    neural::softmax::OPERATORS,
    reduction::extremes_along::OPERATORS,
    sorting::picked::OPERATORS,
];

/// Those of functions of elements.
const POINTWISE_OPERATORS: &[&[Operator]] = &[
    neural::units::rectifiers::OPERATORS,
    neural::units::smooth_units::OPERATORS,
    pointwise::arithmetic::OPERATORS,
    pointwise::compare::OPERATORS,
    pointwise::division::OPERATORS,
    pointwise::logical::OPERATORS,
    pointwise::pairs::OPERATORS,
    pointwise::power::OPERATORS,
    pointwise::representation::OPERATORS,
    pointwise::rounding::OPERATORS,
    pointwise::trigonometry::OPERATORS,
];
