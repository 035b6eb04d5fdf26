//! `grad_fn`: the nodes of the graph as Python objects, one for each node, of a class that is named
//! for the operation.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType, PyWeakrefReference};
use rushlight::graph::{NodeId, NodeRef, Place};
use rushlight::tensor::HookHandle;

use crate::hooks::{PythonHook, RemovableHandle};
use crate::tensor::object::wrap;

/// What every class of nodes derives from.
#[pyclass(name = "Node", module = "rushlight._rushlight", subclass, weakref, frozen)]
pub(crate) struct GraphNode {
    node: NodeRef,
    metadata: PyOnceLock<Py<PyDict>>,
}

/// Carries a node into the constructor, which users cannot call for want of one of these.
#[pyclass(module = "rushlight._rushlight", frozen)]
struct Ticket(NodeRef);

/// The objects of nodes, while there are any. A weak reference is asked rather than a pointer kept:
/// the interpreter knows best whether an object is still alive.
static OBJECTS: PyOnceLock<Mutex<HashMap<NodeId, Py<PyWeakrefReference>>>> = PyOnceLock::new();

/// The classes by name.
static CLASSES: PyOnceLock<Mutex<HashMap<String, Py<PyType>>>> = PyOnceLock::new();

/// The object of a node: the one that exists, or a new one.
pub(crate) fn wrap_node<'py>(py: Python<'py>, node: &NodeRef) -> PyResult<Bound<'py, PyAny>> {
    let objects = OBJECTS.get_or_init(py, Mutex::default);
    let known = locked(objects).get(&node.id()).map(|reference| reference.clone_ref(py));
    if let Some(object) = known.and_then(|reference| reference.bind(py).upgrade()) {
        return Ok(object);
    }
    let object = class_of(py, &node.name())?.call1((Ticket(node.clone()),))?;
    let reference = PyWeakrefReference::new(&object)?.unbind();
    let before = locked(objects).insert(node.id(), reference);
    drop(before);
    Ok(object)
}

/// The class of the nodes of that name.
fn class_of<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    let classes = CLASSES.get_or_init(py, Mutex::default);
    if let Some(class) = locked(classes).get(name) {
        return Ok(class.bind(py).clone());
    }
    let short = name.rsplit("::").next().unwrap_or(name);
    let attributes = PyDict::new(py);
    attributes.set_item("__slots__", PyTuple::empty(py))?;
    // So that they print as they do in torch: by the bare name.
    attributes.set_item("__module__", "builtins")?;
    let made = py.get_type::<PyType>().call1((short, (py.get_type::<GraphNode>(),), attributes))?;
    let made = made.cast_into::<PyType>()?;
    locked(classes).insert(name.to_owned(), made.clone().unbind());
    Ok(made)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for GraphNode {
    fn drop(&mut self) {
        Python::attach(|py| {
            let Some(objects) = OBJECTS.get(py) else { return };
            let mut objects = locked(objects);
            // A later object of the same node may have taken the place.
            let dead = objects.get(&self.node.id()).is_some_and(|it| it.bind(py).upgrade().is_none());
            let removed = if dead { objects.remove(&self.node.id()) } else { None };
            drop(objects);
            drop(removed);
        });
    }
}

#[pymethods]
impl GraphNode {
    #[new]
    #[classmethod]
    #[pyo3(signature = (ticket = None))]
    fn new(class: &Bound<'_, PyType>, ticket: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        match ticket.map(|ticket| ticket.cast::<Ticket>()) {
            Some(Ok(ticket)) => Ok(GraphNode { node: ticket.get().0.clone(), metadata: PyOnceLock::new() }),
            _ => Err(PyTypeError::new_err(format!("cannot create '{}' instances", class.name()?))),
        }
    }

    /// The name of the operation.
    fn name(&self) -> String {
        self.node.name()
    }

    /// Where the gradients go: a node and the number of its output for every input.
    #[getter]
    fn next_functions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut edges = Vec::with_capacity(self.node.edges().len());
        for edge in self.node.edges() {
            edges.push(match edge {
                Some(edge) => (Some(wrap_node(py, &edge.node)?), edge.output),
                None => (None, 0),
            });
        }
        PyTuple::new(py, edges)
    }

    /// The leaf that the node accumulates into.
    #[getter]
    fn variable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.node.leaf() {
            Some(leaf) => wrap(py, leaf),
            None => {
                let name = self.node.name();
                Err(PyAttributeError::new_err(format!("'{name}' object has no attribute 'variable'")))
            }
        }
    }

    /// A dictionary for whatever a user wants to attach.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.metadata.get_or_init(py, || PyDict::new(py).unbind()).bind(py).clone()
    }

    /// Whether a gradient passes the node: always, since it would not exist otherwise.
    #[getter]
    fn requires_grad(&self) -> bool {
        true
    }

    /// The position on the tape.
    fn _sequence_nr(&self) -> u64 {
        self.node.seq()
    }

    /// Calls `fn(grad_inputs, grad_outputs)` after the node has run.
    fn register_hook(&self, r#fn: &Bound<'_, PyAny>) -> RemovableHandle {
        self.register(Place::After, r#fn)
    }

    /// Calls `fn(grad_outputs)` before the node runs.
    fn register_prehook(&self, r#fn: &Bound<'_, PyAny>) -> RemovableHandle {
        self.register(Place::Before, r#fn)
    }
}

impl GraphNode {
    fn register(&self, place: Place, function: &Bound<'_, PyAny>) -> RemovableHandle {
        let id = self.node.extras_or_new().hooks.add(place, PythonHook::of(function));
        RemovableHandle::new(HookHandle::on_node(&self.node, id))
    }
}
