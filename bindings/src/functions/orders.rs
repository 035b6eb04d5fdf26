//! Elements by their order, running extremes, sums that pass over what is not a number.
use super::entries::{both, function, method};
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, types};
use crate::error::raise;
use crate::values::arguments::Arguments;
use crate::values::returns::{Named, ToPython};
use pyo3::prelude::*;
use rushlight::dtype::{DType, Scalar};
use rushlight::ops::composite::statistics::{Between, Quantile, quantile};
use rushlight::ops::creation::create;
use rushlight::ops::reduction::{extremes_over, middle, running};
use rushlight::ops::sorting::picked;
use rushlight::{Error, Result, Tensor};

const SORT: &[&str] = &[
    "(Tensor input, *, bool? stable, int dim=-1, bool descending=False, Tensor[] out=None) -> return_types.sort",
    "(Tensor input, int dim=-1, bool descending=False, *, Tensor[] out=None) -> return_types.sort",
];
const ARGSORT: &[&str] = &[
    "(Tensor input, *, bool stable, int dim=-1, bool descending=False, Tensor out=None)",
    "(Tensor input, int dim=-1, bool descending=False)",
];
const SUMS: &[&str] =
    &["(Tensor input, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None, Tensor out=None)"];
const QUANTILE: &[&str] = &[
    "(Tensor input, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\", Tensor out=None)",
    "(Tensor input, float q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\", Tensor out=None)",
];

macro_rules! picked {
    ($name:literal) => {
        &[concat!(
            "(Tensor input, int dim=-1, bool keepdim=False, *, Tensor[] out=None) -> return_types.",
            $name
        )]
    };
}

macro_rules! middle {
    ($name:literal) => {
        &[
            "(Tensor input)",
            concat!(
                "(Tensor input, int dim, bool keepdim=False, *, Tensor[] out=None) -> return_types.",
                $name
            ),
        ]
    };
}

