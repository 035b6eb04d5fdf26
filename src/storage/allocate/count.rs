//! How many bytes live. Every thread counts by itself, for nothing: a counter that all wrote to would travel
//! between their caches, and would cost an atomic addition. Who is alone writes to a counter of those who are.

use std::sync::atomic::{AtomicIsize, AtomicU64, Ordering};

use crate::sharing;

/// What was allocated less what was freed, by whoever has the place; the last is everybody's.
static COUNTS: [Count; PLACES + 1] = [const { Count(AtomicIsize::new(0)) }; PLACES + 1];
const PLACES: usize = u64::BITS as usize;

/// The same, by whoever was alone.
static ALONE: Count = Count(AtomicIsize::new(0));

/// The places that threads have, a bit each.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// A counter on a cache line of its own.
#[repr(align(64))]
struct Count(AtomicIsize);

impl Count {
    /// Adds to a counter that nobody else writes to meanwhile.
    #[inline(always)]
    fn add(&self, bytes: isize) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(bytes), Ordering::Relaxed);
    }
}

/// A place that no other thread has, given up when the thread ends; or the one that is everybody's.
struct Place(usize);

thread_local!(static PLACE: Place = Place::take());

impl Place {
    fn take() -> Place {
        let lowest = |taken: u64| (taken != u64::MAX).then(|| taken | (taken + 1));
        match TAKEN.fetch_update(Ordering::Acquire, Ordering::Relaxed, lowest) {
            Ok(before) => Place(before.trailing_ones() as usize),
            Err(_) => Place(PLACES),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.0 < PLACES {
            // Whoever takes the place next goes on counting from what is there.
            TAKEN.fetch_and(!(1 << self.0), Ordering::Release);
        }
    }
}

#[inline]
pub(super) fn count(bytes: isize) {
    if sharing::is_alone() {
        ALONE.add(bytes);
    } else {
        count_here(bytes);
    }
}

#[cold]
fn count_here(bytes: isize) {
    // A thread that is ending has no place any more.
    let place = PLACE.try_with(|place| place.0).unwrap_or(PLACES);
    if place < PLACES {
        COUNTS[place].add(bytes);
    } else {
        COUNTS[place].0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Bytes in blocks that live, headers included.
pub fn allocated() -> usize {
    COUNTS
        .iter()
        .chain([&ALONE])
        .map(|count| count.0.load(Ordering::Relaxed))
        .sum::<isize>()
        .max(0)
        .cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const FAR: isize = 1 << 50;

    /// Counts on more threads than there are places, all at once.
    fn count_on_many(bytes: isize) {
        let everybody = &std::sync::Barrier::new(PLACES + 8);
        thread::scope(|scope| {
            for _ in 0..PLACES + 8 {
                scope.spawn(|| {
                    count(bytes);
                    everybody.wait();
                });
            }
        });
    }

    #[test]
    fn no_byte_is_lost_when_threads_come_and_go() {
        let before = allocated();
        count_on_many(FAR);
        // Other tests allocate meanwhile, but not that much.
        assert_eq!((allocated() - before) >> 45, (PLACES + 8) << 5);
        count_on_many(-FAR);
        assert!(allocated() < FAR as usize);
    }
}
