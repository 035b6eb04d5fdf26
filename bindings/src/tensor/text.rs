//! `repr(x)`: the tensor's numbers and what is said beside them, rendered by the engine.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use rushlight::dispatch::forward_mode::tangents;
use rushlight::dispatch::{default_dtype, long_work};
use rushlight::dtype::{Element, Scalar};
use rushlight::graph::{following, mode};
use rushlight::shape::Dims;
use rushlight::tensor::Batch;
use rushlight::tensor::print::{Heading, PrintOptions, print_options, render, set_print_options};
use rushlight::{Tensor, dispatch};

use super::object::{TensorBase, tensor_class, wrap};
use crate::error::raise;
use crate::overrides::{self, Method};

#[pymethods]
impl TensorBase {
    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyString>> {
        // There may be no memory for the host's own string.
        PyString::from_bytes(slf.py(), text_of(slf)?.as_bytes())
    }
}

/// What a tensor looks like.
fn text_of(slf: &Bound<'_, TensorBase>) -> PyResult<String> {
    if overrides::ever()
        && let Some(answer) =
            overrides::offer_method(slf.py(), Method::compiled("__repr__"), &[slf.as_any()])?
    {
        return answer.extract();
    }
    let class = slf.get_type();
    if slf.get().tensor().has_no_data() {
        let text = format!("unsupported format string passed to {}.__format__", class.name()?);
        return Err(PyTypeError::new_err(text));
    }
    if class.is(tensor_class(slf.py())) {
        return layered(slf.py(), slf.get().tensor(), "tensor", usize::MAX, usize::MAX);
    }
    let text = layered(slf.py(), slf.get().tensor(), &class.name()?.to_string(), usize::MAX, usize::MAX)?;
    // A tensor of another class may have been made a parameter.
    let is_parameter = match slf.getattr_opt("_is_param")? {
        Some(mark) => mark.is_truthy()?,
        None => false,
    };
    Ok(if is_parameter { format!("Parameter({text})") } else { text })
}

/// The text of a tensor within the transforms and mappings whose numbers are less than `below`, which
/// are so many transforms: each that it belongs to is a layer around the numbers.
fn layered(py: Python<'_>, tensor: &Tensor, name: &str, below: usize, transforms: usize) -> PyResult<String> {
    let batch = tensor.batch();
    let own = batch.as_ref().map_or(0, |batch| batch.mapping.level());
    let levels: Vec<usize> =
        tensor.levels().into_iter().filter(|level| (own + 1..below).contains(level)).collect();
    let around = batch.as_ref().map_or(0, |batch| batch.mapping.transforms());
    // One that escaped from a transform still shows it, which has no number any more.
    let escaped = tensor.escaped(transforms, around);
    let core = match batch {
        Some(Batch { value, dim, .. }) => {
            let text = layered(py, &value, "tensor", own, around)?;
            match dim {
                Some(dim) => framed(&format!("BatchedTensor(lvl={own}, bdim={dim}"), &text),
                None => text,
            }
        }
        None if levels.is_empty() && escaped == 0 => {
            // A view that could not follow a write to its base has numbers to show, but no history.
            let grad_fn = match tensor.edge() {
                Ok(edge) => edge.map(|edge| edge.node.name()),
                Err(_) => Some("Invalid".to_owned()),
            };
            plain(py, tensor, name, grad_fn.as_deref(), tensor.requires_grad())?
        }
        None => {
            let outermost = tensor.outermost().map_err(raise)?;
            let grad_fn = outermost.as_ref().filter(|node| node.leaf().is_none()).map(|node| node.name());
            // Outside, functions of the host have the names that they were given.
            let grad_fn = grad_fn.map(|name| name.replace("GeneratedBackward", "Backward"));
            plain(py, &tensor.without_history(), name, grad_fn.as_deref(), outermost.is_some())?
        }
    };
    let lost = std::iter::repeat_n("-2".to_owned(), escaped);
    let titles = levels.iter().map(usize::to_string).chain(lost);
    Ok(titles.fold(core, |text, level| framed(&format!("GradTrackingTensor(lvl={level}"), &text)))
}

