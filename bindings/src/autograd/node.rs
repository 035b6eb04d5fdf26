//! `grad_fn`: the nodes of the graph as Python objects, one for each node, of a class that is named
//! for the operation.

mod facts;
mod shown;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::{MutexExt, PyOnceLock};
use pyo3::types::{PyDict, PyTuple, PyType, PyWeakrefReference};
use rushlight::engine;
use rushlight::graph::{Gradients, Holding, NodeId, NodeRef, Place, Shown};

use crate::autograd::collector::{Holder, Visitor, visit_held};
use crate::autograd::context::{FunctionBase, context_of};
use crate::autograd::hooks::RemovableHandle;
use crate::error::raise;
use crate::tensor::object::{as_tensor, wrap};
use crate::values::returns::ToPython;

pub(crate) use facts::{
    input_metadata, metadata, next_functions, register, sequence_number, set_sequence_number,
};

/// What every class of nodes derives from.
#[pyclass(name = "_Node", module = "rushlight._rushlight", subclass, weakref, frozen)]
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
    if let Some(context) = context_of(py, node) {
        return Ok(context);
    }
    let objects = OBJECTS.get_or_init(py, Mutex::default);
    let known = locked(py, objects).get(&node.id()).map(|reference| reference.clone_ref(py));
    if let Some(object) = known.and_then(|reference| reference.bind(py).upgrade()) {
        return Ok(object);
    }
    let object = class_of(py, &node.name())?.call1((Ticket(node.clone()),))?;
    let reference = PyWeakrefReference::new(&object)?.unbind();
    let mut objects = locked(py, objects);
    // Another thread may have been here in the meantime.
    let first = objects.get(&node.id()).and_then(|first| first.bind(py).upgrade());
    let before = if first.is_some() { Some(reference) } else { objects.insert(node.id(), reference) };
    drop(objects);
    drop(before);
    Ok(first.unwrap_or(object))
}

/// The node that an object stands for.
pub(crate) fn node_of(object: &Bound<'_, PyAny>) -> Option<NodeRef> {
    if let Ok(context) = object.cast::<FunctionBase>() {
        return Some(FunctionBase::node(context));
    }
    object.cast::<GraphNode>().ok().map(|node| node.get().node.clone())
}

/// The class of the nodes of that name.
fn class_of<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    let classes = CLASSES.get_or_init(py, Mutex::default);
    if let Some(class) = locked(py, classes).get(name) {
        return Ok(class.bind(py).clone());
    }
    let attributes = PyDict::new(py);
    attributes.set_item("__slots__", PyTuple::empty(py))?;
    // So that they print as they do in torch: by the bare name.
    attributes.set_item("__module__", "builtins")?;
    let made = py.get_type::<PyType>().call1((short(name), (py.get_type::<GraphNode>(),), attributes))?;
    let made = made.cast_into::<PyType>()?;
    let class = locked(py, classes).entry(name.to_owned()).or_insert_with(|| made.unbind()).clone_ref(py);
    Ok(class.into_bound(py))
}

/// Waits for a lock as the interpreter wants it: it may stop all threads in the meantime.
fn locked<'a, T>(py: Python<'_>, mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
    mutex.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
}

