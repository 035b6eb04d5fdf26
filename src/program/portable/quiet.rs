//! Forged files: what they say is held against bounds at the latest by the loops that compute with it, on whatever thread
//! these run. That is an error of the file, of which the panic's own words would tell nobody anything.

use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How much is going on that a file had a say in.
static GOING_ON: AtomicUsize = AtomicUsize::new(0);

/// Panics are not printed while it lives.
pub(super) struct Quiet;

impl Quiet {
    /// From now on.
    pub(super) fn begin() -> Quiet {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| {
            let printed = panic::take_hook();
            panic::set_hook(Box::new(move |information| {
                if GOING_ON.load(Ordering::Relaxed) == 0 {
                    printed(information);
                }
            }));
        });
        GOING_ON.fetch_add(1, Ordering::Relaxed);
        Quiet
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        GOING_ON.fetch_sub(1, Ordering::Relaxed);
    }
}
