//! What threads share and wait by: atomics, locks, sleep, time, and the threads of the pool. All code that decides
//! what happens between threads takes them from here, since models of it put others in their place, with which a
//! scheduler chooses at each of them who goes on (`tests/models`).

pub use std::hint::spin_loop;
pub use std::sync::atomic;
pub use std::thread::{Thread, current, park, yield_now};
pub use std::thread_local;
pub use std::time::Instant;

pub use parking_lot::{Condvar, Mutex};

use parking_lot_core::{DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN};

/// Sleeps until the key is woken, unless the question says no. It is asked when nobody can wake the key.
///
/// # Safety
/// The key is an address of the caller's, at which nobody else sleeps. The question neither panics nor sleeps.
#[allow(unsafe_code)]
pub unsafe fn sleep(key: usize, is_so_still: impl FnOnce() -> bool) {
    // SAFETY: by the caller's promise; what else is called does nothing.
    unsafe { parking_lot_core::park(key, is_so_still, || {}, |_, _| {}, DEFAULT_PARK_TOKEN, None) };
}

/// Wakes all who sleep at the key.
///
/// # Safety
/// As for `sleep`.
#[allow(unsafe_code)]
pub unsafe fn wake(key: usize) {
    // SAFETY: by the caller's promise.
    unsafe { parking_lot_core::unpark_all(key, DEFAULT_UNPARK_TOKEN) };
}

/// Threads that take jobs.
pub struct Workers(rayon::ThreadPool);

impl Workers {
    /// So many; nothing if threads cannot be started here.
    pub fn start(threads: usize) -> Option<Workers> {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("rushlight-{index}"))
            // Without a handler a panicking job would abort the process; the panic hook has reported it.
            .panic_handler(|_| {})
            .build()
            .ok()
            .map(Workers)
    }

    /// Has one of them do a job when it has time.
    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        self.0.spawn(job);
    }
}
