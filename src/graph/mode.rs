//! Whether operations record: a flag per thread and a guard that puts it back. And whether anything
//! unusual is going on anywhere in the process, which is all that an ordinary operation asks.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

thread_local!(static RECORDING: Cell<bool> = const { Cell::new(true) });

/// Whether operations on this thread record their history.
pub fn is_grad_enabled() -> bool {
    RECORDING.get()
}

/// Sets the flag of this thread; answers what it was.
pub fn set_grad_enabled(enabled: bool) -> bool {
    RECORDING.replace(enabled)
}

/// Sets the flag until it is dropped.
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

/// How many unusual things are going on: levels of differentiation or batching, hooks of saved
/// tensors, and whatever else has operations take the long way.
static SPECIAL: AtomicU32 = AtomicU32::new(0);

/// Whether anything unusual is going on, on whatever thread.
#[inline]
pub fn special() -> bool {
    SPECIAL.load(Ordering::Relaxed) != 0
}

/// Has operations take the long way until it is dropped.
#[derive(Debug)]
#[must_use = "operations look closer for as long as the guard lasts"]
pub struct SpecialGuard(());

impl SpecialGuard {
    /// Something unusual begins.
    #[allow(clippy::new_without_default)] // It does something.
    pub fn new() -> Self {
        SPECIAL.fetch_add(1, Ordering::Relaxed);
        SpecialGuard(())
    }
}

impl Drop for SpecialGuard {
    fn drop(&mut self) {
        SPECIAL.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A new level, larger than every one before: of forward mode, of batching, of any transform.
pub fn new_level() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
