//! A slot for the host's object that stands for an engine object, so that one tensor is one object
//! there too. The engine never looks inside.

use std::any::Any;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, OnceLock};

use super::Tensor;
use crate::graph::{Hook, Hooks, NodeRef};

static RELEASE: OnceLock<fn(*mut c_void)> = OnceLock::new();

/// Tells the engine how to let go of an object that it owns. Called once, by the host. The function
/// may be called on any thread, with or without the host's lock, and must not wait for it.
pub fn register_release(release: fn(*mut c_void)) {
    // A second registration would come from a second host in the process: the first one stays.
    let _ = RELEASE.set(release);
}

static WATCH: OnceLock<fn(&Tensor)> = OnceLock::new();

/// Tells the engine whom to ask when a handle of a tensor that owns its object is about to go: the
/// object has a handle too, so that the tensor alone would never go. Called once, by the host; the
/// function may be called on any thread, with or without the host's lock, and must not wait for it.
pub fn register_watch(watch: fn(&Tensor)) {
    // As above.
    let _ = WATCH.set(watch);
}

#[cold]
pub(super) fn handle_goes(tensor: &Tensor) {
    if let Some(watch) = WATCH.get() {
        watch(tensor);
    }
}

impl Tensor {
    /// The hooks that only the holder of this handle leads to, for a host whose collector looks for
    /// circles: those of the tensor, and those of the node that made it. None if anybody else may.
    pub fn own_hooks(&self) -> Vec<Arc<dyn Hook>> {
        let mut hooks = Vec::new();
        self.visit_own_hooks(|found| hooks.extend(found.all()));
        hooks
    }

    /// Drops the hooks that `own_hooks` finds, which breaks the circles that go through them.
    pub fn clear_own_hooks(&self) {
        self.visit_own_hooks(Hooks::clear);
    }

    /// Shows the host's parts of rules that only the holder of this handle leads to.
    pub fn visit_own_hosts(&self, visit: &mut dyn FnMut(&(dyn Any + Send + Sync))) {
        if self.handles() > 1 {
            return;
        }
        let edge = self.0.core.read().edge.clone();
        // One handle is the edge's, one ours.
        if let Some(edge) = edge.filter(|edge| edge.node.count() == 2) {
            edge.node.visit_own_hosts(visit);
        }
    }

    /// Shows the node that made the tensor, if the only handle is the asker's and that of the host's
    /// object which the tensor owns.
    pub fn visit_own_node(&self, visit: &mut dyn FnMut(&NodeRef)) {
        if self.handles() == 1 + usize::from(self.foreign().is_owned())
            && let Some(edge) = &self.0.core.read().edge
        {
            visit(&edge.node);
        }
    }

    fn visit_own_hooks(&self, mut visit: impl FnMut(&Hooks)) {
        if self.handles() > 1 {
            return;
        }
        if let Some(hooks) = self.hooks_if_any() {
            visit(hooks);
        }
        // The edge as it is: to make it anew would record.
        let node = self.0.core.read().edge.as_ref().map(|edge| edge.node.clone());
        // One handle is the edge's, one ours.
        if let Some(node) = node.filter(|node| node.count() == 2)
            && let Some(extras) = node.extras()
        {
            visit(&extras.hooks);
        }
    }
}

/// The slot. Usually the host's object holds the engine's and the slot only knows where it is. When
/// the host lets go of an object with state worth keeping, ownership turns round.
#[derive(Default)]
pub struct Foreign {
    object: AtomicPtr<c_void>,
    owned: AtomicBool,
}

impl Foreign {
    /// The object, or null.
    pub fn get(&self) -> *mut c_void {
        self.object.load(Ordering::Acquire)
    }

    /// Sets or clears the object.
    pub fn set(&self, object: *mut c_void) {
        self.object.store(object, Ordering::Release);
    }

    /// Whether the engine owns the object.
    pub fn is_owned(&self) -> bool {
        self.owned.load(Ordering::Acquire)
    }

    /// Turns ownership round; answers who had it before.
    pub fn set_owned(&self, owned: bool) -> bool {
        self.owned.swap(owned, Ordering::AcqRel)
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let object = std::mem::replace(self.object.get_mut(), null_mut());
        if *self.owned.get_mut()
            && !object.is_null()
            && let Some(release) = RELEASE.get()
        {
            release(object);
        }
    }
}
