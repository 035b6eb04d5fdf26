//! `grad_fn`: the nodes of the graph as Python objects, one for each node, of a class that is named
//! for the operation.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::{MutexExt, PyOnceLock};
use pyo3::types::{PyDict, PyTuple, PyType, PyWeakrefReference};
use rushlight::dtype::{DType, Scalar};
use rushlight::graph::mode::GradModeGuard;
use rushlight::graph::{At, Edge, Form, Gradients, Holding, NodeId, NodeRef, Place, Shown};
use rushlight::ops::watch::Aside;
use rushlight::tensor::HookHandle;
use rushlight::{Tensor, engine, ops};

use crate::anomaly;
use crate::collector::{self, visit_held};
use crate::device::Device;
use crate::dtype::wrap_dtype;
use crate::error::raise;
use crate::function::FunctionBase;
use crate::hooks::{PythonHook, RemovableHandle};
use crate::returns::ToPython;
use crate::saved::SavedTensor;
use crate::tensor::object::{as_tensor, deposit, deposited, withdraw, wrap};

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
    if let Some(context) = crate::function::context_of(py, node) {
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
        let edges = self.node.edges();
        if short(&self.node.name()) == "NotImplemented" {
            // torch knows only what leads somewhere.
            return next_functions(py, edges.iter().filter(|edge| edge.is_some()));
        }
        match self.node.rule().inputs() {
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
            (Some(wanted), _) => self.saved(py, wanted)?,
            (_, Some(wanted)) => self.raw_saved(py, wanted)?,
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

impl GraphNode {
    /// Shows what the object holds.
    pub(crate) fn visit_holdings(&self, visit: &mut dyn FnMut(Holding<'_>)) {
        visit(Holding::Node(&self.node));
    }

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

    /// A parameter of the operation or a tensor that it kept.
    fn saved<'py>(&self, py: Python<'py>, wanted: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let rule = self.node.rule();
        let saved = rule.saved();
        if let Some((_, shown)) = rule.shown().into_iter().find(|(name, _)| *name == wanted) {
            return self.show(py, wanted, shown, &saved).map(Some);
        }
        let found = saved.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, saved)| show_saved(saved, &self.node).to_python(py)).transpose()
    }

    fn show<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        shown: Shown,
        saved: &[(&'static str, &rushlight::graph::SavedTensor)],
    ) -> PyResult<Bound<'py, PyAny>> {
        match shown {
            Shown::Nothing | Shown::NoTensor => ().to_python(py),
            Shown::Bool(value) => value.to_python(py),
            // torch shows counts without a sign.
            Shown::Int(value) => Ok((value as u64).into_pyobject(py)?.into_any()),
            Shown::Whole(value) => value.to_python(py),
            Shown::Float(value) => value.to_python(py),
            Shown::Complex(value) => Scalar::Complex(value).to_python(py),
            Shown::Text(value) => value.to_python(py),
            Shown::Ints(values) => Ok(PyTuple::new(py, values.iter().map(|&value| value as u64))?.into_any()),
            Shown::Saved(_) if self.node.is_released() => Err(raise(self.node.freed())),
            Shown::Number(_) | Shown::Computed => show_calculated(&self.node, name, &shown).to_python(py),
            Shown::Saved(places) => {
                let load = |place: Option<usize>| match place {
                    Some(place) => show_saved(saved[place].1, &self.node).to_python(py),
                    None => ().to_python(py),
                };
                let loaded = places.into_iter().map(load).collect::<PyResult<Vec<_>>>()?;
                Ok(PyTuple::new(py, loaded)?.into_any())
            }
        }
    }

    /// The object of a tensor that the operation kept, or could have kept.
    fn raw_saved<'py>(&self, py: Python<'py>, wanted: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let rule = self.node.rule();
        let object = |place: Option<usize>| {
            SavedTensor::of_rule(&self.node, place).into_pyobject(py).map(Bound::into_any)
        };
        match rule.shown().into_iter().find(|(name, _)| *name == wanted) {
            Some((_, Shown::NoTensor)) => object(None).map(Some),
            Some((name, shown @ (Shown::Number(_) | Shown::Computed))) => {
                let object = SavedTensor::of_shown(&self.node, name, shown).into_pyobject(py)?;
                Ok(Some(object.into_any()))
            }
            Some((_, Shown::Saved(_))) if self.node.is_released() => Err(raise(self.node.freed())),
            Some((_, Shown::Saved(places))) => {
                let objects = places.into_iter().map(object);
                Ok(Some(PyTuple::new(py, objects.collect::<PyResult<Vec<_>>>()?)?.into_any()))
            }
            _ => {
                let place = rule.saved().iter().position(|(name, _)| *name == wanted);
                place.map(|place| object(Some(place))).transpose()
            }
        }
    }
}

