//! Who is shown operations: the interceptors of a thread, and the dispatch subclasses among the operands.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, OnceLock};

use super::Interceptor;
use crate::dispatch::modes::recording;
use crate::graph::mode::{self, GradModeGuard, SpecialGuard};
use crate::graph::observe::profile;
use crate::tensor::any_subclassed;

/// Who asks the dispatch subclasses among the operands.
pub(super) static SUBCLASS_HANDLER: OnceLock<Box<dyn Interceptor>> = OnceLock::new();

/// Says who asks the dispatch subclasses among the operands. Called once, by the host.
pub fn register_subclass_handler(handler: Box<dyn Interceptor>) {
    // A second registration would come from a second host in the process: the first one stays.
    let _ = SUBCLASS_HANDLER.set(handler);
}

thread_local!(static SUBCLASSES_OFF: Cell<u32> = const { Cell::new(0) });

/// Whether classes are asked on this thread, if there are any.
pub fn is_dispatching_to_subclasses() -> bool {
    any_subclassed() && SUBCLASSES_OFF.get() == 0
}

/// No class is asked on this thread, or again: as often as it was said.
pub fn set_dispatching_to_subclasses(dispatching: bool) {
    SUBCLASSES_OFF.set(if dispatching {
        SUBCLASSES_OFF.get().saturating_sub(1)
    } else {
        SUBCLASSES_OFF.get() + 1
    });
}

type Entry = (Arc<dyn Interceptor>, SpecialGuard);

thread_local!(static INTERCEPTORS: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) });

/// The interceptors of a thread without the innermost one, which is put back in the end.
struct WithoutInnermost {
    innermost: Arc<dyn Interceptor>,
    entry: Option<Entry>,
}

impl WithoutInnermost {
    fn begin() -> Option<WithoutInnermost> {
        let entry = INTERCEPTORS.with_borrow_mut(Vec::pop)?;
        Some(WithoutInnermost { innermost: entry.0.clone(), entry: Some(entry) })
    }
}

impl Drop for WithoutInnermost {
    fn drop(&mut self) {
        INTERCEPTORS.with_borrow_mut(|interceptors| interceptors.extend(self.entry.take()));
    }
}

/// No interceptor of this thread is shown anything until this goes.
#[must_use = "it lasts as long as the guard"]
pub(crate) struct NoInterceptorsGuard {
    before: Vec<Entry>,
}

/// What is computed from now on is for the engine alone.
pub(crate) fn suspend() -> NoInterceptorsGuard {
    NoInterceptorsGuard { before: INTERCEPTORS.take() }
}

impl Drop for NoInterceptorsGuard {
    fn drop(&mut self) {
        INTERCEPTORS.set(std::mem::take(&mut self.before));
    }
}

/// Has `interceptor` shown the operations of this thread, until `pop`.
pub fn push(interceptor: Arc<dyn Interceptor>) {
    INTERCEPTORS.with_borrow_mut(|interceptors| interceptors.push((interceptor, SpecialGuard::new())));
}

/// Ends what the last `push` began.
pub fn pop() {
    let ended = INTERCEPTORS.with_borrow_mut(Vec::pop);
    drop(ended);
}

/// All interceptors of this thread, the innermost last.
pub fn all() -> Vec<Arc<dyn Interceptor>> {
    INTERCEPTORS.with_borrow(|entries| entries.iter().map(|(interceptor, _)| interceptor.clone()).collect())
}

/// Runs `body` with the innermost interceptor, which is shown nothing meanwhile; `None` if there is none.
pub fn beneath<T>(body: impl FnOnce(&Arc<dyn Interceptor>) -> T) -> Option<T> {
    let rest = WithoutInnermost::begin()?;
    // Whatever interceptors compute themselves is beneath the graph.
    let _off = GradModeGuard::off();
    Some(body(&rest.innermost))
}

/// Whether operations of this thread are intercepted, profiled or recorded.
#[inline]
pub fn is_active() -> bool {
    mode::special() && (is_intercepting() || any_subclassed() || profile::is_active() || recording::is_on())
}

/// Whether there are interceptors on this thread.
pub fn is_intercepting() -> bool {
    INTERCEPTORS.with_borrow(|interceptors| !interceptors.is_empty())
}
