//! What autograd makes of a write through `out=`: for most operations it refuses, some have nothing that
//! could be recorded, and some are recorded after all.

use crate::error::raise;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::dispatch::composites::underived;
use rushlight::dispatch::in_place::check_history;
use rushlight::graph::mode::{GradModeGuard, is_grad_enabled};
use rushlight::schema::{History, OutPolicy, Types};
use rushlight::{Error, Tensor};

/// Refuses what cannot be recorded of the operation of this name. `alone` says that it was given one tensor.
pub(super) fn check(
    history: History,
    name: &str,
    alone: bool,
    inputs: &[Tensor],
    outs: &[Tensor],
) -> PyResult<()> {
    let recorded = |tensors: &[Tensor]| tensors.iter().any(Tensor::requires_grad);
    if history == History::NotResized && recorded(outs) {
        return Err(raise(Error::ResizeRecorded {}.into()));
    }
    if !is_grad_enabled() || !recorded(inputs) && !recorded(outs) {
        return Ok(());
    }
    match history {
        History::Refused(shown) => Err(unsupported(shown.unwrap_or(name), "")),
        History::RefusedOfTwo(shown) => Err(unsupported(if alone { name } else { shown }, "")),
        History::Unknown(operation) if outs.iter().any(|out| check_history(out).is_err()) => {
            Err(unsupported(operation, "aten::"))
        }
        History::NotResized | History::None | History::Unknown(_) | History::Copied => Ok(()),
    }
}

/// Refuses another shape for a tensor whose history goes on.
pub(super) fn check_resized(policy: &OutPolicy, out: &Tensor) -> PyResult<()> {
    let goes_on = match policy.history {
        History::Copied => true,
        // Between two numbers it is drawn in place, after the tensor has got its shape.
        History::Unknown(_) => policy.types == Types::Uniform,
        _ => false,
    };
    if goes_on && is_grad_enabled() && out.requires_grad() {
        check_history(out).map_err(raise)
    } else {
        Ok(())
    }
}

/// What calculates and writes, recorded if it may be.
pub(super) fn while_calculating<T>(history: History, calculate: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let _off = (history != History::Copied).then(GradModeGuard::off);
    calculate()
}

/// Records what has been written, unless that was done on the way.
pub(super) fn record(history: History, inputs: &[Tensor], outs: &[Tensor]) -> PyResult<()> {
    match history {
        History::Unknown(operation) if is_grad_enabled() => {
            let inputs: Vec<&Tensor> = inputs.iter().collect();
            outs.iter()
                .filter(|out| out.dtype().is_differentiable())
                .try_for_each(|out| underived::written(out, &inputs, operation))
                .map_err(raise)
        }
        _ => Ok(()),
    }
}

fn unsupported(name: &str, namespace: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "{namespace}{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad."
    ))
}
