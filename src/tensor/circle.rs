//! Leaves whose gradient has a history that leads back to them.
//!
//! Note [Circles through gradients]
//! ----
//! A gradient that was recorded (`create_graph`) leads to the leaves that it depends on, mostly to the
//! very leaf that it is the gradient of. Such a leaf keeps the gradient, and the gradient the leaf:
//! counting alone would keep both for ever. So when the host lets go of a leaf whose gradient has a
//! history, that history is walked, and the handles are counted that are found inside. Where they are
//! all there are, nobody outside can come here any more, and the gradients of all leaves on the way
//! may go.
//!
//! What is not known about, such as tensors that hooks packed, counts as being outside: then nothing
//! is dropped. A run of the engine on another thread holds its roots from outside too, as long as it
//! lasts.

use std::collections::HashMap;

use super::Tensor;
use crate::graph::{NodeId, NodeRef};

/// The handles of nodes that were found on a walk.
#[derive(Default)]
struct Walk {
    /// Each node with one handle of the walk's own, and how many others were found.
    nodes: Vec<(NodeRef, u32)>,
    places: HashMap<NodeId, usize>,
}

impl Walk {
    fn arrive(&mut self, node: &NodeRef) {
        let next = self.nodes.len();
        let place = *self.places.entry(node.id()).or_insert(next);
        if place == next {
            self.nodes.push((node.clone(), 0));
        }
        self.nodes[place].1 += 1;
    }

    /// Counts what a tensor holds. Whether it is held by as many as it may be.
    fn visit(&mut self, leaf: &Tensor, handles: usize) -> bool {
        if leaf.handles() != handles {
            return false;
        }
        if let Some(node) = &leaf.0.core.read().accumulator {
            self.arrive(node);
        }
        let Some(gradient) = leaf.grad() else { return true };
        if let Some(edge) = &gradient.0.core.read().edge {
            self.arrive(&edge.node);
        }
        // The leaf has one handle, and the other is the one in hand.
        gradient.handles() == 2
    }
}

impl Tensor {
    /// The leaves that keep each other by the histories of their gradients, of which this is one, if
    /// the handle of the host is the last thing besides that keeps them.
    #[inline]
    pub fn circle_through_gradients(&self) -> Option<Vec<Tensor>> {
        // The host's handle, and that of the leaf's node.
        if self.handles() == 2 { self.find_circle() } else { None }
    }

    #[cold]
    fn find_circle(&self) -> Option<Vec<Tensor>> {
        let is_recorded = |gradient: Tensor| gradient.0.core.read().edge.is_some();
        if self.0.core.read().accumulator.is_none() || !self.grad().is_some_and(is_recorded) {
            return None;
        }
        let mut walk = Walk::default();
        if !walk.visit(self, 2) {
            return None;
        }
        let (mut leaves, mut visited) = (vec![], 0);
        while visited < walk.nodes.len() {
            let node = walk.nodes[visited].0.clone();
            for edge in node.edges().iter().flatten() {
                walk.arrive(&edge.node);
            }
            // Another leaf is held by its node and in hand.
            if let Some(leaf) = node.leaf()
                && !leaf.is(self)
            {
                if !walk.visit(&leaf, 2) {
                    return None;
                }
                leaves.push(leaf);
            }
            visited += 1;
        }
        if walk.nodes.iter().any(|(node, found)| node.count() != found + 1) {
            return None;
        }
        leaves.push(self.clone());
        Some(leaves)
    }
}
