//! Elements named by indices and masks: `gather`, `scatter`, `index_*`, `masked_*`, `take`.
use super::entries::{both, in_place, method};
use crate::calls::callable::Function;
use crate::calls::writes::warn_repeated;
use crate::error::raise;
use crate::interpreter::warnings::Once;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::Tensor;
use rushlight::ops::indexing::gather::{Combination, scatter_combined, scatter_combined_};
use rushlight::ops::indexing::scatter_reduce::{
    Fold, index_reduce, index_reduce_, scatter_reduce, scatter_reduce_,
};
use rushlight::ops::indexing::{along, gather, indexed};
use rushlight::schema::{OutPolicy, Types, UnbatchedTarget};

const COMBINED: &[&str] =
    &["(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True, \
     Tensor out=None)"];

/// The entries.
pub(super) const TABLE: &[Function] = &[
    both("scatter", SCATTERED, "A copy of `input` with `src` or a value at the given indices along a dimension.", |a| {
        let (x, dim, index, values) = (a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.operand(3)?);
        match combination(a)? {
            None => gather::scatter(x, dim, index, values).answer(a.py()),
            Some(combine) => scatter_combined(x, dim, index, values, combine).answer(a.py()),
        }
    })
    .written(&OutPolicy::ALIGNED.typed(Types::Same))
    .operators(&[("ScatterBackward0", "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor"), ("ScatterBackward1", "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor")]),
    method("scatter_", SCATTER, "Writes `src` or a value at the given indices along a dimension, in place.", |a| {
        let (x, dim, index, values) = (a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.operand(3)?);
        match combination(a)? {
            None => in_place(a, gather::scatter_(x, dim, index, values)),
            Some(combine) => in_place(a, scatter_combined_(x, dim, index, values, combine)),
        }
    })
    .written(&OutPolicy::PLAIN.in_place_as(|given| given.named(2, ".src", ".value"))),
    method("index_fill_", FILL, "Fills the slices at the given indices of a dimension with a value, in place.", |a| {
        warn_repeated(a.py(), a.tensor(0)?, "index_fill_", "tensor[mask] = scalar")?;
        in_place(a, along::index_fill_(a.tensor(0)?, a.int(1)?, a.tensor(2)?, a.operand(3)?))
    })
    .written(
        &OutPolicy::PLAIN
            .in_place_as(|given| given.named(2, ".int_Tensor", ".int_Scalar"))
            .unbatched_target(|_| UnbatchedTarget::Rule("index_fill_")),
    ),
    both("index_put_", PUT, "Writes `values` at the given indices, in place.", |a| {
        let indices = a.tensors(1)?;
        let indices: Vec<&Tensor> = indices.iter().collect();
        warn_repeated(a.py(), a.tensor(0)?, "index_put_", "tensor[indices] = tensor")?;
        in_place(a, indexed::index_put_(a.tensor(0)?, &indices, a.tensor(2)?, a.boolean(3)))
    })
    .written(&OutPolicy::PLAIN.unbatched_target(|_| UnbatchedTarget::Rule("index_put_"))),
    both("scatter_reduce", COMBINED_ALONG, "A copy of `input` with the elements of `src` reduced into the given indices along a dimension.", |a| {
        let (x, dim, index, source) = slices(a)?;
        scatter_reduce(x, dim, index, source, fold(a)?, a.boolean(5)).answer(a.py())
    })
    .written(&OutPolicy::OF_FIRST.typed(Types::Same))
    .operators(&[("=", "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor")]),
    method("scatter_reduce_", SCATTER_REDUCE, "Reduces the elements of `src` into the given indices along a dimension, in place.", |a| {
        let (x, dim, index, source) = slices(a)?;
        in_place(a, scatter_reduce_(x, dim, index, source, fold(a)?, a.boolean(5)))
    })
    .written(&OutPolicy::PLAIN.unbatched_target(|_| UnbatchedTarget::Rule("scatter_reduce_"))),
    both("index_reduce", COMBINED, "A copy of `input` with the slices of `source` reduced into the given indices of a dimension.", |a| {
        let (x, dim, index, source) = slices(a)?;
        warn_of_beta(a.py())?;
        index_reduce(x, dim, index, source, slice_fold(a)?, a.boolean(5)).answer(a.py())
    })
    .written(&OutPolicy::OF_FIRST.typed(Types::Same)),
    method("index_reduce_", INDEX_REDUCE, "Reduces the slices of `source` into the given indices of a dimension, in place.", |a| {
        let (x, dim, index, source) = slices(a)?;
        warn_of_beta(a.py())?;
        in_place(a, index_reduce_(x, dim, index, source, slice_fold(a)?, a.boolean(5)))
    }),
];

