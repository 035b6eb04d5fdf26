//! The rule of a node that stands for a function of Python: its backward is the user's.

use std::any::Any;

use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple};
use rushlight::dispatch::long_work::HostCodeGuard;
use rushlight::graph::{At, Gradients, NodeRef, Rule, Traits};
use rushlight::ops::creation::create;
use rushlight::origin::Origin;
use rushlight::shape::signed;
use rushlight::tensor::Array;
use rushlight::{Error, Result, Tensor};

use super::FunctionBase;
use crate::error::carry;
use crate::tensor::object::{Reference, as_tensor, host, wrap};
use crate::values::returns::ToPython;

/// Calls the backward of a context's class.
pub(crate) struct Custom {
    context: Reference<FunctionBase>,
    name: Box<str>,
}

impl Custom {
    pub(crate) fn new(context: &Bound<'_, FunctionBase>) -> Custom {
        host();
        let name = context.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
        Custom { context: Reference::new(context.clone().unbind()), name: name.into() }
    }
}

/// The context that a node stands for, if it is that of a function of Python.
pub(crate) fn context_of<'py>(py: Python<'py>, node: &NodeRef) -> Option<Bound<'py, PyAny>> {
    let rule = node.rule();
    let custom = rule.host()?.downcast_ref::<Custom>()?;
    Some(custom.context.get().bind(py).clone().into_any())
}

/// The context behind a rule's host part, for the collector.
pub(crate) fn context_in(host: &(dyn Any + Send + Sync)) -> Option<&Py<FunctionBase>> {
    host.downcast_ref::<Custom>().map(|custom| custom.context.get())
}

/// The class `Function` of the Python side, whose methods say that they are not implemented.
pub(crate) fn function_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let find = || py.import("rushlight.autograd.function")?.getattr("Function").map(Bound::unbind);
    Ok(CLASS.get_or_try_init(py, find)?.bind(py))
}

impl Rule for Custom {
    fn name(&self) -> &str {
        &self.name
    }

    fn vjp(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let _host_code = HostCodeGuard::new();
        let answers = Python::attach(|py| self.backward(py, gradients)).map_err(carry)?;
        for (edge, answer) in at.node.edges().iter().zip(&answers) {
            if let (Some(edge), Some(answer)) = (edge, answer)
                && answer.dtype().is_complex()
                && edge.node.form(edge.output).dtype.is_float()
            {
                return Err(Error::ComplexGradientOfReal {}.into());
            }
        }
        Ok(answers)
    }

    fn jvp(&self, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let _host_code = HostCodeGuard::new();
        Python::attach(|py| self.forward(py, tangents)).map_err(carry)
    }

    fn keeps(&self) -> bool {
        true
    }

    fn release(&self, run: Origin) -> bool {
        Python::attach(|_| self.context.get().get().release(run));
        true
    }

    fn has_freed(&self) -> bool {
        Python::attach(|_| self.context.get().get().has_freed())
    }

    fn host(&self) -> Option<&(dyn Any + Send + Sync)> {
        Some(self)
    }

    fn visit_memory(&self, visit: &mut dyn FnMut(&'static str, Array)) {
        let arrays: Vec<Array> = {
            let context = self.context.get().get();
            context.state().kept.iter().flatten().filter_map(|kept| kept.array()).collect()
        };
        arrays.into_iter().for_each(|array| visit("tensors", array));
    }

    fn traits(&self) -> Traits {
        Traits::CALLER_ONLY
    }
}

impl Custom {
    fn backward(&self, py: Python<'_>, gradients: &Gradients) -> PyResult<Gradients> {
        let context = self.context.get().bind(py);
        let arguments = self.arguments(py, gradients)?;
        let class = context.get_type().getattr(intern!(py, "_forward_cls"))?;
        let backward = user_backward(&class)?;
        let answer = if class.getattr(intern!(py, "boxed_grads_call"))?.is_truthy()? {
            backward.call1((context, PyList::new(py, arguments)?))?
        } else {
            let arguments = std::iter::once(context.clone().into_any()).chain(arguments);
            backward.call1(PyTuple::new(py, arguments.collect::<Vec<_>>())?)?
        };
        self.answers(answer)
    }

