//! Saved tensors as Python sees them: what a node shows of one, and `SavedTensor`, the object of one.

use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rushlight::dispatch::long_work::HostCodeGuard;
use rushlight::graph::mode::GradModeGuard;
use rushlight::graph::saved::Packed;
use rushlight::graph::saved_tensor_hooks::Watcher;
use rushlight::graph::{At, Holding, NodeRef, SavedTensor as Saved, Shown, Source, saved_tensor_hooks};
use rushlight::ops::creation::{cast, create};
use rushlight::{Error, Result, Tensor};

use crate::autograd::collector::{Holder, Visitor, visit_held};
use crate::autograd::context::FunctionBase;
use crate::autograd::packing::{PythonPacker, packed_in};
use crate::error::{carry, raise};
use crate::tensor::object::{Reference, as_tensor, wrap};
use crate::values::returns::ToPython;

/// One tensor that a node has saved.
#[pyclass(name = "SavedTensor", module = "rushlight._C._autograd", frozen)]
pub(crate) struct SavedTensor {
    place: Place,
}

/// Where it is.
enum Place {
    /// In the rule of a node, at that place; `None` where the operation did not need it.
    Rule(NodeRef, Option<usize>),
    /// What a rule shows under that name without keeping it.
    Shown(NodeRef, &'static str, Shown),
    /// In the context of a function of Python, at that place.
    Context(Py<FunctionBase>, usize),
}

impl SavedTensor {
    /// The saved tensor of a rule.
    pub(crate) fn of_rule(node: &NodeRef, index: Option<usize>) -> SavedTensor {
        SavedTensor { place: Place::Rule(node.clone(), index) }
    }

    /// What a rule shows under that name without keeping it.
    pub(crate) fn of_shown(node: &NodeRef, name: &'static str, shown: Shown) -> SavedTensor {
        SavedTensor { place: Place::Shown(node.clone(), name, shown) }
    }

    /// Calls `look` with what the host has packed instead of the tensor, if it has.
    fn with_packed<R>(&self, look: impl FnOnce([&Py<PyAny>; 2]) -> R) -> Option<R> {
        let kept = |saved: &Saved, look| saved.kept().and_then(Packed::host).and_then(packed_in).map(look);
        match &self.place {
            Place::Rule(node, Some(index)) => {
                node.rule().saved().get(*index).and_then(|(_, saved)| kept(saved, look))
            }
            Place::Shown(node, name, _) => {
                let packed = node.packed();
                packed.iter().find(|(packed, _)| packed == name).and_then(|(_, saved)| kept(saved, look))
            }
            Place::Rule(_, None) | Place::Context(..) => None,
        }
    }

    /// The saved tensor of a context.
    pub(crate) fn of_context(context: &Bound<'_, FunctionBase>, index: usize) -> SavedTensor {
        SavedTensor { place: Place::Context(context.clone().unbind(), index) }
    }
}

impl Holder for SavedTensor {
    fn visit_holdings(&self, visit: &mut Visitor<'_>) {
        if let Place::Rule(node, _) | Place::Shown(node, ..) = &self.place {
            visit(Holding::Node(node));
        }
    }
}

#[pymethods]
impl SavedTensor {
    #[new]
    #[pyo3(signature = (*_arguments))]
    fn new(_arguments: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let text = "Trying to create a SavedTensor object from Python is forbidden.";
        Err(PyRuntimeError::new_err(text))
    }

    /// Lets `pack_hook` make something of the tensor, and `unpack_hook` the tensor of that again.
    #[pyo3(signature = (*hooks), text_signature = "($self, pack_hook, unpack_hook)")]
    fn register_hooks(slf: &Bound<'_, Self>, hooks: &Bound<'_, PyTuple>) -> PyResult<()> {
        if hooks.len() != 2 || !hooks.iter().all(|hook| hook.is_callable()) {
            let mut invoked = slf.repr()?.to_string();
            for hook in hooks {
                invoked += &format!(", {}", hook.repr()?);
            }
            return Err(PyTypeError::new_err(format!(
                "register_hooks(): incompatible function arguments. The following argument types are supported:\n    \
                 1. (self: torch._C._autograd.SavedTensor, arg0: collections.abc.Callable, arg1: \
                 collections.abc.Callable) -> None\n\nInvoked with: {invoked}"
            )));
        }
        let packer = PythonPacker::new(&hooks.get_item(0)?, &hooks.get_item(1)?);
        match &slf.get().place {
            Place::Rule(_, None) => Err(raise(Error::PackedNothing {}.into())),
            Place::Rule(node, Some(index)) => {
                saved_tensor_hooks::pack_one(node, *index, &packer).map_err(raise)
            }
            Place::Shown(node, ..) if node.is_released() => Err(raise(Error::PackingFreed {}.into())),
            Place::Shown(node, name, shown) => {
                let tensor = calculated(node, name, shown).map_err(raise)?;
                let source = if let Shown::Computed = shown { Source::Output(0) } else { Source::Constant };
                saved_tensor_hooks::pack_shown(node, name, &tensor.detach(), source, &packer).map_err(raise)
            }
            Place::Context(context, index) => FunctionBase::pack(context.bind(slf.py()), *index, &packer),
        }
    }

    /// The tensor as backward sees it, or `None` if there is none.
    fn unpack<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.place {
            Place::Rule(_, None) => Ok(py.None().into_bound(py)),
            Place::Rule(node, Some(index)) => match node.rule().saved().get(*index) {
                Some((_, saved)) if is_output(saved) => Err(raise(Error::SavedDetached {}.into())),
                Some((_, saved)) => show_saved(saved, node).to_python(py),
                None => Ok(py.None().into_bound(py)),
            },
            Place::Shown(node, _, Shown::Computed) if !node.is_released() => {
                Err(raise(Error::SavedDetached {}.into()))
            }
            Place::Shown(node, name, shown) => show_calculated(node, name, shown).to_python(py),
            Place::Context(context, index) => FunctionBase::held(context.bind(py), *index),
        }
    }