impl Drop for GraphNode {
    fn drop(&mut self) {
        Python::attach(|py| {
            let Some(objects) = OBJECTS.get(py) else { return };
            let mut objects = locked(py, objects);
            // A later object of the same node may have taken the place. It is let go of outside of the lock,
            // since by then nobody else may have it.
            let later = objects.get(&self.node.id()).and_then(|it| it.bind(py).upgrade());
            let removed = if later.is_none() { objects.remove(&self.node.id()) } else { None };
            drop(objects);
            drop((later, removed));
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
        let edges = self.node.edges();
        let counted = self.node.rule().inputs();
        if counted.is_none() && short(&self.node.name()) == "NotImplemented" {
            // torch knows only what leads somewhere.
            return next_functions(py, edges.iter().filter(|edge| edge.is_some()));
        }
        match counted {
            Some(inputs) => {
                let edge = |input: Option<usize>| input.and_then(|input| edges.get(input)).unwrap_or(&None);
                next_functions(py, inputs.into_iter().map(edge))
            }
            None => next_functions(py, edges),
        }
    }

    /// The leaf that the node accumulates into.
    #[getter]
    fn variable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.node.leaf() {
            Some(leaf) => wrap(py, leaf.clone()),
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
    #[pyo3(signature = (*gradients, **options))]
    fn __call__<'py>(
        &self,
        gradients: &Bound<'py, PyTuple>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if options.is_some_and(|options| !options.is_empty()) {
            return Err(PyTypeError::new_err("keyword arguments are not supported"));
        }
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
        let mut answers = engine::call(&self.node, &given).map_err(raise)?;
        if let Some(inputs) = self.node.rule().inputs() {
            let answer = |input: Option<usize>| input.and_then(|input| answers.get_mut(input)?.take());
            answers = inputs.into_iter().map(answer).collect();
        }
        let answers = answers.into_iter().map(|answer| answer.to_python(py)).collect::<PyResult<Vec<_>>>()?;
        match answers.as_slice() {
            [one] => Ok(one.clone()),
            several => Ok(PyTuple::new(py, several)?.into_any()),
        }
    }

    /// What the operation has kept, and its parameters, under torch's names: `_saved_self`, `_saved_dim`.
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let found = match (name.strip_prefix("_saved_"), name.strip_prefix("_raw_saved_")) {
            (Some(wanted), _) => shown::saved(&self.node, py, wanted)?,
            (_, Some(wanted)) => shown::raw_saved(&self.node, py, wanted)?,
            _ => None,
        };
        found.ok_or_else(|| {
            let class = short(&self.node.name()).to_owned();
            PyAttributeError::new_err(format!("'{class}' object has no attribute '{name}'"))
        })
    }

    /// What can be asked for, what the operation has kept included.
    fn __dir__(slf: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        let mut names: Vec<String> = slf.get_type().dir()?.extract()?;
        let rule = slf.get().node.rule();
        for (name, _) in rule.saved().into_iter().filter(|(name, _)| !name.is_empty()) {
            names.extend([format!("_saved_{name}"), format!("_raw_saved_{name}")]);
        }
        for (name, shown) in rule.shown() {
            names.push(format!("_saved_{name}"));
            if matches!(shown, Shown::NoTensor | Shown::Number(_) | Shown::Computed | Shown::Saved(_)) {
                names.push(format!("_raw_saved_{name}"));
            }
        }
        let leaf = slf.get().node.leaf().is_some();
        names.retain(|name| match name.as_str() {
            "__slots__" | "__module__" => false,
            "variable" => leaf,
            _ => true,
        });
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// Whether a gradient passes the node: always, since it would not exist otherwise.
    #[getter]
    fn requires_grad(&self) -> bool {
        true
    }

    /// The position on the tape.
    fn _sequence_nr(&self) -> u64 {
        sequence_number(&self.node)
    }

    /// Says another position on the tape. Backward goes by the true one.
    fn _set_sequence_nr(&self, number: u64) {
        set_sequence_number(&self.node, number);
    }

    fn __setattr__(slf: &Bound<'_, Self>, name: &str, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(Self::unchangeable(slf, name)?)
    }

    fn __delattr__(slf: &Bound<'_, Self>, name: &str) -> PyResult<()> {
        Err(Self::unchangeable(slf, name)?)
    }

    /// Takes note of the hooks of a tensor that the node made: they are with the node anyway.
    fn _register_hook_dict(&self, tensor: &Bound<'_, PyAny>) -> PyResult<()> {
        match as_tensor(tensor) {
            Some(_) => Ok(()),
            None => Err(PyTypeError::new_err("_register_hook_dict expected a variable")),
        }
    }

    /// What the outputs look like.
    #[getter]
    fn _input_metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        input_metadata(py, &self.node)
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
        visit_held(self, GraphNode::visit_holdings, &visit)
    }
}

/// The last part of a node's name, which its class has.
fn short(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

impl Holder for GraphNode {
    fn visit_holdings(&self, visit: &mut Visitor<'_>) {
        visit(Holding::Node(&self.node));
    }
}

impl GraphNode {
    /// The error for whoever changes an attribute.
    fn unchangeable(slf: &Bound<'_, Self>, name: &str) -> PyResult<PyErr> {
        let class = slf.get_type().name()?;
        let known = Self::__dir__(slf)?.iter().any(|known| known == name);
        Ok(PyAttributeError::new_err(match known {
            true if slf.get_type().getattr(name).is_ok_and(|it| it.is_callable()) => {
                format!("'{class}' object attribute '{name}' is read-only")
            }
            true => format!("attribute '{name}' of '{class}' objects is not writable"),
            false => format!("'{class}' object has no attribute '{name}'"),
        }))
    }
}
