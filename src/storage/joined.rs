//! Counts of writes that several blocks share.
//!
//! A tensor whose memory is replaced goes on with its count, and so do its views and whoever else is on the memory
//! that it had: a write to either is a write to all. Such blocks have no count in their header but `JOINED`, and
//! share one here. It is rare, so that nobody else looks further than the header.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{JOINED, Storage, next_version};
use crate::threads::Mutex;
use crate::threads::atomic::{AtomicU32, Ordering};

/// The shared counts by the keys of their blocks.
static COUNTS: Mutex<BTreeMap<usize, Arc<AtomicU32>>> = Mutex::new(BTreeMap::new());

fn count(key: usize) -> Option<Arc<AtomicU32>> {
    COUNTS.lock().get(&key).cloned()
}

/// The count of a block that shares it.
#[cold]
pub(super) fn version(key: usize) -> u32 {
    count(key).map_or(0, |count| count.load(Ordering::Relaxed))
}

/// Sets a count that is shared.
#[cold]
pub(super) fn set_version(key: usize, version: u32) {
    if let Some(count) = count(key) {
        count.store(version, Ordering::Relaxed);
    }
}

/// Counts one more write for all that share the count.
#[cold]
pub(super) fn bump(key: usize) -> bool {
    let next = |version| Some(next_version(version));
    count(key).is_some_and(|count| count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok())
}

/// Has both blocks count together, from where `before` stands.
#[cold]
pub(super) fn join(before: &Storage, after: &Storage) {
    let mut counts = COUNTS.lock();
    // Who writes from here on finds that the count is shared, and waits for the lock.
    let count = match before.header().version.swap(JOINED, Ordering::Relaxed) {
        JOINED => counts.get(&before.key()).cloned(),
        version => Some(Arc::new(AtomicU32::new(version))),
    };
    let count = count.unwrap_or_else(|| unreachable!("who shares a count is in the table"));
    counts.insert(before.key(), count.clone());
    counts.insert(after.key(), count);
    after.header().version.store(JOINED, Ordering::Relaxed);
}

/// A block goes.
#[cold]
pub(super) fn leave(key: usize) {
    COUNTS.lock().remove(&key);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_were_joined_count_together() {
        let [first, second, third] = [8, 16, 24].map(|bytes| Storage::zeroed(bytes).unwrap());
        let kept = first.clone();
        first.bump_version();
        second.go_on_from(&first);
        third.go_on_from(&second);
        kept.bump_version();
        assert_eq!((first.version(), second.version(), third.version()), (2, 2, 2));
        assert!(third.is_counted() && third.bump_version());
        drop((second, third));
        assert_eq!(first.version(), 3);
    }

    #[test]
    fn a_count_that_nobody_else_has_is_taken_over() {
        let [first, second] = [8, 16].map(|bytes| Storage::zeroed(bytes).unwrap());
        first.bump_version();
        second.go_on_from(&first);
        first.bump_version();
        assert_eq!(second.version(), 1);
    }
}
