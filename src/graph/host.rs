//! What the engine needs of its host, the program that it is embedded in: a lock to release, and whether to go on.

use std::sync::OnceLock;

use crate::error::{Error, Result};
use crate::origin;

/// The program.
pub trait Host: Sync {
    /// Runs `body` without the lock that the calling thread may hold (Python's), for work that
    /// takes a while or waits for other threads.
    fn unlocked(&self, body: &mut (dyn FnMut() + Send));

    /// Whether the calling thread holds that lock.
    fn is_locked(&self) -> bool {
        false
    }

    /// Asked every now and then during work that takes a while, by the thread that called the engine:
    /// an error ends the work.
    fn poll(&self) -> Result<()> {
        Ok(())
    }

    /// Told of what is no failure but ought to be known: an error ends the work.
    fn notice(&self, _what: Error) -> Result<()> {
        Ok(())
    }

    /// Told of such a thing that is said once in the life of a process.
    fn notice_once(&self, _what: Error) -> Result<()> {
        Ok(())
    }
}

/// A host without a lock.
pub struct NoHost;

impl Host for NoHost {
    fn unlocked(&self, body: &mut (dyn FnMut() + Send)) {
        body();
    }
}

static HOST: OnceLock<&'static dyn Host> = OnceLock::new();

/// Tells the engine what program its operations run in. Called once, by the host.
pub fn register_host(host: &'static dyn Host) {
    // A second registration would come from a second host in the process: the first one stays.
    let _ = HOST.set(host);
}

/// The program that operations run in, if it has told.
pub(crate) fn host() -> Option<&'static dyn Host> {
    HOST.get().copied()
}

/// Keeps in mind where the program is, for as long as it cannot be seen.
pub(crate) fn line_kept() -> origin::Within {
    origin::within(origin::here())
}
