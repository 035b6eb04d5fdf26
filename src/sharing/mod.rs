//! What threads share, at the price of what is going on: counts, locks, handles and blocks that take atomic
//! instructions, or the lists of a thread, only while several threads may be at them.
//!
//! Note [One at a time]
//! ----
//! A recorded addition of small tensors changes fifteen counts and locks. Made to be used by several threads
//! at once, each of them makes the processor wait until everything before it is done; on some processors that
//! is a quarter of the time. A host with a lock of its own, which Python has, lets one thread at a time into
//! the engine, so none of that is needed there: `rely_on_lock` says so.
//!
//! Wherever threads come together all the same, there is `Company`: around work without the host's lock, and
//! around loops and runs on several threads. It begins before a second thread can come, on a thread that
//! holds the lock, and ends when all have gone and the lock is held again. So whoever sees that there is no
//! company knows that it stays so until he gives the lock back, and that what others did is behind him.
//!
//! Counts and locks have the same state in both cases; only how it is changed differs. What is taken in
//! company may be given back without, and the other way round. A process that was forked off while there
//! was company keeps it for ever, which costs no more than time.

#![allow(unsafe_code)]

mod count;
mod handle;
mod lock;
mod spare;

use std::sync::atomic::{AtomicU32, Ordering};

pub use count::Count;
pub use handle::{Home, Shared, WeakShared};
pub use lock::{Mutex, RwLock, RwLockReadGuard};
pub use spare::Spare;

/// The bit that says that no lock keeps threads apart.
const NO_LOCK: u32 = 1 << 31;

/// Why several threads may be here at once: `NO_LOCK`, and how many companies there are.
static TOGETHER: AtomicU32 = AtomicU32::new(NO_LOCK);

/// Whether no other thread can be here until this one gives the host's lock back.
#[inline(always)]
pub fn is_alone() -> bool {
    TOGETHER.load(Ordering::Acquire) == 0
}

/// Says that a lock of the host keeps threads apart from now on.
///
/// # Safety
/// For the rest of the process every thread that uses a tensor, a node or memory of the engine holds one and the
/// same lock, or does so while a `Company` lasts that a thread with that lock has begun.
pub unsafe fn rely_on_lock() {
    TOGETHER.fetch_and(!NO_LOCK, Ordering::Relaxed);
}

/// Whether there is company: threads may be here without the host's lock.
pub fn is_company() -> bool {
    TOGETHER.load(Ordering::Acquire) & !NO_LOCK != 0
}

/// Several threads may be here until this is dropped: see Note [One at a time].
#[must_use = "it lasts as long as the guard"]
pub struct Company(());

impl Company {
    /// From now on.
    pub fn new() -> Company {
        // Others come behind what starts them or hands them the lock.
        TOGETHER.fetch_add(1, Ordering::Relaxed);
        Company(())
    }
}

impl Default for Company {
    fn default() -> Self {
        Company::new()
    }
}

impl Drop for Company {
    fn drop(&mut self) {
        TOGETHER.fetch_sub(1, Ordering::Release);
    }
}