/// The entries.
pub(super) const TABLE: &[Function] = &[
    both("sort", SORT, "The elements in order along a dimension, and where they were.", |a| {
        let (dim, descending) = order(a)?;
        let sort = if a.overload() == 0 { picked::stable_sort } else { picked::sort };
        named("sort", sort(a.tensor(0)?, dim, descending)).answer(a.py())
    }).written(&OutPolicy::PLAIN.typed(types::same).out_as(|_| ".values")),
    both("argsort", ARGSORT, "The indices that sort a dimension.", |a| {
        let (dim, descending) = order(a)?;
        picked::sort(&a.tensor(0)?.detach(), dim, descending).map(|(_, index)| index).answer(a.py())
    }),
    both(
        "msort",
        &["(Tensor input, *, Tensor out=None)"],
        "The elements in order along the first dimension.",
        |a| picked::sort(a.tensor(0)?, 0, false).map(|(values, _)| values).answer(a.py()),
    ).written(&OutPolicy::OF_FIRST.refused_as("sort").typed(types::same)),
    both(
        "topk",
        &[
            "(Tensor input, int k, int dim=-1, bool largest=True, bool sorted=True, *, Tensor[] out=None) -> return_types.topk",
        ],
        "The greatest or least elements along a dimension, and where they were.",
        |a| named("topk", picked::topk(a.tensor(0)?, a.int(1)?, a.int(2)?, a.boolean(3))).answer(a.py()),
    ).written(&OutPolicy::PLAIN.typed(types::same).out_as(|_| ".values")),
    both(
        "kthvalue",
        &[
            "(Tensor input, int k, int dim=-1, bool keepdim=False, *, Tensor[] out=None) -> return_types.kthvalue",
        ],
        "The k-th least element along a dimension, and where it was.",
        |a| {
            named("kthvalue", picked::kthvalue(a.tensor(0)?, a.int(1)?, a.int(2)?, a.boolean(3)))
                .answer(a.py())
        },
    ).written(&OutPolicy::PLAIN.typed(types::ranked).out_as(|_| ".values")),
    both("median", middle!("median"), "The element in the middle.", |a| middle(a, "median", false)).written(&OutPolicy::PLAIN.typed(types::same).out_as(|_| ".dim_values")),
    both("nanmedian", middle!("nanmedian"), "The number in the middle.", |a| middle(a, "nanmedian", true)).written(&OutPolicy::PLAIN.typed(types::same).out_as(|_| ".dim_values")),
    both("mode", picked!("mode"), "The most frequent element along a dimension.", |a| {
        named("mode", picked::mode(a.tensor(0)?, a.int(1)?, a.boolean(2))).answer(a.py())
    }).written(&OutPolicy::PLAIN.typed(types::frequent).out_as(|_| ".values")),
    both(
        "cummax",
        &["(Tensor input, int dim, *, Tensor[] out=None) -> return_types.cummax"],
        "The greatest elements so far.",
        |a| named("cummax", picked::cummax(a.tensor(0)?, a.int(1)?)).answer(a.py()),
    ).written(&OutPolicy::PLAIN.typed(types::running)),
    both(
        "cummin",
        &["(Tensor input, int dim, *, Tensor[] out=None) -> return_types.cummin"],
        "The least elements so far.",
        |a| named("cummin", picked::cummin(a.tensor(0)?, a.int(1)?)).answer(a.py()),
    ).written(&OutPolicy::PLAIN.typed(types::running)),
    both(
        "logcumsumexp",
        &["(Tensor input, int dim, *, Tensor out=None)"],
        "The logarithms of running sums of exponentials.",
        |a| running::logcumsumexp(a.tensor(0)?, a.int(1)?).answer(a.py()),
    ).written(&OutPolicy::OF_FIRST.typed(types::running)),
    both("nansum", SUMS, "The sum of what is a number.", |a| {
        running::nansum(a.tensor(0)?, a.dims(1)?.as_deref(), a.boolean(2), a.dtype(3)).answer(a.py())
    }),
    both("nanmean", SUMS, "The mean of what is a number.", |a| {
        running::nanmean(a.tensor(0)?, a.dims(1)?.as_deref(), a.boolean(2), a.dtype(3)).answer(a.py())
    }).written(&OutPolicy::PLAIN.refused_as("nansum")),
    both(
        "aminmax",
        &["(Tensor input, *, int? dim=None, bool keepdim=False, Tensor[] out=None) -> return_types.aminmax"],
        "The least and the greatest element.",
        |a| {
            let dims: Vec<i64> = a.optional_int(1)?.into_iter().collect();
            let x = a.tensor(0)?;
            if x.numel() == 0 && dims.is_empty() {
                return Err(raise(Error::AminmaxEmpty {}.into()));
            }
            named("aminmax", extremes_over::aminmax(x, dims.first().copied(), a.boolean(2))).answer(a.py())
        },
    ).written(&OutPolicy::PLAIN.typed(types::same)),
    both("trace", &["(Tensor input)"], "The sum of the diagonal.", |a| {
        running::trace(a.tensor(0)?).answer(a.py())
    }),
    both("quantile", QUANTILE, "The elements that a share of all lies below.", |a| shares(a, false)).written(&OutPolicy::PLAIN.copied().typed(types::quantile)),
    both("nanquantile", QUANTILE, "The elements that a share of all numbers lies below.", |a| {
        shares(a, true)
    }).written(&OutPolicy::PLAIN.copied().typed(types::quantile)),
    function(
        "take_along_dim",
        &["(Tensor input, Tensor indices, int? dim=None, *, Tensor out=None)"],
        "The elements of a dimension that indices name.",
        |a| picked::take_along_dim(a.tensor(0)?, a.tensor(1)?, a.optional_int(2)?).answer(a.py()),
    ).written(&OutPolicy::APART.refused_as("gather").typed(types::same)),
    method(
        "take_along_dim",
        &["(Tensor input, Tensor indices, int? dim=None)"],
        "The elements of a dimension that indices name.",
        |a| picked::take_along_dim(a.tensor(0)?, a.tensor(1)?, a.optional_int(2)?).answer(a.py()),
    ),
];

/// The dimension to sort and whether the greatest comes first: behind `stable`, or not.
fn order(a: &Arguments<'_, '_>) -> PyResult<(i64, bool)> {
    let first = if a.overload() == 0 { 2 } else { 1 };
    Ok((a.int(first)?, a.boolean(first + 1)))
}

fn shares(a: &Arguments<'_, '_>, numbers_only: bool) -> PyResult<Py<PyAny>> {
    let x = a.tensor(0)?;
    let q = match a.overload() {
        0 => a.tensor(1)?.clone(),
        _ => {
            let q = a.float(1)?;
            if !(0.0..=1.0).contains(&q) {
                return Err(raise(Error::QuantileShare { q }.into()));
            }
            let dtype = if x.dtype().is_float() { x.dtype() } else { DType::Float64 };
            create::full(&[], Scalar::Float(q), dtype).map_err(raise)?
        }
    };
    let between = Between::named(&a.text(4)?).map_err(raise)?;
    let how = Quantile { dim: a.optional_int(2)?, keepdim: a.boolean(3), between, numbers_only };
    quantile(x, &q, how).answer(a.py())
}

/// Values and indices as a tuple of that class.
fn named(class: &'static str, found: Result<(Tensor, Tensor)>) -> Result<Named<(Tensor, Tensor)>> {
    found.map(|elements| Named { class, elements })
}

fn middle(a: &Arguments<'_, '_>, class: &'static str, numbers_only: bool) -> PyResult<Py<PyAny>> {
    match a.overload() {
        0 => middle::median_of_all(a.tensor(0)?, numbers_only).answer(a.py()),
        _ => named(class, picked::median(a.tensor(0)?, a.int(1)?, a.boolean(2), numbers_only)).answer(a.py()),
    }
}
