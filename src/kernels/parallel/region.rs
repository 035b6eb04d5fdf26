//! One loop that several threads take part in: who does which chunk, and when all are done.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::Body;
use super::pool::{num_threads, pool};
use super::processors;
use crate::kernels::interrupt::{self, Asking, Interrupted};
use crate::sharing::ConcurrencyGuard;
use crate::threads::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::threads::{self, Mutex, Thread};

/// How often the caller looks again before it goes to sleep.
const SPINS: usize = 2_000;

/// One parallel loop, shared between its caller and the helpers.
pub(super) struct Region {
    /// The body with its lifetime erased. It is called only for claimed chunks, and the caller does
    /// not return before every claimed chunk has finished.
    body: *const dyn Body<usize>,
    chunks: usize,
    next: AtomicUsize,
    finished: AtomicUsize,
    failed: AtomicBool,
    /// Whether the caller may want to give up.
    may_end: bool,
    payload: Mutex<Option<Box<dyn Any + Send>>>,
    caller: Thread,
    /// The processor on which the caller was when it began.
    processor: Option<usize>,
}

// SAFETY: the pointee is `Sync`, and `drain` upholds that it is alive whenever it is called.
unsafe impl Send for Region {}
// SAFETY: as above; every other field is `Sync` by itself.
unsafe impl Sync for Region {}

impl Region {
    /// Gives the chunks up that nobody has begun, if the caller no longer wants them.
    fn look_out(&self) {
        if interrupt::is_due() && !self.failed.swap(true, Ordering::Relaxed) {
            self.payload.lock().get_or_insert(Box::new(Interrupted));
        }
    }

    /// Leaves the caller's processor to it: see Note [Lingering].
    pub(super) fn leave_processor(&self) {
        processors::leave(self.processor);
    }

    /// Claims and runs chunks until none is left, and says whether there was one.
    pub(super) fn drain(self: &Arc<Self>, is_caller: bool) -> bool {
        // A helper gives up in the middle of a chunk when the caller has.
        let _asking = (!is_caller && self.may_end).then(|| {
            let region = self.clone();
            Asking::new(Arc::new(move || region.failed.load(Ordering::Relaxed)))
        });
        let mut has_worked = false;
        loop {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if chunk >= self.chunks {
                return has_worked;
            }
            has_worked = true;
            if is_caller {
                self.look_out();
            }
            if !self.failed.load(Ordering::Relaxed) {
                // SAFETY: this chunk is claimed and not finished, so the caller is still inside
                // `run_chunks` and what the body borrows is alive.
                let body = unsafe { &*self.body };
                if let Err(payload) = catch_unwind(AssertUnwindSafe(|| body.run(chunk))) {
                    self.failed.store(true, Ordering::Relaxed);
                    self.payload.lock().get_or_insert(payload);
                }
            }
            if self.finished.fetch_add(1, Ordering::AcqRel) + 1 == self.chunks {
                self.caller.unpark();
            }
        }
    }

    /// Waits until the chunks that helpers have claimed are finished.
    fn wait(&self) {
        let mut spins = 0;
        while self.finished.load(Ordering::Acquire) < self.chunks {
            spins += 1;
            if spins < SPINS { threads::spin_loop() } else { threads::park() }
        }
    }
}

/// Runs `body` for every chunk number below `chunks`, each exactly once, and returns when all have
/// finished. A panic in a chunk is passed on after that.
pub(super) fn run_chunks(chunks: usize, body: &dyn Body<usize>) {
    let helpers = (num_threads() - 1).min(chunks.saturating_sub(1));
    let Some(pool) = (if helpers == 0 { None } else { pool(num_threads() - 1) }) else {
        (0..chunks).for_each(|chunk| {
            interrupt::unwind_if_due();
            body.run(chunk);
        });
        return;
    };
    let _threads = ConcurrencyGuard::new();
    // SAFETY: only the lifetime changes. The body is called for claimed chunks only, and this
    // function waits for every one of them below, also when a chunk panics.
    let body: &'static dyn Body<usize> = unsafe { std::mem::transmute(body) };
    let region = Arc::new(Region {
        body,
        chunks,
        next: AtomicUsize::new(0),
        finished: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        may_end: interrupt::is_asking(),
        payload: Mutex::new(None),
        caller: threads::current(),
        processor: processors::current(),
    });
    pool.call(helpers, &region);
    region.drain(true);
    region.wait();
    if let Some(payload) = region.payload.lock().take() {
        resume_unwind(payload);
    }
}
