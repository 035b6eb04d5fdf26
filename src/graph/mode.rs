//! The modes of a thread (grad mode, inference mode and others) with guards that restore them, and the thread's
//! *special* flag: whether an operation has to look for anything beyond recording, such as vmap, forward mode,
//! dispatch modes or saved-tensor hooks. An ordinary operation tests this one flag and nothing else.
//!
//! Note [Special threads]
//! ----
//! Most of what sends operations through the layers of `dispatch` concerns one thread: functions that it maps
//! (vmap), dispatch modes, recordings, saved-tensor hooks. Each adds one to the count of its own thread, so that
//! other threads keep the short way. A batched tensor may reach another thread, or outlive its mapping. So wherever
//! a tensor enters the engine, `Tensor::note_batched` sets `BATCHED_SEEN` for the thread if the tensor is batched; that
//! bit counts as long as any mapping exists. What PyTorch has for all threads at once, levels of forward mode and
//! tensors of dispatch subclasses, is counted for the process.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::storage;

/// The flags of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags {
    /// The grad mode: whether operations are to record.
    pub grad: bool,
    /// Whether this is inference mode: nothing records, whatever the grad mode says, and memory that is
    /// allocated has no count of writes.
    pub inference: bool,
    /// Whether backward may use other threads.
    pub multithreading: bool,
    /// Whether a leaf's first gradient is laid out in memory as the leaf is.
    pub gradient_layout: bool,
    /// Whether views whose base was written to find their history by doing again what made them.
    pub view_replay: bool,
}

impl Flags {
    const AT_START: Flags = Flags {
        grad: true,
        inference: false,
        multithreading: true,
        gradient_layout: true,
        view_replay: false,
    };
}

/// What a thread knows, in one place, so that it is looked up once.
struct Thread {
    flags: Cell<Flags>,
    /// How many guards say that this thread is special; and `BATCHED_SEEN`.
    special: Cell<u32>,
}

/// The thread has seen a batched tensor, which need not belong to one of its own mappings.
const BATCHED_SEEN: u32 = 1 << 31;

thread_local! {
    static THREAD: Thread =
        const { Thread { flags: Cell::new(Flags::AT_START), special: Cell::new(0) } };
}

/// The flags of this thread.
#[inline]
pub fn flags() -> Flags {
    THREAD.with(|thread| thread.flags.get())
}

/// Sets the flags of this thread; answers what they were.
pub fn set_flags(flags: Flags) -> Flags {
    storage::set_counting(!flags.inference);
    THREAD.with(|thread| thread.flags.replace(flags))
}

/// Whether operations on this thread record their history.
#[inline]
pub fn is_grad_enabled() -> bool {
    let flags = flags();
    flags.grad && !flags.inference
}

/// Whether this thread is in inference mode.
pub fn is_inference() -> bool {
    flags().inference
}

/// Sets the grad mode of this thread; answers what it was.
pub fn set_grad_enabled(enabled: bool) -> bool {
    THREAD.with(|thread| {
        let flags = thread.flags.get();
        thread.flags.set(Flags { grad: enabled, ..flags });
        flags.grad
    })
}

/// Sets the grad mode until it is dropped.
#[must_use = "the mode lasts as long as the guard"]
pub struct GradModeGuard {
    before: bool,
}

impl GradModeGuard {
    /// Recording on or off until the guard goes.
    pub fn new(enabled: bool) -> Self {
        GradModeGuard { before: set_grad_enabled(enabled) }
    }

    /// Recording off until the guard goes.
    pub fn off() -> Self {
        GradModeGuard::new(false)
    }
}

impl Drop for GradModeGuard {
    fn drop(&mut self) {
        set_grad_enabled(self.before);
    }
}

/// Gives a thread the flags of another until it is dropped.
#[must_use = "the flags last as long as the guard"]
pub struct FlagsGuard {
    before: Flags,
}

impl FlagsGuard {
    /// These flags until the guard goes.
    pub fn new(flags: Flags) -> Self {
        FlagsGuard { before: set_flags(flags) }
    }
}

impl Drop for FlagsGuard {
    fn drop(&mut self) {
        set_flags(self.before);
    }
}

/// How many guards say that every thread is special.
static EVERYWHERE: AtomicU32 = AtomicU32::new(0);

/// How many mappings there are that batched tensors may belong to.
static MAPPINGS: AtomicU32 = AtomicU32::new(0);

/// Whether operations of this thread have to pass the layers of `dispatch`: see Note [Special threads].
#[inline]
pub fn special() -> bool {
    EVERYWHERE.load(Ordering::Relaxed) != 0
        || THREAD.with(|thread| thread.special.get() != 0 && is_special(thread))
}

