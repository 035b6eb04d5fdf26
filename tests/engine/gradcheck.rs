//! Every differentiable operation: backward against finite differences, backward of
//! backward against finite differences of it, and forward mode against backward:
//! ⟨ȳ, J t⟩ = ⟨Jᵀ ȳ, t⟩.

use std::collections::HashSet;

use rushlight::engine::{self, Options};
use rushlight::graph::{At, NodeRef};
use rushlight::ops;
use rushlight::{Result, Tensor};

use crate::derivatives::{gradients, inner, leaves, noise, weighted};
use crate::naming::blocks;
use crate::samples::{self, Sample};

const STEP: f64 = 1e-6;
const TOLERANCE: f64 = 2e-5;

/// Compares the gradients of a scalar function with central differences.
pub(crate) fn check_against_differences(
    f: &dyn Fn(&[Tensor]) -> Result<Tensor>,
    inputs: &[Tensor],
    what: &str,
) {
    let leaves_of_all = leaves(inputs);
    let analytic = f(&leaves_of_all).and_then(|y| gradients(&y, &leaves_of_all, false));
    let analytic = analytic.unwrap_or_else(|error| panic!("{what}: {error}"));
    for (index, input) in inputs.iter().enumerate() {
        let values = input.to_vec::<f64>().unwrap();
        for element in 0..values.len() {
            let value_at = |delta: f64| {
                let mut moved = values.clone();
                moved[element] += delta;
                let mut inputs = leaves(inputs);
                inputs[index] = Tensor::from_slice(input.layout().shape(), &moved).unwrap();
                inputs[index].set_requires_grad(true).unwrap();
                f(&inputs).unwrap().to_vec::<f64>().unwrap()[0]
            };
            let numeric = (value_at(STEP) - value_at(-STEP)) / (2.0 * STEP);
            let got = analytic[index].to_vec::<f64>().unwrap()[element];
            let close = (got - numeric).abs() <= TOLERANCE * (1.0 + numeric.abs());
            assert!(close, "{what}: input {index} element {element}: rule says {got}, differences {numeric}");
        }
    }
}

pub(crate) fn name(number: usize, sample: &Sample) -> String {
    let shapes: Vec<_> = sample.inputs.iter().map(|x| x.layout().shape().to_vec()).collect();
    format!("sample {number}, {} of {shapes:?}", sample.op)
}

/// The names of the nodes in the graphs of tensors.
fn nodes_behind(outputs: &[Tensor], names: &mut HashSet<String>) {
    let edges = outputs.iter().filter_map(|y| y.gradient_edge().unwrap());
    let mut nodes: Vec<NodeRef> = edges.map(|edge| edge.node).collect();
    let mut seen: HashSet<_> = nodes.iter().map(|node| node.id()).collect();
    while let Some(node) = nodes.pop() {
        names.insert(node.name().to_owned());
        let next = node.edges().iter().flatten().map(|edge| edge.node.clone());
        nodes.extend(next.filter(|node| seen.insert(node.id())));
    }
}

/// The names of the nodes that a sample and its gradients leave behind.
fn recorded(sample: &Sample) -> HashSet<String> {
    let inputs = leaves(&sample.inputs);
    let outputs = (sample.call)(&inputs).unwrap();
    let mut names = HashSet::new();
    nodes_behind(&outputs, &mut names);
    nodes_behind(&gradients(&weighted(&outputs).unwrap(), &inputs, true).unwrap(), &mut names);
    names
}

/// Blocks that no sample can be of, and why.
const UNSAMPLED: &[(&str, &str)] = &[
    ("ConjPhysical", "it is of complex numbers"),
    ("DiagonalCopy", "its node has a name of another kind"),
    ("LogProbability", "only its entry calls it"),
    ("Lstm", "in double precision each step is recorded"),
    ("Polar", "its results are complex numbers"),
];

#[test]
fn every_block_is_recorded_by_a_sample() {
    let sampled: HashSet<String> = samples::all().iter().flat_map(recorded).collect();
    let blocks = blocks();
    assert!(blocks.len() >= 150, "only {} blocks were found", blocks.len());
    let missing: Vec<_> = blocks
        .iter()
        .filter(|(_, nodes)| !nodes.iter().any(|node| sampled.contains(node)))
        .map(|(block, _)| block.as_str())
        .collect();
    let excused: Vec<_> = UNSAMPLED.iter().map(|(block, _)| *block).collect();
    assert_eq!(missing, excused, "blocks without a sample, and those that can have none");
}

