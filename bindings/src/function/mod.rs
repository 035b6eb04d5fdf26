//! Functions that are written in Python, with a backward of their own: `_FunctionBase`, the object
//! that is their context while they run and their node in the graph from then on. How one is
//! called stands in `apply`, how a gradient passes it in `rule`.

mod apply;
mod rule;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyAttributeError, PyDeprecationWarning, PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple, PyType};
use rushlight::graph::arena::Strong;
use rushlight::graph::{Edge, Form, Forms, Held, Holding, Node, NodeId, NodeRef, Packer, Place};
use rushlight::ops::custom;
use rushlight::origin::Origin;
use rushlight::{Error, Tensor};

use crate::collector::{visit_held, visit_host};
use crate::error::raise;
use crate::hooks::RemovableHandle;
use crate::node::{check_hooked, input_metadata, metadata, next_functions, register};
use crate::returns::ToPython;
use crate::saved::SavedTensor;
use crate::tensor::object::as_tensor;
use rule::Custom;

pub(crate) use rule::{context_in, context_of};

const SPENT: &str = "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on \
    the autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False.";

/// The context of a function of Python.
#[pyclass(name = "_FunctionBase", module = "rushlight._rushlight", subclass, frozen)]
pub(crate) struct FunctionBase {
    state: Mutex<State>,
}

/// What a context knows.
struct State {
    /// What the function asked for, as it said it.
    wishes: Wishes,
    needs_input_grad: Option<Py<PyAny>>,
    materialize_grads: bool,
    /// Which arguments were tensors, and which results.
    inputs: Vec<bool>,
    outputs: Vec<bool>,
    /// The arguments while tangents pass them.
    primals: Vec<Tensor>,
    /// Each is shared with whoever is loading it: that may call functions of Python.
    kept: Vec<Option<Arc<Held>>>,
    /// Where the run started that freed what was kept.
    freed: Option<Origin>,
    /// Whether what was kept was asked for and is let go of at that.
    spent: bool,
    node: Option<NodeId>,
    /// What the node is made of, for a context that outlives it.
    edges: Vec<Option<Edge>>,
    forms: Vec<Form>,
}

/// The attributes through which a function says what is to become of its tensors.
#[derive(Default)]
struct Wishes {
    to_save: Option<Py<PyAny>>,
    saved_for_forward: Option<Py<PyAny>>,
    non_differentiable: Option<Py<PyAny>>,
    dirty_tensors: Option<Py<PyAny>>,
}

