//! What the engine's `threads` has, for a scheduler that tries orders: before every atomic instruction, and wherever
//! a thread may wait, it chooses who goes on.
//!
//! Memory is that of one thread after the other: what an order of memory allows beyond that is not tried here. The
//! atomics are those of the standard library, so that they are made in constants, and of zero bytes.

use std::collections::HashMap;
use std::ops::{Add, Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use shuttle::rand::Rng;
pub use shuttle::thread::{Thread, current, park, yield_now};
pub use shuttle::thread_local;

pub use yield_now as spin_loop;

/// Has the scheduler choose who goes on.
fn switch() {
    shuttle::thread::sleep(Duration::ZERO);
}

pub mod atomic {
    use std::sync::atomic as real;
    pub use std::sync::atomic::Ordering;

    use super::switch;

    macro_rules! atomic {
        ($($Name:ident $(<$T:ident>)?: $Value:ty;)*) => {$(
            #[repr(transparent)]
            pub struct $Name $(<$T>)? (real::$Name $(<$T>)?);

            impl $(<$T>)? $Name $(<$T>)? {
                pub const fn new(value: $Value) -> Self {
                    Self(real::$Name::new(value))
                }

                pub fn load(&self, order: Ordering) -> $Value {
                    switch();
                    self.0.load(order)
                }

                pub fn store(&self, value: $Value, order: Ordering) {
                    switch();
                    self.0.store(value, order);
                }

                pub fn swap(&self, value: $Value, order: Ordering) -> $Value {
                    switch();
                    self.0.swap(value, order)
                }

                pub fn compare_exchange(
                    &self,
                    expected: $Value,
                    value: $Value,
                    order: Ordering,
                    failed: Ordering,
                ) -> Result<$Value, $Value> {
                    switch();
                    self.0.compare_exchange(expected, value, order, failed)
                }

                pub fn fetch_update(
                    &self,
                    order: Ordering,
                    read: Ordering,
                    mut next: impl FnMut($Value) -> Option<$Value>,
                ) -> Result<$Value, $Value> {
                    let mut before = self.load(read);
                    while let Some(value) = next(before) {
                        match self.compare_exchange(before, value, order, read) {
                            Ok(before) => return Ok(before),
                            Err(other) => before = other,
                        }
                    }
                    Err(before)
                }
            }
        )*};
    }

    macro_rules! number {
        ($($Name:ident: $Value:ty: $($function:ident)*;)*) => {$(
            impl $Name {
                $(pub fn $function(&self, value: $Value, order: Ordering) -> $Value {
                    switch();
                    self.0.$function(value, order)
                })*

                /// Where it is.
                pub const fn as_ptr(&self) -> *mut $Value {
                    self.0.as_ptr()
                }
            }
        )*};
    }

    atomic! {
        AtomicBool: bool;
        AtomicU32: u32;
        AtomicUsize: usize;
        AtomicPtr<T>: *mut T;
    }

    number! {
        AtomicU32: u32: fetch_add fetch_sub fetch_and fetch_or;
        AtomicUsize: usize: fetch_add fetch_sub fetch_and fetch_or;
    }
}

/// A lock that the scheduler knows, called as the engine calls its own.
pub struct Mutex<T>(shuttle::sync::Mutex<T>);

/// The value while a thread has it.
pub struct Held<'a, T>(Option<shuttle::sync::MutexGuard<'a, T>>);

impl<T> Mutex<T> {
    pub const fn new(value: T) -> Self {
        Mutex(shuttle::sync::Mutex::new(value))
    }

    pub fn lock(&self) -> Held<'_, T> {
        Held(Some(self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())))
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().unwrap_or_else(|| unreachable!("only a wait takes it out"))
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().unwrap_or_else(|| unreachable!("only a wait takes it out"))
    }
}

/// What threads wait at for a change. Time does not end a wait here: who is not told waits for ever.
pub struct Condvar(shuttle::sync::Condvar);

/// How a wait ended.
pub struct Ended(());

impl Ended {
    pub fn timed_out(&self) -> bool {
        false
    }
}

impl Condvar {
    pub const fn new() -> Self {
        Condvar(shuttle::sync::Condvar::new())
    }

    pub fn wait<T>(&self, held: &mut Held<'_, T>) {
        let guard = held.0.take().unwrap_or_else(|| unreachable!("it is held"));
        held.0 = Some(self.0.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner()));
    }

    pub fn wait_for<T>(&self, held: &mut Held<'_, T>, _: Duration) -> Ended {
        self.wait(held);
        Ended(())
    }

    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// A thread that sleeps, and whether it was woken.
struct Sleeper(Thread, Arc<atomic::AtomicBool>);

shuttle::lazy_static! {
    static ref SLEEPERS: Mutex<HashMap<usize, Vec<Sleeper>>> = Mutex::new(HashMap::new());
}

/// # Safety
/// None is needed here.
pub unsafe fn sleep(key: usize, is_so_still: impl FnOnce() -> bool) {
    let mut sleepers = SLEEPERS.lock();
    if !is_so_still() {
        return;
    }
    let woken = Arc::new(atomic::AtomicBool::new(false));
    sleepers.entry(key).or_default().push(Sleeper(current(), woken.clone()));
    drop(sleepers);
    while !woken.load(atomic::Ordering::SeqCst) {
        park();
    }
}

/// # Safety
/// None is needed here.
pub unsafe fn wake(key: usize) {
    let woken = SLEEPERS.lock().remove(&key).unwrap_or_default();
    for Sleeper(thread, is_woken) in woken {
        is_woken.store(true, atomic::Ordering::SeqCst);
        thread.unpark();
    }
}

/// Time of which nobody knows how fast it goes: it is early or late.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub struct Instant(bool);

impl Instant {
    pub fn now() -> Instant {
        Instant(shuttle::rand::thread_rng().gen_bool(0.5))
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, _: Duration) -> Instant {
        Instant(true)
    }
}

/// Threads that take jobs: a new one for each.
pub struct Workers(());

impl Workers {
    pub fn start(_: usize) -> Option<Workers> {
        Some(Workers(()))
    }

    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        shuttle::thread::spawn(job);
    }
}
