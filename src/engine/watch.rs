//! Whether a run is to go on. The host is asked every now and then, by the thread that called the
//! engine; what it answers ends the run on all of its threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::Host;
use crate::error::{Error, Result};
use crate::kernels::interrupt::{Asking, Interrupted, Question};

/// How long the host is left alone. It may have to wait for its lock, so this is not shorter.
const PAUSE: Duration = Duration::from_millis(25);

/// The watch over one run.
pub(super) struct Watch {
    host: &'static dyn Host,
    asked: Mutex<Instant>,
    is_over: AtomicBool,
    failure: Mutex<Option<Box<Error>>>,
}

impl Watch {
    /// A watch over a run that begins now.
    pub(super) fn new(host: &'static dyn Host) -> Arc<Watch> {
        Arc::new(Watch {
            host,
            asked: Mutex::new(Instant::now()),
            is_over: AtomicBool::new(false),
            failure: Mutex::new(None),
        })
    }

    /// Whether the run is to end. The calling thread asks the host, the others hear of its answer.
    pub(super) fn is_over(&self, is_caller: bool) -> bool {
        if is_caller && !self.is_over.load(Ordering::Relaxed) && self.is_time() {
            if let Err(error) = self.host.poll() {
                self.failure.lock().get_or_insert(error);
                self.is_over.store(true, Ordering::Relaxed);
            }
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

    /// What long work on a thread of the run asks.
    pub(super) fn question(self: &Arc<Self>, is_caller: bool) -> Question {
        let watch = self.clone();
        Arc::new(move || watch.is_over(is_caller))
    }

    /// Runs `body` on the calling thread. Work that is given up becomes the failure that ended the run.
    pub(super) fn over<T>(self: &Arc<Self>, body: impl FnOnce() -> Result<T>) -> Result<T> {
        let _asking = Asking::new(Some(self.question(true)));
        // What is unwound belongs to the run and goes with it.
        catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| match self.failure.lock().take() {
            Some(error) if payload.is::<Interrupted>() => Err(error),
            _ => resume_unwind(payload),
        })
    }
}
