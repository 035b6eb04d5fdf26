//! How operations of a thread run: whether they record, and what else they keep track of. Flags per
//! thread, and guards that put them back. And whether anything unusual is going on anywhere in the
//! process, which is all that an ordinary operation asks.

use std::cell::Cell;
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

thread_local!(static FLAGS: Cell<Flags> = const { Cell::new(Flags::AT_START) });

/// The flags of this thread.
#[inline]
pub fn flags() -> Flags {
    FLAGS.get()
}

/// Sets the flags of this thread; answers what they were.
pub fn set_flags(flags: Flags) -> Flags {
    storage::set_counting(!flags.inference);
    FLAGS.replace(flags)
}

/// Whether operations on this thread record their history.
#[inline]
pub fn is_grad_enabled() -> bool {
    let flags = FLAGS.get();
    flags.grad && !flags.inference
}

/// Whether this thread is in inference mode.
pub fn is_inference() -> bool {
    FLAGS.get().inference
}

/// Sets the grad mode of this thread; answers what it was.
pub fn set_grad_enabled(enabled: bool) -> bool {
    FLAGS.with(|cell| {
        let flags = cell.get();
        cell.set(Flags { grad: enabled, ..flags });
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

/// How many unusual things are going on: levels of differentiation or batching, hooks of saved
/// tensors, and whatever else has operations take the long way.
static SPECIAL: AtomicU32 = AtomicU32::new(0);

/// Whether anything unusual is going on, on whatever thread.
#[inline]
pub fn special() -> bool {
    SPECIAL.load(Ordering::Relaxed) != 0
}

/// Whether operations do no more than compute: nothing is recorded and nothing unusual is going on.
#[inline]
pub fn is_plain() -> bool {
    !is_grad_enabled() && !special()
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

/// Has operations take the long way until it is dropped.
#[derive(Debug)]
#[must_use = "operations look closer for as long as the guard lasts"]
pub struct SpecialGuard(());

impl SpecialGuard {
    /// Something unusual begins.
    #[allow(clippy::new_without_default)] // It does something.
    pub fn new() -> Self {
        begin_special();
        SpecialGuard(())
    }
}

impl Drop for SpecialGuard {
    fn drop(&mut self) {
        end_special();
    }
}

/// Something unusual begins that lasts as long as something that has no room for a guard.
pub(crate) fn begin_special() {
    SPECIAL.fetch_add(1, Ordering::Relaxed);
}

/// Ends what `begin_special` began.
pub(crate) fn end_special() {
    SPECIAL.fetch_sub(1, Ordering::Relaxed);
}

/// A new level, larger than every one before: of forward mode, of batching, of any transform.
pub fn new_level() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
