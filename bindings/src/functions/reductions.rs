//! Reductions: `sum` and its kin.
use crate::arguments::Arguments;
use crate::body::Body;
use crate::callable::{FUNCTION, Function, METHOD};
use crate::returns::ToPython;
use pyo3::prelude::*;
use rushlight::ops;

/// The entries.
pub(super) const TABLE: &[Function] = &[Function {
    name: "sum",
    signatures: &[
        "(Tensor input, *, dtype? dtype=None)",
        "(Tensor input, int[1]? dim, bool keepdim=False, *, dtype? dtype=None, Tensor out=None)",
    ],
    doc: "The sum of all elements, or of those along some dimensions.",
    body: Body::Any(sum),
    kind: FUNCTION | METHOD,
}];

fn sum(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let x = arguments.tensor(0)?;
    let result = if arguments.overload() == 0 {
        ops::reduce::sum(x, None, false, arguments.dtype(1))
    } else {
        ops::reduce::sum(x, arguments.dims(1)?.as_deref(), arguments.boolean(2), arguments.dtype(3))
    };
    result.answer(arguments.py())
}
