//! The entries of elements that are combined where an index says.

use super::*;
use crate::ops::indexing::along::slices;
use crate::ops::indexing::gather::scatter::check_scattered;
use crate::schema::{
    Arguments, Entry, IntoReply, OutPolicy, Types, UnbatchedTarget, both, method, receiver, warn_once,
};

const COMBINED_ALONG: &[&str] =
    &["(Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True, \
     Tensor out=None)"];

const SCATTER_REDUCE: &[&str] =
    &["(Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True)"];

const COMBINED: &[&str] =
    &["(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True, \
     Tensor out=None)"];

const INDEX_REDUCE: &[&str] =
    &["(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "scatter_reduce",
        COMBINED_ALONG,
        "A copy of `input` with the elements of `src` reduced into the given indices along a dimension.",
        |a| {
            let (x, dim, index, source) = slices(a)?;
            scatter_reduce(x, dim, index, source, fold(a)?, a.boolean(5)).reply()
        },
    )
    .written(&OutPolicy::OF_FIRST.typed(Types::Same))
    .operators(&[("=", "scatter_reduce.two")]),
    method(
        "scatter_reduce_",
        SCATTER_REDUCE,
        "Reduces the elements of `src` into the given indices along a dimension, in place.",
        |a| {
            let (x, dim, index, source) = slices(a)?;
            receiver(a, scatter_reduce_(x, dim, index, source, fold(a)?, a.boolean(5)))
        },
    )
    .written(&OutPolicy::PLAIN.unbatched_target(|_| UnbatchedTarget::Rule("scatter_reduce_"))),
    both(
        "index_reduce",
        COMBINED,
        "A copy of `input` with the slices of `source` reduced into the given indices of a dimension.",
        |a| {
            let (x, dim, index, source) = slices(a)?;
            warn_once(Error::IndexReduceBeta {})?;
            index_reduce(x, dim, index, source, slice_fold(a)?, a.boolean(5)).reply()
        },
    )
    .written(&OutPolicy::OF_FIRST.typed(Types::Same)),
    method(
        "index_reduce_",
        INDEX_REDUCE,
        "Reduces the slices of `source` into the given indices of a dimension, in place.",
        |a| {
            let (x, dim, index, source) = slices(a)?;
            warn_once(Error::IndexReduceBeta {})?;
            receiver(a, index_reduce_(x, dim, index, source, slice_fold(a)?, a.boolean(5)))
        },
    ),
];

/// How a scatter combines elements.
fn fold(arguments: &dyn Arguments) -> Result<Fold> {
    let name = arguments.text(4)?;
    if let Some(fold) = Fold::named(&name) {
        return Ok(fold);
    }
    check_scattered(arguments)?;
    Err(Error::ScatterFold { name }.into())
}

/// How slices are combined.
fn slice_fold(arguments: &dyn Arguments) -> Result<Fold> {
    let name = arguments.text(4)?;
    Fold::named(&name).filter(|&fold| fold != Fold::Sum).ok_or_else(|| Error::IndexFold { name }.into())
}
