//! Anomaly mode: every node keeps where its program was when it was recorded, all callers included,
//! and which node's rule was running then; gradients that are not numbers are failures. The engine
//! keeps the stacks; the host takes them and tells of them.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::node::{NodeId, NodeRef};
use crate::error::Error;
use crate::origin::Stack;

/// The flags are those of the process, as in torch.
static ENABLED: AtomicBool = AtomicBool::new(false);
static CHECK_NAN: AtomicBool = AtomicBool::new(true);

/// Whether anomaly mode is on.
pub fn is_enabled() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// Whether gradients that are not numbers are failures when it is on.
pub fn checks_nan() -> bool {
    CHECK_NAN.load(Ordering::Relaxed)
}

/// Switches both.
pub fn set_enabled(enabled: bool, check_nan: bool) {
    ENABLED.store(enabled, Ordering::Relaxed);
    CHECK_NAN.store(check_nan, Ordering::Relaxed);
}

/// What the host does for anomaly mode. Both are called with or without the host's lock held.
#[derive(Clone, Copy)]
pub struct Observer {
    /// Where the program is and was called from.
    pub stack: fn() -> Stack,
    /// Tells of a node that failed on this thread; answers the failure, with what it knows added.
    pub failed: fn(&NodeRef, Box<Error>) -> Box<Error>,
}

static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Tells the engine who observes. Called once, by the host.
pub fn register_observer(observer: Observer) {
    // As with the other registrations: the first one stays.
    let _ = OBSERVER.set(observer);
}

/// Where the program is and was called from.
#[cold]
pub(super) fn stack() -> Option<Stack> {
    OBSERVER.get().map(|observer| (observer.stack)())
}

/// Where a node was recorded, and during which other node's rule.
pub struct Trace {
    /// The node's name.
    pub name: String,
    /// Where that was, if it was in anomaly mode.
    pub stack: Option<Stack>,
    /// The trace of the node whose rule was running. Not the node: it would be kept alive, and what
    /// is recorded inside of backward may lead back to it.
    pub parent: Option<Arc<Trace>>,
    /// That node, while it lives.
    pub parent_node: Option<NodeId>,
}

impl Drop for Trace {
    fn drop(&mut self) {
        // In a loop: derivatives of derivatives make a chain.
        let mut next = self.parent.take();
        while let Some(trace) = next {
            next = Arc::into_inner(trace).and_then(|mut trace| trace.parent.take());
        }
    }
}

thread_local!(static RUNNING: RefCell<Option<(NodeId, Arc<Trace>)>> = const { RefCell::new(None) });

/// The trace of a node that is being recorded.
#[cold]
pub(super) fn trace(name: &str) -> Option<Arc<Trace>> {
    let stack = Some(stack()?);
    let (parent_node, parent) = RUNNING.with_borrow(Clone::clone).unzip();
    Some(Arc::new(Trace { name: name.to_owned(), stack, parent, parent_node }))
}

/// The node's rule is running on this thread until the guard goes.
#[cold]
pub fn running(node: &NodeRef) -> Running {
    let untraced = || Arc::new(Trace { name: node.name(), stack: None, parent: None, parent_node: None });
    let trace = node.extras().and_then(|extras| extras.trace.get()).cloned().unwrap_or_else(untraced);
    Running { before: RUNNING.replace(Some((node.id(), trace))) }
}

/// Puts back which node was running before.
#[must_use = "the node is running as long as the guard is there"]
pub struct Running {
    before: Option<(NodeId, Arc<Trace>)>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let inner = RUNNING.replace(self.before.take());
        // Dropped outside of the borrow.
        drop(inner);
    }
}

/// A node failed on this thread: the host may tell of it and add to the failure.
#[cold]
pub fn failed(node: &NodeRef, error: Box<Error>) -> Box<Error> {
    match OBSERVER.get() {
        Some(observer) if is_enabled() => (observer.failed)(node, error),
        _ => error,
    }
}
