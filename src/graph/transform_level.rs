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
//!
//! Hooks are of the transform that the tensor or node is inside of: a run that computes derivatives of
//! another one, which may lead through what was recorded inside, does not call them.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use smallvec::{SmallVec, smallvec};

use super::node::{Edge, Form, Forms, Node, NodeRef};
use super::rule::{At, Gradients, Rule};
use super::{mode, seq};
use crate::error::Result;
use crate::tensor::{Mapping, Tensor, WeakTensor};

/// A transform that was begun.
struct Frame {
    /// The position on the tape past which its inside lies, and by which it is known.
    since: u64,
    goes_on: AtomicBool,
}

/// A transform as its thread sees it, and what its function may write to though it is from outside.
struct Open {
    frame: Arc<Frame>,
    /// Its number among the transforms and mappings of its thread.
    level: usize,
    admitted: Vec<WeakTensor>,
    /// Whether it is one of forward mode.
    forward: bool,
    /// Whether its thread was recording when it began.
    recording: bool,
}

/// A transform ends when its thread forgets it, be it that the thread ends.
impl Drop for Open {
    fn drop(&mut self) {
        ANYWHERE.fetch_sub(1, Ordering::Relaxed);
        self.frame.goes_on.store(false, Ordering::Relaxed);
    }
}

/// A transform of this thread, for those who look from outside.
pub struct Transform {
    /// Its number among the transforms and mappings of its thread.
    pub level: usize,
    /// Whether it is one of forward mode.
    pub forward: bool,
    /// Whether its thread was recording when it began.
    pub recording: bool,
}

thread_local! {
    static FRAMES: RefCell<Vec<Open>> = const { RefCell::new(Vec::new()) };
    /// How many of them do not show in tensors at the moment.
    static HIDDEN: Cell<usize> = const { Cell::new(0) };
    /// The transform whose derivatives the next run computes, if it is not the innermost.
    static NEXT_RUN: Cell<u64> = const { Cell::new(NONE) };
    /// The transform whose derivatives the present run computes.
    static RUN: Cell<u64> = const { Cell::new(NONE) };
}

/// How many transforms there are on all threads: zero in most programs, which ask no further.
static ANYWHERE: AtomicUsize = AtomicUsize::new(0);

/// Whether there ever was one.
static EVER: AtomicBool = AtomicBool::new(false);

/// Begins a transform on this thread. Answers the position on the tape past which its inside lies.
pub fn enter(forward: bool) -> u64 {
    let since = seq::next(std::iter::empty());
    let frame = Arc::new(Frame { since, goes_on: AtomicBool::new(true) });
    let mappings = Mapping::count();
    ANYWHERE.fetch_add(1, Ordering::Relaxed);
    FRAMES.with_borrow_mut(|frames| {
        let level = frames.len() + mappings + 1;
        let recording = mode::flags().grad;
        frames.push(Open { frame, level, admitted: Vec::new(), forward, recording });
    });
    EVER.store(true, Ordering::Relaxed);
    since
}

/// Ends the transform that this thread began last. What it recorded of writes to the arguments of its
/// function stays behind, unless that leads out of it.
pub fn leave() {
    let ending = FRAMES.with_borrow_mut(|frames| {
        frames.last_mut().map(|open| (open.frame.since, std::mem::take(&mut open.admitted)))
    });
    if let Some((since, admitted)) = ending {
        admitted.iter().filter_map(WeakTensor::upgrade).for_each(|tensor| tensor.leave_behind(since));
    }
    drop(FRAMES.with_borrow_mut(Vec::pop));
}

/// The transforms of this thread, the innermost last.
pub fn all() -> Vec<Transform> {
    let shown =
        |open: &Open| Transform { level: open.level, forward: open.forward, recording: open.recording };
    FRAMES.with_borrow(|frames| frames.iter().map(shown).collect())
}

/// How many transforms this thread is inside of.
#[inline]
pub fn depth() -> usize {
    if ANYWHERE.load(Ordering::Relaxed) == 0 { 0 } else { depth_of_thread() }
}

// Apart: the compiler takes finding a thread's own data for free, and does it before the question.
#[cold]
#[inline(never)]
fn depth_of_thread() -> usize {
    // What dies with the thread may still make tensors, when there are no transforms any more.
    FRAMES.try_with(|frames| frames.try_borrow().map_or(0, |frames| frames.len())).unwrap_or(0)
}

/// Runs the forward of a function of the host, which sees plain tensors: the transforms that are open do
/// not show in them.
pub fn hidden<T>(f: impl FnOnce() -> T) -> T {
    struct Restored(usize);
    impl Drop for Restored {
        fn drop(&mut self) {
            HIDDEN.set(self.0);
        }
    }
    let _restored = Restored(HIDDEN.replace(depth()));
    f()
}

/// The numbers, among the transforms and mappings of this thread, of the outermost `depth` transforms
/// and of those that `tensor` is an argument of.
pub(crate) fn levels(depth: usize, tensor: &Tensor) -> Vec<usize> {
    let is_argument = |open: &Open| {
        open.admitted.iter().filter_map(WeakTensor::upgrade).any(|admitted| admitted.is(tensor))
    };
    FRAMES.with_borrow(|frames| {
        let shown = frames.iter().enumerate().skip(HIDDEN.get());
        let within = shown.filter(|(index, open)| *index < depth || is_argument(open));
        within.map(|(_, open)| open.level).collect()
    })
}

/// How many transforms are around the one that began at `since`, if that goes on on this thread.
pub(crate) fn around(since: u64) -> Option<usize> {
    FRAMES.with_borrow(|frames| frames.iter().position(|open| open.frame.since == since))
}