    fn forward(&self, py: Python<'_>, tangents: &[Option<Tensor>]) -> PyResult<Gradients> {
        let context = self.context.get().bind(py);
        let (inputs, outputs, primals, materialize) = {
            let state = context.get().state();
            (state.inputs.clone(), state.outputs.len(), state.primals.clone(), state.materialize_grads)
        };
        let mut arguments = vec![context.clone().into_any()];
        let mut given = tangents.iter().zip(primals);
        for is_tensor in inputs {
            let tangent = match if is_tensor { given.next() } else { None } {
                Some((Some(tangent), _)) => Some(tangent.clone()),
                Some((None, primal)) if materialize => {
                    Some(create::zeros_like(&primal.detach()).map_err(crate::error::raise)?)
                }
                _ => None,
            };
            arguments.push(tangent.to_python(py)?);
        }
        let jvp = context.get_type().getattr(intern!(py, "_forward_cls"))?.getattr(intern!(py, "jvp"))?;
        let answer = jvp.call1(PyTuple::new(py, arguments)?)?;
        let answers: Vec<Bound<'_, PyAny>> = match answer.cast::<PyTuple>() {
            Ok(tuple) => tuple.iter().collect(),
            Err(_) => vec![answer],
        };
        let place = |position: usize| format!(" for grad output {position}.");
        let found = answers.iter().enumerate().map(|(index, answer)| answered(answer, || place(index)));
        let found = found.collect::<PyResult<Gradients>>()?;
        if found.len() != outputs {
            let got = found.len();
            return Err(PyRuntimeError::new_err(format!(
                "Function's jvp returned an invalid number of forward gradients (expected {outputs} but got {got})"
            )));
        }
        Ok(found)
    }

    /// The gradients as the user's backward sees them.
    fn arguments<'py>(&self, py: Python<'py>, gradients: &Gradients) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let state = self.context.get().get().state();
        let zeros: Vec<_> = match state.materialize_grads {
            true => {
                state.outputs.iter().zip(&state.forms).map(|(is, form)| is.then(|| form.clone())).collect()
            }
            false => Vec::new(),
        };
        drop(state);
        let mut zeros = zeros.into_iter();
        let mut arguments = Vec::with_capacity(gradients.len() + 1);
        for gradient in gradients {
            let form = zeros.next().flatten();
            let gradient = match (gradient, form) {
                (Some(gradient), _) => Some(gradient.clone()),
                (None, Some(form)) => Some(
                    create::zeros(&signed(form.layout.shape()), form.dtype).map_err(crate::error::raise)?,
                ),
                (None, None) => None,
            };
            arguments.push(match gradient {
                Some(gradient) => wrap(py, gradient)?,
                None => py.None().into_bound(py),
            });
        }
        Ok(arguments)
    }

    /// What the user's backward answered, as gradients of the tensors that were given.
    fn answers(&self, answer: Bound<'_, PyAny>) -> PyResult<Gradients> {
        let name = &self.name;
        let inputs = self.context.get().get().state().inputs.clone();
        let answers: Vec<Bound<'_, PyAny>> = match answer.cast::<PyTuple>() {
            Ok(tuple) => tuple.iter().collect(),
            Err(_) => vec![answer],
        };
        let (expected, got) = (inputs.len(), answers.len());
        // More than there are inputs may be answered, if nothing is said of them.
        if got < expected || answers[expected..].iter().any(|answer| !answer.is_none()) {
            return Err(PyRuntimeError::new_err(format!(
                "function {name} returned an incorrect number of gradients (expected {expected}, got {got})"
            )));
        }
        let mut gradients = Gradients::new();
        for (position, (answer, is_tensor)) in (1..).zip(answers.iter().zip(inputs)) {
            if !is_tensor {
                if !answer.is_none() {
                    return Err(PyRuntimeError::new_err(format!(
                        "function {name} returned a gradient different than None at position {position}, but the \
                         corresponding forward input was not a Variable"
                    )));
                }
                continue;
            }
            gradients.push(answered(answer, String::new)?);
        }
        Ok(gradients)
    }
}

/// One derivative that a method of the user answered; `place` says in an error which.
fn answered(answer: &Bound<'_, PyAny>, place: impl Fn() -> String) -> PyResult<Option<Tensor>> {
    match as_tensor(answer) {
        Some(tensor) => Ok(Some(tensor.clone())),
        None if answer.is_none() => Ok(None),
        None => {
            let (found, place) = (answer.get_type().name()?, place());
            Err(PyRuntimeError::new_err(format!("expected Variable or None (got {found}){place}")))
        }
    }
}

/// The one of `backward` and `vjp` that the user has written.
pub(crate) fn user_backward<'py>(class: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let base = function_class(py)?;
    let (backward, vjp) = (class.getattr(intern!(py, "backward"))?, class.getattr(intern!(py, "vjp"))?);
    let written = |method: &Bound<'py, PyAny>, name| Ok::<_, PyErr>(!method.is(&base.getattr(name)?));
    match (written(&backward, intern!(py, "backward"))?, written(&vjp, intern!(py, "vjp"))?) {
        (true, true) => Err(PyRuntimeError::new_err(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only \
             implement one of them.",
        )),
        (_, true) => Ok(vjp),
        (_, false) => Ok(backward),
    }
}
