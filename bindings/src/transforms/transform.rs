//! What the function transforms of `rushlight.func` need of the engine: entering and leaving a level, taking
//! tensors in, and letting them out.

use std::cell::Cell;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::dispatch::transform;
use rushlight::graph::transform_level;
use rushlight::tensor::Mapping;

use crate::error::raise;
use crate::tensor::object::{TensorBase, wrap};
use crate::transforms::mapping;

/// Begin a transform on this thread; answers where on the tape it begins.
#[pyfunction]
#[pyo3(name = "_enter_transform", signature = (forward = false))]
pub(crate) fn enter_transform(forward: bool) -> u64 {
    transform_level::enter(forward)
}

/// End the transform that began last on this thread.
#[pyfunction]
#[pyo3(name = "_leave_transform")]
pub(crate) fn leave_transform() {
    transform_level::leave();
}

/// Let the function of the present transform write to `tensor`, one of its arguments.
#[pyfunction]
#[pyo3(name = "_admit")]
pub(crate) fn admit(tensor: &Bound<'_, TensorBase>) {
    transform_level::admit(tensor.get().tensor());
}

/// Return a leaf on the memory of `tensor`, whose gradients go on to `tensor` if it is `tracked`.
#[pyfunction]
#[pyo3(name = "_inner_leaf")]
pub(crate) fn inner_leaf<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, TensorBase>,
    tracked: bool,
) -> PyResult<Bound<'py, PyAny>> {
    wrap(py, transform::inner_leaf(tensor.get().tensor(), tracked).map_err(raise)?)
}

/// Tell whether the history of `tensor` leads out of the transform that began at `since`.
#[pyfunction]
#[pyo3(name = "_leads_out")]
pub(crate) fn leads_out(tensor: &Bound<'_, TensorBase>, since: u64) -> PyResult<bool> {
    tensor.get().tensor().leads_out(since).map_err(raise)
}

/// Return `tensor` without what the transform that began at `since` recorded, unless that leads out
/// of it and the outside is `tracked`.
#[pyfunction]
#[pyo3(name = "_outer")]
pub(crate) fn outer<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, TensorBase>,
    since: u64,
    tracked: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let outer = transform::outer(tensor.get().tensor(), since, tracked).map_err(raise)?;
    if outer.is(tensor.get().tensor()) { Ok(tensor.clone().into_any()) } else { wrap(py, outer) }
}

/// Return `tensor` with its history for use after the transform that it is from.
#[pyfunction]
#[pyo3(name = "_kept")]
pub(crate) fn kept<'py>(py: Python<'py>, tensor: &Bound<'py, TensorBase>) -> PyResult<Bound<'py, PyAny>> {
    wrap(py, tensor.get().tensor().kept().map_err(raise)?)
}

/// Tell whether a transform of derivatives that this thread is inside of follows `tensor`.
#[pyfunction]
#[pyo3(name = "_is_tracked_inside")]
pub(crate) fn is_tracked_inside(tensor: &Bound<'_, TensorBase>) -> bool {
    tensor.get().tensor().is_followed()
}

/// Tell how many of the transforms that go on `tensor` was made inside of.
#[pyfunction]
#[pyo3(name = "_transforms_of")]
pub(crate) fn transforms_of(tensor: &Bound<'_, TensorBase>) -> usize {
    tensor.get().tensor().transforms()
}

/// Tell whether the innermost of the transforms that `tensor` was made inside of does not follow it.
#[pyfunction]
#[pyo3(name = "_is_unfollowed")]
pub(crate) fn is_unfollowed(tensor: &Bound<'_, TensorBase>) -> PyResult<bool> {
    tensor.get().tensor().is_unfollowed().map_err(raise)
}

/// Return the numbers of the transforms and mappings that `tensor` belongs to, from its samples inwards.
#[pyfunction]
#[pyo3(name = "_layers")]
pub(crate) fn layers(tensor: &Bound<'_, TensorBase>) -> Vec<usize> {
    let tensor = tensor.get().tensor();
    let own = tensor.mapping().map(|mapping| mapping.level());
    let further = tensor.levels().into_iter().filter(|&level| own.is_none_or(|own| level > own));
    own.into_iter().chain(further).collect()
}

/// A transform or a mapping of a thread: its number, its kind, and what is known of it.
type Interpreter = (usize, &'static str, Option<bool>, Option<(usize, &'static str)>);

/// Return the transforms and mappings that this thread is inside of, the innermost last: the number of each,
/// its kind, whether the thread was recording when a transform began, and how many samples a mapping has and
/// what random operations do in it.
#[pyfunction]
#[pyo3(name = "_interpreters")]
pub(crate) fn interpreters() -> Vec<Interpreter> {
    let transforms = transform_level::all().into_iter().map(|transform| {
        let kind = if transform.forward { "Jvp" } else { "Grad" };
        (transform.level, kind, Some(transform.recording), None)
    });
    let mappings = Mapping::all().into_iter().map(|mapping| {
        let known = (mapping.size(), mapping::name(mapping.randomness()));
        (mapping.level(), "Vmap", None, Some(known))
    });
    let mut all: Vec<_> = transforms.chain(mappings).collect();
    all.sort_unstable_by_key(|interpreter| interpreter.0);
    all
}

thread_local!(static REQUIRING_ALLOWED: Cell<bool> = const { Cell::new(false) });

/// Tell whether functions that are being transformed may call `requires_grad_`.
#[pyfunction]
#[pyo3(name = "_get_inplace_requires_grad_allowed")]
pub(crate) fn is_requiring_allowed() -> bool {
    REQUIRING_ALLOWED.get()
}

/// Let functions that are being transformed call `requires_grad_` on this thread, or not.
#[pyfunction]
#[pyo3(name = "_set_inplace_requires_grad_allowed")]
pub(crate) fn allow_requiring(allowed: bool) {
    REQUIRING_ALLOWED.set(allowed);
}

/// Return how many transforms and mappings this thread is inside of.
#[pyfunction]
#[pyo3(name = "_transform_count")]
pub(crate) fn transform_count() -> usize {
    transform_level::depth() + Mapping::count()
}

/// Tell whether `tensor` belongs to a transform of derivatives that is over.
#[pyfunction]
#[pyo3(name = "_has_escaped")]
pub(crate) fn has_escaped(tensor: &Bound<'_, TensorBase>) -> bool {
    let tensor = tensor.get().tensor();
    tensor.escaped(usize::MAX, tensor.mapping().map_or(0, |mapping| mapping.transforms())) > 0
}

/// Return `tensor` as if it had been made outside of every transform, without history.
#[pyfunction]
#[pyo3(name = "_bare")]
pub(crate) fn bare<'py>(py: Python<'py>, tensor: &Bound<'py, TensorBase>) -> PyResult<Bound<'py, PyAny>> {
    wrap(py, tensor.get().tensor().bare())
}

/// Whether a function that is being transformed, or mapped over samples, runs on this thread.
pub(crate) fn is_inside_transform() -> bool {
    transform_level::depth() > 0 || Mapping::innermost().is_some()
}

/// Refuses what a function that is being transformed may not do to a tensor.
pub(crate) fn refuse_inside_transform(method: &str, hint: &str) -> PyResult<()> {
    if !is_inside_transform() {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(format!(
        "You are attempting to call Tensor.{method}{hint} inside of a function being transformed by a functorch \
         transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, \
         jacfwd, hessian) or call {method} outside of a function being transformed instead."
    )))
}
