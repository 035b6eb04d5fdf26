//! What the engine's `interrupt` has, for threads of the scheduler: questions are asked once they were set.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;

pub type Question = Arc<dyn Fn() -> bool + Send + Sync>;

crate::threads::thread_local!(static QUESTIONS: RefCell<Vec<Question>> = const { RefCell::new(Vec::new()) });

/// What unwinds when work is given up.
pub struct Interrupted;

/// What a thread asks until it is dropped.
pub struct Asking(());

impl Asking {
    pub fn new(question: Question) -> Self {
        QUESTIONS.with(|all| all.borrow_mut().push(question));
        Asking(())
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        QUESTIONS.with(|all| drop(all.borrow_mut().pop()));
    }
}

pub fn is_asking() -> bool {
    QUESTIONS.with(|all| !all.borrow().is_empty())
}

pub fn is_due() -> bool {
    let question = QUESTIONS.with(|all| all.borrow().last().cloned());
    question.is_some_and(|question| question())
}

pub fn unwind_if_due() {
    if is_due() {
        resume_unwind(Box::new(Interrupted));
    }
}

/// What an iterator has, in a vector.
pub(super) fn gathered<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    items.collect()
}
