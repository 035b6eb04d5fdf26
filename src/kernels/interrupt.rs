//! Giving up long work between its pieces, because whoever asked for it no longer wants it.
//!
//! Note [Giving up]
//! ----
//! Kernels write into memory that is not initialised and cannot fail. So work that is given up unwinds:
//! what was half written is freed and nobody reads it. Only who sets a question for a thread gives up
//! its work, and that is the engine, which turns the unwinding into an error. Work for which there is not
//! enough memory is given up in the same way.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;

use crate::storage;

/// Whether to give up.
pub type Question = Arc<dyn Fn() -> bool + Send + Sync>;

thread_local!(static QUESTION: RefCell<Option<Question>> = const { RefCell::new(None) });

/// What unwinds when work is given up.
pub struct Interrupted;

/// What unwinds when there is no memory for so many bytes.
pub struct Exhausted {
    pub bytes: usize,
}

/// Unwinds because there is no memory for so many bytes.
pub(super) fn exhausted(bytes: usize) -> ! {
    resume_unwind(Box::new(Exhausted { bytes }))
}

/// An empty vector with room for so many. Unwinds if there is none.
pub(super) fn room<T>(len: usize) -> Vec<T> {
    storage::room(len).unwrap_or_else(|_| exhausted(len.saturating_mul(size_of::<T>())))
}

/// Has long work of this thread ask until it is dropped.
#[must_use = "the question is asked as long as the guard lasts"]
pub struct Asking {
    before: Option<Question>,
}

impl Asking {
    /// Long work of this thread asks `question`.
    pub fn new(question: Question) -> Self {
        Asking { before: QUESTION.replace(Some(question)) }
    }

    /// Long work of this thread asks nothing.
    pub fn nothing() -> Self {
        Asking { before: QUESTION.take() }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        QUESTION.replace(self.before.take());
    }
}

/// Whether long work of this thread asks at all.
pub fn is_asking() -> bool {
    QUESTION.with_borrow(Option::is_some)
}

/// Whether the work of this thread is to be given up.
pub fn is_due() -> bool {
    // The answer may run code of the host, so the question is not borrowed meanwhile.
    let question = QUESTION.with_borrow(Option::clone);
    question.is_some_and(|question| question())
}

/// Unwinds if the work of this thread is to be given up.
pub fn unwind_if_due() {
    if is_due() {
        resume_unwind(Box::new(Interrupted));
    }
}
