//! How many bytes live. Every thread counts by itself, for nothing: a counter that all wrote to would travel
//! between their caches, and even alone it would cost an atomic addition.

use std::sync::atomic::{AtomicIsize, AtomicU64, Ordering};

/// What was allocated less what was freed, by whoever has the place; the last is everybody's.
static COUNTS: [Count; PLACES + 1] = [const { Count(AtomicIsize::new(0)) }; PLACES + 1];
const PLACES: usize = u64::BITS as usize;

/// The places that threads have, a bit each.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// A counter on a cache line of its own.
#[repr(align(64))]
struct Count(AtomicIsize);

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
    // A thread that is ending has no place any more.
    let place = PLACE.try_with(|place| place.0).unwrap_or(PLACES);
    let count = &COUNTS[place].0;
    if place < PLACES {
        count.store(count.load(Ordering::Relaxed).wrapping_add(bytes), Ordering::Relaxed);
    } else {
        count.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Bytes in blocks that live, headers included.
pub fn allocated() -> usize {
    COUNTS.iter().map(|count| count.0.load(Ordering::Relaxed)).sum::<isize>().max(0).cast_unsigned()
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
