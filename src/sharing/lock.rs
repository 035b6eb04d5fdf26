//! A lock of four bytes: many readers or one writer. Readers do not wait for writers that wait.

use lock_api::{GuardNoSend, RawMutex, RawRwLock};

use super::is_alone;
use crate::threads::{
    self,
    atomic::{AtomicU32, Ordering},
};

/// A value that one thread at a time has.
pub type Mutex<T> = lock_api::Mutex<RawLock, T>;
/// A value that threads read at the same time, or one writes.
pub type RwLock<T> = lock_api::RwLock<RawLock, T>;
/// The value while it is read.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawLock, T>;

/// Somebody writes.
const WRITER: u32 = 1 << 31;
/// Somebody sleeps until the lock is free.
const SLEEPER: u32 = 1 << 30;

/// The state: the two bits above, and how many read.
pub struct RawLock(AtomicU32);

impl RawLock {
    /// Goes from one state to another, unless a thread has come between.
    #[inline(always)]
    fn change(&self, alone: bool, from: u32, to: u32) -> bool {
        if alone {
            self.0.store(to, Ordering::Relaxed);
            return true;
        }
        self.0.compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline(always)]
    fn try_read(&self, alone: bool) -> bool {
        loop {
            let state = self.0.load(Ordering::Relaxed);
            if state & WRITER != 0 {
                return false;
            }
            if self.change(alone, state, state + 1) {
                return true;
            }
        }
    }

    #[inline(always)]
    fn try_write(&self, alone: bool) -> bool {
        loop {
            let state = self.0.load(Ordering::Relaxed);
            if state & !SLEEPER != 0 {
                return false;
            }
            if self.change(alone, state, state | WRITER) {
                return true;
            }
        }
    }

    #[inline(always)]
    fn end_reading(&self, alone: bool) {
        let left = if alone {
            let left = self.0.load(Ordering::Relaxed) - 1;
            self.0.store(left, Ordering::Relaxed);
            left
        } else {
            self.0.fetch_sub(1, Ordering::Release) - 1
        };
        if left == SLEEPER {
            self.wake();
        }
    }

    #[inline(always)]
    fn end_writing(&self, alone: bool) {
        let before = if alone {
            let before = self.0.load(Ordering::Relaxed);
            self.0.store(before & !WRITER, Ordering::Relaxed);
            before
        } else {
            self.0.fetch_and(!WRITER, Ordering::Release)
        };
        if before & SLEEPER != 0 {
            self.wake();
        }
    }

    fn key(&self) -> usize {
        self.0.as_ptr().addr()
    }

    /// Wakes all who sleep: they look again.
    #[cold]
    fn wake(&self) {
        self.0.fetch_and(!SLEEPER, Ordering::Relaxed);
        // SAFETY: the key is an address of ours, at which nobody else sleeps.
        unsafe { threads::wake(self.key()) };
    }

    /// Sleeps while any of these bits are set.
    #[cold]
    fn sleep_while(&self, busy: u32) {
        let state = self.0.load(Ordering::Relaxed);
        if state & busy == 0 {
            return;
        }
        let marked = state | SLEEPER;
        if self.0.compare_exchange(state, marked, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        let is_so_still = || {
            let state = self.0.load(Ordering::Relaxed);
            state & busy != 0 && state & SLEEPER != 0
        };
        // SAFETY: as in `wake`; what is asked meanwhile neither panics nor sleeps.
        unsafe { threads::sleep(self.key(), is_so_still) };
    }

    #[cold]
    fn wait_to_read(&self) {
        while !self.try_read(is_alone()) {
            self.sleep_while(WRITER);
        }
    }

    #[cold]
    fn wait_to_write(&self) {
        while !self.try_write(is_alone()) {
            self.sleep_while(!SLEEPER);
        }
    }
}

// SAFETY: the state has the bit of a writer only while it counts no reader, and the other way round. Changes are
// atomic, or no other thread can be here: see Note [One at a time]. A lock that was taken while alone is seen as
// taken by those who come later, behind the host's lock.
unsafe impl RawRwLock for RawLock {
    #[allow(clippy::declare_interior_mutable_const, reason = "the trait wants a constant to begin with")]
    const INIT: RawLock = RawLock(AtomicU32::new(0));
    type SharedGuard = GuardNoSend;
    type ExclusiveGuard = GuardNoSend;

