//! Functions of the host that run when a gradient passes a tensor or a node.

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::rule::Gradients;
use crate::error::Result;
use crate::graph::transform_level;
use crate::tensor::{Tensor, WeakTensor};
use std::sync::Arc;

/// What a hook is called with. It may replace what is lent mutably.
pub enum HookCall<'a> {
    /// A tensor's hook: the gradient with respect to the tensor, `None` if none came to it while some
    /// came to another output of its node.
    Gradient(&'a mut Option<Tensor>),
    /// A node's hook from before its rule: gradients with respect to its outputs.
    Before(&'a mut Gradients),
    /// A node's hook from after its rule: gradients with respect to its inputs, and to its outputs.
    After(&'a mut Gradients, &'a Gradients),
    /// A leaf's hook from after its `.grad` was set.
    Accumulated(&'a Tensor),
}

/// A function of the host, which can recognise its own through `Any`. Hooks run on the thread that
/// called the engine, one at a time.
pub trait Hook: Any + Send + Sync {
    /// Runs the function.
    fn call(&self, call: HookCall<'_>) -> Result<()>;
}

/// Hooks with their names.
pub type NamedHooks = Vec<(HookId, Arc<dyn Hook>)>;

/// Where a hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At one output of a node: a tensor's hook.
    Output(u32),
    /// Before the rule of the node.
    Before,
    /// After the rule of the node.
    After,
    /// After accumulation into the leaf.
    Accumulated,
}

/// Names one hook among all, for its removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookId(u64);

static NEXT: AtomicU64 = AtomicU64::new(0);

impl HookId {
    /// A name that no hook has, for one that is kept elsewhere too.
    pub fn fresh() -> HookId {
        HookId(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The name that the host calls by this number.
    pub const fn from_number(number: u64) -> HookId {
        HookId(number)
    }

    /// What the host calls it.
    pub const fn number(self) -> u64 {
        self.0
    }
}

struct Entry {
    id: HookId,
    place: Place,
    /// The transform whose derivatives it sees (Note [Boundaries]).
    home: u64,
    hook: Arc<dyn Hook>,
}

/// The hooks of one tensor or node, in the order in which they were added.
#[derive(Default)]
pub struct Hooks {
    entries: Mutex<Vec<Entry>>,
    /// Places that had hooks and have none any more.
    emptied: Mutex<Vec<Place>>,
    /// Tensors whose gradient is kept, by output.
    retained: Mutex<Vec<(u32, WeakTensor)>>,
    /// Whether there ever was anything in either: what every run asks of every leaf.
    used: AtomicBool,
}

impl Hooks {
    /// Adds a hook that runs where derivatives of the transform `home` are computed.
    pub(crate) fn add(&self, place: Place, home: u64, hook: Arc<dyn Hook>) -> HookId {
        let id = HookId::fresh();
        self.entries.lock().push(Entry { id, place, home, hook });
        self.used.store(true, Ordering::Release);
        id
    }

    /// Removes a hook; nothing happens when it has gone already.
    pub fn remove(&self, id: HookId) {
        let removed = {
            let mut entries = self.entries.lock();
            let removed = entries.iter().position(|entry| entry.id == id).map(|at| entries.remove(at));
            if let Some(place) = removed.as_ref().map(|entry| entry.place)
                && entries.iter().all(|entry| entry.place != place)
            {
                self.emptied.lock().push(place);
            }
            removed
        };
        // Dropped outside of the lock: the function may own anything.
        drop(removed);
    }

    /// Whether there is anything to run.
    pub fn is_empty(&self) -> bool {
        !self.used.load(Ordering::Acquire)
            || self.entries.lock().is_empty() && self.retained.lock().is_empty()
    }

    /// The hooks of one place that the present run calls, without the lock, so that they may add and remove.
    pub fn at(&self, place: Place) -> Vec<Arc<dyn Hook>> {
        let run = transform_level::present_run();
        self.entries
            .lock()
            .iter()
            .filter(|entry| entry.place == place && entry.home == run)
            .map(|entry| entry.hook.clone())
            .collect()
    }

    /// The hooks of one place with their names; `None` if there was never one.
    pub fn named(&self, place: Place) -> Option<NamedHooks> {
        let entries = self.entries.lock();
        let here = entries.iter().filter(|entry| entry.place == place);
        let named: NamedHooks = here.map(|entry| (entry.id, entry.hook.clone())).collect();
        (!named.is_empty() || self.emptied.lock().contains(&place)).then_some(named)
    }

    /// Puts other hooks in the place of those of one place; `None` forgets that there were some.
    pub fn replace(&self, place: Place, hooks: Option<NamedHooks>) {
        let before = {
            let mut entries = self.entries.lock();
            let (mut kept, before): (Vec<_>, Vec<_>) =
                std::mem::take(&mut *entries).into_iter().partition(|entry| entry.place != place);
            let mut emptied = self.emptied.lock();
            emptied.retain(|other| *other != place);
            emptied.extend(hooks.as_ref().filter(|hooks| hooks.is_empty()).map(|_| place));
            drop(emptied);
            let hooks = hooks.into_iter().flatten();
            kept.extend(hooks.map(|(id, hook)| Entry { id, place, home: transform_level::NONE, hook }));
            let used = !kept.is_empty() || !self.retained.lock().is_empty();
            self.used.store(used, Ordering::Release);
            *entries = kept;
            before
        };
        // Dropped outside of the lock, as in `remove`.
        drop(before);
    }

    /// The outputs that have hooks, in the order in which each got its first.
    pub fn hooked_outputs(&self) -> Vec<u32> {
        let mut outputs = Vec::new();
        for entry in &*self.entries.lock() {
            if let Place::Output(output) = entry.place
                && !outputs.contains(&output)
            {
                outputs.push(output);
            }
        }
        outputs
    }

    /// Shows every hook, unless somebody is changing them.
    pub(crate) fn try_visit(&self, visit: &mut dyn FnMut(&Arc<dyn Hook>)) {
        if let Some(entries) = self.entries.try_lock() {
            entries.iter().for_each(|entry| visit(&entry.hook));
        }
    }

    /// Drops every hook.
    pub fn clear(&self) {
        self.clear_if(&|| true);
    }

    /// Drops every hook, if it is so while none can be added.
    pub(super) fn clear_if(&self, is_so: &dyn Fn() -> bool) {
        let mut entries = self.entries.lock();
        let gone = if is_so() { std::mem::take(&mut *entries) } else { Default::default() };
        drop(entries);
        drop(gone);
    }

    /// Keeps the gradient of a tensor that is output `output`.
    pub fn retain(&self, output: u32, tensor: WeakTensor) {
        self.retained.lock().push((output, tensor));
        self.used.store(true, Ordering::Release);
    }

    /// Forgets the tensor that is output `output`; answers it.
    pub fn release(&self, output: u32) -> Option<WeakTensor> {
        let mut retained = self.retained.lock();
        let at = retained.iter().position(|(number, _)| *number == output)?;
        Some(retained.remove(at).1)
    }

    /// The tensors whose gradient is kept.
    pub fn retained(&self) -> Vec<(u32, WeakTensor)> {
        self.retained.lock().clone()
    }
}
