//! `grad_fn`: the nodes of the graph as Python objects, one for each node, of a class that is named
//! for the operation.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType, PyWeakrefReference};
use rushlight::graph::{At, Edge, Gradients, NodeId, NodeRef, Place, mode};
use rushlight::ops::apply::needed;
use rushlight::tensor::HookHandle;

use crate::anomaly;
use crate::error::raise;
use crate::function::context_in;
use crate::hooks::{PythonHook, RemovableHandle};
use crate::returns::ToPython;
use crate::tensor::object::{as_tensor, deposit, deposited, visit_deposit, withdraw, wrap};

/// What every class of nodes derives from.
#[pyclass(name = "Node", module = "rushlight._rushlight", subclass, weakref, frozen)]
pub(crate) struct GraphNode {
    node: NodeRef,
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
    if let Some(context) = crate::function::context_of(py, node) {
        return Ok(context);
    }
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
    let attributes = PyDict::new(py);
    attributes.set_item("__slots__", PyTuple::empty(py))?;
    // So that they print as they do in torch: by the bare name.
    attributes.set_item("__module__", "builtins")?;
    let made = py.get_type::<PyType>().call1((short(name), (py.get_type::<GraphNode>(),), attributes))?;
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
            Some(Ok(ticket)) => Ok(GraphNode { node: ticket.get().0.clone() }),
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
        next_functions(py, self.node.edges())
    }

    /// The leaf that the node accumulates into.
    #[getter]
    fn variable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.node.leaf() {
            Some(leaf) => wrap(py, leaf),
            None => {
                let name = short(&self.node.name()).to_owned();
                Err(PyAttributeError::new_err(format!("'{name}' object has no attribute 'variable'")))
            }
        }
    }

    /// A dictionary for whatever a user wants to attach. It lives as long as the node.
    #[getter]
    fn metadata(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        metadata(py, &self.node)
    }

    /// The gradients with respect to the inputs from those with respect to the outputs.
    #[pyo3(signature = (*gradients))]
    fn __call__<'py>(&self, gradients: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let py = gradients.py();
        let (expected, got) = (self.node.outputs(), gradients.len());
        if got != expected {
            return Err(PyTypeError::new_err(format!("expected {expected} arguments, got {got} instead")));
        }
        let mut given = Gradients::new();
        for (index, gradient) in gradients.iter().enumerate() {
            given.push(match as_tensor(&gradient) {
                Some(tensor) => Some(tensor.clone()),
                None if gradient.is_none() => None,
                None => return Err(PyTypeError::new_err(format!("argument {index} is not a Variable"))),
            });
        }
        let at =
            At { node: &self.node, needed: needed(self.node.edges()), tracking: mode::is_grad_enabled() };
        let nothing = given.iter().all(Option::is_none);
        let answers = match nothing {
            true => self.node.edges().iter().map(|_| None).collect(),
            false => self.node.rule().vjp(&at, &given).map_err(raise)?,
        };
        let answers = answers.into_iter().map(|answer| answer.to_python(py)).collect::<PyResult<Vec<_>>>()?;
        match answers.as_slice() {
            [one] => Ok(one.clone()),
            several => Ok(PyTuple::new(py, several)?.into_any()),
        }
    }

    /// What the operation has kept, under torch's names: `_saved_self`.
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let rule = self.node.rule();
        let kept = name.strip_prefix("_saved_").and_then(|wanted| {
            rule.saved().into_iter().find(|(known, _)| *known == wanted).map(|(_, saved)| saved)
        });
        match kept {
            Some(saved) => saved.load(&self.node, true).to_python(py),
            None => {
                let class = short(rule.name());
                Err(PyAttributeError::new_err(format!("'{class}' object has no attribute '{name}'")))
            }
        }
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
        register(&self.node, Place::After, r#fn)
    }

    /// Calls `fn(grad_outputs)` before the node runs.
    fn register_prehook(&self, r#fn: &Bound<'_, PyAny>) -> RemovableHandle {
        register(&self.node, Place::Before, r#fn)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // What is attached may lead back here; if others have the node they may lead there too.
        if self.node.count() > 1 {
            return Ok(());
        }
        if let Some(extras) = self.node.extras() {
            visit_deposit(&extras.foreign, &visit)?;
        }
        let mut outcome = Ok(());
        self.node.visit_own_hosts(&mut |host| {
            if outcome.is_ok() {
                outcome = visit.call(context_in(host));
            }
        });
        outcome
    }

    fn __clear__(&self, py: Python<'_>) {
        if let Some(extras) = self.node.extras() {
            withdraw(&extras.foreign, py);
        }
    }
}

/// The last part of a node's name, which its class has.
fn short(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// The objects of the nodes that edges lead to, each with the number of the output.
pub(crate) fn next_functions<'py>(py: Python<'py>, edges: &[Option<Edge>]) -> PyResult<Bound<'py, PyTuple>> {
    let pair = |edge: &Option<Edge>| match edge {
        Some(edge) => Ok((Some(wrap_node(py, &edge.node)?), edge.output)),
        None => Ok((None, 0)),
    };
    PyTuple::new(py, edges.iter().map(pair).collect::<PyResult<Vec<_>>>()?)
}

/// The dictionary that belongs to a node.
pub(crate) fn metadata(py: Python<'_>, node: &NodeRef) -> PyResult<Py<PyAny>> {
    let slot = &node.extras_or_new().foreign;
    if deposited(slot, py).is_none() {
        let metadata = PyDict::new(py);
        anomaly::fill(&metadata, node)?;
        deposit(slot, metadata.into_any().unbind());
    }
    Ok(deposited(slot, py).map_or_else(|| py.None(), |metadata| metadata.clone_ref(py)))
}

/// Puts a callable at a node.
pub(crate) fn register(node: &NodeRef, place: Place, function: &Bound<'_, PyAny>) -> RemovableHandle {
    let id = node.extras_or_new().hooks.add(place, PythonHook::of(function));
    RemovableHandle::new(HookHandle::on_node(node, id))
}
