//! The graph as plain data, for `rushlight.inspection`: nodes, edges, shapes, places in the program,
//! and the memory that is kept.

use std::collections::HashMap;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use rushlight::graph::arena::{Home, Strong};
use rushlight::graph::references::Holding;
use rushlight::graph::{Node, NodeId, NodeRef};
use rushlight::storage;
use rushlight::tensor::Array;

use crate::autograd::context::context_in;
use crate::autograd::hooks::PythonHook;
use crate::autograd::node::node_of;
use crate::autograd::packing::packed_in;
use crate::error::raise;
use crate::interpreter::origin::describe;
use crate::tensor::object::{as_tensor, wrap};
use crate::values::checkpointed::function_in;
use crate::values::dtype::wrap_dtype;

/// Bytes that the engine's allocator has given out and not got back.
#[pyfunction]
#[pyo3(name = "_allocated_bytes")]
pub(crate) fn allocated_bytes() -> usize {
    storage::allocated()
}

/// Bytes that the engine's allocator keeps for their next use.
#[pyfunction]
#[pyo3(name = "_idle_bytes")]
pub(crate) fn idle_bytes() -> usize {
    storage::idle()
}

/// Gives what the engine's allocator keeps back to the system.
#[pyfunction]
#[pyo3(name = "_trim_memory")]
pub(crate) fn trim_memory(py: Python<'_>) {
    py.detach(storage::trim);
}

/// What tells the block of memory of a tensor from others, and its bytes.
#[pyfunction]
#[pyo3(name = "_storage_of")]
pub(crate) fn storage_of(tensor: &Bound<'_, PyAny>) -> (usize, usize) {
    as_tensor(tensor).map_or((0, 0), |tensor| tensor.memory().storage.holding())
}

/// The nodes that tensors and nodes lead to, each a dictionary, outputs before inputs as they are met;
/// edges are pairs of a number in this list and an output, or `None`.
#[pyfunction]
#[pyo3(name = "_graph_of")]
pub(crate) fn graph_of<'py>(py: Python<'py>, starts: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyList>> {
    let (mut nodes, mut numbers) = (Vec::new(), HashMap::new());
    for start in &starts {
        let node = match as_tensor(start) {
            Some(tensor) => tensor.gradient_edge().map_err(raise)?.map(|edge| edge.node),
            None => node_of(start),
        };
        if let Some(node) = node.filter(|node| !numbers.contains_key(&node.id())) {
            numbers.insert(node.id(), nodes.len());
            nodes.push(node);
        }
    }
    let shown = PyList::empty(py);
    let mut next = 0;
    while next < nodes.len() {
        let node = nodes[next].clone();
        let mut edges = Vec::with_capacity(node.edges().len());
        for edge in node.edges() {
            edges.push(edge.as_ref().map(|edge| {
                let number = *numbers.entry(edge.node.id()).or_insert_with(|| {
                    nodes.push(edge.node.clone());
                    nodes.len() - 1
                });
                (number, edge.output)
            }));
        }
        let row = show(py, &node)?;
        row.set_item("edges", edges)?;
        shown.append(row)?;
        next += 1;
    }
    Ok(shown)
}

fn show<'py>(py: Python<'py>, node: &NodeRef) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", node.name())?;
    row.set_item("origin", describe(py, node.origin())?)?;
    let mut outputs = Vec::with_capacity(node.outputs());
    for number in 0..node.outputs() {
        let form = node.form(number as u32);
        outputs.push((PyTuple::new(py, form.layout.shape())?, wrap_dtype(py, form.dtype)?));
    }
    row.set_item("outputs", outputs)?;
    let mut saved = Vec::new();
    for (name, array) in memory_of(node) {
        saved.push(block(py, name, &array)?);
    }
    row.set_item("saved", saved)?;
    let leaf = node.leaf();
    row.set_item("leaf", leaf.map(|leaf| wrap(py, leaf.clone())).transpose()?)?;
    let memory = leaf.map(|leaf| block(py, "variable", &leaf.array())).transpose()?;
    row.set_item("memory", memory)?;
    row.set_item("held", objects_of(py, node))?;
    Ok(row)
}

