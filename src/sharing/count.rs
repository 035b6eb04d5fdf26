//! A number of handles.

use super::is_alone;
use crate::threads::atomic::{AtomicU32, Ordering};

/// A count beyond this never comes down to zero again: what it counts is leaked rather than freed twice.
const IMMORTAL: u32 = u32::MAX / 2;

/// How many handles there are to something.
pub struct Count(AtomicU32);

impl Count {
    /// So many.
    pub const fn new(handles: u32) -> Count {
        Count(AtomicU32::new(handles))
    }

    /// The number.
    #[inline(always)]
    pub fn get(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// Sets the number, of what nobody else has yet.
    #[inline(always)]
    pub fn set(&self, handles: u32) {
        self.0.store(handles, Ordering::Relaxed);
    }

    /// One handle more. Answers how many there were.
    #[inline(always)]
    pub fn add(&self) -> u32 {
        self.add_if(is_alone())
    }

    #[inline(always)]
    fn add_if(&self, alone: bool) -> u32 {
        if !alone {
            return self.0.fetch_add(1, Ordering::Relaxed);
        }
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(before.wrapping_add(1), Ordering::Relaxed);
        before
    }

    /// One handle less. Answers how many there were; what the others did is then behind this thread.
    #[inline(always)]
    pub fn subtract(&self) -> u32 {
        self.subtract_if(is_alone())
    }

    #[inline(always)]
    fn subtract_if(&self, alone: bool) -> u32 {
        if !alone {
            return self.0.fetch_sub(1, Ordering::AcqRel);
        }
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(before.wrapping_sub(1), Ordering::Relaxed);
        before
    }

    /// One handle less. Answers whether it was the last.
    #[inline(always)]
    pub fn is_last_gone(&self) -> bool {
        let before = self.subtract();
        if before > IMMORTAL {
            self.add();
        }
        before == 1
    }

    /// One handle more, unless the number says that there is none to begin with.
    #[inline]
    pub fn add_unless(&self, is_none: impl Fn(u32) -> bool) -> bool {
        let next = |handles: u32| if is_none(handles) { None } else { Some(handles + 1) };
        self.0.fetch_update(Ordering::Acquire, Ordering::Relaxed, next).is_ok()
    }

    /// Sets the number if it is as expected. Answers whether it was.
    #[inline]
    pub fn replace(&self, expected: u32, handles: u32) -> bool {
        self.0.compare_exchange(expected, handles, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_the_same_for_one_thread_and_for_several() {
        for (first, second) in [(true, true), (true, false), (false, true), (false, false)] {
            let count = Count::new(1);
            assert_eq!((count.add_if(first), count.add_if(second)), (1, 2));
            assert_eq!((count.subtract_if(second), count.subtract_if(first), count.get()), (3, 2, 1));
        }
    }

    #[test]
    fn a_count_that_overflowed_never_comes_to_an_end() {
        let count = Count::new(IMMORTAL + 1);
        for _ in 0..10 {
            assert!(!count.is_last_gone());
        }
        assert_eq!(count.get(), IMMORTAL + 1);
    }

    #[test]
    fn nothing_is_added_to_what_has_gone() {
        let count = Count::new(0);
        assert!(!count.add_unless(|handles| handles == 0) && count.get() == 0);
        assert!(!count.replace(1, 0) && count.replace(0, 5) && count.add_unless(|handles| handles == 0));
        assert_eq!(count.get(), 6);
    }

    #[test]
    fn threads_lose_nothing() {
        let count = Count::new(1);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        count.add();
                        assert!(!count.is_last_gone());
                        count.add();
                    }
                });
            }
        });
        assert_eq!(count.get(), 40_001);
    }
}
