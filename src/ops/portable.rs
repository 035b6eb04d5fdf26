//! Which operations can be written as plain data: Note [Plain data].

use super::{
    creation, elementwise, elementwise2, geometry, indexing, linalg, neural, pointwise, reduction, sampling,
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
    creation::cast::ROWS,
    geometry::join::ROWS,
    geometry::join::diagonal::ROWS,
    geometry::part::ROWS,
    indexing::along::ROWS,
    indexing::along::writes::ROWS,
    indexing::gather::ROWS,
    indexing::gather::scatter::ROWS,
    linalg::add_products::ROWS,
    linalg::products::ROWS,
    neural::convolution::ROWS,
    neural::convolution_gradients::ROWS,
    neural::convolution::CORRELATIONS,
    neural::descent::ROWS,
    neural::dropout::ROWS,
    neural::embedding::ROWS,
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
    neural::units::rectifiers::ROWS,
    neural::units::smooth_units::ROWS,
    pointwise::arithmetic::ROWS,
    pointwise::hyperbolic::ROWS,
    pointwise::power::ROWS,
    reduction::reduce::ROWS,
    sampling::distribution::ROWS,
];
