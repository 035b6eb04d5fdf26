//! Optimiser steps: all parameters of a group updated, or their gradients cleared, in one call.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use rushlight::Tensor;
use rushlight::ops::neural::descent::{Adadelta, Descent, Moments, RmsProp, Sgd, Step, Way};
use smallvec::SmallVec;

use crate::error::raise;
use crate::overrides::{ever, is_watched};
use crate::tensor::object::as_tensor;
use crate::values::returns::ToPython;

/// An optimiser by its name, with its numbers.
fn named(name: &str, numbers: &[f64]) -> Option<Descent> {
    let moments = |rate, first, second, eps, decay| Moments { rate, betas: [first, second], eps, decay };
    Some(match (name, numbers) {
        ("sgd", &[rate, momentum, dampening, nesterov]) => {
            Descent::Sgd(Sgd { rate, momentum, dampening, nesterov: nesterov != 0.0 })
        }
        ("adam", &[rate, first, second, eps, decay, amsgrad]) => {
            Descent::Adam { moments: moments(rate, first, second, eps, decay), amsgrad: amsgrad != 0.0 }
        }
        ("adamax", &[rate, first, second, eps]) => Descent::Adamax(moments(rate, first, second, eps, 0.0)),
        ("nadam", &[rate, first, second, eps, decay, momentum_decay]) => {
            Descent::NAdam { moments: moments(rate, first, second, eps, decay), momentum_decay }
        }
        ("radam", &[rate, first, second, eps, decay]) => {
            Descent::RAdam(moments(rate, first, second, eps, decay))
        }
        ("rmsprop", &[rate, alpha, eps, momentum, centred]) => {
            Descent::RmsProp(RmsProp { rate, alpha, eps, momentum }, centred != 0.0)
        }
        ("adagrad", &[rate, decay, eps]) => Descent::Adagrad { rate, decay, eps },
        ("asgd", &[rate, fade, alpha, start]) => Descent::Asgd { rate, fade, alpha, start },
        ("adadelta", &[rate, rho, eps]) => Descent::Adadelta(Adadelta { rate, rho, eps }),
        _ => return None,
    })
}

/// What an optimiser remembers of a parameter, by its names: single numbers, and the others.
struct Memory<'py> {
    state: &'py Bound<'py, PyDict>,
    scalars: SmallVec<[Bound<'py, PyString>; 3]>,
    states: SmallVec<[Bound<'py, PyString>; 3]>,
}

/// Single numbers, and the others.
type States = (SmallVec<[Tensor; 3]>, SmallVec<[Tensor; 3]>);

impl<'py> Memory<'py> {
    /// What is remembered of a parameter: nothing if anything is missing, or is to be shown to somebody.
    fn of(&self, parameter: &Bound<'py, PyAny>) -> PyResult<Option<States>> {
        let (mut scalars, mut states) = States::default();
        if self.states.is_empty() && self.scalars.is_empty() {
            return Ok(Some((scalars, states)));
        }
        let Some(entry) = self.state.get_item(parameter)? else { return Ok(None) };
        let Ok(entry) = entry.cast_into::<PyDict>() else { return Ok(None) };
        for (names, found) in [(&self.scalars, &mut scalars), (&self.states, &mut states)] {
            for name in names {
                let Some(state) = tensor_of(&entry, name)? else { return Ok(None) };
                found.push(state);
            }
        }
        Ok(Some((scalars, states)))
    }
}

fn tensor_of(entry: &Bound<'_, PyDict>, name: &Bound<'_, PyString>) -> PyResult<Option<Tensor>> {
    let Some(value) = entry.get_item(name)? else { return Ok(None) };
    if is_watched(&value)? {
        return Ok(None);
    }
    Ok(as_tensor(&value).cloned())
}

/// Whether the class of a gradient wants to see what is done with it.
fn is_watched_gradient(py: Python<'_>, gradient: &Tensor) -> PyResult<bool> {
    match ever() {
        true => is_watched(gradient.clone().answer(py)?.bind(py)),
        false => Ok(false),
    }
}

/// The number of an option, if it is one of Python's: a tensor may be one to be differentiated through.
fn number(option: &Bound<'_, PyAny>) -> Option<f64> {
    match option.is_instance_of::<PyFloat>() || option.is_instance_of::<PyInt>() {
        true => option.extract().ok(),
        false => None,
    }
}

/// Take a step with each of the parameters from `start` on that have gradients; return where it ends: at one whose
/// step has to be written in operations.
///
/// `state` has what the optimiser remembers of each, `toward` whether the aim is a maximum, and how much of a
/// parameter is added to its gradient.
#[pyfunction]
#[pyo3(name = "_descend")]
pub(crate) fn descend<'py>(
    py: Python<'py>,
    name: &str,
    numbers: &Bound<'py, PyTuple>,
    toward: (bool, Bound<'py, PyAny>),
    parameters: &Bound<'py, PyAny>,
    start: usize,
    state: &Bound<'py, PyAny>,
) -> PyResult<usize> {
    let Ok(state) = state.cast::<PyDict>() else { return Ok(start) };
    let numbers = numbers.iter_borrowed().map(|option| number(&option));
    let Some(numbers) = numbers.collect::<Option<SmallVec<[f64; 6]>>>() else { return Ok(start) };
    let (Some(descent), Some(decay)) = (named(name, &numbers), number(&toward.1)) else { return Ok(start) };
    let way = Way { is_upward: toward.0, decay };
    let names = |names: &[&str]| names.iter().map(|name| PyString::intern(py, name)).collect();
    let memory = Memory { state, scalars: names(descent.scalars()), states: names(descent.states()) };
    each_from(parameters, start, |object, parameter| {
        let Some(gradient) = parameter.grad() else { return Ok(true) };
        let Some((scalars, states)) = memory.of(object)? else { return Ok(false) };
        let step = Step { parameter, gradient: &gradient, scalars: &scalars, states: &states };
        Ok(!is_watched_gradient(py, &gradient)? && step.take(&descent, way).map_err(raise)?)
    })
}

/// Does something with each of the parameters from `start` on; answers where it ends: at one that is no tensor, whose
/// class wants to see it, or with which it could not be done.
fn each_from<'py>(
    parameters: &Bound<'py, PyAny>,
    start: usize,
    mut done: impl FnMut(&Bound<'py, PyAny>, &Tensor) -> PyResult<bool>,
) -> PyResult<usize> {
    let Ok(parameters) = parameters.cast::<PyList>() else { return Ok(start) };
    // The list may become shorter meanwhile, if looking a parameter up runs a program.
    let mut index = start;
    while index < parameters.len() {
        let object = parameters.get_item(index)?;
        let Some(parameter) = as_tensor(&object) else { break };
        if is_watched(&object)? || !done(&object, parameter)? {
            break;
        }
        index += 1;
    }
    Ok(index)
}

/// Forget the gradients of the parameters from `start` on; return where it ends: at one whose class wants to see it.
#[pyfunction]
#[pyo3(name = "_drop_gradients")]
pub(crate) fn drop_gradients(parameters: &Bound<'_, PyAny>, start: usize) -> PyResult<usize> {
    each_from(parameters, start, |_, parameter| {
        if parameter.grad().is_some() {
            parameter.replace_grad(None);
        }
        Ok(true)
    })
}