/// How slices are combined.
fn slice_fold(arguments: &Arguments<'_, '_>) -> PyResult<Fold> {
    let name = arguments.text(4)?;
    Fold::named(&name).filter(|&fold| fold != Fold::Sum).ok_or_else(|| {
        let wanted = "index_reduce(): Expected reduce to be one of prod, mean, amax or amin";
        PyRuntimeError::new_err(format!("{wanted} but got {name}."))
    })
}

type Slices<'a> = (&'a Tensor, i64, &'a Tensor, &'a Tensor);

/// The tensor, the dimension, the index and the slices of `index_add` and `index_copy`.
fn slices<'a>(arguments: &Arguments<'a, '_>) -> PyResult<Slices<'a>> {
    Ok((arguments.tensor(0)?, arguments.int(1)?, arguments.tensor(2)?, arguments.tensor(3)?))
}

const SCATTER: &[&str] = &[
    "(Tensor input, int dim, Tensor index, Tensor src)",
    "(Tensor input, int dim, Tensor index, Tensor src, *, str reduce)",
    "(Tensor input, int dim, Tensor index, Number value)",
    "(Tensor input, int dim, Tensor index, Number value, *, str reduce)",
];

const SCATTERED: &[&str] = &[
    "(Tensor input, int dim, Tensor index, Tensor src, *, Tensor out=None)",
    "(Tensor input, int dim, Tensor index, Tensor src, *, str reduce, Tensor out=None)",
    "(Tensor input, int dim, Tensor index, Number value, *, Tensor out=None)",
    "(Tensor input, int dim, Tensor index, Number value, *, str reduce, Tensor out=None)",
];

const FILL: &[&str] = &[
    "(Tensor input, int dim, Tensor index, Tensor value)",
    "(Tensor input, int dim, Tensor index, Number value)",
];

const PUT: &[&str] = &["(Tensor input, Tensor[] indices, Tensor values, bool accumulate=False)"];

const SCATTER_REDUCE: &[&str] =
    &["(Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True)"];

const INDEX_REDUCE: &[&str] =
    &["(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True)"];

const COMBINED_ALONG: &[&str] =
    &["(Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True, \
     Tensor out=None)"];

/// What a scatter makes of values and what they meet, if it is to combine them.
fn combination(arguments: &Arguments<'_, '_>) -> PyResult<Option<Combination>> {
    let overload = arguments.overload();
    if matches!(overload, 0 | 2) {
        return Ok(None);
    }
    if overload == 1 {
        let text = c"The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch release. Use torch.scatter_reduce instead for more reduction options.";
        static TOLD: Once = Once::new();
        TOLD.warn(arguments.py(), text)?;
    }
    match arguments.text(4)?.as_str() {
        "add" => Ok(Some(Combination::Sum)),
        "multiply" => Ok(Some(Combination::Product)),
        _ => {
            check_scattered(arguments)?;
            Err(PyRuntimeError::new_err("reduce argument must be either add or multiply."))
        }
    }
}

fn warn_of_beta(py: Python<'_>) -> PyResult<()> {
    static TOLD: Once = Once::new();
    TOLD.warn(py, c"index_reduce() is in beta and the API may change at any time.")
}

/// Refuses what a scatter refuses before it looks at how elements are combined.
#[cold]
fn check_scattered(arguments: &Arguments<'_, '_>) -> PyResult<()> {
    let (x, dim, index) = (arguments.tensor(0)?.detach(), arguments.int(1)?, arguments.tensor(2)?);
    gather::scatter(&x, dim, index, arguments.operand(3)?).map_err(raise).map(drop)
}

/// How a scatter combines elements.
fn fold(arguments: &Arguments<'_, '_>) -> PyResult<Fold> {
    let name = arguments.text(4)?;
    if let Some(fold) = Fold::named(&name) {
        return Ok(fold);
    }
    check_scattered(arguments)?;
    let wanted = "reduce argument must be either sum, prod, mean, amax or amin";
    Err(PyRuntimeError::new_err(format!("{wanted}, got {name}")))
}
