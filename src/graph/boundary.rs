//! Transforms of functions in the graph: where the inside of one begins, and whether a result leads
//! out of it.
//!
//! Note [Boundaries]
//! ----
//! `func.grad` and its kin run a function on inner tensors: leaves that share the memory of the outer
//! ones. Where the path of another leaf ends in its accumulator, that of an inner leaf passes a
//! boundary and goes on to the history of the outer tensor, if that is tracked. So the derivative by
//! the inner leaf is the gradient that arrives at the boundary, what the function captured stays out
//! of it, and a derivative that was recorded can be differentiated by whatever is outside.
//!
//! A result whose every path ends at a boundary that leads nowhere has no history for the world
//! outside. Positions on the tape tell what was recorded since the transform began, so that the search
//! for a way out does not leave it.

use std::cell::Cell;
use std::collections::HashSet;

use smallvec::{SmallVec, smallvec};

use super::node::{Edge, Form, Forms, Node, NodeRef};
use super::rule::{At, Gradients, Rule};
use super::seq;
use crate::error::Result;
use crate::tensor::Tensor;

thread_local!(static DEPTH: Cell<u32> = const { Cell::new(0) });

/// Begins a transform on this thread. Answers the position on the tape past which its inside lies.
pub fn enter() -> u64 {
    DEPTH.set(DEPTH.get().saturating_add(1));
    seq::next(std::iter::empty())
}

/// Ends the transform that this thread began last.
pub fn leave() {
    DEPTH.set(DEPTH.get().saturating_sub(1));
}

/// How many transforms this thread is inside of.
pub fn depth() -> u32 {
    DEPTH.get()
}

/// Passes gradients from an inner leaf to the history of the outer tensor.
struct Boundary;

impl Rule for Boundary {
    fn name(&self) -> &str {
        "AliasBackward0"
    }

    fn vjp(&self, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        Ok(gradients.clone())
    }

    fn jvp(&self, _at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        Ok(tangents.iter().cloned().collect())
    }
}

/// The boundary of an inner leaf of this form; `onward` is the history of the outer tensor.
pub(crate) fn boundary(form: Form, onward: Option<Edge>) -> NodeRef {
    Node::record(Boundary, smallvec![onward], Forms::one(form))
}

/// Whether any path from `start` leads out of the transform that began at `since`.
pub(crate) fn leads_out(start: &NodeRef, since: u64) -> bool {
    let mut seen = HashSet::new();
    let mut pending: SmallVec<[&NodeRef; 16]> = smallvec![start];
    while let Some(node) = pending.pop() {
        if node.seq() <= since {
            return true;
        }
        if seen.insert(node.id()) {
            pending.extend(node.edges().iter().flatten().map(|edge| &edge.node));
        }
    }
    false
}