#[test]
fn backward_agrees_with_differences() {
    for (number, sample) in samples::all().iter().enumerate() {
        check_against_differences(&|x| weighted(&(sample.call)(x)?), &sample.inputs, &name(number, sample));
    }
}

/// The gradients of a sample as one number.
fn slope(sample: &Sample, inputs: &[Tensor]) -> Result<Tensor> {
    weighted(&gradients(&weighted(&(sample.call)(inputs)?)?, inputs, true)?)
}

#[test]
fn backward_of_backward_agrees_with_differences() {
    for (number, sample) in samples::all().iter().enumerate() {
        let what = format!("second order, {}", name(number, sample));
        check_against_differences(&|x| slope(sample, x), &sample.inputs, &what);
    }
}

/// Pushes tangents through the graph from the leaves to `y`, rule by rule.
fn push(y: &Tensor, leaves: &[Tensor], tangents: &[Tensor]) -> Result<Option<Tensor>> {
    let Some(root) = y.gradient_edge()? else { return Ok(None) };
    let mut nodes = vec![root.node.clone()];
    let mut seen: HashSet<_> = HashSet::from([root.node.id()]);
    let mut next = 0;
    while next < nodes.len() {
        let node = nodes[next].clone();
        next += 1;
        for edge in node.edges().iter().flatten() {
            if seen.insert(edge.node.id()) {
                nodes.push(edge.node.clone());
            }
        }
    }
    nodes.sort_by_key(|node| node.seq());
    let mut pushed = std::collections::HashMap::new();
    for node in nodes {
        let outputs = if let Some(leaf) = node.leaf() {
            let index = leaves.iter().position(|x| x.is(leaf));
            vec![index.map(|index| tangents[index].clone())]
        } else {
            let tangent = |edge: &Option<rushlight::graph::Edge>| {
                let edge = edge.as_ref()?;
                let outputs: &Vec<Option<Tensor>> = pushed.get(&edge.node.id())?;
                outputs.get(edge.output as usize).cloned().flatten()
            };
            let inputs: Vec<Option<Tensor>> = node.edges().iter().map(tangent).collect();
            if inputs.iter().all(Option::is_none) {
                vec![None; node.outputs()]
            } else {
                let at = At { node: &node, needed: u64::MAX, tracking: false, seen: false };
                node.rule().jvp(&at, &inputs)?.into_vec()
            }
        };
        for (output, tangent) in (0..).zip(&outputs) {
            if let Some(tangent) = tangent {
                let (got, expected) = (tangent.layout(), &node.form(output).layout);
                assert_eq!(
                    got.shape(),
                    expected.shape(),
                    "the tangent of {} has the shape of its output",
                    node.name()
                );
            }
        }
        pushed.insert(node.id(), outputs);
    }
    Ok(pushed.remove(&root.node.id()).and_then(|outputs| outputs[root.output as usize].clone()))
}

/// Compares tangents pushed through a sample with gradients; answers how many outputs it has.
pub(crate) fn check_forward(number: usize, sample: &Sample) -> usize {
    let what = name(number, sample);
    let inputs = leaves(&sample.inputs);
    let tangents: Vec<Tensor> = inputs.iter().enumerate().map(|(i, x)| noise(x, i + 5)).collect();
    let outputs = (sample.call)(&inputs).unwrap();
    for (seed, y) in outputs.iter().enumerate() {
        let forward = push(y, &inputs, &tangents).unwrap_or_else(|error| panic!("{what}: {error}"));
        let cotangent = noise(y, seed + 17);
        let options = Options { retain_graph: true, create_graph: false };
        let back =
            engine::grad(std::slice::from_ref(y), &inputs, &[Some(cotangent.clone())], options).unwrap();
        let backward: f64 =
            back.iter().zip(&tangents).map(|(g, t)| g.as_ref().map_or(0.0, |g| inner(g, t))).sum();
        let forward = forward.map_or(0.0, |t| inner(&cotangent, &t));
        let close = (forward - backward).abs() <= 1e-9 * (1.0 + backward.abs());
        assert!(close, "{what}: forward mode says {forward}, backward {backward}");
    }
    outputs.len()
}

#[test]
fn forward_mode_agrees_with_backward() {
    let pushed: usize =
        samples::all().iter().enumerate().map(|(number, sample)| check_forward(number, sample)).sum();
    assert!(pushed >= ops::elementwise().count());
}