/// `special` for a thread whose count is not zero: forgets `BATCHED_SEEN` when the last mapping is over.
#[cold]
fn is_special(thread: &Thread) -> bool {
    if thread.special.get() == BATCHED_SEEN && MAPPINGS.load(Ordering::Relaxed) == 0 {
        thread.special.set(0);
    }
    thread.special.get() != 0
}

/// This thread has seen a batched tensor: it is special as long as any mapping exists.
#[cold]
pub(crate) fn note_batched() {
    THREAD.with(|thread| thread.special.set(thread.special.get() | BATCHED_SEEN));
}

/// What every operation asks of its thread.
#[derive(Clone, Copy)]
pub(crate) struct ThreadMode {
    /// Whether operations have to pass the layers of `dispatch`.
    pub(crate) special: bool,
    /// Whether operations record their history.
    pub(crate) records: bool,
}

/// Both, with one look at the thread's data.
#[inline]
pub(crate) fn thread_mode() -> ThreadMode {
    let everywhere = EVERYWHERE.load(Ordering::Relaxed) != 0;
    THREAD.with(|thread| {
        let flags = thread.flags.get();
        let special = everywhere || thread.special.get() != 0 && is_special(thread);
        ThreadMode { special, records: flags.grad && !flags.inference }
    })
}

/// Whether operations do no more than compute: nothing is recorded and the thread is not special.
#[inline]
pub fn is_plain() -> bool {
    let mode = thread_mode();
    !mode.records && !mode.special
}

/// Whether a tensor that was made in inference mode ever required grad.
static FROZEN_LEAVES: AtomicBool = AtomicBool::new(false);

/// Whether there may be tensors that require grad although they were made in inference mode: operations on
/// such tensors alone are not recorded.
#[inline]
pub fn frozen_leaves() -> bool {
    FROZEN_LEAVES.load(Ordering::Relaxed)
}

/// There is one from now on.
pub(crate) fn expect_frozen_leaves() {
    FROZEN_LEAVES.store(true, Ordering::Relaxed);
}

/// Makes this thread special until it is dropped.
#[derive(Debug)]
#[must_use = "threads are special for as long as the guard lasts"]
pub struct SpecialGuard(PhantomData<*const ()>);

impl SpecialGuard {
    /// From now on.
    #[allow(clippy::new_without_default)] // It does something.
    pub fn new() -> Self {
        THREAD.with(|thread| thread.special.set(thread.special.get() + 1));
        SpecialGuard(PhantomData)
    }
}

impl Drop for SpecialGuard {
    fn drop(&mut self) {
        THREAD.with(|thread| thread.special.set(thread.special.get() - 1));
    }
}

/// Makes every thread special until it is dropped, on whatever thread.
#[derive(Debug)]
#[must_use = "threads are special for as long as the guard lasts"]
pub(crate) struct EverywhereGuard(());

impl EverywhereGuard {
    /// From now on.
    pub(crate) fn new() -> Self {
        begin_everywhere();
        EverywhereGuard(())
    }
}

impl Drop for EverywhereGuard {
    fn drop(&mut self) {
        end_everywhere();
    }
}

/// What `EverywhereGuard` does, for what has no room for a guard; `end_everywhere` ends it.
pub(crate) fn begin_everywhere() {
    EVERYWHERE.fetch_add(1, Ordering::Relaxed);
}

/// Ends what `begin_everywhere` began.
pub(crate) fn end_everywhere() {
    EVERYWHERE.fetch_sub(1, Ordering::Relaxed);
}

/// There may be batched tensors of a mapping until it is dropped, on whatever thread.
pub(crate) struct MappingGuard(());

impl MappingGuard {
    /// A mapping comes into being.
    pub(crate) fn new() -> Self {
        MAPPINGS.fetch_add(1, Ordering::Relaxed);
        MappingGuard(())
    }
}

impl Drop for MappingGuard {
    fn drop(&mut self) {
        MAPPINGS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A new level, larger than every one before: of forward mode, of batching, of any transform.
pub fn new_level() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> u32 {
        THREAD.with(|thread| thread.special.get())
    }

    #[test]
    fn what_is_special_on_one_thread_is_not_on_another() {
        let guard = SpecialGuard::new();
        assert!(special() && here() == 1);
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(here(), 0));
        });
        drop(guard);
        assert_eq!(here(), 0);
    }

    #[test]
    fn a_thread_that_has_seen_a_batched_tensor_is_special_while_there_may_be_any() {
        let mapping = MappingGuard::new();
        note_batched();
        assert!(special() && here() == BATCHED_SEEN);
        let guard = SpecialGuard::new();
        drop(mapping);
        assert!(special());
        drop(guard);
        // Mappings of other tests may go on.
        assert!(special() || here() == 0);
    }
}
