//! Reentrant backward: a rule or hook of the host may run backward again, and so on. Every so many levels the next
//! one gets a thread of its own, with a stack of its own, and the one before waits.

use std::panic::resume_unwind;
use std::thread;

use super::{Host, current};
use crate::graph::mode::{self, SpecialGuard};
use crate::graph::saved_tensor_hooks::Inherited;

/// How many runs may be under way on one thread, one inside the other.
const DEEPEST: usize = 60;
/// The stack of a further thread. What is not used of it costs nothing.
const STACK: usize = 32 << 20;

/// Whether the next run belongs on a further thread.
pub(super) fn is_deep() -> bool {
    current::depth() >= DEEPEST
}

/// Runs `body` on a further thread and waits for it, without the host's lock. Where no thread can be
/// had it runs here.
pub(super) fn on_further_thread(body: &mut (dyn FnMut() + Send), host: &dyn Host) {
    let (inherited, flags, special) = (Inherited::here(), mode::flags(), mode::special());
    host.unlocked(&mut || {
        let mut settled = || {
            mode::set_flags(flags);
            inherited.settle();
            // What is special about the run stays so where it goes on.
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
