//! The way into the engine's runs: `_run_backward`, which the shim's `backward` and `grad` call.

#![allow(unsafe_code)]

use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rushlight::engine::{self, Host, Options, Wanted};
use rushlight::graph::host::register_host;
use rushlight::graph::{Edge, mode, transform_level, undefined};
use rushlight::origin::Origin;
use rushlight::{Error, Result, Tensor};

use crate::autograd::node::{node_of, wrap_node};
use crate::error::{carry, panicked, raise};
use crate::interpreter::callbacks::{self, Run};
use crate::interpreter::origin::describe;
use crate::interpreter::unlocked;
use crate::interpreter::warnings;
use crate::overrides::has_torch_function;
use crate::tensor::object::{TensorBase, as_tensor, wrap};
use crate::transforms::transform::is_inside_transform;
use crate::values::returns::ToPython;

/// The interpreter as the engine sees it: work that takes a while runs without its lock.
struct Interpreter;

impl Host for Interpreter {
    fn is_locked(&self) -> bool {
        // SAFETY: may be asked from any thread, at any time.
        unsafe { ffi::PyGILState_Check() != 0 }
    }

    fn unlocked(&self, body: &mut (dyn FnMut() + Send)) {
        Python::attach(|py| unlocked::run(py, body));
    }

    fn poll(&self) -> Result<()> {
        Python::attach(|py| py.check_signals()).map_err(carry)
    }

    fn notice(&self, what: Error) -> Result<()> {
        Python::attach(|py| warn(py, what)).map_err(carry)
    }

    fn notice_once(&self, what: Error) -> Result<()> {
        if warnings::is_due(what.kind()) { self.notice(what) } else { Ok(()) }
    }
}

/// Shows as a warning what the engine says that is no failure.
fn warn(py: Python<'_>, what: Error) -> PyResult<()> {
    let warning = raise(what.into());
    let text = CString::new(warning.value(py).to_string())?;
    PyErr::warn(py, warning.get_type(py).as_any(), &text, 1)
}

/// A switch as torch's engine takes one: a truth value, or any other small integer.
pub(crate) struct Switch(bool);

impl<'a, 'py> FromPyObject<'a, 'py> for Switch {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Switch> {
        Ok(Switch(object.extract::<u8>()? != 0))
    }
}

/// Lets long operations give the interpreter's lock back.
pub(crate) fn listen() {
    register_host(&Interpreter);
    #[cfg(not(Py_GIL_DISABLED))]
    // SAFETY: threads of Python come here with the interpreter's lock, which is given back by `unlocked::run` only.
    // Threads of the engine come while such a run lasts, or a loop that the thread with the lock waits for.
    unsafe {
        rushlight::sharing::rely_on_lock();
    }
}

/// Run the graph backward from `roots`; what torch's engine offers under the same name.
///
/// Accumulates into leaves (those among `inputs`, if any are given), or returns the gradients of
/// `inputs`. A gradient of `None` stands for one, where the root has a single element. `transform` is where
/// the transform began whose derivatives these are, if it is not the one that goes on.
#[pyfunction]
#[pyo3(
    name = "_run_backward",
    signature = (
        roots, gradients, retain_graph, create_graph, inputs, allow_unreachable, accumulate_grad, *,
        transform = None
    )
)]
#[expect(clippy::too_many_arguments, reason = "the signature is torch's")]
pub(crate) fn run_backward<'py>(
    roots: &Bound<'py, PyTuple>,
    gradients: &Bound<'py, PyTuple>,
    retain_graph: Switch,
    create_graph: Switch,
    inputs: &Bound<'py, PyTuple>,
    allow_unreachable: Switch,
    accumulate_grad: bool,
    transform: Option<u64>,
) -> PyResult<Bound<'py, PyTuple>> {
    if accumulate_grad {
        check_outside_of_transforms()?;
    }
    if roots.len() != gradients.len() {
        let (roots, gradients) = (roots.len(), gradients.len());
        return Err(raise(Error::RootAndGradientCounts { roots, gradients }.into()));
    }
    let mut starts = Vec::with_capacity(roots.len());
    for (index, (root, gradient)) in roots.iter_borrowed().zip(gradients.iter_borrowed()).enumerate() {
        starts.push(start(&root, &gradient, index)?);
    }
    if let Some(since) = transform {
        transform_level::next_run_is_of(since);
    }
    let options = Options { retain_graph: retain_graph.0, create_graph: create_graph.0 };
    run_to(&starts, inputs, options, allow_unreachable.0, accumulate_grad)
}

