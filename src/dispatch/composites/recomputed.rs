//! Subgraphs that are recorded for one rule and differentiated at once: a function of tensors is run again under
//! recording, and its nodes' rules are applied in order, backward (`vjp`) or forward (`jvp`). This is no run of the
//! engine: there are no hooks, no leaves and no threads here.

use std::collections::HashMap;

use smallvec::SmallVec;

use crate::dispatch::accumulate;
use crate::dispatch::modes::subclass;
use crate::dispatch::record::{gradient_edges, needed};
use crate::error::Result;
use crate::graph::mode::{GradModeGuard, special};
use crate::graph::node::NodeId;
use crate::graph::{At, Edge, FormRef, Gradients, NodeRef, saved_tensor_hooks};
use crate::ops::geometry::reshape;
use crate::tensor::{Outputs, Tensor};

/// A function of tensors, written in operations.
pub(crate) type Function<'a> = &'a dyn Fn(&[&Tensor]) -> Result<Outputs>;

/// The recorded operations of one call of a function, detached from the surrounding graph.
pub(crate) struct Subgraph {
    /// Where those that lead back end, by input.
    ends: SmallVec<[Option<Edge>; 2]>,
    /// Where the outputs came from.
    outputs: SmallVec<[Option<Edge>; 2]>,
    /// In ascending order, those at the ends included.
    nodes: Vec<NodeRef>,
    places: HashMap<NodeId, usize>,
    /// Whether what the rules do is recorded in turn.
    tracking: bool,
}

/// `x` as where recorded operations end: with the history of `x`, if that is to be tracked. If `alone`, no
/// other end is where `x` comes from.
fn end(x: &Tensor, wanted: bool, tracking: bool, alone: bool) -> Result<Tensor> {
    let _mode = GradModeGuard::new(tracking);
    let followed = special() || tracking && x.requires_grad();
    let end = match followed {
        true if alone && !special() => x.clone(),
        // It is kept with its history, which does not count here.
        true if x.is_subclassed() && !tracking => subclass::detach(x)?,
        true => reshape::alias(x)?,
        false => x.detach(),
    };
    if wanted && !end.requires_grad() {
        end.set_requires_grad(true)?;
    }
    Ok(end)
}

impl Subgraph {
    /// Computes `function` of `inputs` again, recording what leads to those that are `wanted`; the others
    /// have the history that they had, if that is to be tracked.
    pub(crate) fn record(
        function: Function<'_>,
        inputs: &[Tensor],
        wanted: &dyn Fn(usize) -> bool,
        tracking: bool,
    ) -> Result<Subgraph> {
        let _unpacked = saved_tensor_hooks::suspend();
        let _recording = GradModeGuard::new(true);
        let origins = gradient_edges(&inputs.iter().collect::<Vec<_>>())?;
        let same = |a: &Edge, b: &Edge| a.node.id() == b.node.id() && a.output == b.output;
        let alone = |index: usize| match &origins[index] {
            Some(edge) => origins.iter().flatten().filter(|other| same(edge, other)).count() == 1,
            None => true,
        };
        let ends = inputs.iter().enumerate().map(|(index, x)| end(x, wanted(index), tracking, alone(index)));
        let inputs: Vec<Tensor> = ends.collect::<Result<_>>()?;
        let inputs: Vec<&Tensor> = inputs.iter().collect();
        let outputs = function(&inputs)?;
        let outputs: Vec<&Tensor> = outputs.iter().collect();
        let (ends, outputs) = (gradient_edges(&inputs)?, gradient_edges(&outputs)?);
        let mut subgraph = Subgraph { ends, outputs, nodes: Vec::new(), places: HashMap::new(), tracking };
        subgraph.collect();
        Ok(subgraph)
    }

