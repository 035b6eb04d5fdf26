//! Reentrant backward: a hook or custom function of the host may call backward, and so on. After a fixed number of
//! nested runs the next one gets a new thread, so that the stack does not overflow; the thread before it waits.

use std::panic::resume_unwind;
use std::thread;

use super::{Host, current};
use crate::graph::mode::{self, SpecialGuard};
use crate::graph::saved_tensor_hooks::Inherited;

/// How many nested runs one thread may have.
const DEEPEST: usize = 60;
/// The stack size of a further thread. Pages that are never touched cost nothing.
const STACK: usize = 32 << 20;

/// Whether the next run needs a further thread.
pub(super) fn is_deep() -> bool {
    current::depth() >= DEEPEST
}

/// Runs `body` on a further thread and waits for it, without the host's lock (the GIL). If no thread can be made it
/// runs on this one.
pub(super) fn on_further_thread(body: &mut (dyn FnMut() + Send), host: &dyn Host) {
    let (inherited, flags, special) = (Inherited::here(), mode::flags(), mode::special());
    host.unlocked(&mut || {
        let mut settled = || {
            mode::set_flags(flags);
            inherited.settle();
            // The further thread is special if this one is.
            let _special = special.then(SpecialGuard::new);
            body();
        };
        let started = thread::scope(|scope| {
            let further = thread::Builder::new().stack_size(STACK);
            match further.spawn_scoped(scope, &mut settled) {
                Ok(handle) => {
                    if let Err(panic) = handle.join() {
                        resume_unwind(panic);
                    }
                    true
                }
                Err(_) => false,
            }
        });
        if !started {
            body();
        }
    });
}
