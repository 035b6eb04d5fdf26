//! Reductions, scans and softmax. What chooses or measures is in `extremes` and `spreads`.
use super::entries::{self, both, function, method};
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, types};
use crate::values::arguments::Arguments;
use crate::values::convert::Ints;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::dtype::DType;
use rushlight::ops::neural::softmax;
use rushlight::ops::reduction::{product, reduce, scan, truth};
use rushlight::{Result, Tensor};

const OVER: &[&str] = &[
    "(Tensor input, *, dtype? dtype=None)",
    "(Tensor input, int[1]? dim, bool keepdim=False, *, dtype? dtype=None, Tensor out=None)",
];
const MEAN: &[&str] = &["(Tensor input, *, dtype? dtype=None, Tensor out=None)", OVER[1]];
const TRUTH: &[&str] = &[
    "(Tensor input, *, Tensor out=None)",
    "(Tensor input, int[]? dim=None, bool keepdim=False, *, Tensor out=None)",
    "(Tensor input, int dim, bool keepdim=False, *, Tensor out=None)",
];
const SCAN: &[&str] = &["(Tensor input, int dim, *, dtype? dtype=None, Tensor out=None)"];
const SCAN_IN_PLACE: &[&str] = &["(Tensor input, int dim, *, dtype? dtype=None)"];
const SOFTMAX: &[&str] = &["(Tensor input, int dim, dtype? dtype=None, *, Tensor out=None)"];

/// How answers to questions about all elements are written.
const QUESTION: OutPolicy = OutPolicy::PLAIN
    .unrecorded()
    .typed(types::truth_of_all)
    .out_as(|given| if given.count < 2 { ".all_out" } else { ".out" });

/// The entries.
pub(super) const TABLE: &[Function] = &[
    both("sum", OVER, "The sum of all elements, or of those along some dimensions.", |a| {
        let (dims, keepdim, dtype) = over(a)?;
        reduce::sum(a.tensor(0)?, dims.as_deref(), keepdim, dtype).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.exact().typed(types::any).out_as(|_| ".IntList_out")),
    both("mean", MEAN, "The mean of all elements, or of those along some dimensions.", |a| {
        let (dims, keepdim, dtype) = over(a)?;
        reduce::mean(a.tensor(0)?, dims.as_deref(), keepdim, dtype).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.exact().out_as(|given| if given.count < 2 { ".dtype_out" } else { ".out" })),
    both(
        "prod",
        &[
            "(Tensor input, *, dtype? dtype=None)",
            "(Tensor input, int dim, bool keepdim=False, *, dtype? dtype=None, Tensor out=None)",
        ],
        "The product of all elements, or of those along a dimension.",
        |a| match a.overload() {
            0 => product::prod(a.tensor(0)?, None, false, a.dtype(1)).answer(a.py()),
            _ => product::prod(a.tensor(0)?, Some(a.int(1)?), a.boolean(2), a.dtype(3)).answer(a.py()),
        },
    )
    .written(&OutPolicy::PLAIN.exact().typed(types::any).out_as(|_| ".int_out")),
    both("any", TRUTH, "Whether any element is not zero.", |a| truths(a, truth::any)).written(&QUESTION),
    both("all", TRUTH, "Whether no element is zero.", |a| truths(a, truth::all)).written(&QUESTION),
    both(
        "count_nonzero",
        &["(Tensor input, int? dim=None)", "(Tensor input, int[] dim)"],
        "How many elements are not zero.",
        |a| {
            let dims = if a.given(1) { a.dims(1)? } else { None };
            truth::count_nonzero(a.tensor(0)?, dims.as_deref()).answer(a.py())
        },
    ),
    both("cumsum", SCAN, "The sums of the elements up to each along a dimension.", |a| {
        scan::cumsum(a.tensor(0)?, a.int(1)?, a.dtype(2)).answer(a.py())
    })
    .written(&OutPolicy::OF_FIRST.exact().typed(types::any)),
    method("cumsum_", SCAN_IN_PLACE, "`cumsum` in place.", |a| scan_in_place(a, scan::cumsum_)),
    both("cumprod", SCAN, "The products of the elements up to each along a dimension.", |a| {
        scan::cumprod(a.tensor(0)?, a.int(1)?, a.dtype(2)).answer(a.py())
    })
    .written(&OutPolicy::OF_FIRST.exact().typed(types::any)),
    method("cumprod_", SCAN_IN_PLACE, "`cumprod` in place.", |a| scan_in_place(a, scan::cumprod_)),
    both("softmax", SOFTMAX, "Exponentials that add up to one along a dimension.", |a| {
        softmax::softmax(a.tensor(0)?, a.int(1)?, a.dtype(2)).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.unknown("softmax").typed(types::same).out_as(|_| ".int_out")),
    function(
        "_safe_softmax",
        SOFTMAX,
        "`softmax`, which is zero where all elements are infinitely small.",
        |a| softmax::safe_softmax(a.tensor(0)?, a.int(1)?, a.dtype(2)).answer(a.py()),
    ),
    both("log_softmax", SOFTMAX, "The logarithm of `softmax`.", |a| {
        softmax::log_softmax(a.tensor(0)?, a.int(1)?, a.dtype(2)).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.unknown("log_softmax").typed(types::same).out_as(|_| ".int_out")),
    both(
        "logsumexp",
        &["(Tensor input, int[1] dim, bool keepdim=False, *, Tensor out=None)"],
        "The logarithm of the sum of exponentials along some dimensions.",
        |a| softmax::logsumexp(a.tensor(0)?, &a.ints(1)?, a.boolean(2)).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.typed(types::logsumexp)),
];

/// Dimensions, `keepdim` and the element type of a sum or mean. `None` as dimensions names all.
fn over(arguments: &Arguments<'_, '_>) -> PyResult<(Option<Ints>, bool, Option<DType>)> {
    if arguments.overload() == 0 {
        return Ok((None, false, arguments.dtype(1)));
    }
    Ok((Some(arguments.dims(1)?.unwrap_or_default()), arguments.boolean(2), arguments.dtype(3)))
}

fn truths(
    arguments: &Arguments<'_, '_>,
    operation: fn(&Tensor, Option<&[i64]>, bool) -> Result<Tensor>,
) -> PyResult<Py<PyAny>> {
    let (x, py) = (arguments.tensor(0)?, arguments.py());
    match arguments.overload() {
        0 => operation(x, None, false).answer(py),
        1 => operation(x, arguments.dims(1)?.as_deref(), arguments.boolean(2)).answer(py),
        _ => operation(x, Some(&[arguments.int(1)?]), arguments.boolean(2)).answer(py),
    }
}

fn scan_in_place(
    arguments: &Arguments<'_, '_>,
    operation: fn(&Tensor, i64, Option<DType>) -> Result<()>,
) -> PyResult<Py<PyAny>> {
    entries::in_place(arguments, operation(arguments.tensor(0)?, arguments.int(1)?, arguments.dtype(2)))
}
