//! Anomaly mode as Python asks for it and is told of failures: the tracebacks of the nodes that
//! failed are shown as warnings, in torch's words, and added to the exception.

use pyo3::prelude::*;
use pyo3::types::PyList;
use rushlight::Error;
use rushlight::graph::NodeRef;
use rushlight::graph::observe::anomaly;
use rushlight::graph::observe::anomaly::{Observer, register_observer};
use rushlight::origin::Stack;

use crate::error::{carry, raise};
use crate::interpreter::origin;

/// How many nodes back, derivative by derivative, a failure is followed.
const GENERATIONS: usize = 100;

/// Tells the engine who observes.
pub(crate) fn listen() {
    register_observer(Observer { stack: origin::stack, failed });
}

/// Tell whether anomaly mode is on.
#[pyfunction]
pub(crate) fn is_anomaly_enabled() -> bool {
    anomaly::is_enabled()
}

/// Tell whether anomaly mode, when it is on, looks for gradients that are not numbers.
#[pyfunction]
pub(crate) fn is_anomaly_check_nan_enabled() -> bool {
    anomaly::checks_nan()
}

fn failed(node: &NodeRef, error: Box<Error>) -> Box<Error> {
    let exception = raise(error);
    Python::attach(|py| {
        if let Err(broken) = tell(py, node, &exception) {
            // A warning that was made an exception must not hide the failure.
            broken.display(py);
        }
    });
    carry(exception)
}

fn tell(py: Python<'_>, node: &NodeRef, exception: &PyErr) -> PyResult<()> {
    let trace = node.trace();
    let own = lines(py, trace.map(|trace| &trace.stack))?;
    let generations = PyList::new(py, [(node.name(), own)])?;
    let mut next = trace.and_then(|trace| trace.parent.as_deref());
    for _ in 1..GENERATIONS {
        let Some(parent) = next else { break };
        generations.append((parent.name.as_str(), lines(py, parent.stack.as_ref())?))?;
        next = parent.parent.as_deref();
    }
    let arguments = (exception.value(py), generations);
    py.import("rushlight._messages.origins")?.call_method1("tell_of_anomaly", arguments)?;
    Ok(())
}

/// The lines of a traceback, outermost first; `None` if there is none.
pub(super) fn lines<'py>(py: Python<'py>, stack: Option<&Stack>) -> PyResult<Bound<'py, PyAny>> {
    let Some(stack) = stack else { return Ok(py.None().into_bound(py)) };
    let origins = stack.places().rev().map(|origin| origin::describe(py, origin));
    let origins = PyList::new(py, origins.collect::<PyResult<Vec<_>>>()?)?;
    py.import("rushlight._messages.origins")?.call_method1("format_stack", (origins,))
}
