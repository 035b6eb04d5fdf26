//! Profiles as `rushlight.autograd.profiler` begins and ends them: the events as plain data, which it names and
//! puts together.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple, PyType};
use rushlight::Tensor;
use rushlight::graph::observe::profile;
use rushlight::graph::observe::profile::{Details, Event, Extent, Label, Running, Shapes};
use rushlight::origin::Stack;

use crate::interpreter::origin;
use crate::tensor::object::as_tensor;
use crate::values::arguments::Arguments;

/// Begin to take note of what runs on this thread; whoever did before has lost it.
#[pyfunction]
#[pyo3(name = "_start_profile")]
pub(crate) fn start_profile(shapes: bool, stacks: bool) {
    profile::start(Details { shapes, stacks });
}

/// Tell whether notes are taken on this thread.
#[pyfunction]
#[pyo3(name = "_profiler_enabled")]
pub(crate) fn profiler_enabled() -> bool {
    profile::is_active()
}

/// End it; return the events in the order in which they began, and how many nanoseconds it lasted.
#[pyfunction]
#[pyo3(name = "_stop_profile")]
pub(crate) fn stop_profile(py: Python<'_>) -> PyResult<(Bound<'_, PyList>, u64)> {
    let (events, lasted) = profile::stop().unwrap_or_default();
    let told = events.iter().map(|event| tell(py, event)).collect::<PyResult<Vec<_>>>()?;
    Ok((PyList::new(py, told)?, lasted))
}

fn tell<'py>(py: Python<'py>, event: &Event) -> PyResult<Bound<'py, PyTuple>> {
    let (kind, name) = match &event.label {
        Label::Operation(node, false) => ("operation", *node),
        Label::Operation(node, true) => ("operation_", *node),
        Label::Function(name) => ("function", *name),
        Label::HostFunction(name) => ("host", name.as_str()),
        Label::Node(name, Extent::Whole) => ("node", name.as_str()),
        Label::Node(name, Extent::Rule) => ("rule", name.as_str()),
        Label::Passage(name) => ("passage", name.as_str()),
    };
    let shapes: Vec<Option<&[usize]>> = event.shapes.iter().map(Option::as_deref).collect();
    let places = event.stack.iter().flat_map(Stack::places);
    let stack = places.map(|place| origin::describe(py, place)).collect::<PyResult<Vec<_>>>()?;
    let times = (event.begin, event.end, event.thread, event.position);
    (kind, name, times, shapes, event.bytes, stack).into_pyobject(py)
}

/// A passage of the program that is being profiled.
#[pyclass(name = "_Passage", module = "rushlight._rushlight", frozen)]
pub(crate) struct Passage(Mutex<Option<Running>>);

#[pymethods]
impl Passage {
    /// It begins.
    #[new]
    fn new(name: String) -> Passage {
        Passage(Mutex::new(profile::passage(name)))
    }

    /// It ends.
    fn end(&self) {
        drop(self.0.lock().ok().and_then(|mut running| running.take()));
    }
}

/// A function of Python's begins to run, given these tensors.
#[cold]
pub(crate) fn host_function(class: &Bound<'_, PyType>, inputs: &[Tensor]) -> PyResult<Option<Running>> {
    let name = class.name()?.to_string();
    let shapes = || inputs.iter().map(|input| Some(profile::shape(input))).collect();
    Ok(profile::begin(Label::HostFunction(name), shapes))
}

/// A native function begins to run.
pub(crate) fn called(arguments: &Arguments<'_, '_>) -> Option<Running> {
    profile::begin(Label::Function(arguments.name), || shapes(arguments))
}

/// The shapes of what a function was given, in the order in which its parameters are written.
fn shapes(arguments: &Arguments<'_, '_>) -> Shapes {
    let signature = arguments.signature;
    let slots = signature.receiver.into_iter().chain(signature.parameters.iter().map(|one| one.slot));
    let out = signature.out;
    slots
        .filter(|slot| Some(*slot) != out)
        .map(|slot| arguments.slots[slot].and_then(as_tensor).map(profile::shape))
        .collect()
}
