//! Positions on the tape: they grow along every edge, also when threads build one graph together,
//! so that backward needs no search for an order.

use std::cell::Cell;

thread_local!(static LAST: Cell<u64> = const { Cell::new(0) });

/// The position that the next node of this thread gets, unless it comes after one of another thread.
pub(super) fn peek() -> u64 {
    LAST.get() + 1
}

/// The next position of this thread, past those of the inputs.
pub(super) fn next(inputs: impl Iterator<Item = u64>) -> u64 {
    LAST.with(|last| {
        let position = inputs.fold(last.get(), u64::max) + 1;
        last.set(position);
        position
    })
}
