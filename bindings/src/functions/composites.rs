//! Functions that are other operations in a row.
use super::entries::{both, function};
use crate::calls::callable::Function;
use crate::error::raise;
use crate::interpreter::warnings::Once;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use rushlight::ops::composite::series::{cross, isin};
use rushlight::ops::composite::statistics::{Covariance, Weights, corrcoef, cov};
use rushlight::ops::creation::create;
use rushlight::schema::{OutPolicy, Types};
use rushlight::{Error, Result};
use std::ffi::CStr;

const CROSS: &CStr = c"Using torch.cross without specifying the dim arg is deprecated.
Please either pass the dim explicitly or simply use torch.linalg.cross.
The default value of dim will change to agree with that of linalg.cross in a future release.";

const ELEMENTS: &[&str] = &[
    "(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor out=None)",
    "(Number element, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor out=None)",
    "(Tensor elements, Number test_element, *, bool assume_unique=False, bool invert=False, Tensor out=None)",
];

/// The entries.
pub(super) const TABLE: &[Function] = &[
    both(
        "cov",
        &["(Tensor input, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None)"],
        "The covariance matrix of variables, a row each.",
        |a| {
            let weights = Weights { frequencies: a.optional_tensor(2), importance: a.optional_tensor(3) };
            determined(a, cov(a.tensor(0)?, a.int(1)?, weights))
        },
    ),
    both(
        "corrcoef",
        &["(Tensor input)"],
        "The matrix of Pearson's correlation coefficients of variables, a row each.",
        |a| determined(a, corrcoef(a.tensor(0)?)),
    ),
    both(
        "cross",
        &["(Tensor input, Tensor other, int? dim=None, *, Tensor out=None)"],
        "The cross product of vectors of three elements along a dimension.",
        |a| {
            let (x, y) = (a.tensor(0)?, a.tensor(1)?);
            let first = || x.layout().shape().iter().position(|&size| size == 3).map(|dim| dim as i64);
            let given = a.optional_int(2)?;
            if given.is_none() {
                static TOLD: Once = Once::new();
                TOLD.warn(a.py(), CROSS)?;
            }
            match given.or_else(first) {
                Some(dim) => cross(x, y, dim).answer(a.py()),
                None => Err(raise(Error::CrossNone {}.into())),
            }
        },
    )
    .written(&OutPolicy::APART.refused_as("linalg_cross").typed(Types::Same)),
    function("isin", ELEMENTS, "Whether each element is among the test elements.", |a| {
        let made = |index: usize| match a.optional_tensor(index) {
            Some(x) => Ok(x.clone()),
            None => {
                let number = a.number(index)?;
                create::full(&[], number, rushlight::dispatch::operand::scalar_type(number)).map_err(raise)
            }
        };
        isin(&made(0)?, &made(1)?, a.boolean(3)).answer(a.py())
    })
    .written(&OutPolicy::PLAIN.unrecorded().typed(Types::Same).out_of_pairs()),
];

/// Covariances, with a warning if nothing determines them.
fn determined(a: &Arguments<'_, '_>, found: Result<Covariance>) -> PyResult<Py<PyAny>> {
    let found = found.map_err(raise)?;
    if !found.is_determined {
        let text = c"cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.";
        PyErr::warn(a.py(), &a.py().get_type::<PyUserWarning>(), text, 1)?;
    }
    found.values.answer(a.py())
}
