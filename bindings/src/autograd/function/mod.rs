//! Functions that are written in Python, with a backward of their own, as Python sees them: what their context
//! (`autograd/context`) has for attributes. How one is called stands in `apply`.

mod apply;

use pyo3::exceptions::{PyAttributeError, PyDeprecationWarning, PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple, PyType};
use rushlight::dispatch::custom;
use rushlight::graph::Place;

use crate::autograd::collector::{Holder, Visitor, visit_held, visit_host};
use crate::autograd::context::{FunctionBase, Wishes, user_backward};
use crate::autograd::hooks::RemovableHandle;
use crate::autograd::node::{
    input_metadata, metadata, next_functions, register, sequence_number, set_sequence_number,
};
use crate::autograd::saved::SavedTensor;
use crate::tensor::object::as_tensor;
use crate::values::returns::ToPython;

#[pymethods]
impl FunctionBase {
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> Self {
        FunctionBase::empty()
    }

    /// Runs the forward of the class and records it.
    #[classmethod]
    #[pyo3(signature = (*args, **kwargs))]
    fn apply<'py>(
        class: &Bound<'py, PyType>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        apply::apply(class, args, kwargs)
    }

    /// The name of the class.
    fn name(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(slf.get_type().name()?.to_string())
    }

    /// What `save_for_backward` was given.
    #[getter]
    fn saved_tensors<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        Self::unpack(slf)
    }

    /// The objects of what `save_for_backward` was given.
    #[getter]
    fn _raw_saved_tensors<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (freed, count) = {
            let state = slf.get().state();
            (state.freed, state.kept.len())
        };
        if let Some(run) = freed {
            return Err(Self::freed_by(slf, run));
        }
        let raw = (0..count).map(|index| Py::new(slf.py(), SavedTensor::of_context(slf, index)));
        PyTuple::new(slf.py(), raw.collect::<PyResult<Vec<_>>>()?)
    }

    /// What `save_for_backward` was given, under the old name.
    #[getter]
    fn saved_variables<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let text = c"'saved_variables' is deprecated; use 'saved_tensors'";
        PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), text, 0)?;
        Self::unpack(slf)
    }

    /// Lets go of what was kept, if the class asks for that.
    fn maybe_clear_saved_tensors(slf: &Bound<'_, Self>) -> PyResult<()> {
        if Self::option(slf, "clear_saved_tensors_on_access")? {
            slf.get().spend();
        }
        Ok(())
    }

    /// Where the gradients go: a node and the number of its output for every tensor given.
    #[getter]
    fn next_functions<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let edges = slf.get().state().edges.clone();
        next_functions(slf.py(), &edges)
    }

    /// A dictionary for whatever a user wants to attach. It lives as long as the node.
    #[getter]
    fn metadata(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        metadata(slf.py(), &Self::node(slf))
    }

    /// The one of `backward` and `vjp` that the user has written.
    fn _get_user_fn<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        user_backward(&slf.get_type().getattr("_forward_cls")?)
    }

    /// The position on the tape.
    fn _sequence_nr(slf: &Bound<'_, Self>) -> u64 {
        sequence_number(&Self::node(slf))
    }

    /// Says another position on the tape. Backward goes by the true one.
    fn _set_sequence_nr(slf: &Bound<'_, Self>, number: u64) {
        set_sequence_number(&Self::node(slf), number);
    }

    /// What the outputs look like.
    #[getter]
    fn _input_metadata<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let is_running = slf.get().state().forms.is_empty();
        if is_running { Ok(PyTuple::empty(slf.py())) } else { input_metadata(slf.py(), &Self::node(slf)) }
    }

    /// Calls `fn(grad_inputs, grad_outputs)` after the node has run.
    fn register_hook(slf: &Bound<'_, Self>, r#fn: &Bound<'_, PyAny>) -> RemovableHandle {
        register(&Self::node(slf), Place::After, r#fn)
    }

    /// Calls `fn(grad_outputs)` before the node runs.
    fn register_prehook(slf: &Bound<'_, Self>, r#fn: &Bound<'_, PyAny>) -> RemovableHandle {
        register(&Self::node(slf), Place::Before, r#fn)
    }

    /// Takes note of the hooks of a tensor that the node made: they are with the node anyway.
    fn _register_hook_dict(&self, tensor: &Bound<'_, PyAny>) -> PyResult<()> {
        match as_tensor(tensor) {
            Some(_) => Ok(()),
            None => Err(PyRuntimeError::new_err("_register_hook_dict expected a Tensor")),
        }
    }

    /// Whether a gradient passes the node: always, since it would not exist otherwise.
    #[getter]
    fn requires_grad(&self) -> bool {
        true
    }

    /// Which arguments require grad.
    #[getter]
    fn needs_input_grad(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.state().needs_input_grad.as_ref().map(|needs| needs.clone_ref(py))
    }

    #[setter]
    fn set_needs_input_grad(&self, value: &Bound<'_, PyAny>) {
        let before = self.state().needs_input_grad.replace(value.clone().unbind());
        drop(before);
    }

    /// What is to be kept for backward.
    #[getter]
    fn to_save(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.state().wishes.to_save.as_ref().map(|wish| wish.clone_ref(py))
    }

    #[setter]
    fn set_to_save(&self, value: &Bound<'_, PyAny>) {
        self.wish(|wishes| &mut wishes.to_save, value);
    }

    /// What is to be kept for forward mode.
    #[getter]
    fn saved_for_forward(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.state().wishes.saved_for_forward.as_ref().map(|wish| wish.clone_ref(py))
    }

    #[setter]
    fn set_saved_for_forward(&self, value: &Bound<'_, PyAny>) {
        self.wish(|wishes| &mut wishes.saved_for_forward, value);
    }

    /// Which outputs are constant with respect to the inputs.
    #[getter]
    fn non_differentiable(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.state().wishes.non_differentiable.as_ref().map(|wish| wish.clone_ref(py))
    }

    #[setter]
    fn set_non_differentiable(&self, value: &Bound<'_, PyAny>) {
        self.wish(|wishes| &mut wishes.non_differentiable, value);
    }

    /// Which inputs were written to.
    #[getter]
    fn dirty_tensors(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.state().wishes.dirty_tensors.as_ref().map(|wish| wish.clone_ref(py))
    }

    #[setter]
    fn set_dirty_tensors(&self, value: &Bound<'_, PyAny>) {
        self.wish(|wishes| &mut wishes.dirty_tensors, value);
    }

    /// Whether zeros stand for gradients that did not come. It can be set only.
    #[getter]
    fn get_materialize_grads(&self) -> PyResult<()> {
        Err(PyAttributeError::new_err(
            "attribute 'materialize_grads' of 'torch._C._FunctionBase' objects is not readable",
        ))
    }

    #[setter]
    fn set_materialize_grads(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.state().materialize_grads = flag("set_materialize_grads", value)?;
        Ok(())
    }

    /// Whether zeros stand for gradients of results without derivatives too.
    #[getter(_materialize_non_diff_grads)]
    fn get_materialize_non_diff_grads(&self) -> bool {
        self.state().materialize_constants
    }

    #[setter(_materialize_non_diff_grads)]
    fn set_materialize_non_diff_grads(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.state().materialize_constants = flag("set_materialize_non_diff_grads", value)?;
        Ok(())
    }

    fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(format!("cannot pickle '{}' object", slf.get_type().name()?)))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Locked while nobody can be changing it: the collector stops the world.
        let Some(state) = self.try_state() else { return Ok(()) };
        let Wishes { to_save, saved_for_forward, non_differentiable, dirty_tensors } = &state.wishes;
        for object in [to_save, saved_for_forward, non_differentiable, dirty_tensors] {
            visit.call(object)?;
        }
        visit.call(&state.needs_input_grad)?;
        let mut outcome = Ok(());
        state.visit_holdings(&mut |holding| {
            if outcome.is_ok() {
                outcome = visit_host(&holding, &visit);
            }
        });
        outcome?;
        visit_held(self, |_, visit| state.visit_holdings(visit), &visit)
    }

    fn __clear__(&self) {
        let mut state = self.state();
        let cleared = (
            std::mem::take(&mut state.wishes),
            state.needs_input_grad.take(),
            std::mem::take(&mut state.kept),
            std::mem::take(&mut state.primals),
            state.early.take(),
            std::mem::take(&mut state.edges),
        );
        drop(state);
        drop(cleared);
    }
}

impl Holder for FunctionBase {
    fn visit_holdings(&self, visit: &mut Visitor<'_>) {
        if let Some(state) = self.try_state() {
            state.visit_holdings(visit);
        }
    }
}

/// The value of an attribute that is a truth value.
fn flag(setter: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let refusal = || {
        let expected = "received an invalid combination of arguments - got (), but expected (bool)";
        PyTypeError::new_err(format!("{setter} {expected}"))
    };
    Ok(value.cast::<PyBool>().map_err(|_| refusal())?.is_true())
}

/// Make tensors whose differentiation is refused, from the results of a backward that is written for
/// one derivative only.
#[pyfunction]
#[pyo3(name = "_refuse_derivative", signature = (*outputs))]
pub(crate) fn refuse<'py>(outputs: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
    let py = outputs.py();
    let refused = outputs.iter().map(|output| match as_tensor(&output) {
        Some(tensor) => custom::refuse(tensor).to_python(py),
        None if output.is_none() => Ok(output),
        None => {
            let found = output.get_type().name()?;
            Err(PyAttributeError::new_err(format!("'{found}' object has no attribute 'detach'")))
        }
    });
    PyTuple::new(py, refused.collect::<PyResult<Vec<_>>>()?)
}
