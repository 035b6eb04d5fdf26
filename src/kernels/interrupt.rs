//! Giving up long work between its pieces, because whoever asked for it no longer wants it.
//!
//! Note [Giving up]
//! ----
//! Kernels write into memory that is not initialised and cannot fail. So work that is given up unwinds:
//! what was half written is freed and nobody reads it. Only who sets a question for a thread gives up
//! its work, and that is the engine, which turns the unwinding into an error. Work for which there is not
//! enough memory is given up in the same way. Only what makes tables before it works answers an error.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;

use crate::storage::{self, Reserve};

pub use crate::storage::{Exhausted, exhausted};

/// Whether to give up.
pub type Question = Arc<dyn Fn() -> bool + Send + Sync>;

thread_local!(static QUESTION: RefCell<Option<Question>> = const { RefCell::new(None) });

/// What unwinds when work is given up.
pub struct Interrupted;

/// An empty vector with room for so many. Unwinds if there is none.
pub(super) fn room<T>(len: usize) -> Vec<T> {
    storage::room(len).unwrap_or_else(|_| exhausted(len.saturating_mul(size_of::<T>())))
}

/// So many bytes that a library may ask for, held for it: Note [What libraries ask for]. Unwinds if there are none.
pub(super) fn reserve(bytes: usize) -> Reserve {
    Reserve::new(bytes).unwrap_or_else(|_| exhausted(bytes))
}

/// What there are so many of, in a vector. Unwinds if there is no room for them.
pub(super) fn collected<T>(items: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let mut all = room(items.len());
    extend(&mut all, items.len(), items);
    all
}

/// What an iterator has, however much that is, in a vector. Unwinds if there is no room for it.
pub(super) fn gathered<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = room(items.size_hint().0);
    for item in items {
        let next = all.len() + 1;
        storage::push(&mut all, item).unwrap_or_else(|_| exhausted(next.saturating_mul(size_of::<T>())));
    }
    all
}

/// So many times the same. Unwinds if there is no room for them.
pub(super) fn filled<T: Clone>(len: usize, value: T) -> Vec<T> {
    let mut all = room(len);
    while all.len() < len {
        all.resize(len.min(all.len() + PIECE), value.clone());
        if all.len() < len {
            unwind_if_due();
        }
    }
    all
}

/// Items of a table that are written before who asked for it is asked again.
const PIECE: usize = 1 << 18;

/// Puts so many items into a vector that has room for them, and asks from time to time.
pub fn extend<T>(all: &mut Vec<T>, len: usize, mut items: impl Iterator<Item = T>) {
    if len <= PIECE {
        return all.extend(items);
    }
    for start in (0..len).step_by(PIECE) {
        all.extend(items.by_ref().take(PIECE.min(len - start)));
        unwind_if_due();
    }
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

/// What goes on in many small steps, and asks from time to time.
#[derive(Default)]
pub struct Steps(usize);

impl Steps {
    /// Steps of so much work after which to ask: some hundred microseconds of it.
    const MANY: usize = 1 << 16;

    /// A step that touches so many elements. Unwinds if the work is to be given up.
    #[inline]
    pub fn take(&mut self, elements: usize) {
        self.0 += elements + 1;
        if self.0 >= Steps::MANY {
            self.0 = 0;
            unwind_if_due();
        }
    }
}
