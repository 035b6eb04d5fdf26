//! The nodes of the graph and the edges between them: fixed-size records in the arena (Note [Arena]).

#![allow(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};

use once_cell::race::OnceBox;
use parking_lot::Mutex;
use smallbox::{SmallBox, smallbox};
use smallvec::SmallVec;

use super::arena::{Id, Strong};
use super::hooks::{Hook, HookId, Hooks, Place};
use super::released::{self, Freeing};
use super::rule::{Rule, Traits};
use super::saved::SavedTensor;
use crate::dtype::DType;
use crate::error::Error;
use crate::graph::observe::anomaly;
use crate::graph::observe::anomaly::Trace;
use crate::graph::observe::detach_site::Cut;
use crate::graph::transform_level;
use crate::origin::{self, Origin};
use crate::shape::SharedLayout;
use crate::sharing::{RwLock, RwLockReadGuard};
use crate::tensor::{Foreign, Tensor};

/// A handle to a node.
pub type NodeRef = Strong<Node>;
/// Names a node without keeping it.
pub type NodeId = Id;

/// What a rule may keep inside of the record: two saved tensors. A larger one gets a box.
type Space = [usize; 6];
pub(crate) type RuleBox = SmallBox<dyn Rule, Space>;

/// A rule as a node keeps it. What comes after knows no rule by its type, so that it is compiled once
/// and not for every operation.
pub(crate) fn boxed(rule: impl Rule + 'static) -> RuleBox {
    smallbox!(rule)
}

/// An output of a node: where a tensor came from, or where a gradient goes.
#[derive(Clone)]
pub struct Edge {
    /// The node.
    pub node: NodeRef,
    /// Which of its outputs.
    pub output: u32,
}

/// What an output looked like, which its gradient must look like too.
#[derive(Clone)]
pub struct Form {
    /// Its layout.
    pub layout: SharedLayout,
    /// Its element type.
    pub dtype: DType,
}

/// A form where it lies.
#[derive(Clone, Copy)]
pub struct FormRef<'a> {
    /// Its layout.
    pub layout: &'a SharedLayout,
    /// Its element type.
    pub dtype: DType,
}

impl Form {
    /// The form without a handle to it of one's own.
    pub fn as_ref(&self) -> FormRef<'_> {
        FormRef { layout: &self.layout, dtype: self.dtype }
    }
}

impl FormRef<'_> {
    /// A form of one's own.
    pub fn to_form(self) -> Form {
        Form { layout: self.layout.clone(), dtype: self.dtype }
    }
}

/// What few nodes have, in a box of its own.
#[derive(Default)]
pub struct Extras {
    /// Outputs after the first.
    pub further: Vec<Form>,
    /// Hooks of the node and of the tensors that it made.
    pub hooks: Hooks,
    /// The host's object that stands for the node.
    pub foreign: Foreign,
    /// Where it was recorded, callers included, if that was in anomaly mode.
    trace: Option<Trace>,
    /// What the host has packed of that the rule shows without keeping it.
    pub(super) packed: Mutex<Vec<(&'static str, Arc<SavedTensor>)>>,
    /// The position on the tape as the host has said it, and one more.
    pub renumbered: AtomicU64,
    /// A bit for each output that has forgotten that it is one: the last is for all that follow.
    detached: AtomicU64,
}

/// Whether any output has ever forgotten its history in place.
static DETACHED: AtomicBool = AtomicBool::new(false);

/// Whether `mark_detached` was ever called.
pub(super) fn any_detached() -> bool {
    DETACHED.load(Ordering::Relaxed)
}

/// One recorded operation.
///
/// The record has 152 bytes with its slot: the element type of its first output lies apart from the layout, among what
/// is as small.
pub struct Node {
    rule: RwLock<RuleBox>,
    edges: SmallVec<[Option<Edge>; 2]>,
    /// The layout of its first output.
    layout: SharedLayout,
    /// Zero is for the nodes of leaves, which own them: nobody changes the rule of such a node.
    seq: u64,
    /// The line of the program that recorded it.
    origin: Origin,
    /// Under which number the engine plans to visit the node, and one more; zero when it does not.
    pub(crate) claim: AtomicU32,
    /// Which run of backward freed what the rule kept: the number of a `Freeing`, or zero if none did.
    released: AtomicU16,
    traits: Traits,
    /// The element type of its first output.
    dtype: DType,
    extras: OnceBox<Extras>,
}
crate::home!(Node, wake, rest);

impl Node {
    /// Records a rule: the edges lead to where its inputs came from, `forms` tells of its outputs.
    pub fn record(rule: impl Rule + 'static, edges: SmallVec<[Option<Edge>; 2]>, forms: Forms) -> NodeRef {
        Node::record_boxed(boxed(rule), edges, forms)
    }

