//! A slot for the host's object that stands for an engine object, so that one tensor is one object
//! there too. The engine never looks inside.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering};

use super::Tensor;
use crate::graph::mode;

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

static BARENESS: OnceLock<fn(*mut c_void) -> bool> = OnceLock::new();

/// Tells the engine how to find out that nobody but the tensor that owns an object has it. Called once,
/// by the host.
pub fn register_bareness(is_bare: fn(*mut c_void) -> bool) {
    // As above.
    let _ = BARENESS.set(is_bare);
}

/// Whether a tensor owns its object, and nobody else has that.
pub(super) fn owns_bare_object(tensor: &Tensor) -> bool {
    let foreign = tensor.foreign();
    foreign.is_owned() && BARENESS.get().is_some_and(|is_bare| is_bare(foreign.get()))
}

/// The slot. Usually the host's object holds the engine's and the slot only knows where it is. When
/// the host lets go of an object with state worth keeping, ownership turns round.
#[derive(Default)]
pub struct Foreign {
    object: AtomicPtr<c_void>,
    owned: AtomicBool,
    subclass: AtomicU8,
    /// Whether the tensor is batched: see Note [Special threads].
    batched: AtomicBool,
}

/// How the class of the host's object takes part in operations on its tensor.
///
/// Note [Dispatch subclasses]
/// ----
/// Operations on such a tensor are shown to its class, which answers in their place, beneath everything
/// that records them. While there is one, operations take the long way. What the class answers is an
/// output as it is: the object, not just its memory, and so is what rules keep of it. One
/// without data has memory that nobody reads; the room that it takes is never touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subclass {
    /// The class is shown operations.
    WithData = 1,
    /// And the tensor has no numbers.
    WithoutData = 2,
}

/// How many tensors there are of dispatch subclasses.
static SUBCLASSED: AtomicUsize = AtomicUsize::new(0);

/// Whether there is any tensor of a dispatch subclass: see Note [Dispatch subclasses].
#[inline]
pub fn any_subclassed() -> bool {
    mode::special() && SUBCLASSED.load(Ordering::Relaxed) != 0
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

    /// From now on the class of the object is shown what becomes of the tensor.
    pub fn set_subclass(&self, subclass: Subclass) {
        if self.subclass.swap(subclass as u8, Ordering::Relaxed) == 0 {
            SUBCLASSED.fetch_add(1, Ordering::Relaxed);
            mode::begin_everywhere();
        }
    }

    /// Turns ownership round; answers who had it before.
    pub fn set_owned(&self, owned: bool) -> bool {
        self.owned.swap(owned, Ordering::AcqRel)
    }
}

impl Tensor {
    /// Makes this thread special if the tensor is batched; called wherever a tensor enters the engine: see Note [Special
    /// threads].
    #[inline(always)]
    pub fn note_batched(&self) {
        if self.foreign().batched.load(Ordering::Relaxed) {
            mode::note_batched();
        }
    }

    /// Says that it is batched, before anybody else has it.
    pub(super) fn marked_as_batched(self) -> Tensor {
        self.foreign().batched.store(true, Ordering::Relaxed);
        self
    }

    /// Whether its class is shown operations on it.
    #[inline]
    pub fn is_subclassed(&self) -> bool {
        self.foreign().subclass.load(Ordering::Relaxed) != 0
    }

    /// Whether it is of a dispatch subclass and has no numbers.
    pub fn has_no_data(&self) -> bool {
        self.foreign().subclass.load(Ordering::Relaxed) == Subclass::WithoutData as u8
    }

    /// Whether this is the only handle but that of its object, which nobody else has.
    pub fn is_only_with_object(&self) -> bool {
        self.handles() == 2 && owns_bare_object(self)
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if *self.subclass.get_mut() != 0 {
            SUBCLASSED.fetch_sub(1, Ordering::Relaxed);
            mode::end_everywhere();
        }
        let object = std::mem::replace(self.object.get_mut(), null_mut());
        if *self.owned.get_mut()
            && !object.is_null()
            && let Some(release) = RELEASE.get()
        {
            release(object);
        }
    }
}