    /// What is kept of the tensor, or `None` if nothing is: what the hook has made of it, if there is one.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(packed) = self.with_packed(|[_, packed]| packed.clone_ref(py)) {
            return Ok(packed.into_bound(py));
        }
        match &self.place {
            Place::Rule(node, Some(index)) => {
                let rule = node.rule();
                let saved = rule.saved();
                let saved = saved.get(*index).map(|(_, saved)| saved);
                if let Some(saved) = saved.filter(|saved| saved.is_former() && !saved.is_freed()) {
                    return show_saved(saved, node).to_python(py);
                }
                saved
                    .and_then(|saved| saved.data(node))
                    .map_or_else(|| ().to_python(py), |it| it.to_python(py))
            }
            Place::Shown(node, name, shown) if !node.is_released() => {
                calculated(node, name, shown).map(|tensor| tensor.detach()).to_python(py)
            }
            Place::Rule(_, None) | Place::Shown(..) => Ok(py.None().into_bound(py)),
            Place::Context(..) => self.unpack(py),
        }
    }

    /// The function that makes the tensor of what was packed.
    #[getter]
    fn unpack_hook(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.with_packed(|[unpack, _]| unpack.clone_ref(py))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        match &self.place {
            Place::Context(context, _) => visit.call(context),
            Place::Rule(..) | Place::Shown(..) => visit_held(self, SavedTensor::visit_holdings, &visit),
        }
    }
}

/// A tensor that a node has saved. What an operation has overwritten was cloned before, as torch tells it.
pub(super) fn show_saved(saved: &Saved, node: &NodeRef) -> Result<Tensor> {
    if let Some(tensor) = saved.forgotten(node) {
        return Ok(tensor);
    }
    let tensor = saved.load(node, true)?;
    if !saved.is_former() || saved.is_packed() {
        return Ok(tensor);
    }
    let _host_code = HostCodeGuard::new();
    let _on = GradModeGuard::new(true);
    cast::clone(&tensor)
}

/// A tensor that a node shows without having saved it. Backward frees it like others.
pub(super) fn show_calculated(node: &NodeRef, name: &str, shown: &Shown) -> Result<Tensor> {
    if node.is_released() {
        return Err(node.freed());
    }
    match node.packed().iter().find(|(packed, _)| *packed == name) {
        Some((_, saved)) => saved.load(node, true),
        None => calculated(node, name, shown),
    }
}

/// The tensor that `show_calculated` shows if nobody has packed it.
pub(super) fn calculated(node: &NodeRef, name: &str, shown: &Shown) -> Result<Tensor> {
    match *shown {
        Shown::Number(value) => create::alone(value),
        _ => node.rule().compute(name, &At { node, needed: 0, tracking: false, seen: false }),
    }
}

/// Whether it is an output that is not freed: its history is that of the node, which has to be there.
fn is_output(saved: &Saved) -> bool {
    matches!(saved.source(), Source::Output(_)) && !saved.is_freed()
}

/// Count one more write to every tensor.
#[pyfunction]
#[pyo3(name = "_increment_version")]
pub(crate) fn increment_version(tensors: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(tensors) = tensors.try_iter() else {
        return Err(PyRuntimeError::new_err("increment_version expect a Iterable[Tensor] as input"));
    };
    for tensor in tensors {
        let tensor = tensor?;
        let Some(tensor) = as_tensor(&tensor) else {
            let text = "increment_version expects each element of the iterable to be a tensor";
            return Err(PyRuntimeError::new_err(text));
        };
        // What is made in inference mode has no count.
        if !tensor.is_inference() {
            tensor.bump_version().map_err(raise)?;
        }
    }
    Ok(())
}

/// Put the count of writes of every tensor back to what it was.
#[pyfunction]
#[pyo3(name = "_unsafe_set_version_counter")]
pub(crate) fn set_version(tensors: Vec<Bound<'_, PyAny>>, versions: Vec<i64>) -> PyResult<()> {
    for (tensor, version) in tensors.iter().zip(versions) {
        let (Some(tensor), Ok(version)) = (as_tensor(tensor), u32::try_from(version)) else {
            return Err(PyRuntimeError::new_err("expected tensors and versions that are not negative"));
        };
        if !tensor.is_counted() {
            return Err(PyRuntimeError::new_err(
                "Tried to call torch.autograd._unsafe_set_version() on a tensor that does not have a version counter. \
                 Was it created in inference mode?",
            ));
        }
        tensor.set_version(version);
    }
    Ok(())
}

/// A Python function that is told of writes.
struct PythonWatcher(Reference<PyAny>);

impl Watcher for PythonWatcher {
    fn before_write(&self, tensor: &Tensor) -> Result<()> {
        let tell = |py: Python<'_>| self.0.get().bind(py).call1((wrap(py, tensor.clone())?,)).map(drop);
        let _host_code = HostCodeGuard::new();
        Python::attach(tell).map_err(carry)
    }
}

/// Call `function(tensor)` before every write in place on this thread, or stop that.
#[pyfunction]
#[pyo3(name = "_watch_writes")]
pub(crate) fn watch_writes(function: Option<Py<PyAny>>) {
    saved_tensor_hooks::watch(
        function.map(|function| Arc::new(PythonWatcher(Reference::new(function))) as Arc<dyn Watcher>),
    );
}
