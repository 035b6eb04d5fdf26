//! Reference counts, locks, handles and free lists that use atomic instructions only while several threads may
//! be in the engine.
//!
//! Note [One at a time]
//! ----
//! A recorded addition of small tensors changes fifteen counts and locks. Made to be used by several threads
//! at once, each of them makes the processor wait until everything before it is done; on some processors that
//! is a quarter of the time. A host with a lock of its own, which Python has, lets one thread at a time into
//! the engine, so none of that is needed there: `rely_on_lock` says so.
//!
//! Where several threads are in the engine all the same, a `ConcurrencyGuard` says so: around work without the
//! host's lock, and around loops and backward runs on several threads. It begins before a second thread can come,
//! on a thread that holds the lock, and ends when the other threads have left and the lock is held again. So a
//! thread that finds `is_alone` stays alone until it releases the lock, and sees everything that others wrote.
//!
//! Counts and locks have the same state in both cases; only how it is changed differs. A lock that was taken among
//! several threads may be released by one that is alone, and the other way round. A process that was forked while
//! a guard was alive stays concurrent for ever, which costs no more than time.

#![allow(unsafe_code)]

mod count;
mod handle;
mod lock;
mod spare;

use crate::threads::atomic::{AtomicU32, Ordering};

pub use count::Count;
pub use handle::{Home, Shared, WeakShared};
pub use lock::{Mutex, RwLock, RwLockReadGuard};
pub use spare::Spare;

/// The bit that says that no lock keeps threads apart.
const NO_LOCK: u32 = 1 << 31;

/// Why several threads may be here at once: `NO_LOCK`, and how many guards there are.
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
/// same lock, or does so while a `ConcurrencyGuard` lasts that a thread with that lock has begun.
pub unsafe fn rely_on_lock() {
    TOGETHER.fetch_and(!NO_LOCK, Ordering::Relaxed);
}

/// Whether threads may be in the engine without the host's lock.
pub fn is_concurrent() -> bool {
    TOGETHER.load(Ordering::Acquire) & !NO_LOCK != 0
}

/// Several threads may be here until this is dropped: see Note [One at a time].
#[must_use = "it lasts as long as the guard"]
pub struct ConcurrencyGuard(());

impl ConcurrencyGuard {
    /// From now on.
    pub fn new() -> ConcurrencyGuard {
        // Others come behind what starts them or hands them the lock.
        TOGETHER.fetch_add(1, Ordering::Relaxed);
        ConcurrencyGuard(())
    }
}

impl Default for ConcurrencyGuard {
    fn default() -> Self {
        ConcurrencyGuard::new()
    }
}

impl Drop for ConcurrencyGuard {
    fn drop(&mut self) {
        TOGETHER.fetch_sub(1, Ordering::Release);
    }
}
