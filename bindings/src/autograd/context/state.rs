//! What the context of a function knows and keeps, and how it lets go of it. The state is behind a lock
//! that is never held while Python runs.

use std::sync::{Arc, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rushlight::dispatch::custom;
use rushlight::graph::arena::Strong;
use rushlight::graph::{Edge, Form, Forms, Held, Holding, Node, NodeId, NodeRef, Packer, Place};
use rushlight::origin::Origin;
use rushlight::{Error, Tensor};

use super::FunctionBase;
use super::rule::Custom;
use crate::error::raise;
use crate::tensor::object::{deposit, deposited};
use crate::values::returns::ToPython;

const SPENT: &str = "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on \
    the autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False.";

/// What a context knows.
#[derive(Default)]
pub(crate) struct State {
    /// What the function asked for, as it said it.
    pub(crate) wishes: Wishes,
    pub(crate) needs_input_grad: Option<Py<PyAny>>,
    pub(crate) materialize_grads: bool,
    pub(crate) materialize_constants: bool,
    /// Which arguments were tensors.
    pub(crate) inputs: Vec<bool>,
    /// Of which results zeros stand for gradients that did not come.
    pub(crate) outputs: Vec<bool>,
    /// The arguments while tangents pass them.
    pub(crate) primals: Vec<Tensor>,
    /// Each is shared with whoever is loading it: that may call functions of Python.
    pub(crate) kept: Vec<Option<Arc<Held>>>,
    /// Where the run started that freed what was kept.
    pub(crate) freed: Option<Origin>,
    /// Whether there was anything.
    pub(crate) has_freed: bool,
    /// Whether what was kept was asked for and is let go of at that.
    pub(crate) spent: bool,
    pub(crate) node: Option<NodeId>,
    /// What stands for the node while the function runs, if somebody wanted it then.
    pub(crate) early: Option<NodeRef>,
    /// What the node is made of, for a context that outlives it.
    pub(crate) edges: Vec<Option<Edge>>,
    pub(crate) forms: Vec<Form>,
}

/// The attributes through which a function says what is to become of its tensors.
#[derive(Default)]
pub(crate) struct Wishes {
    pub(crate) to_save: Option<Py<PyAny>>,
    pub(crate) saved_for_forward: Option<Py<PyAny>>,
    pub(crate) non_differentiable: Option<Py<PyAny>>,
    pub(crate) dirty_tensors: Option<Py<PyAny>>,
}

impl State {
    /// Shows what is held of the engine, and what that is of Python.
    pub(crate) fn visit_holdings(&self, visit: &mut dyn FnMut(Holding<'_>)) {
        self.edges.iter().flatten().for_each(|edge| visit(Holding::Node(&edge.node)));
        self.early.iter().for_each(|early| visit(Holding::Node(early)));
        self.primals.iter().for_each(|primal| visit(Holding::Tensor(primal)));
        // Not where it is being loaded: somebody else has it too.
        let kept = self.kept.iter().flatten().filter(|kept| Arc::strong_count(kept) == 1);
        kept.for_each(|kept| kept.visit_holdings(visit));
    }
}

impl FunctionBase {
    /// What the context knows, if nobody is changing it.
    pub(crate) fn try_state(&self) -> Option<MutexGuard<'_, State>> {
        self.state.try_lock().ok()
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes a wish; what it was is dropped when the lock is open again.
    pub(crate) fn wish(
        &self,
        field: impl FnOnce(&mut Wishes) -> &mut Option<Py<PyAny>>,
        value: &Bound<'_, PyAny>,
    ) {
        let value = (!value.is_none()).then(|| value.clone().unbind());
        let before = std::mem::replace(field(&mut self.state().wishes), value);
        drop(before);
    }

    /// The node, made anew if it went while somebody kept the context. While the function runs there is
    /// none yet: what is put at the one that stands for it gets to it by `hand_over`.
    pub(crate) fn node(slf: &Bound<'_, Self>) -> NodeRef {
        let state = slf.get().state();
        if let Some(node) = state.node.and_then(Strong::<Node>::upgrade) {
            return node;
        }
        let mut forms = state.forms.iter().cloned();
        let first = forms.next().unwrap_or_else(custom::no_form);
        let forms = Forms { first, further: forms.collect() };
        let edges = state.edges.iter().cloned().collect();
        let is_early = state.forms.is_empty();
        drop(state);
        let node = Node::record(Custom::new(slf), edges, forms);
        let mut state = slf.get().state();
        state.node = Some(node.id());
        state.early = is_early.then(|| node.clone());
        node
    }

    /// Puts hooks and metadata that the context got while its function ran at the node that was recorded.
    pub(crate) fn hand_over(&self, py: Python<'_>, node: &NodeRef) {
        let early = self.state().early.take();
        if let Some(extras) = early.as_ref().and_then(|early| early.extras()) {
            for place in [Place::Before, Place::After] {
                if let Some(hooks) = extras.hooks.named(place) {
                    node.extras_or_new().hooks.replace(place, Some(hooks));
                }
            }
            if let Some(metadata) = deposited(&extras.foreign, py) {
                deposit(&node.extras_or_new().foreign, metadata.clone_ref(py));
            }
        }
    }

    /// Lets go of what stood for the node while the function ran.
    pub(crate) fn forget_early(&self) {
        let early = self.state().early.take();
        drop(early);
    }

    /// The error for whoever asks for what a run has freed.
    pub(crate) fn freed_by(slf: &Bound<'_, Self>, run: Origin) -> PyErr {
        let node = Self::node(slf);
        raise(Error::BackwardTwice { node: node.name(), recorded: node.origin(), run }.into())
    }

    /// What was kept, as tensors.
    pub(crate) fn unpack<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let (freed, spent, empty) = {
            let state = slf.get().state();
            if let Some(saved) = &state.wishes.saved_for_forward {
                return Ok(saved.bind(py).clone().cast_into()?);
            }
            // What is kept for backward is not there yet while tangents pass.
            (state.freed, state.spent, state.kept.is_empty() || !state.primals.is_empty())
        };
        if spent {
            return Err(PyRuntimeError::new_err(SPENT));
        }
        if let Some(run) = freed {
            return Err(Self::freed_by(slf, run));
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
    pub(crate) fn option(slf: &Bound<'_, Self>, name: &str) -> PyResult<bool> {
        match slf.get_type().getattr("_forward_cls") {
            Ok(class) => class.getattr(name)?.is_truthy(),
            Err(_) => Ok(false),
        }
    }

    /// Whether a run has freed what was kept.
    pub(crate) fn has_freed(&self) -> bool {
        self.state().has_freed
    }

    /// Lets go of what was kept, since it was asked for.
    pub(crate) fn spend(&self) {
        let mut state = self.state();
        let kept = std::mem::take(&mut state.kept);
        state.spent = true;
        drop(state);
        drop(kept);
    }

    /// Lets go of what was kept, since the run that was started there is past it.
    pub(crate) fn release(&self, run: Origin) {
        let mut state = self.state();
        let kept = std::mem::take(&mut state.kept);
        state.freed = Some(run);
        state.has_freed |= !kept.is_empty();
        drop(state);
        drop(kept);
    }
}
