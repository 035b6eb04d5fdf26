//! Forward mode, as `autograd.forward_ad` and `func` build on it: levels, and dual tensors.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rushlight::Tensor;
use rushlight::dispatch::forward_mode::tangents as duals;
use rushlight::graph::tangents;

use crate::error::raise;
use crate::tensor::object::as_tensor;
use crate::values::classes::type_name;
use crate::values::returns::ToPython;

/// Enter a new level of forward mode, inside of all others; answer its number.
#[pyfunction]
#[pyo3(name = "_enter_dual_level")]
pub(crate) fn enter_dual_level() -> u64 {
    tangents::enter()
}

/// Enter a new level for a transform of this thread. Whether tangents are passed on is up to what
/// happens inside; leaving the level brings back what it was.
#[pyfunction]
#[pyo3(name = "_enter_jvp_level")]
pub(crate) fn enter_jvp_level() -> u64 {
    tangents::enter_transform()
}

/// Leave a level: its tangents go.
#[pyfunction]
#[pyo3(name = "_exit_forward_level")]
pub(crate) fn exit_forward_level(level: u64) {
    tangents::exit(level);
}

/// A view of a tensor that carries a tangent at a level.
#[pyfunction]
#[pyo3(name = "_make_dual")]
pub(crate) fn make_dual<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, PyAny>,
    tangent: &Bound<'py, PyAny>,
    level: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let primal = argument(tensor, "_make_dual", "primal", 1)?;
    let tangent = argument(tangent, "_make_dual", "tangent", 2)?;
    duals::make_dual(primal, tangent, level).map_err(raise)?.to_python(py)
}

/// A tensor without its tangent at a level, and the tangent, if it has one.
#[pyfunction]
#[pyo3(name = "_unpack_dual")]
pub(crate) fn unpack_dual<'py>(
    py: Python<'py>,
    dual: &Bound<'py, PyAny>,
    level: u64,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (primal, tangent) =
        duals::unpack_dual(argument(dual, "_unpack_dual", "dual", 1)?, level).map_err(raise)?;
    Ok((primal.to_python(py)?, tangent.to_python(py)?))
}

/// Tell whether operations on this thread pass tangents on.
#[pyfunction]
#[pyo3(name = "_is_fwd_grad_enabled")]
pub(crate) fn is_fwd_grad_enabled() -> bool {
    tangents::is_enabled()
}

/// Have operations on this thread pass tangents on from now on, or not.
#[pyfunction]
#[pyo3(name = "_set_fwd_grad_enabled")]
pub(crate) fn set_fwd_grad_enabled(mode: bool) {
    tangents::set_enabled(mode);
}

fn argument<'a>(
    object: &'a Bound<'_, PyAny>,
    function: &str,
    name: &str,
    position: u32,
) -> PyResult<&'a Tensor> {
    as_tensor(object).ok_or_else(|| {
        let found = type_name(object);
        let expected = format!("argument '{name}' (position {position}) must be Tensor, not {found}");
        PyTypeError::new_err(format!("{function}(): {expected}"))
    })
}