/// The objects that a node keeps: functions that hook into it, what was saved in a form of theirs, the
/// context of a function of the program, and the function that an operation consists of.
fn objects_of(py: Python<'_>, node: &NodeRef) -> Vec<Py<PyAny>> {
    let mut objects = Vec::new();
    node.visit_holdings(&mut |holding| match holding {
        Holding::Hook(hook) => objects.extend(PythonHook::function(&**hook).map(|it| it.clone_ref(py))),
        Holding::Host(host) => {
            objects.extend(packed_in(host).into_iter().flatten().map(|it| it.clone_ref(py)));
            objects.extend(context_in(host).map(|it| it.clone_ref(py).into_any()));
            objects.extend(function_in(host).map(|it| it.clone_ref(py)));
        }
        _ => {}
    });
    objects
}

/// What a rule keeps. Visited first, used after: a rule is locked while it is asked.
fn memory_of(node: &NodeRef) -> Vec<(&'static str, Array)> {
    let mut kept = Vec::new();
    node.rule().visit_memory(&mut |name, array| kept.push((name, array)));
    kept
}

/// A name, a shape, a type, and the block of memory behind it: what tells it from others, its bytes.
type Block<'py> = (&'static str, Bound<'py, PyTuple>, Bound<'py, PyAny>, usize, usize);

fn block<'py>(py: Python<'py>, name: &'static str, array: &Array) -> PyResult<Block<'py>> {
    let (key, bytes) = array.storage.holding();
    Ok((name, PyTuple::new(py, array.layout.shape())?, wrap_dtype(py, array.dtype)?, key, bytes))
}

/// A name and a place.
type Named<'py> = (String, Bound<'py, PyAny>);

/// The nodes of any graph that keep the memory of a tensor: name and place, the name under which it
/// is kept, and names and places of the nodes at the heads of their graphs.
#[pyfunction]
#[pyo3(name = "_holders_of")]
pub(crate) fn holders_of<'py>(
    py: Python<'py>,
    tensor: &Bound<'py, PyAny>,
) -> PyResult<Vec<(Named<'py>, &'static str, Vec<Named<'py>>)>> {
    let Some(tensor) = as_tensor(tensor) else { return Ok(Vec::new()) };
    let (wanted, _) = tensor.memory().storage.holding();
    let nodes: Vec<NodeRef> = Node::arena().ids().into_iter().filter_map(Strong::<Node>::upgrade).collect();
    let mut above: HashMap<NodeId, Vec<usize>> = HashMap::new();
    for (number, node) in nodes.iter().enumerate() {
        for edge in node.edges().iter().flatten() {
            above.entry(edge.node.id()).or_default().push(number);
        }
    }
    let name = |node: &NodeRef| Ok::<_, PyErr>((node.name(), describe(py, node.origin())?));
    let mut holders = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        let mut kept = memory_of(node);
        kept.extend(node.leaf().map(|leaf| ("variable", leaf.array())));
        let Some((kept_as, _)) = kept.iter().find(|(_, array)| array.storage.holding().0 == wanted) else {
            continue;
        };
        let heads = heads(number, &nodes, &above);
        let heads = heads.into_iter().map(|head| name(&nodes[head])).collect::<PyResult<_>>()?;
        holders.push((name(node)?, *kept_as, heads));
    }
    Ok(holders)
}

/// The nodes that lead to a node and that no node leads to.
fn heads(start: usize, nodes: &[NodeRef], above: &HashMap<NodeId, Vec<usize>>) -> Vec<usize> {
    let mut seen = vec![false; nodes.len()];
    seen[start] = true;
    let (mut open, mut heads) = (vec![start], Vec::new());
    while let Some(number) = open.pop() {
        match above.get(&nodes[number].id()) {
            None => heads.push(number),
            Some(users) => {
                open.extend(users.iter().copied().filter(|&user| !std::mem::replace(&mut seen[user], true)));
            }
        }
    }
    heads.sort_unstable();
    heads
}

/// Look so many times where the program is, as every node does that is recorded: to measure what it takes.
#[pyfunction]
#[pyo3(name = "_look_around")]
pub(crate) fn look_around(times: u64) {
    for _ in 0..times {
        std::hint::black_box(rushlight::origin::here());
    }
}
