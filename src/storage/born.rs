//! Which blocks of memory a thread has allocated while it recorded: the recorder has to know where all operands
//! came from.

use std::cell::RefCell;

use super::NOT_COUNTING;
use crate::threads::atomic::Ordering;

thread_local!(static BORN: RefCell<Option<Vec<usize>>> = const { RefCell::new(None) });

/// Has births on this thread remembered from now on, or forgotten.
pub fn watch_births(watch: bool) {
    let before = BORN.replace(watch.then(Vec::new));
    match (before.is_some(), watch) {
        (false, true) => NOT_COUNTING.fetch_add(1, Ordering::Relaxed),
        (true, false) => NOT_COUNTING.fetch_sub(1, Ordering::Relaxed),
        _ => 0,
    };
}

/// Shows the keys of the blocks that came into being on this thread since this was last asked. Some may be gone, and
/// one may be there twice.
pub fn births(show: impl FnMut(usize)) {
    BORN.with_borrow_mut(|born| born.iter_mut().flat_map(|born| born.drain(..)).for_each(show));
}

pub(super) fn tell(key: usize) {
    BORN.with_borrow_mut(|born| born.iter_mut().for_each(|born| born.push(key)));
}
