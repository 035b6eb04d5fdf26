//! How operations of a thread run: whether they record, and what else they keep track of. Flags per
//! thread, and guards that put them back. And whether anything unusual is going on, which is all that an
//! ordinary operation asks.
//!
//! Note [Special threads]
//! ----
//! Most that has operations take the long way concerns one thread: functions that it maps, operations that it
//! shows or records, tensors that it packs. Each of them counts at its thread, and leaves the others as fast as they
//! are. A batched tensor may get to another thread, or stay behind when its mapping is over: whoever hands a
//! tensor to the engine has the thread meet it (`Tensor::meet`), and the thread looks closer from then on as long as
//! there is any mapping. What holds for all threads, as in PyTorch, counts for the process: levels of forward mode
//! and tensors of dispatch subclasses.

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
    /// How many unusual things go on here; and `MET`.
    special: Cell<u32>,
}

/// The thread has met a batched tensor, which need not be its own.
const MET: u32 = 1 << 31;

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

/// How many unusual things hold for all threads.
static EVERYWHERE: AtomicU32 = AtomicU32::new(0);

/// How many mappings there are that batched tensors may belong to.
static MAPPINGS: AtomicU32 = AtomicU32::new(0);

/// Whether anything unusual is going on that concerns this thread: see Note [Special threads].
#[inline]
pub fn special() -> bool {
    EVERYWHERE.load(Ordering::Relaxed) != 0
        || THREAD.with(|thread| thread.special.get() != 0 && is_special(thread))
}

/// Whether anything goes on on a thread that knew of something.
#[cold]
fn is_special(thread: &Thread) -> bool {
    if thread.special.get() == MET && MAPPINGS.load(Ordering::Relaxed) == 0 {
        thread.special.set(0);
    }
    thread.special.get() != 0
}

/// This thread has met a batched tensor, and looks closer as long as there may be any.
#[cold]
pub(crate) fn meet() {
    THREAD.with(|thread| thread.special.set(thread.special.get() | MET));
}

/// What every operation asks of its thread.
#[derive(Clone, Copy)]
pub(crate) struct Now {
    /// Whether anything unusual is going on.
    pub(crate) special: bool,
    /// Whether operations record their history.
    pub(crate) records: bool,
}

/// The same, looked up once.
#[inline]
pub(crate) fn now() -> Now {
    let everywhere = EVERYWHERE.load(Ordering::Relaxed) != 0;
    THREAD.with(|thread| {
        let flags = thread.flags.get();
        let special = everywhere || thread.special.get() != 0 && is_special(thread);
        Now { special, records: flags.grad && !flags.inference }
    })
}

/// Whether operations do no more than compute: nothing is recorded and nothing unusual is going on.
#[inline]
pub fn is_plain() -> bool {
    let now = now();
    !now.records && !now.special
}

/// Whether a tensor that was made in inference mode ever required grad.
static FROZEN_LEAVES: AtomicBool = AtomicBool::new(false);

/// Whether there may be tensors that require grad although they were made in inference mode: operations on
/// such tensors alone pass autograd by.
#[inline]
pub fn frozen_leaves() -> bool {
    FROZEN_LEAVES.load(Ordering::Relaxed)
}

/// There is one from now on.
pub(crate) fn expect_frozen_leaves() {
    FROZEN_LEAVES.store(true, Ordering::Relaxed);
}

/// Has operations of this thread take the long way until it is dropped.
#[derive(Debug)]
#[must_use = "operations look closer for as long as the guard lasts"]
pub struct SpecialGuard(PhantomData<*const ()>);

impl SpecialGuard {
    /// Something unusual begins on this thread.
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

/// Has operations of every thread take the long way until it is dropped, on whatever thread.
#[derive(Debug)]
#[must_use = "operations look closer for as long as the guard lasts"]
pub(crate) struct EverywhereGuard(());

impl EverywhereGuard {
    /// Something unusual begins.
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

/// Something unusual begins for all threads that lasts as long as something that has no room for a guard.
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
    fn who_has_met_a_batched_tensor_looks_closer_while_there_may_be_any() {
        let mapping = MappingGuard::new();
        meet();
        assert!(special() && here() == MET);
        let guard = SpecialGuard::new();
        drop(mapping);
        assert!(special());
        drop(guard);
        // Mappings of other tests may go on.
        assert!(special() || here() == 0);
    }
}