    #[inline]
    fn lock_shared(&self) -> GuardNoSend {
        if !self.try_read(is_alone()) {
            self.wait_to_read();
        }
        GuardNoSend::new()
    }

    #[inline]
    fn try_lock_shared(&self) -> Option<GuardNoSend> {
        self.try_read(is_alone()).then(GuardNoSend::new)
    }

    #[inline]
    unsafe fn unlock_shared(&self, _: GuardNoSend) {
        self.end_reading(is_alone());
    }

    #[inline]
    fn lock_exclusive(&self) -> GuardNoSend {
        if !self.try_write(is_alone()) {
            self.wait_to_write();
        }
        GuardNoSend::new()
    }

    #[inline]
    fn try_lock_exclusive(&self) -> Option<GuardNoSend> {
        self.try_write(is_alone()).then(GuardNoSend::new)
    }

    #[inline]
    unsafe fn unlock_exclusive(&self, _: GuardNoSend) {
        self.end_writing(is_alone());
    }

    fn is_locked(&self) -> bool {
        self.0.load(Ordering::Relaxed) & !SLEEPER != 0
    }

    fn is_locked_exclusive(&self) -> bool {
        self.0.load(Ordering::Relaxed) & WRITER != 0
    }
}

// SAFETY: who has the value is the only writer of the lock above.
unsafe impl RawMutex for RawLock {
    const INIT: RawLock = <RawLock as RawRwLock>::INIT;
    type Guard = GuardNoSend;

    #[inline]
    fn lock(&self) -> GuardNoSend {
        self.lock_exclusive()
    }

    #[inline]
    fn try_lock(&self) -> Option<GuardNoSend> {
        self.try_lock_exclusive()
    }

    #[inline]
    unsafe fn unlock(&self, guard: GuardNoSend) {
        // SAFETY: by the caller's promise the lock is taken.
        unsafe { self.unlock_exclusive(guard) };
    }

    fn is_locked(&self) -> bool {
        RawRwLock::is_locked(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    const WAYS: [(bool, bool); 4] = [(true, true), (true, false), (false, true), (false, false)];

    #[test]
    fn a_lock_taken_among_several_threads_may_be_released_by_one_alone_and_the_other_way_round() {
        for (first, second) in WAYS {
            let lock = <RawLock as RawRwLock>::INIT;
            assert!(lock.try_read(first) && lock.try_read(second) && !lock.try_write(first));
            lock.end_reading(first);
            assert!(!lock.try_write(second));
            lock.end_reading(second);
            assert!(lock.try_write(first) && !lock.try_write(second) && !lock.try_read(second));
            lock.end_writing(second);
            assert!(lock.try_read(second));
        }
    }

    #[test]
    fn writers_exclude_everybody() {
        let value = RwLock::new([0u64; 2]);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        let mut pair = value.write();
                        pair[0] += 1;
                        pair[1] += 1;
                        drop(pair);
                        let pair = value.read();
                        assert_eq!(pair[0], pair[1]);
                    }
                });
            }
        });
        assert_eq!(*value.read(), [60_000; 2]);
    }

    #[test]
    fn who_sleeps_is_woken() {
        let lock = RwLock::new(0);
        let mutex = Mutex::new(0);
        thread::scope(|scope| {
            let (reading, held) = (lock.read(), mutex.lock());
            let sleepers: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        *lock.write() += 1;
                        *mutex.lock() += 1;
                    })
                })
                .collect();
            thread::sleep(Duration::from_millis(30));
            assert!(lock.try_read().is_some() && lock.try_write().is_none() && mutex.try_lock().is_none());
            drop((reading, held));
            sleepers.into_iter().for_each(|sleeper| sleeper.join().unwrap());
        });
        assert_eq!((*lock.read(), *mutex.lock()), (3, 3));
    }
}