    /// `record` of a rule that is boxed already.
    #[inline]
    pub(crate) fn record_boxed(rule: RuleBox, edges: SmallVec<[Option<Edge>; 2]>, forms: Forms) -> NodeRef {
        let seq = super::seq::next(edges.iter().flatten().map(|edge| edge.node.seq));
        let origin = origin::here();
        Strong::new_with(|| Node::build(rule, edges, forms, seq, origin))
    }

    /// A node that accumulates into a leaf, which owns it: it comes before everything recorded.
    pub fn leaf_node(rule: impl Rule + 'static, form: Form) -> NodeRef {
        let forms = Forms::one(form);
        Strong::new_owned(Node::build(boxed(rule), SmallVec::new(), forms, 0, Origin::UNKNOWN))
    }

    /// The rule of a leaf's node, without asking whether anybody changes it.
    fn leaf_rule(&self) -> Option<&RuleBox> {
        // SAFETY: nobody does: `release` and `change_saved` leave the rule of a leaf alone.
        (self.seq == 0).then(|| unsafe { &*self.rule.data_ptr() })
    }

    fn wake(&self) {
        if let Some(rule) = self.leaf_rule() {
            rule.wake();
        }
    }

    fn rest(&self, is_alone: &dyn Fn() -> bool) {
        if let Some(extras) = self.extras.get() {
            // As if the node went: a hook that leads to the leaf would keep it for ever.
            extras.hooks.clear_if(is_alone);
        }
        if let Some(rule) = self.leaf_rule() {
            rule.rest();
        }
    }

    #[inline(always)]
    fn build(
        rule: RuleBox,
        edges: SmallVec<[Option<Edge>; 2]>,
        forms: Forms,
        seq: u64,
        origin: Origin,
    ) -> Node {
        let extras = OnceBox::new();
        let trace = if anomaly::is_enabled() { anomaly::trace() } else { None };
        if !forms.further.is_empty() || trace.is_some() {
            // The box is empty: `set` cannot fail.
            let _ = extras.set(Box::new(Extras { further: forms.further, trace, ..Extras::default() }));
        }
        let (traits, claim, released) = (rule.traits(), AtomicU32::new(0), AtomicU16::new(0));
        let (rule, Form { layout, dtype }) = (RwLock::new(rule), forms.first);
        Node { rule, edges, layout, seq, origin, claim, released, traits, dtype, extras }
    }

    /// torch's name of the node.
    pub fn name(&self) -> String {
        self.rule().name().to_owned()
    }

    /// The rule. Runs of the engine share it; see `release`.
    pub fn rule(&self) -> RwLockReadGuard<'_, RuleBox> {
        // A rule may run the engine, which may meet the same node again on this thread. That is no
        // deadlock: writers only try (see `release`), so no reader ever waits behind one.
        self.rule.read()
    }

    /// What never changes about the rule.
    #[inline]
    pub fn traits(&self) -> Traits {
        self.traits
    }

    /// Where the inputs came from; `None` for inputs without gradient.
    pub fn edges(&self) -> &[Option<Edge>] {
        &self.edges
    }

