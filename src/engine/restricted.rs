//! Whether a thread is in a run that does not lead to every leaf. A backward that is started inside of
//! such a run, by a hook or a function of the host, would reach leaves that were not asked for.

use std::cell::Cell;

thread_local!(static RESTRICTED: Cell<u32> = const { Cell::new(0) });

/// Counts a run for as long as it lasts.
pub(super) struct RestrictedGuard(());

impl RestrictedGuard {
    /// A run begins that leads to some leaves only, or to none.
    pub(super) fn enter() -> Self {
        RESTRICTED.set(RESTRICTED.get() + 1);
        RestrictedGuard(())
    }
}

impl Drop for RestrictedGuard {
    fn drop(&mut self) {
        RESTRICTED.set(RESTRICTED.get() - 1);
    }
}

/// Whether every run that this thread is in leads to every leaf.
pub fn is_unrestricted() -> bool {
    RESTRICTED.get() == 0
}
