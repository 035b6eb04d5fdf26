//! Reductions, scans and softmax. What chooses or measures is in `extremes` and `spreads`.
use super::factory::entry;
use crate::arguments::{Arguments, Ints};
use crate::callable::{FUNCTION, Function, METHOD};
use crate::error::raise;
use crate::returns::ToPython;
use pyo3::prelude::*;
use rushlight::dtype::DType;
use rushlight::ops::{product, reduce, scan, softmax, truth};
use rushlight::{Result, Tensor};

const OVER: &[&str] = &[
    "(Tensor input, *, dtype? dtype=None)",
    "(Tensor input, int[1]? dim, bool keepdim=False, *, dtype? dtype=None, Tensor out=None)",
];
const TRUTH: &[&str] = &[
    "(Tensor input, *, Tensor out=None)",
    "(Tensor input, int[]? dim=None, bool keepdim=False, *, Tensor out=None)",
    "(Tensor input, int dim, bool keepdim=False, *, Tensor out=None)",
];
const SCAN: &[&str] = &["(Tensor input, int dim, *, dtype? dtype=None, Tensor out=None)"];
const SCAN_IN_PLACE: &[&str] = &["(Tensor input, int dim, *, dtype? dtype=None)"];
const SOFTMAX: &[&str] = &["(Tensor input, int dim, dtype? dtype=None, *, Tensor out=None)"];

/// The entries.
pub(super) const TABLE: &[Function] = &[
    entry(
        "sum",
        FUNCTION | METHOD,
        OVER,
        "The sum of all elements, or of those along some dimensions.",
        |a| {
            let (dims, keepdim, dtype) = over(a)?;
            reduce::sum(a.tensor(0)?, dims.as_deref(), keepdim, dtype).answer(a.py())
        },
    ),
    entry(
        "mean",
        FUNCTION | METHOD,
        OVER,
        "The mean of all elements, or of those along some dimensions.",
        |a| {
            let (dims, keepdim, dtype) = over(a)?;
            reduce::mean(a.tensor(0)?, dims.as_deref(), keepdim, dtype).answer(a.py())
        },
    ),
    entry(
        "prod",
        FUNCTION | METHOD,
        &[
            "(Tensor input, *, dtype? dtype=None)",
            "(Tensor input, int dim, bool keepdim=False, *, dtype? dtype=None, Tensor out=None)",
        ],
        "The product of all elements, or of those along a dimension.",
        |a| match a.overload() {
            0 => product::prod(a.tensor(0)?, None, false, a.dtype(1)).answer(a.py()),
            _ => product::prod(a.tensor(0)?, Some(a.int(1)?), a.boolean(2), a.dtype(3)).answer(a.py()),
        },
    ),
    entry("any", FUNCTION | METHOD, TRUTH, "Whether any element is not zero.", |a| truths(a, truth::any)),
    entry("all", FUNCTION | METHOD, TRUTH, "Whether no element is zero.", |a| truths(a, truth::all)),
    entry(
        "count_nonzero",
        FUNCTION | METHOD,
        &["(Tensor input, int? dim=None)", "(Tensor input, int[] dim)"],
        "How many elements are not zero.",
        |a| {
            let dims = if a.given(1) { a.dims(1)? } else { None };
            truth::count_nonzero(a.tensor(0)?, dims.as_deref()).answer(a.py())
        },
    ),
    entry("cumsum", FUNCTION | METHOD, SCAN, "The sums of the elements up to each along a dimension.", |a| {
        scan::cumsum(a.tensor(0)?, a.int(1)?, a.dtype(2)).answer(a.py())
    }),
    entry("cumsum_", METHOD, SCAN_IN_PLACE, "`cumsum` in place.", |a| in_place(a, scan::cumsum_)),
    entry(
        "cumprod",
        FUNCTION | METHOD,
        SCAN,
        "The products of the elements up to each along a dimension.",
        |a| scan::cumprod(a.tensor(0)?, a.int(1)?, a.dtype(2)).answer(a.py()),
    ),
    entry("cumprod_", METHOD, SCAN_IN_PLACE, "`cumprod` in place.", |a| in_place(a, scan::cumprod_)),
    entry("softmax", FUNCTION | METHOD, SOFTMAX, "Exponentials that add up to one along a dimension.", |a| {
        softmax::softmax(a.tensor(0)?, a.int(1)?, a.dtype(2)).answer(a.py())
    }),
    entry("log_softmax", FUNCTION | METHOD, SOFTMAX, "The logarithm of `softmax`.", |a| {
        softmax::log_softmax(a.tensor(0)?, a.int(1)?, a.dtype(2)).answer(a.py())
    }),
    entry(
        "logsumexp",
        FUNCTION | METHOD,
        &["(Tensor input, int[1] dim, bool keepdim=False, *, Tensor out=None)"],
        "The logarithm of the sum of exponentials along some dimensions.",
        |a| softmax::logsumexp(a.tensor(0)?, &a.ints(1)?, a.boolean(2)).answer(a.py()),
    ),
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

fn in_place(
    arguments: &Arguments<'_, '_>,
    operation: fn(&Tensor, i64, Option<DType>) -> Result<()>,
) -> PyResult<Py<PyAny>> {
    operation(arguments.tensor(0)?, arguments.int(1)?, arguments.dtype(2)).map_err(raise)?;
    arguments.object(0).answer(arguments.py())
}