    /// Position on the tape: larger than that of every node it leads to.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Where the program recorded it; unknown for leaves.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// What output `output` looked like.
    #[inline]
    pub fn form(&self, output: u32) -> FormRef<'_> {
        let first = FormRef { layout: &self.layout, dtype: self.dtype };
        if output == 0 {
            return first;
        }
        let further = self.extras.get().and_then(|extras| extras.further.get(output as usize - 1));
        further.map_or(first, Form::as_ref)
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        1 + self.extras.get().map_or(0, |extras| extras.further.len())
    }

    /// What few nodes have, if this one has it.
    pub fn extras(&self) -> Option<&Extras> {
        self.extras.get()
    }

    /// Where it was recorded, callers included, if that was in anomaly mode.
    pub fn trace(&self) -> Option<&Trace> {
        self.extras().and_then(|extras| extras.trace.as_ref())
    }

    /// What few nodes have, made if need be.
    pub fn extras_or_new(&self) -> &Extras {
        self.extras.get_or_init(Box::default)
    }

    /// Adds a hook, which sees derivatives of the transform that the node is inside of.
    pub fn add_hook(&self, place: Place, hook: Arc<dyn Hook>) -> HookId {
        self.extras_or_new().hooks.add(place, transform_level::home(self.seq()), hook)
    }

    /// Says that the tensor that is this output has forgotten its history in place.
    pub(crate) fn mark_detached(&self, output: u32) {
        self.extras_or_new().detached.fetch_or(1 << output.min(63), Ordering::Relaxed);
        DETACHED.store(true, Ordering::Relaxed);
    }

    /// Whether `mark_detached` was called for this output.
    #[cold]
    pub(super) fn is_detached(&self, output: u32) -> bool {
        let detached = self.extras().map_or(0, |extras| extras.detached.load(Ordering::Relaxed));
        detached & (1 << output.min(63)) != 0
    }

    /// The leaf that the node accumulates into, if it does.
    #[inline]
    pub fn leaf(&self) -> Option<&Tensor> {
        self.leaf_rule().and_then(|rule| rule.leaf())
    }

    /// The rule, unless somebody is changing it.
    pub(crate) fn try_rule(&self) -> Option<RwLockReadGuard<'_, RuleBox>> {
        self.rule.try_read()
    }

    /// Changes what the rule has saved, unless the rule is being run.
    pub(crate) fn change_saved(&self, change: impl FnOnce(SmallVec<[&mut SavedTensor; 2]>)) {
        if self.seq == 0 {
            return;
        }
        if let Some(mut rule) = self.rule.try_write() {
            change(rule.saved_mut());
        }
    }

    /// Frees what the rule keeps. A rule that is being run on this or another thread stays; that
    /// run frees it in turn, unless it was asked to retain the graph.
    pub fn release(&self, freeing: Freeing) {
        if self.seq == 0 || self.is_released() {
            return;
        }
        // What is freed is dropped outside of the lock: the last handle to a tensor may go with it.
        if self.traits.has(Traits::LIGHT) {
            let Some(mut rule) = self.rule.try_write() else { return };
            if !rule.keeps() {
                return;
            }
            self.released.store(freeing.number, Ordering::Release);
            let freed = released::free_light(&mut rule);
            drop(rule);
            drop(freed);
        } else {
            let rule = self.rule();
            // It may free something by itself, which it does without the lock.
            if !rule.keeps() || rule.release(freeing.run) {
                return;
            }
            drop(rule);
            let Some(mut rule) = self.rule.try_write() else { return };
            self.released.store(freeing.number, Ordering::Release);
            let freed = released::free_whole(&mut rule);
            drop(rule);
            drop(freed);
        }
        if let Some(extras) = self.extras() {
            drop(std::mem::take(&mut *extras.packed.lock()));
        }
    }

    /// What the host has packed of that the rule shows without keeping it, by name.
    pub fn packed(&self) -> Vec<(&'static str, Arc<SavedTensor>)> {
        self.extras().map_or_else(Vec::new, |extras| extras.packed.lock().clone())
    }

    /// Whether backward has freed what the rule kept, other than by itself.
    #[inline]
    pub fn is_released(&self) -> bool {
        self.released.load(Ordering::Acquire) != 0
    }

    /// The error for whoever asks for a tensor that was freed.
    #[cold]
    pub fn freed(&self) -> Box<Error> {
        let run = Cut::of_number(self.released.load(Ordering::Acquire)).site();
        let run = run.map_or(Origin::UNKNOWN, |(_, run)| run);
        Error::BackwardTwice { node: self.name(), recorded: self.origin(), run }.into()
    }
}

/// What the outputs of a node look like; there is always a first.
pub struct Forms {
    /// The first output.
    pub first: Form,
    /// The others.
    pub further: Vec<Form>,
}

impl Forms {
    /// A single output.
    pub fn one(first: Form) -> Self {
        Forms { first, further: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_small() {
        assert_eq!(size_of::<SavedTensor>(), 24);
        assert_eq!(size_of::<Option<Edge>>(), 12);
        assert!(size_of::<Node>() + 8 <= 152, "{} bytes", size_of::<Node>());
    }
}
