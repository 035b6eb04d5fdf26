//! The way into the engine's runs: `_run_backward`, which the shim's `backward` and `grad` call.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rushlight::engine::{self, Host, Options, Wanted};
use rushlight::graph::undefined;
use rushlight::{Error, Tensor};

use crate::error::raise;
use crate::returns::ToPython;
use crate::tensor::object::{TensorBase, as_tensor, wrap};
use crate::transform::is_inside_transform;

const INSIDE_TRANSFORM: &str = "backward() called inside a functorch transform. This is not supported, please \
    use functorch.grad or functorch.vjp instead or call backward() outside of functorch transforms.";

/// The interpreter as the engine sees it: work that takes a while runs without its lock.
struct Interpreter;

impl Host for Interpreter {
    fn unlocked(&self, body: &mut (dyn FnMut() + Send)) {
        Python::attach(|py| py.detach(body));
    }
}

/// Run the graph backward from `roots`; what torch's engine offers under the same name.
///
/// Accumulates into leaves (those among `inputs`, if any are given), or returns the gradients of
/// `inputs`. A gradient of `None` stands for one, where the root has a single element.
#[pyfunction]
#[pyo3(name = "_run_backward")]
#[expect(clippy::too_many_arguments, reason = "the signature is torch's")]
pub(crate) fn run_backward<'py>(
    py: Python<'py>,
    roots: &Bound<'py, PyTuple>,
    gradients: &Bound<'py, PyTuple>,
    retain_graph: bool,
    create_graph: bool,
    inputs: &Bound<'py, PyTuple>,
    allow_unreachable: bool,
    accumulate_grad: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    if accumulate_grad && is_inside_transform() {
        return Err(PyRuntimeError::new_err(INSIDE_TRANSFORM));
    }
    if roots.len() != gradients.len() {
        let (roots, gradients) = (roots.len(), gradients.len());
        return Err(raise(Error::RootAndGradientCounts { roots, gradients }.into()));
    }
    let mut starts = Vec::with_capacity(roots.len());
    for (index, (root, gradient)) in roots.iter_borrowed().zip(gradients.iter_borrowed()).enumerate() {
        let gradient = if gradient.is_none() { None } else { Some(tensor(&gradient)?.clone()) };
        starts.push(engine::root(tensor(&root)?, gradient, index).map_err(raise)?);
    }
    let wanted = wanted(inputs, accumulate_grad)?;
    let options = Options { retain_graph, create_graph };
    let found = engine::run(starts, &wanted, options, &Interpreter).map_err(raise)?;
    if !allow_unreachable && let Some(index) = found.iter().position(Option::is_none) {
        return Err(raise(Error::Unused { index }.into()));
    }
    let found: Vec<_> = found.into_iter().map(|gradient| gradient.to_python(py)).collect::<PyResult<_>>()?;
    PyTuple::new(py, found)
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
