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
//! outside: neither at one of the transform that ends, nor at one of a transform that has ended, which
//! functions such as that of `func.vjp` keep.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::{SmallVec, smallvec};

use super::node::{Edge, Form, Forms, Node, NodeRef};
use super::rule::{At, Gradients, Rule};
use super::seq;
use crate::error::Result;
use crate::tensor::Tensor;

/// A transform that was begun.
struct Frame {
    /// The position on the tape past which its inside lies, and by which it is known.
    since: u64,
    goes_on: AtomicBool,
}

thread_local!(static FRAMES: RefCell<Vec<Arc<Frame>>> = const { RefCell::new(Vec::new()) });

/// Begins a transform on this thread. Answers the position on the tape past which its inside lies.
pub fn enter() -> u64 {
    let since = seq::next(std::iter::empty());
    let frame = Frame { since, goes_on: AtomicBool::new(true) };
    FRAMES.with_borrow_mut(|frames| frames.push(Arc::new(frame)));
    since
}

/// Ends the transform that this thread began last.
pub fn leave() {
    if let Some(frame) = FRAMES.with_borrow_mut(Vec::pop) {
        frame.goes_on.store(false, Ordering::Relaxed);
    }
}

/// How many transforms this thread is inside of.
pub fn depth() -> usize {
    FRAMES.with_borrow(Vec::len)
}

/// Passes gradients from an inner leaf to the history of the outer tensor.
struct Boundary {
    frame: Option<Arc<Frame>>,
}

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

    fn transform(&self) -> Option<u64> {
        self.frame.as_ref().filter(|frame| frame.goes_on.load(Ordering::Relaxed)).map(|frame| frame.since)
    }
}

/// The boundary of an inner leaf of this form; `onward` is the history of the outer tensor.
pub(crate) fn boundary(form: Form, onward: Option<Edge>) -> NodeRef {
    let frame = FRAMES.with_borrow(|frames| frames.last().cloned());
    Node::record(Boundary { frame }, smallvec![onward], Forms::one(form))
}

/// Whether any path from `start` leads to a leaf, or into a transform that goes on, other than the one
/// that began at `since`.
pub(crate) fn leads_out(start: &NodeRef, since: u64) -> bool {
    let mut seen = HashSet::new();
    let mut pending: SmallVec<[&NodeRef; 16]> = smallvec![start];
    while let Some(node) = pending.pop() {
        if !seen.insert(node.id()) {
            continue;
        }
        let before = pending.len();
        pending.extend(node.edges().iter().flatten().map(|edge| &edge.node));
        if pending.len() == before {
            let rule = node.rule();
            if rule.leaf().is_some() || rule.transform().is_some_and(|transform| transform != since) {
                return true;
            }
        }
    }
    false
}
