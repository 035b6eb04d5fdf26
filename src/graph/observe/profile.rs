//! What ran when on a thread, as long as the host wants to know: functions that it called, operations, nodes of
//! backward, and passages of its program that have a label. Beneath everything else that watches operations, so
//! that nothing behaves differently because it is timed.
//!
//! A run of backward stays on the thread that asked for it while that is profiled.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use smallvec::SmallVec;

use crate::graph::mode;
use crate::graph::mode::SpecialGuard;
use crate::graph::observe::anomaly;
use crate::graph::{NodeRef, seq};
use crate::origin::Stack;
use crate::shape::Dims;
use crate::storage;
use crate::tensor::Tensor;

/// What an event is known by.
#[derive(Clone, Debug)]
pub enum Label {
    /// An operation, by torch's name of the node that it would record, and whether it overwrites.
    Operation(&'static str, bool),
    /// A function, by torch's name.
    Function(&'static str),
    /// A function that the host wrote itself.
    HostFunction(String),
    /// A node of backward: with its hooks and what becomes of its gradients, or only its rule.
    Node(String, Extent),
    /// A passage of the program.
    Passage(String),
}

/// How much of what a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Everything.
    Whole,
    /// Its rule.
    Rule,
}

/// The shapes of what is given to something; none for what is no tensor.
pub type Shapes = SmallVec<[Option<Dims>; 3]>;

/// Something that ran.
#[derive(Clone, Debug)]
pub struct Event {
    /// What it is known by.
    pub label: Label,
    /// When it began, in nanoseconds since the profile did.
    pub begin: u64,
    /// When it ended; `None` while it runs.
    pub end: Option<u64>,
    /// On which thread, by a small number.
    pub thread: u64,
    /// The position on the tape of the node that it is, or that the next node gets; none where nothing records.
    pub position: Option<u64>,
    /// The shapes of its arguments, if they were asked for.
    pub shapes: Shapes,
    /// By how many bytes more or less were in use in the end.
    pub bytes: i64,
    /// Where the program was and was called from, innermost first, if that was asked for.
    pub stack: Option<Stack>,
}

/// What a profile takes note of besides times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Details {
    /// Shapes of arguments.
    pub shapes: bool,
    /// Where the program was.
    pub stacks: bool,
}

/// The events of one profile.
#[derive(Debug)]
pub struct Profile {
    start: Instant,
    details: Details,
    events: Mutex<Vec<Event>>,
}

thread_local! {
    static CURRENT: RefCell<Option<(Arc<Profile>, SpecialGuard)>> = const { RefCell::new(None) };
    static THREAD: Cell<u64> = const { Cell::new(0) };
}

/// A small number of this thread's own.
fn thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if THREAD.get() == 0 {
        THREAD.set(NEXT.fetch_add(1, Ordering::Relaxed));
    }
    THREAD.get()
}

/// Begins a profile of this thread. One that is under way is given up, with all its events.
pub fn start(details: Details) {
    let profile = Profile { start: Instant::now(), details, events: Mutex::new(Vec::new()) };
    let before = CURRENT.replace(Some((Arc::new(profile), SpecialGuard::new())));
    drop(before);
}

/// Ends the profile of this thread: its events in the order in which they began, and how long it lasted.
pub fn stop() -> Option<(Vec<Event>, u64)> {
    let (profile, _) = CURRENT.take()?;
    let now = profile.now();
    let events = std::mem::take(&mut *profile.events());
    Some((events, now))
}

/// Whether this thread is profiled.
#[inline]
pub fn is_active() -> bool {
    mode::special() && CURRENT.with_borrow(Option::is_some)
}

/// Something that is running, until it is dropped.
#[must_use = "it ends when it is dropped"]
#[derive(Debug)]
pub struct Running {
    profile: Arc<Profile>,
    index: usize,
    /// Bytes in use when it began.
    bytes: i64,
}

impl Drop for Running {
    fn drop(&mut self) {
        let end = self.profile.now();
        // None if the profile has ended meanwhile.
        if let Some(event) = self.profile.events().get_mut(self.index) {
            event.end = Some(end);
            event.bytes = in_use() - self.bytes;
        }
    }
}

fn in_use() -> i64 {
    storage::allocated() as i64
}

impl Profile {
    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn events(&self) -> MutexGuard<'_, Vec<Event>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(self: Arc<Self>, label: Label, position: Option<u64>, shapes: Shapes) -> Running {
        let forward = !matches!(label, Label::Node(..));
        let stack = if self.details.stacks && forward { anomaly::stack() } else { None };
        let event = Event {
            label,
            begin: self.now(),
            end: None,
            thread: thread(),
            position,
            shapes,
            bytes: 0,
            stack,
        };
        let index = {
            let mut events = self.events();
            events.push(event);
            events.len() - 1
        };
        Running { bytes: in_use(), index, profile: self }
    }

    fn node(self: Arc<Self>, node: &NodeRef, extent: Extent, gradients: &[Option<Tensor>]) -> Running {
        let position = node.leaf().is_none().then(|| node.seq());
        let shapes = if extent == Extent::Rule && self.details.shapes {
            gradients.iter().map(|gradient| gradient.as_ref().map(shape)).collect()
        } else {
            Shapes::new()
        };
        self.begin(Label::Node(node.name(), extent), position, shapes)
    }
}

#[inline]
fn current() -> Option<Arc<Profile>> {
    if mode::special() { own() } else { None }
}

#[cold]
fn own() -> Option<Arc<Profile>> {
    CURRENT.with_borrow(|current| current.as_ref().map(|(profile, _)| profile.clone()))
}

/// Something begins that a node may be recorded for; `shapes` are taken if they are asked for.
pub fn begin(label: Label, shapes: impl FnOnce() -> Shapes) -> Option<Running> {
    let profile = current()?;
    let position = mode::is_grad_enabled().then(seq::peek);
    let shapes = if profile.details.shapes { shapes() } else { Shapes::new() };
    Some(profile.begin(label, position, shapes))
}

/// A step of a function that takes no tensors.
#[inline]
pub fn step(name: &'static str) -> Option<Running> {
    let profile = current()?;
    Some(profile.begin(Label::Function(name), None, Shapes::new()))
}

/// A passage of the program begins.
pub fn passage(name: String) -> Option<Running> {
    let profile = current()?;
    Some(profile.begin(Label::Passage(name), None, Shapes::new()))
}

/// A node begins to run, given these gradients.
#[inline]
pub fn node(node: &NodeRef, extent: Extent, gradients: &[Option<Tensor>]) -> Option<Running> {
    current().map(|profile| profile.node(node, extent, gradients))
}

/// The shape of a tensor.
pub fn shape(tensor: &Tensor) -> Dims {
    tensor.layout().shape().into()
}
