//! What is known of every node, be it of an operation or of a user's function: its position on the tape, where
//! its gradients go, what its outputs look like, what users have attached to it.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rushlight::graph::{Edge, Form, NodeRef, Place};
use rushlight::tensor::HookHandle;

use super::{locked, wrap_node};
use crate::autograd::anomaly::lines;
use crate::autograd::hooks::{PythonHook, RemovableHandle};
use crate::tensor::object::{deposit, deposited, host};
use crate::values::device::Device;
use crate::values::dtype::wrap_dtype;

/// The position of a node on the tape, unless somebody has said another one.
pub(crate) fn sequence_number(node: &NodeRef) -> u64 {
    let said = node.extras().map_or(0, |extras| extras.renumbered.load(Ordering::Relaxed));
    match (said, node.leaf()) {
        (1.., _) => said - 1,
        // After everything else, as torch says it: when leaves accumulate is not a matter of the tape.
        (0, Some(_)) => u64::MAX,
        (0, None) => node.seq() - 1,
    }
}

/// Has `sequence_number` say another position.
pub(crate) fn set_sequence_number(node: &NodeRef, number: u64) {
    node.extras_or_new().renumbered.store(number.wrapping_add(1), Ordering::Relaxed);
}

/// The objects of the nodes that edges lead to, each with the number of the output.
pub(crate) fn next_functions<'py, 'a>(
    py: Python<'py>,
    edges: impl IntoIterator<Item = &'a Option<Edge>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let pair = |edge: &Option<Edge>| match edge {
        Some(edge) => Ok((Some(wrap_node(py, &edge.node)?), edge.output)),
        None => Ok((None, 0)),
    };
    PyTuple::new(py, edges.into_iter().map(pair).collect::<PyResult<Vec<_>>>()?)
}

/// What one output of a node looks like.
#[pyclass(name = "_InputMetadata", module = "rushlight._C._autograd", frozen)]
pub(crate) struct InputMetadata(Form);

#[pymethods]
impl InputMetadata {
    /// The size of every dimension.
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.0.layout.shape().to_vec()
    }

    /// The element type.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        wrap_dtype(py, self.0.dtype)
    }

    /// Where the memory lies.
    #[getter]
    fn device(&self) -> Device {
        Device::CPU
    }

    /// Whether tensors of several shapes are held as one.
    #[getter]
    fn is_nested_tensor(&self) -> bool {
        false
    }

    /// The same, for another way of holding them.
    #[getter]
    fn is_cpp_nested_tensor(&self) -> bool {
        false
    }
}

/// What the outputs of a node look like.
pub(crate) fn input_metadata<'py>(py: Python<'py>, node: &NodeRef) -> PyResult<Bound<'py, PyTuple>> {
    let forms =
        (0..node.outputs() as u32).map(|output| Py::new(py, InputMetadata(node.form(output).to_form())));
    PyTuple::new(py, forms.collect::<PyResult<Vec<_>>>()?)
}

/// The dictionary that belongs to a node.
pub(crate) fn metadata(py: Python<'_>, node: &NodeRef) -> PyResult<Py<PyAny>> {
    static MAKING: Mutex<()> = Mutex::new(());
    let slot = &node.extras_or_new().foreign;
    if deposited(slot, py).is_none() {
        host();
        let metadata = PyDict::new(py);
        fill(&metadata, node)?;
        let _making = locked(py, &MAKING);
        // Another thread may have been here in the meantime.
        if deposited(slot, py).is_none() {
            deposit(slot, metadata.into_any().unbind());
        }
    }
    Ok(deposited(slot, py).map_or_else(|| py.None(), |metadata| metadata.clone_ref(py)))
}

/// Puts into a node's metadata what anomaly mode keeps of it, under torch's names.
fn fill(metadata: &Bound<'_, PyDict>, node: &NodeRef) -> PyResult<()> {
    let Some(trace) = node.trace() else { return Ok(()) };
    let py = metadata.py();
    metadata.set_item("traceback_", lines(py, Some(&trace.stack))?)?;
    if let Some(parent) = trace.parent.as_ref().and_then(|parent| NodeRef::upgrade(parent.node)) {
        metadata.set_item("parent_", wrap_node(py, &parent)?)?;
    }
    Ok(())
}

/// Puts a callable at a node.
pub(crate) fn register(node: &NodeRef, place: Place, function: &Bound<'_, PyAny>) -> RemovableHandle {
    let id = node.add_hook(place, PythonHook::of(function));
    RemovableHandle::new(HookHandle::on_node(node, id))
}