impl State {
    /// Shows what is held of the engine, and what that is of Python.
    fn visit_holdings(&self, visit: &mut dyn FnMut(Holding<'_>)) {
        self.edges.iter().flatten().for_each(|edge| visit(Holding::Node(&edge.node)));
        self.primals.iter().for_each(|primal| visit(Holding::Tensor(primal)));
        // Not where it is being loaded: somebody else has it too.
        let kept = self.kept.iter().flatten().filter(|kept| Arc::strong_count(kept) == 1);
        kept.for_each(|kept| kept.visit_holdings(visit));
    }
}

impl FunctionBase {
    /// Shows what the context holds of the engine.
    pub(crate) fn visit_holdings(&self, visit: &mut dyn FnMut(Holding<'_>)) {
        if let Ok(state) = self.state.try_lock() {
            state.visit_holdings(visit);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes a wish; what it was is dropped when the lock is open again.
    fn wish(&self, field: impl FnOnce(&mut Wishes) -> &mut Option<Py<PyAny>>, value: &Bound<'_, PyAny>) {
        let value = (!value.is_none()).then(|| value.clone().unbind());
        let before = std::mem::replace(field(&mut self.state().wishes), value);
        drop(before);
    }

    /// The node, made anew if it went while somebody kept the context.
    pub(crate) fn node(slf: &Bound<'_, Self>) -> NodeRef {
        let state = slf.get().state();
        if let Some(node) = state.node.and_then(Strong::<Node>::upgrade) {
            return node;
        }
        let mut forms = state.forms.iter().cloned();
        let first = forms.next().unwrap_or_else(custom::no_form);
        let forms = Forms { first, further: forms.collect() };
        let edges = state.edges.iter().cloned().collect();
        drop(state);
        let node = Node::record(Custom::new(slf), edges, forms);
        slf.get().state().node = Some(node.id());
        node
    }

    /// What was kept, as tensors.
    fn unpack<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let (freed, spent, empty) = {
            let state = slf.get().state();
            if let Some(saved) = &state.wishes.saved_for_forward {
                return Ok(saved.bind(py).clone().cast_into()?);
            }
            (state.freed, state.spent, state.kept.is_empty())
        };
        if spent {
            return Err(PyRuntimeError::new_err(SPENT));
        }
        if let Some(run) = freed {
            let node = Self::node(slf);
            return Err(raise(
                Error::BackwardTwice { node: node.name(), recorded: node.origin(), run }.into(),
            ));
        }
        if empty {
            return Ok(PyTuple::empty(py));
        }
        let node = Self::node(slf);
        let load = |kept: &Option<Arc<Held>>| kept.as_ref().map(|kept| kept.load(&node)).transpose();
        let kept = slf.get().state().kept.clone();
        let loaded: rushlight::Result<Vec<Option<Tensor>>> = kept.iter().map(load).collect();
        drop(kept);
        let loaded = loaded.map_err(raise)?.into_iter().map(|tensor| tensor.to_python(py));
        let loaded = PyTuple::new(py, loaded.collect::<PyResult<Vec<_>>>()?)?;
        if Self::option(slf, "clear_saved_tensors_on_access")? {
            slf.get().spend();
        }
        Ok(loaded)
    }

    /// One of the tensors that were kept, or `None`.
    pub(crate) fn held<'py>(slf: &Bound<'py, Self>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let node = Self::node(slf);
        let held = slf.get().state().kept.get(index).cloned().flatten();
        held.map(|held| held.load(&node)).transpose().map_err(raise)?.to_python(slf.py())
    }

    /// Packs one of the tensors that were kept. The state is not locked meanwhile: the packer is the user's.
    pub(crate) fn pack(slf: &Bound<'_, Self>, index: usize, packer: &dyn Packer) -> PyResult<()> {
        let held = {
            let state = slf.get().state();
            if state.freed.is_some() {
                return Err(raise(Error::PackingFreed {}.into()));
            }
            state.kept.get(index).cloned().flatten()
        };
        let packed = match held {
            Some(held) => held.packed(packer).map_err(raise)?,
            None => return Err(raise(Error::PackedNothing {}.into())),
        };
        let mut state = slf.get().state();
        let before = state.kept.get_mut(index).and_then(|slot| slot.replace(Arc::new(packed)));
        drop(state);
        drop(before);
        Ok(())
    }

    /// A switch of the class that the user wrote.
    fn option(slf: &Bound<'_, Self>, name: &str) -> PyResult<bool> {
        match slf.get_type().getattr("_forward_cls") {
            Ok(class) => class.getattr(name)?.is_truthy(),
            Err(_) => Ok(false),
        }
    }

    /// Lets go of what was kept, since it was asked for.
    fn spend(&self) {
        let mut state = self.state();
        let kept = std::mem::take(&mut state.kept);
        state.spent = true;
        drop(state);
        drop(kept);
    }

    /// Lets go of what was kept, since the run that was started there is past it.
    fn release(&self, run: Origin) {
        let mut state = self.state();
        let kept = std::mem::take(&mut state.kept);
        state.freed = Some(run);
        drop(state);
        drop(kept);
    }
}

#[pymethods]
impl FunctionBase {
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> Self {
        let state = State {
            wishes: Wishes::default(),
            needs_input_grad: None,
            materialize_grads: true,
            inputs: Vec::new(),
            outputs: Vec::new(),
            primals: Vec::new(),
            kept: Vec::new(),
            freed: None,
            spent: false,
            node: None,
            edges: Vec::new(),
            forms: Vec::new(),
        };
        FunctionBase { state: Mutex::new(state) }
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
            let node = Self::node(slf);
            return Err(raise(
                Error::BackwardTwice { node: node.name(), recorded: node.origin(), run }.into(),
            ));
        }
        let raw = (0..count).map(|index| Py::new(slf.py(), SavedTensor::of_context(slf, index)));
        PyTuple::new(slf.py(), raw.collect::<PyResult<Vec<_>>>()?)
    }

    /// The same, under its old name.
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

    /// The position on the tape.
    fn _sequence_nr(slf: &Bound<'_, Self>) -> u64 {
        Self::node(slf).seq()
    }

    /// What the outputs look like.
    #[getter]
    fn _input_metadata<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        input_metadata(slf.py(), &Self::node(slf))
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
        check_hooked(tensor)
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
        let Ok(value) = value.cast::<PyBool>() else {
            return Err(PyTypeError::new_err(
                "set_materialize_grads received an invalid combination of arguments - got (), but expected (bool)",
            ));
        };
        self.state().materialize_grads = value.is_true();
        Ok(())
    }

    fn __reduce_ex__(slf: &Bound<'_, Self>, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(format!("cannot pickle '{}' object", slf.get_type().name()?)))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // Locked while nobody can be changing it: the collector stops the world.
        let Ok(state) = self.state.try_lock() else { return Ok(()) };
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
            std::mem::take(&mut state.edges),
        );
        drop(state);
        drop(cleared);
    }
}

/// Make tensors whose differentiation is refused, from the results of a backward that is written for
/// one derivative only.
#[pyfunction]
#[pyo3(name = "_refuse_derivative", signature = (*outputs))]
pub(crate) fn refuse<'py>(outputs: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
    let py = outputs.py();
    let refused = outputs.iter().map(|output| match as_tensor(&output) {
        Some(tensor) => custom::refuse(tensor).to_python(py),
        None => Ok(output),
    });
    PyTuple::new(py, refused.collect::<PyResult<Vec<_>>>()?)
}
