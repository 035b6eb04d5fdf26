//! The switch of anomaly mode.
use super::entries::function;
use crate::calls::callable::Function;
use crate::values::arguments::Arguments;
use pyo3::prelude::*;
use rushlight::graph::observe::anomaly;

/// The entries.
pub(super) const TABLE: &[Function] = &[function(
    "set_anomaly_enabled",
    &["(bool enabled, bool check_nan=True) -> None"],
    "Switches anomaly detection on or off, and whether it looks for gradients that are NaN.",
    set_enabled,
)];

fn set_enabled(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    anomaly::set_enabled(arguments.boolean(0), arguments.boolean(1));
    Ok(arguments.py().None())
}