/// One layer.
fn framed(title: &str, value: &str) -> String {
    let indented = value.lines().map(|line| match line.trim().is_empty() {
        true => String::new(),
        false => format!("    {line}"),
    });
    format!("{title}, value=\n{}\n)", indented.collect::<Vec<_>>().join("\n"))
}

/// More digits would only take up memory: no number has as many.
const MOST_PRECISE: usize = 1_000_000;

/// The text of a tensor of numbers, with the name of the node that is shown beside them.
fn plain(
    py: Python<'_>,
    tensor: &Tensor,
    name: &str,
    grad_fn: Option<&str>,
    requires_grad: bool,
) -> PyResult<String> {
    let tangent = if mode::special() { tangents::innermost(tensor).map_err(raise)? } else { None };
    // As in a formatted string: of a tensor without dimensions that is the number.
    let formatted =
        |tangent: Tensor| wrap(py, tangent)?.call_method1("__format__", ("",))?.extract::<String>();
    let tangent = tangent.map(formatted).transpose()?;
    let heading = Heading {
        name,
        grad_fn: grad_fn.map(|name| name.trim_start_matches("torch::autograd::")),
        requires_grad,
        tangent: tangent.as_deref(),
        default_dtype: default_dtype::get(),
    };
    if print_options().precision > MOST_PRECISE {
        return Err(PyValueError::new_err("precision too big"));
    }
    let dtype = tensor.dtype();
    following::leaves("a tensor's text");
    let array = tensor.array();
    let shape = array.layout.shape();
    let text = || {
        dispatch!(stored array.dtype, T => {
            let view = array.view::<T>();
            let element = |position: usize| {
                view.get(place(position, shape).as_slice()).copied().unwrap_or_default().to_scalar()
            };
            // One text for all types, not one for each.
            let element: &dyn Fn(usize) -> Scalar = &element;
            render(element, dtype, shape, &heading, &print_options())
        })
    };
    long_work::patiently(array.layout.numel() as u64, text).map_err(raise)
}

/// The index in every dimension of the element at a row-major position.
fn place(mut position: usize, shape: &[usize]) -> Dims {
    let mut place: Dims = shape.into();
    for (index, &size) in place.iter_mut().zip(shape).rev() {
        *index = position % size.max(1);
        position /= size.max(1);
    }
    place
}

/// Return how tensors are printed: digits, most elements, elements at the edges, width of a line, and whether
/// powers of ten are written.
#[pyfunction]
#[pyo3(name = "_print_options")]
pub(crate) fn options() -> (usize, f64, usize, usize, Option<bool>) {
    let now = print_options();
    (now.precision, now.threshold, now.edgeitems, now.linewidth, now.sci_mode)
}

/// Set how tensors are printed: a profile (`default`, `short`, `full`), then what is given beside it.
#[pyfunction]
#[pyo3(signature = (precision = None, threshold = None, edgeitems = None, linewidth = None, profile = None, sci_mode = None))]
pub(crate) fn set_printoptions(
    precision: Option<usize>,
    threshold: Option<f64>,
    edgeitems: Option<usize>,
    linewidth: Option<usize>,
    profile: Option<&str>,
    sci_mode: Option<bool>,
) {
    let named = profile.map(str::to_lowercase).and_then(|name| PrintOptions::profile(&name));
    let before = named.unwrap_or_else(print_options);
    set_print_options(PrintOptions {
        precision: precision.unwrap_or(before.precision),
        threshold: threshold.unwrap_or(before.threshold),
        edgeitems: edgeitems.unwrap_or(before.edgeitems),
        linewidth: linewidth.unwrap_or(before.linewidth),
        // As in torch: every call that does not say otherwise goes back to letting the elements decide.
        sci_mode,
    });
}
