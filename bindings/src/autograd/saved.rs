//! Saved tensors as Python sees them: functions that pack and unpack them, and `SavedTensor`, the
//! object of one of them.

use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;

use pyo3::exceptions::{PyRecursionError, PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rushlight::dispatch::long_work::HostCodeGuard;
use rushlight::graph::saved::Packed;
use rushlight::graph::saved_tensor_hooks::Watcher;
use rushlight::graph::{Holding, NodeRef, Packer, SavedTensor as Saved, Shown, Source, saved_tensor_hooks};
use rushlight::{Error, Result, Tensor};

use crate::autograd::collector::visit_held;
use crate::autograd::function::FunctionBase;
use crate::autograd::node::{calculated, show_calculated, show_saved};
use crate::error::{carry, raise};
use crate::tensor::object::{Reference, as_tensor, host, wrap};
use crate::values::classes::type_name;
use crate::values::returns::ToPython;

/// A pair of Python functions.
pub(crate) struct PythonPacker {
    pack: Reference<PyAny>,
    unpack: Reference<PyAny>,
}

impl PythonPacker {
    fn new(pack: &Bound<'_, PyAny>, unpack: &Bound<'_, PyAny>) -> PythonPacker {
        host();
        let reference = |object: &Bound<'_, PyAny>| Reference::new(object.clone().unbind());
        PythonPacker { pack: reference(pack), unpack: reference(unpack) }
    }
}

thread_local! {
    /// How many functions of this thread are packing, one within the other.
    static PACKING: Cell<u32> = const { Cell::new(0) };
}

/// A function that packs. Its own operations are packed too; the interpreter would stop such a circle after
/// as many calls as it allows, for which the stack may not be large enough.
struct Level;

impl Level {
    const DEEPEST: u32 = 200;

    fn enter() -> PyResult<Level> {
        let depth = PACKING.get();
        if depth == Level::DEEPEST {
            let text = "maximum recursion depth exceeded while calling a Python object";
            return Err(PyRecursionError::new_err(text));
        }
        PACKING.set(depth + 1);
        Ok(Level)
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        PACKING.set(PACKING.get() - 1);
    }
}

impl Packer for PythonPacker {
    fn pack(&self, tensor: &Tensor) -> Result<Box<dyn Packed>> {
        let pack = |py: Python<'_>| {
            let _level = Level::enter()?;
            let packed = self.pack.get().bind(py).call1((wrap(py, tensor.clone())?,))?;
            let unpack = Reference::new(self.unpack.get().clone_ref(py));
            Ok::<_, PyErr>(PythonKept { unpack, packed: Reference::new(packed.unbind()) })
        };
        let _aside = HostCodeGuard::new();
        Ok(Box::new(Python::attach(pack).map_err(carry)?))
    }

    fn host(&self) -> Option<&(dyn Any + Send + Sync)> {
        Some(self)
    }
}

/// What a Python function made of a tensor, and the function that gives the tensor back.
struct PythonKept {
    unpack: Reference<PyAny>,
    packed: Reference<PyAny>,
}

impl PythonKept {
    fn run(&self, py: Python<'_>) -> PyResult<Tensor> {
        let unpacked = self.unpack.get().bind(py).call1((self.packed.get(),))?;
        match as_tensor(&unpacked) {
            Some(tensor) => Ok(tensor.clone()),
            None => {
                let found = type_name(&unpacked);
                Err(PyTypeError::new_err(format!(
                    "Output of saved tensor unpack_hook expected to be a Tensor but got result of type {found}"
                )))
            }
        }
    }
}

impl Packed for PythonKept {
    fn unpack(&self) -> Result<Tensor> {
        let _aside = HostCodeGuard::new();
        Python::attach(|py| self.run(py)).map_err(carry)
    }

    fn host(&self) -> Option<&(dyn Any + Send + Sync)> {
        Some(self)
    }
}

/// The objects behind what stands for a saved tensor, for the collector.
pub(crate) fn packed_in(host: &(dyn Any + Send + Sync)) -> Option<[&Py<PyAny>; 2]> {
    host.downcast_ref::<PythonKept>().map(|kept| [kept.unpack.get(), kept.packed.get()])
}

/// The words for arguments that are no functions; the call is shown as it was.
fn callables(name: &str, pack: &Bound<'_, PyAny>, unpack: &Bound<'_, PyAny>) -> PyResult<()> {
    if pack.is_callable() && unpack.is_callable() {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "{name}(): incompatible function arguments. The following argument types are supported:\n    \
         1. (arg0: collections.abc.Callable, arg1: collections.abc.Callable) -> None\n\n\
         Invoked with: {}, {}",
        pack.repr()?,
        unpack.repr()?
    )))
}

/// Pack what is saved on this thread from now on, until the pair is popped.
#[pyfunction]
#[pyo3(name = "_push_saved_tensors_default_hooks")]
pub(crate) fn push_packer(pack: &Bound<'_, PyAny>, unpack: &Bound<'_, PyAny>) -> PyResult<()> {
    callables("_push_saved_tensors_default_hooks", pack, unpack)?;
    saved_tensor_hooks::push(Arc::new(PythonPacker::new(pack, unpack))).map_err(raise)
}

/// End what the last push began.
#[pyfunction]
#[pyo3(name = "_pop_saved_tensors_default_hooks")]
pub(crate) fn pop_packer() {
    saved_tensor_hooks::pop();
}

/// Return the functions that pack what this thread saves, and unpack it, if there are any.
#[pyfunction]
#[pyo3(name = "_top_saved_tensors_default_hooks")]
pub(crate) fn top_packer(py: Python<'_>) -> Option<(Py<PyAny>, Py<PyAny>)> {
    let packer = saved_tensor_hooks::packer()?;
    let packer = packer.host()?.downcast_ref::<PythonPacker>()?;
    Some((packer.pack.get().clone_ref(py), packer.unpack.get().clone_ref(py)))
}

/// Refuse pairs of hooks on this thread in these words, or allow them again.
#[pyfunction]
#[pyo3(name = "_refuse_saved_tensors_hooks", signature = (message, strict = true))]
pub(crate) fn refuse_packers(message: Option<String>, strict: bool) -> PyResult<()> {
    saved_tensor_hooks::refuse(message, strict).map_err(raise)
}

/// Tell in which words pairs of hooks are refused on this thread.
#[pyfunction]
#[pyo3(name = "_saved_tensors_hooks_get_disabled_error_message")]
pub(crate) fn packers_refusal() -> Option<String> {
    saved_tensor_hooks::refusal()
}

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

    /// Shows what the object holds of the engine.
    pub(crate) fn visit_holdings(&self, visit: &mut dyn FnMut(Holding<'_>)) {
        if let Place::Rule(node, _) | Place::Shown(node, ..) = &self.place {
            visit(Holding::Node(node));
        }
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
        let _aside = HostCodeGuard::new();
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
