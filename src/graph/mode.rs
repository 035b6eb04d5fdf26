//! Whether operations record: a flag per thread and a guard that puts it back.

use std::cell::Cell;

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