    /// Finds the nodes between the outputs and the ends.
    fn collect(&mut self) {
        let mut found: HashMap<NodeId, NodeRef> = HashMap::new();
        let mut open: Vec<NodeRef> = self.outputs.iter().flatten().map(|edge| edge.node.clone()).collect();
        found.extend(self.ends.iter().flatten().map(|edge| (edge.node.id(), edge.node.clone())));
        while let Some(node) = open.pop() {
            if found.insert(node.id(), node.clone()).is_none() {
                open.extend(node.edges().iter().flatten().map(|edge| edge.node.clone()));
            }
        }
        self.nodes = found.into_values().collect();
        self.nodes.sort_by_key(|node| node.seq());
        self.places = self.nodes.iter().enumerate().map(|(place, node)| (node.id(), place)).collect();
    }

    fn place(&self, edge: &Edge) -> (usize, usize) {
        let place = self.places.get(&edge.node.id());
        let place = place.unwrap_or_else(|| unreachable!("every node was found from the outputs"));
        (*place, edge.output as usize)
    }

    /// Room for a tensor at every output of every node.
    fn room(&self) -> Vec<Gradients> {
        self.nodes.iter().map(|node| Gradients::from_elem(None, node.outputs())).collect()
    }

    /// The nodes that are not at an end, with their places.
    fn between(&self) -> impl DoubleEndedIterator<Item = (usize, &NodeRef)> {
        let is_end = |node: &NodeRef| self.ends.iter().flatten().any(|end| end.node.id() == node.id());
        self.nodes.iter().enumerate().filter(move |(_, node)| !is_end(node))
    }

    fn at<'a>(&self, node: &'a NodeRef) -> At<'a> {
        At { node, needed: needed(node.edges()), tracking: self.tracking, seen: false }
    }

    /// The gradients of the inputs from those of the outputs.
    pub(crate) fn vjp(&self, gradients: &Gradients) -> Result<Gradients> {
        let mut room = self.room();
        let arrive = |room: &mut Vec<Gradients>, edge: &Edge, gradient: &Tensor| -> Result<()> {
            let (place, output) = self.place(edge);
            let gradient = fit(gradient, edge.node.form(edge.output))?;
            let sum = match room[place][output].take() {
                Some(before) => accumulate::add(&before, &gradient)?,
                None => gradient,
            };
            room[place][output] = Some(sum);
            Ok(())
        };
        for (edge, gradient) in self.outputs.iter().zip(gradients) {
            if let (Some(edge), Some(gradient)) = (edge, gradient) {
                arrive(&mut room, edge, gradient)?;
            }
        }
        for (place, node) in self.between().rev() {
            let gradients = std::mem::take(&mut room[place]);
            if gradients.iter().all(Option::is_none) {
                continue;
            }
            let results = node.rule().vjp(&self.at(node), &gradients)?;
            for (edge, result) in node.edges().iter().zip(&results) {
                if let (Some(edge), Some(result)) = (edge, result) {
                    arrive(&mut room, edge, result)?;
                }
            }
        }
        Ok(self.ends.iter().map(|end| self.found(&room, end)).collect())
    }

    /// The tangents of the outputs from those of the inputs.
    pub(crate) fn jvp(&self, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let mut room = self.room();
        for (end, tangent) in self.ends.iter().zip(tangents) {
            if let Some(end) = end {
                let (place, output) = self.place(end);
                room[place][output] = tangent.clone();
            }
        }
        for (place, node) in self.between() {
            let tangents: Gradients = node.edges().iter().map(|edge| self.found(&room, edge)).collect();
            if tangents.iter().any(Option::is_some) {
                room[place] = node.rule().jvp(&self.at(node), &tangents)?;
            }
        }
        Ok(self.outputs.iter().map(|edge| self.found(&room, edge)).collect())
    }

    /// What there is at an edge.
    fn found(&self, room: &[Gradients], edge: &Option<Edge>) -> Option<Tensor> {
        let (place, output) = self.place(edge.as_ref()?);
        room[place].get(output).cloned().flatten()
    }
}

/// A gradient in the form of the tensor that it belongs to.
fn fit(gradient: &Tensor, form: FormRef<'_>) -> Result<Tensor> {
    let gradient = match gradient.layout().shape() == form.layout.shape() {
        true => gradient.clone(),
        false => accumulate::sum_to(gradient, form.layout.shape())?,
    };
    accumulate::to_dtype(gradient, form.dtype)
}