/// The gradients of an output with respect to one input or some, `create_graph` and all: the common call of `grad`,
/// without tuples of what is not given. `None`: nothing was done, since somebody is to be shown the call first, or it
/// has to be looked at more closely.
#[pyfunction]
#[pyo3(name = "_gradients")]
pub(crate) fn gradients<'py>(
    output: &Bound<'py, PyAny>,
    inputs: &Bound<'py, PyAny>,
    retain_graph: Option<Switch>,
    create_graph: Switch,
    allow_unused: Option<Switch>,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let Some(root) = as_tensor(output) else { return Ok(None) };
    let inputs = match (as_tensor(inputs), inputs.cast_exact::<PyTuple>(), inputs.cast_exact::<PyList>()) {
        (Some(_), ..) => PyTuple::new(inputs.py(), [inputs])?,
        (_, Ok(inputs), _) => inputs.clone(),
        (.., Ok(inputs)) => inputs.to_tuple(),
        _ => return Ok(None),
    };
    let is_common = !inputs.is_empty()
        && inputs.iter_borrowed().all(|input| as_tensor(&input).is_some())
        && root.transforms() == 0
        && !is_inside_transform();
    if !is_common || has_torch_function(output)? || has_torch_function(&inputs)? {
        return Ok(None);
    }
    let start = engine::root(root, None, 0).map_err(raise)?;
    let create_graph = create_graph.0;
    let options = Options { retain_graph: retain_graph.map_or(create_graph, |it| it.0), create_graph };
    run_to(&[start], &inputs, options, allow_unused.is_some_and(|it| it.0), false).map(Some)
}

/// Runs the engine to inputs, and hands back what reached them.
fn run_to<'py>(
    starts: &[(Edge, Tensor)],
    inputs: &Bound<'py, PyTuple>,
    options: Options,
    allow_unreachable: bool,
    accumulate_grad: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = inputs.py();
    let wanted = wanted(inputs, accumulate_grad)?;
    let run = Run::begin();
    let outcome = run_engine(starts, &wanted, options)
        .and_then(|found| run.finish(py, options.create_graph).map(|()| found));
    if accumulate_grad && options.create_graph {
        warn_of_cycle(py, outcome.is_ok())?;
    }
    let found = outcome?;
    if !allow_unreachable && let Some(index) = found.iter().position(Option::is_none) {
        let unused = raise(Error::Unused { index }.into());
        let input = inputs.get_item(index)?;
        let origin = as_tensor(&input).and_then(|input| input.edge().ok().flatten());
        let origin = describe(py, origin.map_or(Origin::UNKNOWN, |edge| edge.node.origin()))?;
        py.import("rushlight._messages.origins")?
            .call_method1("tell_of_unused", (unused.value(py), index, input, origin))?;
        return Err(unused);
    }
    let found: Vec<_> = found.into_iter().map(|gradient| gradient.to_python(py)).collect::<PyResult<_>>()?;
    PyTuple::new(py, found)
}

/// Runs the engine. A panic becomes an exception, as it does in calls of operations.
fn run_engine(starts: &[(Edge, Tensor)], wanted: &Wanted, options: Options) -> PyResult<Vec<Option<Tensor>>> {
    let run = AssertUnwindSafe(|| engine::run(starts, wanted, options, &Interpreter).map_err(raise));
    catch_unwind(run).unwrap_or_else(|payload| Err(panicked(payload)))
}

