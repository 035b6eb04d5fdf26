//! What holds for the process: the seed of random numbers, and anomaly mode.
use super::entries::function;
use crate::calls::table::{Function, Seen};
use crate::values::arguments::Arguments;
use crate::values::generator::{self, Generator};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use rushlight::graph::observe::anomaly;
use rushlight::ops::sampling::random;

/// The entries.
pub(super) const TABLE: &[Function] = &[
    function(
        "manual_seed",
        &["(object seed) -> Generator"],
        "Seeds the default random number generator, and returns it.",
        manual_seed,
    )
    .seen(Seen::ByNobody),
    function(
        "set_anomaly_enabled",
        &["(bool enabled, bool check_nan=True) -> None"],
        "Switches anomaly detection on or off, and whether it looks for gradients that are NaN.",
        |a| {
            anomaly::set_enabled(a.boolean(0), a.boolean(1));
            Ok(a.py().None())
        },
    ),
];

fn manual_seed(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let py = arguments.py();
    // As torch does, whatever `int` takes is taken, texts and fractions too.
    let seed = py.get_type::<PyInt>().call1((arguments.needed(0)?,))?;
    let seed = Generator::seed_from(&seed)
        .ok_or_else(|| PyValueError::new_err("Overflow when unpacking long long"))?;
    random::Generator::process_wide().manual_seed(seed);
    Ok(generator::default(py)?.into_any().unbind())
}
