//! What autograd makes of a write through `out=`: for most operations it refuses, some have nothing that
//! could be recorded, and some are recorded after all.

use crate::border::raise;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::graph::mode::{GradModeGuard, is_grad_enabled};
use rushlight::ops::in_place::check_history;
use rushlight::ops::underived;
use rushlight::{Error, Tensor};

/// Operations whose results have no gradients.
const WITHOUT_GRADIENTS: &[&str] = &[
    "all",
    "any",
    "argmax",
    "argmin",
    "bucketize",
    "eq",
    "equal",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "isin",
    "isneginf",
    "isposinf",
    "le",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "matrix_rank",
    "multinomial",
    "ne",
    "nonzero",
    "not_equal",
    "searchsorted",
    "signbit",
];

/// Operations that torch's formulas do not know when they are given an `out`, by the names of theirs.
const UNKNOWN: &[(&str, &str)] = &[
    ("arange", "arange"),
    ("as_strided_copy", "as_strided_copy"),
    ("conj_physical", "conj_physical"),
    ("diag", "diag_embed"),
    ("diagonal_copy", "diagonal_copy"),
    ("expand_copy", "expand_copy"),
    ("eye", "eye"),
    ("fft_ifft", "conj_physical"),
    ("fft_ihfft", "conj_physical"),
    ("floor_divide", "floor_divide"),
    ("full", "full"),
    ("heaviside", "heaviside"),
    ("linalg_eigvals", "linalg_eigvals"),
    ("linspace", "linspace"),
    ("log_softmax", "log_softmax"),
    ("logspace", "logspace"),
    ("narrow_copy", "narrow_copy"),
    ("ones", "ones"),
    ("permute_copy", "permute_copy"),
    ("rand", "rand"),
    ("range", "range"),
    ("select_copy", "select_copy"),
    ("slice_copy", "slice_copy"),
    ("softmax", "softmax"),
    ("squeeze_copy", "squeeze_copy"),
    ("t_copy", "t_copy"),
    ("transpose_copy", "transpose_copy"),
    ("unfold_copy", "unfold_copy"),
    ("unsqueeze_copy", "unsqueeze_copy"),
    ("view_as_complex_copy", "view_as_complex_copy"),
    ("view_as_real_copy", "view_as_real_copy"),
    ("view_copy", "view_copy"),
    ("zeros", "zeros"),
];

/// Operations that calculate first and then copy what they found.
const COPIED: &[&str] =
    &["cond", "inner", "nanquantile", "ndtr", "quantile", "tensordot", "tensorinv", "tensorsolve"];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum History {
    /// Nothing is written that would have to be recorded.
    Refused,
    /// There is nothing to record.
    None,
    /// The write is recorded, and whoever asks for its derivative is refused. This is the operation.
    Unknown(&'static str),
    /// The copy is recorded, as if it had been asked for.
    Copied,
}

impl History {
    pub(super) fn of(name: &str) -> History {
        if WITHOUT_GRADIENTS.contains(&name) {
            return History::None;
        }
        match UNKNOWN.iter().find(|(operation, _)| *operation == name) {
            Some((_, shown)) => History::Unknown(shown),
            None if COPIED.contains(&name) => History::Copied,
            None => History::Refused,
        }
    }

    /// Refuses what cannot be recorded. `alone` says that the operation was given one tensor.
    pub(super) fn check(self, name: &str, alone: bool, inputs: &[Tensor], outs: &[Tensor]) -> PyResult<()> {
        let recorded = |tensors: &[Tensor]| tensors.iter().any(Tensor::requires_grad);
        if matches!(name, "empty" | "randn") && recorded(outs) {
            return Err(raise(Error::ResizeRecorded {}.into()));
        }
        if !is_grad_enabled() {
            return Ok(());
        }
        match self {
            History::Refused if recorded(inputs) || recorded(outs) => {
                Err(unsupported(super::types::refusing(name, alone), ""))
            }
            History::Unknown(operation)
                if outs.iter().any(|out| match out.is_view() {
                    true => recorded(inputs) || out.requires_grad(),
                    false => check_history(out).is_err(),
                }) =>
            {
                Err(unsupported(operation, "aten::"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses another shape for a tensor whose history goes on.
    pub(super) fn check_resized(self, out: &Tensor) -> PyResult<()> {
        match self {
            History::Unknown("rand") | History::Copied if is_grad_enabled() => {
                check_history(out).map_err(raise)
            }
            _ => Ok(()),
        }
    }

    /// What calculates and writes, recorded if it may be.
    pub(super) fn while_calculating<T>(self, calculate: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        let _off = (self != History::Copied).then(GradModeGuard::off);
        calculate()
    }

    /// Records what has been written, unless that was done on the way.
    pub(super) fn record(self, inputs: &[Tensor], outs: &[Tensor]) -> PyResult<()> {
        match self {
            History::Unknown(operation) if is_grad_enabled() && inputs.iter().any(Tensor::requires_grad) => {
                underived::unknown(&inputs.iter().collect::<Vec<_>>(), outs, operation).map_err(raise)
            }
            _ => Ok(()),
        }
    }
}

fn unsupported(name: &str, namespace: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "{namespace}{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad."
    ))
}
