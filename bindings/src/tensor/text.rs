//! `repr(x)`: the tensor's numbers and what is said beside them, rendered by the engine.

use pyo3::prelude::*;
use rushlight::dtype::Element;
use rushlight::graph::mode;
use rushlight::ops::{default_dtype, tangents};
use rushlight::shape::Dims;
use rushlight::tensor::Batch;
use rushlight::tensor::print::{Heading, PrintOptions, print_options, render, set_print_options};
use rushlight::{Tensor, dispatch};

use super::object::{TensorBase, tensor_class, wrap};
use crate::error::raise;

#[pymethods]
impl TensorBase {
    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let py = slf.py();
        let tensor = slf.get().tensor();
        if let Some(batch) = tensor.batch() {
            return around(py, tensor, batch);
        }
        let class = slf.get_type();
        let name = if class.is(tensor_class(py)) { "tensor".to_owned() } else { class.name()?.to_string() };
        // A view that could not follow a write to its base has numbers to show, but no history.
        let grad_fn = match tensor.edge() {
            Ok(edge) => edge.map(|edge| edge.node.name()),
            Err(_) => Some("Invalid".to_owned()),
        };
        let tangent = if mode::special() { tangents::innermost(tensor).map_err(raise)? } else { None };
        let tangent =
            tangent.map(|tangent| PyResult::Ok(wrap(py, tangent)?.repr()?.to_string())).transpose()?;
        let heading = Heading {
            name: &name,
            grad_fn: grad_fn.as_deref().map(|name| name.trim_start_matches("torch::autograd::")),
            requires_grad: tensor.requires_grad(),
            tangent: tangent.as_deref(),
            default_dtype: default_dtype::get(),
        };
        let array = tensor.array();
        let shape = array.layout.shape();
        Ok(dispatch!(all array.dtype, T => {
            let view = array.view::<T>();
            let element = |position: usize| {
                view.get(place(position, shape).as_slice()).copied().unwrap_or_default().to_scalar()
            };
            render(element, array.dtype, shape, &heading, &print_options())
        }))
    }
}

/// The text of a batched tensor: what it is around, and how.
fn around(py: Python<'_>, tensor: &Tensor, batch: Batch) -> PyResult<String> {
    let value = wrap(py, batch.value)?.repr()?.to_string();
    let framed = |title: String, value: &str| {
        let indented: Vec<String> = value.lines().map(|line| format!("    {line}")).collect();
        let lines: Vec<&str> =
            indented.iter().map(|line| if line.trim().is_empty() { "" } else { line }).collect();
        format!("{title}, value=\n{}\n)", lines.join("\n"))
    };
    let depth = batch.mapping.depth();
    let text = match batch.dim {
        Some(dim) => framed(format!("BatchedTensor(lvl={depth}, bdim={dim}"), &value),
        None => value,
    };
    Ok(match tensor.requires_grad() {
        true => framed(format!("GradTrackingTensor(lvl={}", depth + 1), &text),
        false => text,
    })
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
