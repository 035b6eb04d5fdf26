//! A counted handle to a value, and one that does not keep it.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::NonNull;

use super::{Count, Spare};

/// A kind of value that handles are for.
pub trait Home: Sized {
    /// Where the places of values that have gone wait for others.
    fn spare() -> &'static Spare;
}

/// A handle: the value lives until the last one goes.
pub struct Shared<T: Home> {
    place: NonNull<Place<T>>,
    owned: PhantomData<Place<T>>,
}

/// A handle that does not keep the value.
pub struct WeakShared<T: Home> {
    place: NonNull<Place<T>>,
    owned: PhantomData<Place<T>>,
}

struct Place<T> {
    handles: Count,
    /// Handles that do not keep the value, and one for all together that do. The last frees the place.
    weak: Count,
    value: MaybeUninit<T>,
}

impl<T> Place<T> {
    fn allocate() -> NonNull<Place<T>> {
        NonNull::from(Box::leak(Box::<Place<T>>::new_uninit())).cast()
    }
}

// SAFETY: handles on several threads give references to the value there, and the last one drops it.
unsafe impl<T: Home + Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Home + Send + Sync> Sync for Shared<T> {}
// SAFETY: as above; it may become a handle that keeps the value.
unsafe impl<T: Home + Send + Sync> Send for WeakShared<T> {}
// SAFETY: as above.
unsafe impl<T: Home + Send + Sync> Sync for WeakShared<T> {}

impl<T: Home> Shared<T> {
    /// A value, made where it stays: a copy of what was just made in pieces waits for these.
    #[inline(always)]
    pub fn new_with(make: impl FnOnce() -> T) -> Shared<T> {
        let place = T::spare().take().map_or_else(Place::<T>::allocate, NonNull::cast);
        let start = place.as_ptr();
        // SAFETY: there is room for a place, of which nobody else knows.
        unsafe {
            (&raw mut (*start).value).cast::<T>().write(make());
            (&raw mut (*start).handles).write(Count::new(1));
            (&raw mut (*start).weak).write(Count::new(1));
        }
        Shared { place, owned: PhantomData }
    }

    fn place(&self) -> &Place<T> {
        // SAFETY: a handle keeps the place.
        unsafe { self.place.as_ref() }
    }

    /// Where the value lies, which tells it from all others that there are.
    pub fn address(&self) -> usize {
        self.place.as_ptr().addr()
    }

    /// Whether both are handles to one value.
    #[inline]
    pub fn is(&self, other: &Shared<T>) -> bool {
        self.place == other.place
    }

    /// Number of handles that keep the value.
    pub fn handles(&self) -> usize {
        self.place().handles.get() as usize
    }

    /// Whether there is no other handle of either kind.
    pub fn is_only(&self) -> bool {
        self.place().handles.get() == 1 && self.place().weak.get() == 1
    }

    /// A handle that does not keep the value.
    pub fn downgrade(&self) -> WeakShared<T> {
        self.place().weak.add();
        WeakShared { place: self.place, owned: PhantomData }
    }

    /// Drops the value, of which this was the last handle.
    #[inline(never)]
    fn end(&mut self) {
        // SAFETY: no handle keeps the value any more, and none can be made again of a count of zero. The place
        // stays until the handle goes that all together had.
        unsafe { self.place.as_mut().value.assume_init_drop() };
        // Nearly always nobody else knows the place: then the handle that all together had need not be counted down.
        if self.place().weak.get() == 1 {
            // SAFETY: that was the last one.
            unsafe { free(self.place) };
        } else {
            drop(WeakShared { place: self.place, owned: PhantomData });
        }
    }
}

impl<T: Home> Deref for Shared<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: a handle keeps the value.
        unsafe { self.place().value.assume_init_ref() }
    }
}

impl<T: Home> Clone for Shared<T> {
    #[inline]
    fn clone(&self) -> Shared<T> {
        self.place().handles.add();
        Shared { place: self.place, owned: PhantomData }
    }
}

impl<T: Home> Drop for Shared<T> {
    #[inline]
    fn drop(&mut self) {
        if self.place().handles.is_last_gone() {
            self.end();
        }
    }
}

impl<T: Home> WeakShared<T> {
    /// A handle that keeps the value, if there is any other.
    pub fn upgrade(&self) -> Option<Shared<T>> {
        // SAFETY: this handle keeps the place.
        let place = unsafe { self.place.as_ref() };
        let found = place.handles.add_unless(|handles| handles == 0);
        // Made only then: a handle that goes is counted.
        found.then(|| Shared { place: self.place, owned: PhantomData })
    }

    /// Whether this is a handle to the same value.
    pub fn is(&self, other: &Shared<T>) -> bool {
        self.place == other.place
    }
}

impl<T: Home> Clone for WeakShared<T> {
    fn clone(&self) -> WeakShared<T> {
        // SAFETY: this handle keeps the place.
        unsafe { self.place.as_ref() }.weak.add();
        WeakShared { place: self.place, owned: PhantomData }
    }
}

impl<T: Home> Drop for WeakShared<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this handle keeps the place.
        if unsafe { self.place.as_ref() }.weak.is_last_gone() {
            // SAFETY: it was the last, and the value is dropped already.
            unsafe { free(self.place) };
        }
    }
}

/// Frees a place, or keeps it for another value.
///
/// # Safety
/// There is no handle of either kind any more, and the value is dropped.
#[inline(always)]
unsafe fn free<T: Home>(place: NonNull<Place<T>>) {
    // SAFETY: by the caller's promise. The place is a box that `allocate` leaked.
    unsafe {
        if !T::spare().keep(place.cast()) {
            drop(Box::from_raw(place.as_ptr()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Told<'a>(&'a AtomicUsize);

    impl Home for Told<'_> {
        fn spare() -> &'static Spare {
            static SPARE: Spare = Spare::new(8);
            &SPARE
        }
    }

    impl Drop for Told<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_value_goes_with_its_last_handle() {
        let drops = AtomicUsize::new(0);
        let first = Shared::new_with(|| Told(&drops));
        let second = first.clone();
        assert!(first.is(&second) && first.address() == second.address() && first.handles() == 2);
        drop(first);
        assert_eq!(drops.load(Ordering::Relaxed), 0);
        assert!(second.is_only());
        drop(second);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_name_keeps_nothing_and_leads_to_the_value_while_it_lives() {
        let drops = AtomicUsize::new(0);
        let value = Shared::new_with(|| Told(&drops));
        let name = value.downgrade();
        let other = name.clone();
        assert!(!value.is_only() && name.is(&value));
        let again = name.upgrade().unwrap();
        drop(value);
        assert!(again.is(&other.upgrade().unwrap()) && drops.load(Ordering::Relaxed) == 0);
        drop(again);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        assert!(name.upgrade().is_none() && other.upgrade().is_none());
    }

    #[test]
    fn threads_that_upgrade_while_the_last_handle_goes_get_it_whole_or_not_at_all() {
        for _ in 0..200 {
            let drops = AtomicUsize::new(0);
            let value = Shared::new_with(|| Told(&drops));
            let name = value.downgrade();
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    let name = name.clone();
                    let drops = &drops;
                    scope.spawn(move || {
                        if let Some(value) = name.upgrade() {
                            assert_eq!(value.0.load(Ordering::Relaxed), 0);
                            assert!(std::ptr::eq(value.0, drops));
                        }
                    });
                }
                drop(value);
            });
            assert!(name.upgrade().is_none() && drops.load(Ordering::Relaxed) == 1);
        }
    }
}