/// A tensor that a node has saved. What an operation has overwritten was cloned before, as torch tells it.
pub(crate) fn show_saved(saved: &rushlight::graph::SavedTensor, node: &NodeRef) -> rushlight::Result<Tensor> {
    if let Some(tensor) = saved.forgotten(node) {
        return Ok(tensor);
    }
    let tensor = saved.load(node, true)?;
    if !saved.is_former() || saved.is_packed() {
        return Ok(tensor);
    }
    let _aside = Aside::new();
    let _on = GradModeGuard::new(true);
    ops::cast::clone(&tensor)
}

/// A tensor that a node shows without having saved it. Backward frees it like others.
pub(crate) fn show_calculated(node: &NodeRef, name: &str, shown: &Shown) -> rushlight::Result<Tensor> {
    if node.is_released() {
        return Err(node.freed());
    }
    match node.packed().iter().find(|(packed, _)| *packed == name) {
        Some((_, saved)) => saved.load(node, true),
        None => calculated(node, name, shown),
    }
}

/// The tensor that `show_calculated` shows if nobody has packed it.
pub(crate) fn calculated(node: &NodeRef, name: &str, shown: &Shown) -> rushlight::Result<Tensor> {
    match *shown {
        Shown::Number(value) => alone(value),
        _ => node.rule().compute(name, &At { node, needed: 0, tracking: false }),
    }
}

/// A number as a tensor of the widest type of its kind.
pub(crate) fn alone(value: Scalar) -> rushlight::Result<Tensor> {
    let dtype = match value {
        Scalar::Bool(_) => DType::Bool,
        Scalar::Int(_) => DType::Int64,
        Scalar::Float(_) => DType::Float64,
        Scalar::Complex(_) => DType::Complex128,
    };
    Tensor::from_scalar(value, dtype)
}

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
#[pyclass(name = "_InputMetadata", module = "rushlight._rushlight", frozen)]
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
        (0..node.outputs() as u32).map(|output| Py::new(py, InputMetadata(node.form(output).clone())));
    PyTuple::new(py, forms.collect::<PyResult<Vec<_>>>()?)
}

/// The dictionary that belongs to a node.
pub(crate) fn metadata(py: Python<'_>, node: &NodeRef) -> PyResult<Py<PyAny>> {
    static MAKING: Mutex<()> = Mutex::new(());
    let slot = &node.extras_or_new().foreign;
    if deposited(slot, py).is_none() {
        collector::host();
        let metadata = PyDict::new(py);
        anomaly::fill(&metadata, node)?;
        let _making = locked(py, &MAKING);
        // Another thread may have been here in the meantime.
        if deposited(slot, py).is_none() {
            deposit(slot, metadata.into_any().unbind());
        }
    }
    Ok(deposited(slot, py).map_or_else(|| py.None(), |metadata| metadata.clone_ref(py)))
}

/// Lets go of the dictionary that belongs to a node.
pub(crate) fn forget_metadata(py: Python<'_>, node: &NodeRef) {
    if let Some(extras) = node.extras() {
        withdraw(&extras.foreign, py);
    }
}

/// Puts a callable at a node.
pub(crate) fn register(node: &NodeRef, place: Place, function: &Bound<'_, PyAny>) -> RemovableHandle {
    let id = node.extras_or_new().hooks.add(place, PythonHook::of(function));
    RemovableHandle::new(HookHandle::on_node(node, id))
}
