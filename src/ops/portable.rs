//! Which operations can be written as plain data: Note [Plain data].

use super::{
    creation, elementwise, elementwise2, geometry, indexing, linalg, neural, pointwise, reduction, sampling,
    sorting,
};
use crate::dispatch::modes::plain::{Row, What};

/// How operations are written as plain data: the rows that follow from `elementwise!` lines, then those beside blocks.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    let ones = elementwise().flat_map(|line| &line.rows).flatten();
    let twos = elementwise2().flat_map(|line| &line.rows).flatten();
    ones.chain(twos).chain(ROWS.iter().copied().flatten())
}

/// The row of this operation, if it can be written.
pub fn row_of(what: &What) -> Option<&'static Row> {
    rows().find(|row| row.is_of(what))
}

const ROWS: &[&[Row]] = &[
    crate::dispatch::fixed::ROWS,
    creation::cast::ROWS,
    geometry::join::ROWS,
    geometry::join::diagonal::ROWS,
    geometry::part::ROWS,
    geometry::rearrange::ROWS,
    geometry::triangle::ROWS,
    indexing::along::ROWS,
    indexing::along::writes::ROWS,
    indexing::gather::ROWS,
    indexing::gather::scatter::ROWS,
    indexing::indexed::ROWS,
    linalg::add_products::ROWS,
    linalg::cholesky::ROWS,
    linalg::determinant::ROWS,
    linalg::exponential::ROWS,
    linalg::products::ROWS,
    linalg::solve::ROWS,
    linalg::triangular::ROWS,
    neural::convolution::ROWS,
    neural::convolution_gradients::ROWS,
    neural::convolution::CORRELATIONS,
    neural::descent::ROWS,
    neural::dropout::ROWS,
    neural::embedding::ROWS,
    neural::images::pad::ROWS,
    neural::images::pad::INNER_ROWS,
    neural::images::resample::ROWS,
    neural::loss::binary::ROWS,
    neural::loss::nll::ROWS,
    neural::loss::probability::ROWS,
    neural::loss::robust::ROWS,
    neural::loss::squared::ROWS,
    neural::normalise::ROWS,
    neural::normalise::GRADIENTS,
    neural::pooling::max_pool::ROWS,
    neural::recurrent::ROWS,
    neural::softmax::ROWS,
    neural::units::activation::ROWS,
    neural::units::gated::ROWS,
    neural::units::prelu::ROWS,
    neural::units::rectifiers::ROWS,
    neural::units::smooth_units::ROWS,
    pointwise::arithmetic::ROWS,
    pointwise::clamp::ROWS,
    pointwise::compare::ROWS,
    pointwise::division::ROWS,
    pointwise::hyperbolic::ROWS,
    pointwise::logical::ROWS,
    pointwise::power::ROWS,
    pointwise::select::ROWS,
    reduction::extremes_along::ROWS,
    reduction::extremes_over::ROWS,
    reduction::middle::ROWS,
    reduction::moments::ROWS,
    reduction::norm::ROWS,
    reduction::product::ROWS,
    reduction::reduce::ROWS,
    reduction::running::ROWS,
    reduction::scan::ROWS,
    reduction::truth::ROWS,
    sampling::distribution::ROWS,
    sorting::picked::ROWS,
];
