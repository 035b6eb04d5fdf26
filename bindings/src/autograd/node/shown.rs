//! What a node shows of its operation: tensors that were kept, or could have been, and parameters.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rushlight::dtype::Scalar;
use rushlight::graph::{NodeRef, SavedTensor as Saved, Shown};

use crate::autograd::saved::{SavedTensor, show_calculated, show_saved};
use crate::error::raise;
use crate::values::returns::ToPython;

/// A parameter of the operation or a tensor that it kept.
pub(super) fn saved<'py>(
    node: &NodeRef,
    py: Python<'py>,
    wanted: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let rule = node.rule();
    let saved = rule.saved();
    if let Some((_, shown)) = rule.shown().into_iter().find(|(name, _)| *name == wanted) {
        return show(node, py, wanted, shown, &saved).map(Some);
    }
    let found = saved.iter().find(|(name, _)| *name == wanted);
    found.map(|(_, saved)| show_saved(saved, node).to_python(py)).transpose()
}

fn show<'py>(
    node: &NodeRef,
    py: Python<'py>,
    name: &str,
    shown: Shown,
    saved: &[(&'static str, &Saved)],
) -> PyResult<Bound<'py, PyAny>> {
    match shown {
        Shown::Nothing | Shown::NoTensor => ().to_python(py),
        Shown::Bool(value) => value.to_python(py),
        // torch shows counts without a sign.
        Shown::Int(value) => Ok((value as u64).into_pyobject(py)?.into_any()),
        Shown::Whole(value) => value.to_python(py),
        Shown::Float(value) => value.to_python(py),
        Shown::Complex(value) => Scalar::Complex(value).to_python(py),
        Shown::Text(value) => value.to_python(py),
        Shown::Type(value) => value.to_python(py),
        Shown::Ints(values) => Ok(PyTuple::new(py, values.iter().map(|&value| value as u64))?.into_any()),
        Shown::Saved(_) if node.is_released() => Err(raise(node.freed())),
        Shown::Number(_) | Shown::Computed => show_calculated(node, name, &shown).to_python(py),
        Shown::Saved(places) => {
            let load = |place: Option<usize>| match place {
                Some(place) => show_saved(saved[place].1, node).to_python(py),
                None => ().to_python(py),
            };
            let loaded = places.into_iter().map(load).collect::<PyResult<Vec<_>>>()?;
            Ok(PyTuple::new(py, loaded)?.into_any())
        }
    }
}

/// The object of a tensor that the operation kept, or could have kept.
pub(super) fn raw_saved<'py>(
    node: &NodeRef,
    py: Python<'py>,
    wanted: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let rule = node.rule();
    let object =
        |place: Option<usize>| SavedTensor::of_rule(node, place).into_pyobject(py).map(Bound::into_any);
    match rule.shown().into_iter().find(|(name, _)| *name == wanted) {
        Some((_, Shown::NoTensor)) => object(None).map(Some),
        Some((name, shown @ (Shown::Number(_) | Shown::Computed))) => {
            let object = SavedTensor::of_shown(node, name, shown).into_pyobject(py)?;
            Ok(Some(object.into_any()))
        }
        Some((_, Shown::Saved(_))) if node.is_released() => Err(raise(node.freed())),
        Some((_, Shown::Saved(places))) => {
            let objects = places.into_iter().map(object);
            Ok(Some(PyTuple::new(py, objects.collect::<PyResult<Vec<_>>>()?)?.into_any()))
        }
        _ => {
            let place = rule.saved().iter().position(|(name, _)| *name == wanted);
            place.map(|place| object(Some(place))).transpose()
        }
    }
}
