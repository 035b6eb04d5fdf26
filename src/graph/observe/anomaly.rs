//! Anomaly mode: every node keeps where its program was when it was recorded, all callers included,
//! and which node's rule was running then; gradients that are not numbers are failures. The engine
//! keeps the stacks; the host takes them and tells of them.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::error::Error;
use crate::graph::node::{NodeId, NodeRef};
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
pub(in crate::graph) fn stack() -> Option<Stack> {
    OBSERVER.get().map(|observer| (observer.stack)())
}

/// Where a node was recorded, and during which other node's rule.
pub struct Trace {
    /// Where that was.
    pub stack: Stack,
    /// The node whose rule was running.
    pub parent: Option<Arc<Parent>>,
}

/// What is known of a node whose rule was running while another was recorded. Not the node: it would be kept
/// alive, and what is recorded inside of backward may lead back to it.
pub struct Parent {
    /// Its name.
    pub name: String,
    /// The node, while it lives.
    pub node: NodeId,
    /// Where it was recorded, if that was in anomaly mode.
    pub stack: Option<Stack>,
    /// The node whose rule was running then.
    pub parent: Option<Arc<Parent>>,
}

impl Drop for Parent {
    fn drop(&mut self) {
        // In a loop: derivatives of derivatives make a chain.
        let mut next = self.parent.take();
        while let Some(parent) = next {
            next = Arc::into_inner(parent).and_then(|mut parent| parent.parent.take());
        }
    }
}

/// A node whose rule is running, and what those that are recorded meanwhile keep of it.
struct Current {
    node: NodeRef,
    kept: Option<Arc<Parent>>,
}

impl Current {
    fn parent(&mut self) -> Arc<Parent> {
        let node = &self.node;
        let parent = || {
            let (stack, parent) = match node.trace() {
                Some(trace) => (Some(trace.stack.clone()), trace.parent.clone()),
                None => (None, None),
            };
            Arc::new(Parent { name: node.name(), node: node.id(), stack, parent })
        };
        self.kept.get_or_insert_with(parent).clone()
    }
}

thread_local!(static RUNNING: RefCell<Option<Current>> = const { RefCell::new(None) });

/// The trace of a node that is being recorded.
#[cold]
pub(in crate::graph) fn trace() -> Option<Trace> {
    let parent = RUNNING.with_borrow_mut(|running| running.as_mut().map(Current::parent));
    Some(Trace { stack: stack()?, parent })
}

/// The node's rule is running on this thread until the guard goes.
#[cold]
pub fn running(node: &NodeRef) -> Running {
    Running { before: RUNNING.replace(Some(Current { node: node.clone(), kept: None })) }
}

/// Puts back which node was running before.
#[must_use = "the node is running as long as the guard is there"]
pub struct Running {
    before: Option<Current>,
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
