//! Pairs of functions of Python that pack what nodes save and unpack it again.

use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;

use pyo3::exceptions::{PyRecursionError, PyTypeError};
use pyo3::prelude::*;
use rushlight::dispatch::long_work::HostCodeGuard;
use rushlight::graph::saved::Packed;
use rushlight::graph::{Packer, saved_tensor_hooks};
use rushlight::{Result, Tensor};

use crate::error::{carry, raise};
use crate::tensor::object::{Reference, as_tensor, host, wrap};
use crate::values::classes::type_name;

/// A pair of Python functions.
pub(crate) struct PythonPacker {
    pack: Reference<PyAny>,
    unpack: Reference<PyAny>,
}

impl PythonPacker {
    pub(super) fn new(pack: &Bound<'_, PyAny>, unpack: &Bound<'_, PyAny>) -> PythonPacker {
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
        let _host_code = HostCodeGuard::new();
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
        let _host_code = HostCodeGuard::new();
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
