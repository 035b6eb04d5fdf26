//! Leaves whose gradient has a history that leads back to them: see Note [Circles].
//!
//! Such cycles are searched for when the host releases a leaf, which is when most of them become unreachable, and
//! whenever the host asks. For that, leaves whose gradient has a history are listed.

use parking_lot::Mutex;

use super::{Tensor, WeakTensor};
use crate::graph::observe::census::{Census, Thing};
use crate::graph::references::Holding;
use crate::tensor::host_object;

/// How many nodes are searched when a leaf is released. Cycles in larger graphs are left for `open_circles`.
const NEAR: usize = 10_000;

/// Leaves whose gradient was recorded when it was set.
static RECORDED: Mutex<RecordedLeaves> = Mutex::new(RecordedLeaves { leaves: Vec::new(), limit: 64 });

struct RecordedLeaves {
    leaves: Vec<WeakTensor>,
    /// The length at which leaves that are gone are removed.
    limit: usize,
}

impl RecordedLeaves {
    fn sort_out(&mut self) -> Vec<Tensor> {
        let mut present = Vec::with_capacity(self.leaves.len());
        self.leaves.retain(|leaf| match leaf.upgrade() {
            Some(leaf) if leaf.has_recorded_gradient() => {
                present.push(leaf);
                true
            }
            _ => false,
        });
        self.limit = 64.max(2 * self.leaves.len());
        present
    }
}

/// Leaves that have a gradient with a history.
pub fn leaves_with_recorded_gradients() -> Vec<Tensor> {
    RECORDED.lock().sort_out()
}

/// Frees leaves that are reachable only through the histories of their own gradients, by dropping these gradients.
/// Gives up where they lead to more than `most` nodes and tensors.
pub fn open_circles(most: usize) {
    let leaves = leaves_with_recorded_gradients();
    let mut census = Census::default();
    leaves.iter().for_each(|leaf| {
        // That of the list.
        census.add_tensor(leaf, 1);
    });
    if !leaves.is_empty() && census.walk(most, |_| false) {
        let lost = lost_leaves(&mut census);
        drop((leaves, census));
        lost.iter().for_each(|leaf| leaf.replace_grad(None));
    }
}

/// The leaves with recorded gradients that nobody outside leads to.
fn lost_leaves(census: &mut Census) -> Vec<Tensor> {
    for place in 0..census.len() as u32 {
        if let Thing::Tensor(tensor) = census.thing(place)
            && host_object::owns_bare_object(tensor)
        {
            // The object's handle: nobody else leads to the object.
            census.find(place, 1);
        }
    }
    let outside = census.outside();
    let members = (0..census.len() as u32).zip(outside).filter(|(_, outside)| !outside);
    members
        .filter_map(|(place, _)| match census.thing(place) {
            Thing::Tensor(tensor) if tensor.has_recorded_gradient() => Some(tensor.clone()),
            _ => None,
        })
        .collect()
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
        if self.0.core.read().accumulator.is_none() || !self.has_recorded_gradient() {
            return None;
        }
        let mut census = Census::default();
        // The handle that goes.
        census.add_tensor(self, 1);
        // Another leaf that the program holds keeps this one most likely, as it is kept itself.
        let is_kept = |leaf: &Tensor| {
            !leaf.foreign().get().is_null() && !leaf.foreign().is_owned() && leaf.has_recorded_gradient()
        };
        if !census.walk(NEAR, is_kept) {
            return None;
        }
        let lost = lost_leaves(&mut census);
        lost.iter().any(|leaf| leaf.is(self)).then_some(lost)
    }

    /// Whether this is a leaf whose gradient has a history.
    pub fn has_recorded_gradient(&self) -> bool {
        let is_recorded = |gradient: Tensor| gradient.0.core.read().edge.is_some();
        self.grad().is_some_and(is_recorded)
    }

    /// Lists this leaf as one whose gradient has a history.
    pub(crate) fn note_recorded_gradient(&self) {
        if !self.has_recorded_gradient() {
            return;
        }
        let mut recorded = RECORDED.lock();
        if recorded.leaves.last().is_some_and(|last| last.is(self)) {
            return;
        }
        recorded.leaves.push(self.downgrade());
        let present = if recorded.leaves.len() >= recorded.limit { recorded.sort_out() } else { Vec::new() };
        // Dropped outside of the lock.
        drop(recorded);
        drop(present);
    }

    /// The address of the tensor, which identifies it while it lives.
    pub(crate) fn address(&self) -> usize {
        self.0.address()
    }

    /// Shows what the tensor holds.
    pub fn visit_holdings(&self, visit: &mut dyn FnMut(Holding<'_>)) {
        if let Some(core) = self.0.core.try_read() {
            core.edge.iter().for_each(|edge| visit(Holding::Node(&edge.node)));
            core.accumulator.iter().for_each(|node| visit(Holding::Node(node)));
        }
        if let Some(cold) = self.0.cold.get() {
            cold.visit_holdings(visit);
        }
        if self.0.foreign.is_owned() {
            visit(Holding::Object(&self.0.foreign));
        }
    }

    /// Lets go of what closes circles: hooks, and the gradient. Nobody else leads here any more.
    pub fn let_go(&self) {
        if let Some(hooks) = self.hooks_if_any() {
            hooks.clear();
            self.replace_grad(None);
        }
    }
}