/// Warns of leaves that hold the graph which holds them, when the run is over. Where warnings are errors, they do
/// not take the place of that of a run that failed.
fn warn_of_cycle(py: Python<'_>, succeeded: bool) -> PyResult<()> {
    let warned = py.import("rushlight.autograd.differentiate")?.call_method0("_warn_of_cycle");
    match warned {
        Err(error) if succeeded => Err(error),
        Err(error) => {
            error.print(py);
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

/// Accumulate the gradients of `root`, a scalar, into the leaves: the common call, without tuples. `False`:
/// nothing was done, since somebody is to be shown the call first.
#[pyfunction]
#[pyo3(name = "_accumulate")]
pub(crate) fn accumulate(root: &Bound<'_, TensorBase>, retain_graph: Option<Switch>) -> PyResult<bool> {
    if has_torch_function(root)? {
        return Ok(false);
    }
    check_outside_of_transforms()?;
    let options = Options { retain_graph: retain_graph.is_some_and(|it| it.0), create_graph: false };
    let start = engine::root(root.get().tensor(), None, 0).map_err(raise)?;
    let run = Run::begin();
    run_engine(&[start], &Wanted::AllLeaves, options)?;
    run.finish(root.py(), options.create_graph)?;
    Ok(true)
}

/// Gradients of leaves are not put aside by a function that is itself differentiated or mapped.
fn check_outside_of_transforms() -> PyResult<()> {
    if !is_inside_transform() {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(
        "backward() called inside a functorch transform. This is not supported, please use functorch.grad or \
         functorch.vjp instead or call backward() outside of functorch transforms.",
    ))
}

/// Tell whether every run that this thread is in leads to every leaf.
#[pyfunction]
#[pyo3(name = "_is_checkpoint_valid")]
pub(crate) fn is_unrestricted() -> bool {
    engine::is_unrestricted()
}

/// One root: where its gradient goes, and which it is.
fn start(root: &Bound<'_, PyAny>, gradient: &Bound<'_, PyAny>, index: usize) -> PyResult<(Edge, Tensor)> {
    let gradient = match as_tensor(gradient) {
        Some(gradient) => Some(gradient.clone()),
        None if gradient.is_none() => None,
        None => {
            let text = format!("element {index} of gradients tuple is not a Tensor or None");
            return Err(PyTypeError::new_err(text));
        }
    };
    if let Some(root) = as_tensor(root) {
        return engine::root(root, gradient, index).map_err(raise);
    }
    match (edge(root)?, gradient) {
        (Some(edge), Some(gradient)) => Ok((edge, gradient)),
        (Some(edge), None) => engine::implicit(&edge).map(|gradient| (edge, gradient)).map_err(raise),
        (None, _) => Err(PyTypeError::new_err(format!(
            "element {index} of tensors tuple is neither a Tensor nor a GradientEdge"
        ))),
    }
}

/// The edge that a `GradientEdge` names: a tuple of a node and a number.
fn edge(object: &Bound<'_, PyAny>) -> PyResult<Option<Edge>> {
    let Ok(pair) = object.cast::<PyTuple>() else { return Ok(None) };
    if pair.len() < 2 {
        return Ok(None);
    }
    let first = pair.get_item(0)?;
    let Some(node) = node_of(&first) else {
        if object.get_type().name()? == "GradientEdge" {
            let found = first.get_type().name()?;
            let text = format!("GradientEdge's first object must be an autograd.graph.Node but got {found}");
            return Err(PyRuntimeError::new_err(text));
        }
        return Ok(None);
    };
    let output: u32 = pair.get_item(1)?.extract()?;
    if output as usize >= node.outputs() {
        let text = format!("element {output} of the outputs of {} does not exist", node.name());
        return Err(PyIndexError::new_err(text));
    }
    Ok(Some(Edge { node, output }))
}

/// Return the numbers of `tensor` with a history that drops the gradient: on the way back there is none.
#[pyfunction]
#[pyo3(name = "_undefined_gradient")]
pub(crate) fn undefined_gradient<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, TensorBase>,
) -> PyResult<Bound<'py, PyAny>> {
    wrap(py, undefined::undefined_gradient(tensor.get().tensor()).map_err(raise)?)
}

/// Where the run is to lead.
fn wanted(inputs: &Bound<'_, PyTuple>, accumulate_grad: bool) -> PyResult<Wanted> {
    if inputs.is_empty() {
        return Ok(Wanted::AllLeaves);
    }
    let mut edges = Vec::with_capacity(inputs.len());
    for input in inputs.iter_borrowed() {
        if let Some(edge) = edge(&input)? {
            edges.push(Some(edge));
            continue;
        }
        let input = tensor(&input)?;
        if accumulate_grad {
            input.retain_grad().map_err(raise)?;
        } else if !input.requires_grad() {
            return Err(raise(Error::InputNoGrad {}.into()));
        }
        edges.push(input.gradient_edge().map_err(raise)?);
    }
    Ok(if accumulate_grad {
        Wanted::Leaves(edges.into_iter().flatten().collect())
    } else {
        Wanted::Captured(edges)
    })
}

fn tensor<'a>(object: &'a Bound<'_, PyAny>) -> PyResult<&'a Tensor> {
    as_tensor(object).ok_or_else(|| {
        let got = object.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
        raise(Error::InputNotTensor { got }.into())
    })
}

/// Tell the number of the backward pass that is under way on this thread, or -1.
#[pyfunction]
#[pyo3(name = "_current_graph_task_id")]
pub(crate) fn current_run() -> i64 {
    callbacks::current_run().map_or(-1, |run| run as i64)
}

/// Return the node whose hooks or rule run now on this thread, if a backward pass is under way.
#[pyfunction]
#[pyo3(name = "_current_autograd_node")]
pub(crate) fn current_node(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    engine::current_node().map(|node| wrap_node(py, &node)).transpose()
}

/// Return the nodes of the backward pass that is under way on this thread, in the order in which they run.
#[pyfunction]
#[pyo3(name = "_current_graph_task_execution_order")]
pub(crate) fn current_order(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let refused = |text| Err(PyRuntimeError::new_err(text));
    if engine::current_run().is_none() {
        return refused("_current_graph_task_execution_order should only be called during the backward pass");
    }
    match engine::current_order().filter(|_| !mode::flags().multithreading) {
        Some(order) => order.iter().map(|node| wrap_node(py, node)).collect(),
        None => refused(
            "get_current_graph_task_execution_order expects the current backward to be executed with \
             multithreading disabled, e.g. by running:\n\n>>> with \
             torch.autograd.set_multithreading_enabled(False):\n...     torch.autograd.grad(...)\n",
        ),
    }
}

/// Tell whether the backward pass that is under way on this thread leaves the graph as it is; `True` if none is.
#[pyfunction]
#[pyo3(name = "_get_current_graph_task_keep_graph")]
pub(crate) fn is_retaining() -> bool {
    engine::is_retaining().unwrap_or(true)
}

/// Tell whether the backward pass that is under way on this thread reaches a node.
#[pyfunction]
#[pyo3(name = "_will_engine_execute_node")]
pub(crate) fn will_execute(node: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Some(node) = node_of(node) else {
        let found = node.get_type().name()?;
        let text = format!("_will_engine_execute_node expects an grad_fn, but got {found}");
        return Err(PyRuntimeError::new_err(text));
    };
    let reached = engine::will_reach(node.id()).ok_or_else(|| {
        PyRuntimeError::new_err("_get_should_execute_nodes should only be called during the backward pass")
    })?;
    if reached && node.leaf().is_some() && engine::is_handing_back() {
        return Err(PyRuntimeError::new_err(
            "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). \
             This is currently not supported.",
        ));
    }
    Ok(reached)
}