/// `depth`, up to 127, for the mark of a new tensor.
#[inline]
pub(crate) fn depth_here() -> u8 {
    depth().min(127) as u8
}

/// Lets the function of the present transform write to a tensor, which is one of its arguments, and so to
/// what that is a view of.
pub fn admit(tensor: &Tensor) {
    let base = tensor.base();
    FRAMES.with_borrow_mut(|frames| {
        if let Some(open) = frames.last_mut() {
            open.admitted.extend(base.iter().chain([tensor]).map(Tensor::downgrade));
        }
    });
}

/// Whether the function of the present transform may write to a tensor from outside that is `wanted`.
pub(crate) fn is_admitted(wanted: impl Fn(&Tensor) -> bool) -> bool {
    FRAMES.with_borrow(|frames| {
        let admitted = frames.last().map_or(&[][..], |open| &open.admitted);
        admitted.iter().filter_map(WeakTensor::upgrade).any(|tensor| wanted(&tensor))
    })
}

/// Says whose derivatives the next run of this thread computes: those of the transform that began at `since`.
pub fn next_run_is_of(since: u64) {
    NEXT_RUN.set(since);
}

/// The transform whose derivatives a run that begins now computes, if there was ever one in the process.
pub(crate) fn next_run() -> Option<u64> {
    if EVER.load(Ordering::Relaxed) { Some(next_run_of_thread()) } else { None }
}

#[cold]
#[inline(never)]
fn next_run_of_thread() -> u64 {
    let since = NEXT_RUN.replace(NONE);
    if since == NONE && depth() > 0 { reverse_before(u64::MAX) } else { since }
}

/// Makes a run one of a transform, on this thread, until it is dropped.
pub(crate) struct RunGuard(u64);

impl RunGuard {
    pub(crate) fn of(since: u64) -> RunGuard {
        RunGuard(RUN.replace(since))
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        RUN.set(self.0);
    }
}

/// The transform whose derivatives the present run of this thread computes.
pub(crate) fn present_run() -> u64 {
    RUN.get()
}

/// The transform of this thread that something recorded at `seq` is inside of.
pub(crate) fn home(seq: u64) -> u64 {
    if depth() == 0 { NONE } else { reverse_before(seq) }
}

/// The innermost transform of reverse mode that began before `seq`.
fn reverse_before(seq: u64) -> u64 {
    FRAMES.with_borrow(|frames| {
        let found = frames.iter().rev().find(|open| !open.forward && open.frame.since < seq);
        found.map_or(NONE, |open| open.frame.since)
    })
}

/// The transform of this thread that a leaf is inside of which was made inside of `depth` of them.
pub(crate) fn home_at(depth: usize) -> u64 {
    FRAMES.with_borrow(|frames| {
        let found = frames.iter().take(depth).rev().find(|open| !open.forward);
        found.map_or(NONE, |open| open.frame.since)
    })
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
    let frame = FRAMES.with_borrow(|frames| frames.last().map(|open| open.frame.clone()));
    Node::record(Boundary { frame }, smallvec![onward], Forms::one(form))
}

/// Where no transform begins.
pub(crate) const NONE: u64 = u64::MAX;

/// Whether any path from `start` leads to a leaf that was made inside of no more than `depth` transforms,
/// or into a transform that goes on, other than the one that began at `since`.
pub(crate) fn leads_out(start: &NodeRef, since: u64, depth: usize) -> bool {
    leads_to(start, &|node| {
        node.edges().iter().flatten().next().is_none()
            && (node.leaf().is_some_and(|leaf| leaf.depth() <= depth)
                || node.rule().transform().is_some_and(|transform| transform != since))
    })
}

/// Whether the history from `start` on is of the transform inside of which there are `depth`, itself
/// included: leads to what that differentiates by, or to leaves that were made inside.
pub(crate) fn is_within(start: &NodeRef, depth: usize) -> bool {
    let since = FRAMES.with_borrow(|frames| frames.get(depth.wrapping_sub(1)).map(|open| open.frame.since));
    leads_to(start, &|node| {
        node.leaf().is_some_and(|leaf| leaf.depth() >= depth)
            || since.is_some_and(|since| node.rule().transform() == Some(since))
    })
}

/// Whether there is a node that is `wanted` on any path from `start`.
fn leads_to(start: &NodeRef, wanted: &dyn Fn(&NodeRef) -> bool) -> bool {
    let mut seen = HashSet::new();
    let mut pending: SmallVec<[&NodeRef; 16]> = smallvec![start];
    while let Some(node) = pending.pop() {
        if !seen.insert(node.id()) {
            continue;
        }
        if wanted(node) {
            return true;
        }
        pending.extend(node.edges().iter().flatten().map(|edge| &edge.node));
    }
    false
}

/// The node that history begins with for those who are outside of all transforms, if it leads there.
pub(crate) fn outermost(start: NodeRef) -> Option<NodeRef> {
    let mut node = start;
    while node.rule().transform().is_some() {
        let onward = node.edges().first()?.as_ref()?.node.clone();
        node = onward;
    }
    leads_to(&node, &|node| node.leaf().is_some_and(|leaf| leaf.depth() == 0)).then_some(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transform_ends_with_its_thread() {
        let begun = std::thread::spawn(|| {
            enter(false);
            assert_eq!(depth(), 1);
            FRAMES.with_borrow(|frames| frames.last().map(|open| open.frame.clone())).unwrap()
        });
        assert!(!begun.join().unwrap().goes_on.load(Ordering::Relaxed));
        assert_eq!(depth(), 0);
    }
}
