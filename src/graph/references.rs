//! The counted references that nodes and tensors hold to each other and to objects of the host, visited one by one. The
//! search for reference cycles compares them with the counts: a surplus is a reference from outside.
//!
//! Nothing blocks here: an object that is being changed is not visited. Its references then count as ones from outside,
//! so that what they lead to stays alive.

use std::any::Any;
use std::sync::Arc;

use super::hooks::{Hook, Hooks};
use super::node::{Node, NodeRef};
use super::released::Freeing;
use super::saved::SavedTensor;
use crate::graph::host_saved::{Held, What};
use crate::origin::Origin;
use crate::tensor::{Foreign, Tensor};

/// One thing that is held.
pub enum Holding<'a> {
    /// A handle to a node.
    Node(&'a NodeRef),
    /// A handle to a tensor.
    Tensor(&'a Tensor),
    /// A function of the host.
    Hook(&'a Arc<dyn Hook>),
    /// The host's part of a rule, or of what was saved.
    Host(&'a (dyn Any + Send + Sync)),
    /// What the host has deposited with a node.
    Deposit(&'a Foreign),
    /// The host's object of a tensor that owns it.
    Object(&'a Foreign),
}

impl Node {
    /// Shows what the node holds. The caller has a handle to it, so that a leaf's node holds the leaf.
    pub fn visit_holdings(&self, visit: &mut dyn FnMut(Holding<'_>)) {
        self.edges().iter().flatten().for_each(|edge| visit(Holding::Node(&edge.node)));
        if let Some(extras) = self.extras() {
            extras.hooks.visit_holdings(visit);
            if !extras.foreign.get().is_null() {
                visit(Holding::Deposit(&extras.foreign));
            }
            if let Some(packed) = extras.packed.try_lock() {
                packed.iter().for_each(|(_, saved)| saved.visit_holdings(visit));
            }
        }
        let Some(rule) = self.try_rule() else { return };
        if let Some(leaf) = self.leaf() {
            visit(Holding::Tensor(leaf));
        }
        rule.visit_nodes(&mut |node| visit(Holding::Node(node)));
        rule.host().into_iter().chain(rule.function()).for_each(|host| visit(Holding::Host(host)));
        rule.saved().into_iter().for_each(|(_, saved)| saved.visit_holdings(visit));
    }

    /// Lets go of what is the host's, and of what was saved: nobody but a circle of which the node is
    /// part leads here.
    pub fn let_go(&self) {
        if let Some(extras) = self.extras() {
            extras.hooks.clear();
        }
        self.release(Freeing::by(Origin::UNKNOWN));
    }
}

impl Hooks {
    /// Shows the functions.
    pub(crate) fn visit_holdings(&self, visit: &mut dyn FnMut(Holding<'_>)) {
        self.try_visit(&mut |hook| visit(Holding::Hook(hook)));
    }
}

impl SavedTensor {
    fn visit_holdings(&self, visit: &mut dyn FnMut(Holding<'_>)) {
        if let Some(batch) = self.batch() {
            visit(Holding::Tensor(&batch.value));
        }
        self.kept().and_then(|kept| kept.host()).into_iter().for_each(|host| visit(Holding::Host(host)));
    }
}

impl Held {
    /// Shows what is held.
    pub fn visit_holdings(&self, visit: &mut dyn FnMut(Holding<'_>)) {
        match self.what() {
            What::Tensor(tensor) => visit(Holding::Tensor(tensor)),
            What::Packed(kept, edge) => {
                edge.iter().for_each(|edge| visit(Holding::Node(&edge.node)));
                kept.host().into_iter().for_each(|host| visit(Holding::Host(host)));
            }
            What::PackedOutput(kept, _) => {
                kept.host().into_iter().for_each(|host| visit(Holding::Host(host)));
            }
            // What it has beside its memory is shared with the output.
            What::Output(..) => {}
        }
    }
}
