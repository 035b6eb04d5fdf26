//! Work that takes long: it releases the host's lock (Python's GIL) and asks the host every now and then whether to go
//! on. Only the thread that called the engine asks; what it hears ends the work on all threads.
//!
//! Note [Long operations]
//! ----
//! A long operation releases the host's lock while it runs, so that other threads of the host go on, and is stopped
//! when the host says so. Both are arranged by the entry point of the operation, before anything is read or locked:
//! a thread that waits for the host's lock at the end must hold nothing that others wait for. A backward run either
//! has released the lock as a whole or is short; operations within it leave the lock as it is.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::error::{Error, Result};
use crate::graph::host::{self, Host};
use crate::graph::mode;
use crate::graph::observe::anomaly;
use crate::kernels::interrupt::{Asking, Exhausted, Interrupted, Question};

/// How long the host is left alone. It may have to wait for its lock, so this is not shorter.
const PAUSE: Duration = Duration::from_millis(25);

/// One backward run, or one long operation, that the host may stop.
pub struct LongWork {
    host: &'static dyn Host,
    asked: Mutex<Instant>,
    is_over: AtomicBool,
    failure: Mutex<Option<Box<Error>>>,
}

impl LongWork {
    /// Work that begins now.
    pub fn new(host: &'static dyn Host) -> Arc<LongWork> {
        Arc::new(LongWork {
            host,
            asked: Mutex::new(Instant::now()),
            is_over: AtomicBool::new(false),
            failure: Mutex::new(None),
        })
    }

    /// Whether the work is to end. The calling thread asks the host, the others read its answer.
    pub fn is_over(&self, is_caller: bool) -> bool {
        if is_caller
            && !self.is_over.load(Ordering::Relaxed)
            && self.is_time()
            && let Err(error) = self.host.poll()
        {
            self.failure.lock().get_or_insert(error);
            self.is_over.store(true, Ordering::Relaxed);
        }
        self.is_over.load(Ordering::Relaxed)
    }

    fn is_time(&self) -> bool {
        let mut asked = self.asked.lock();
        let due = asked.elapsed() >= PAUSE;
        if due {
            *asked = Instant::now();
        }
        due
    }

    /// The question that kernels on a thread of this work ask.
    pub fn question(self: &Arc<Self>, is_caller: bool) -> Question {
        let watch = self.clone();
        Arc::new(move || watch.is_over(is_caller))
    }

    /// Runs `body` on the calling thread. Work that was stopped becomes the error that stopped it.
    pub fn over<T>(self: &Arc<Self>, body: impl FnOnce() -> Result<T>) -> Result<T> {
        let _asking = Asking::new(self.question(true));
        // What is unwound belongs to the run and goes with it.
        catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| match self.failure.lock().take() {
            Some(error) if payload.is::<Interrupted>() => Err(error),
            _ => given_up(payload).map_or_else(|payload| resume_unwind(payload), Err),
        })
    }
}

/// The failure for which work unwound that there was no memory for; what else unwound as it is.
pub fn given_up(payload: Box<dyn Any + Send>) -> std::result::Result<Box<Error>, Box<dyn Any + Send>> {
    payload.downcast::<Exhausted>().map(|missing| Error::OutOfMemory { bytes: missing.bytes as u64 }.into())
}

/// Runs `body`. Work that is given up for want of memory becomes a failure.
pub fn caught<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    // What is unwound was working on memory that nobody else has, or that is half written.
    catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|payload| given_up(payload).map_or_else(|payload| resume_unwind(payload), Err))
}

/// Estimated nanoseconds from which on an operation gives the host's lock back.
const LONG: u64 = 100_000;

thread_local!(static KEPT: Cell<u32> = const { Cell::new(0) });

/// Operations on this thread keep the host's lock, or do without it, until this is dropped.
#[must_use = "the lock is kept as long as the guard lasts"]
pub struct KeepLockGuard(());

impl KeepLockGuard {
    /// From now on.
    pub fn new() -> KeepLockGuard {
        KEPT.with(|kept| kept.set(kept.get() + 1));
        KeepLockGuard(())
    }
}

impl Default for KeepLockGuard {
    fn default() -> Self {
        KeepLockGuard::new()
    }
}

impl Drop for KeepLockGuard {
    fn drop(&mut self) {
        KEPT.with(|kept| kept.set(kept.get() - 1));
    }
}

/// Code of the host runs in the middle of a run until this is dropped: its long operations release the lock and are
/// interrupted as those of a program outside of any run.
#[must_use = "it lasts as long as the guard"]
pub struct HostCodeGuard {
    kept: u32,
    _not_asking: Asking,
}

impl HostCodeGuard {
    /// From now on.
    pub fn new() -> HostCodeGuard {
        HostCodeGuard { kept: KEPT.replace(0), _not_asking: Asking::nothing() }
    }
}

impl Default for HostCodeGuard {
    fn default() -> Self {
        HostCodeGuard::new()
    }
}

impl Drop for HostCodeGuard {
    fn drop(&mut self) {
        KEPT.set(self.kept);
    }
}

/// Whether an operation of so many estimated nanoseconds is to be run by `at_length`.
#[inline]
pub fn is_long(work: u64) -> bool {
    work >= LONG && gives_lock_back()
}

/// What is unusual may call the host at any time, and stays as it is.
#[cold]
fn gives_lock_back() -> bool {
    KEPT.get() == 0
        && !mode::special()
        && !anomaly::is_enabled()
        && host::host().is_none_or(|host| host.is_locked())
}

/// Runs what reads tensors, and takes so many nanoseconds by estimate, as operations are run.
pub fn patiently<T: Send>(work: u64, operation: impl Send + FnOnce() -> Result<T>) -> Result<T> {
    if is_long(work) { at_length(false, operation) } else { caught(operation) }
}

/// Runs what writes to tensors, and takes so many nanoseconds by estimate: to the end, whatever the host says.
pub fn to_the_end<T: Send>(work: u64, operation: impl Send + FnOnce() -> Result<T>) -> Result<T> {
    if is_long(work) { at_length(true, operation) } else { caught(operation) }
}

/// Runs an operation without the host's lock. It is given up if the host says so, unless it writes in
/// place: half of that would stay.
#[cold]
pub(crate) fn at_length<T: Send>(in_place: bool, operation: impl Send + FnOnce() -> Result<T>) -> Result<T> {
    let (mut operation, mut value) = (Some(operation), None);
    run_at_length(in_place, &mut || {
        if let Some(operation) = operation.take() {
            value = Some(operation()?);
        }
        Ok(())
    })?;
    value.map_or_else(|| unreachable!("the host runs what it is given"), Ok)
}

fn run_at_length(in_place: bool, operation: &mut (dyn Send + FnMut() -> Result<()>)) -> Result<()> {
    let _kept = KeepLockGuard::new();
    let Some(host) = host::host() else { return caught(operation) };
    // Where the program is can be seen with the lock only.
    let _line = host::line_kept();
    let mut outcome = Ok(());
    host.unlocked(&mut || {
        outcome = match in_place {
            true => caught(&mut *operation),
            false => LongWork::new(host).over(&mut *operation),
        };
    });
    outcome
}
