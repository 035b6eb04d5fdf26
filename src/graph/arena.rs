//! A slab of reference-counted slots with generations: where the nodes of graphs live.
//! It knows nothing of graphs; its tests drive it alone.
//!
//! Note [Arena]
//! ----
//! - A slot has a fixed place: chunks double in size, never move and are never freed. A handle is the
//!   address of a slot, so that an item is one load away; with the generation the address makes an
//!   `Id`, which tells a slot's present tenant from its earlier ones.
//! - The addresses stay, the memory behind them need not: when nobody has a slot of a page, the page goes back
//!   to the system, a few idle ones aside. Slots read as empty then, and begin with a generation above all of
//!   their earlier ones when the page is used again.
//! - Handles count themselves. When the last one goes, the item is dropped at once and the slot
//!   goes to a free list: nothing waits for a collector or for a reset.
//! - Items hold handles to other items, so dropping one can drop a chain. `Strong::drop` therefore
//!   only queues: the outermost drop on a thread works the queue off in a loop. Ten million links
//!   need no more stack than one.
//! - Free slots are kept in a small list per thread, which trades with a shared one in batches.
//! - An item may have an owner outside of the arena, who keeps one handle for good (`new_owned`).
//!   Such an item is told when the first other handle comes and when the last one goes, so that it
//!   can keep its owner alive just as long as anybody else needs it. While the owner alone has it, he
//!   is the only way to it: an id does not tell whether he is about to go.

#![allow(unsafe_code)]

#[macro_use]
mod home;
mod pages;

use std::alloc::{Layout, alloc_zeroed};
use std::cell::{RefCell, UnsafeCell};
use std::mem::MaybeUninit;
use std::num::NonZeroU32;
use std::ops::Deref;
use std::ptr::{NonNull, null_mut};

use crate::sharing::Count;
use crate::storage::exhausted;
use crate::threads::Mutex;
use crate::threads::atomic::{AtomicPtr, AtomicU32, Ordering};
use pages::{PAGE, Pages, Taken};

/// Slots in the first chunk; chunk `k` has `FIRST << k`.
const FIRST: u32 = 1024;
const CHUNKS: usize = 22;
/// Free slots that move between a thread and the shared list at once.
const BATCH: usize = 128;
/// The bit of a count that says that the item has an owner outside of the arena.
const OWNED: u32 = 1 << 31;

/// A slot and the generation of its tenant. The order of ids is one to find them by, and says nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    slot: NonNull<()>,
    generation: NonZeroU32,
}

// SAFETY: an id is a name. Whoever makes a handle of it asks the slot, which is there for ever.
unsafe impl Send for Id {}
// SAFETY: as above.
unsafe impl Sync for Id {}

struct Slot<T> {
    /// Odd while the slot has a tenant. It grows with every arrival and departure.
    generation: AtomicU32,
    strong: Count,
    item: UnsafeCell<MaybeUninit<T>>,
}

/// Where a slot is, as long as the process lasts.
type Place<T> = NonNull<Slot<T>>;

/// The slots of one kind of item.
pub struct Arena<T> {
    chunks: [AtomicPtr<Slot<T>>; CHUNKS],
    pages: Mutex<Pages>,
}

// SAFETY: slots are handed out to one tenant at a time (free lists under a mutex or owned by one
// thread), and items are only reached through counted handles, so `T`'s own bounds decide.
unsafe impl<T: Send + Sync> Sync for Arena<T> {}

/// A kind of item that lives in an arena of its own, with its lists per thread.
pub trait Home: Sized + Send + Sync + 'static {
    /// The arena.
    fn arena() -> &'static Arena<Self>;
    /// Runs `f` on the lists of this thread; `None` when the thread is ending.
    fn local<R>(f: impl FnOnce(&Local<Self>) -> R) -> Option<R>;

    /// Others than the owner hold the item from now on.
    fn wake(&self) {}

    /// Only the owner holds the item from now on. May drop the owner, and the item with it. Another thread
    /// may have come since: then `is_alone` says no, and the item is told again when that one goes.
    fn rest(&self, _is_alone: &dyn Fn() -> bool) {}
}

/// What a thread keeps for one arena.
pub struct Local<T: Home> {
    free: RefCell<Vec<Place<T>>>,
    /// Slots whose last handle has gone, waiting for the loop that drops their items.
    dying: RefCell<Vec<Place<T>>>,
    draining: std::cell::Cell<bool>,
}

impl<T: Home> Local<T> {
    /// Empty lists.
    pub const fn new() -> Self {
        Local {
            free: RefCell::new(Vec::new()),
            dying: RefCell::new(Vec::new()),
            draining: std::cell::Cell::new(false),
        }
    }
}

impl<T: Home> Default for Local<T> {
    fn default() -> Self {
        Local::new()
    }
}

impl<T: Home> Drop for Local<T> {
    fn drop(&mut self) {
        T::arena().take_back(self.free.borrow_mut().drain(..));
    }
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Arena::new()
    }
}

impl<T> Arena<T> {
    /// An arena without slots; they come as they are needed.
    pub const fn new() -> Self {
        Arena { chunks: [const { AtomicPtr::new(null_mut()) }; CHUNKS], pages: Mutex::new(Pages::new()) }
    }

    /// Number of slots that there are addresses for.
    pub fn capacity(&self) -> usize {
        self.pages.lock().len() * PAGE as usize
    }

    /// The items that are there now. Others may come and go meanwhile: ids are to be upgraded.
    pub fn ids(&self) -> Vec<Id> {
        let tenant = |number| {
            let place = self.place(number);
            // SAFETY: slots stay for ever.
            let generation = unsafe { place.as_ref() }.generation.load(Ordering::Acquire);
            let generation = NonZeroU32::new(generation).filter(|generation| generation.get() % 2 == 1)?;
            Some(Id { slot: place.cast(), generation })
        };
        let pages: Vec<u32> = self.pages.lock().lent().collect();
        pages.into_iter().flat_map(|page| page * PAGE..(page + 1) * PAGE).filter_map(tenant).collect()
    }

    /// The number of the slot that is there.
    fn number(&self, place: Place<T>) -> u32 {
        let within = |chunk: usize| {
            let first = NonNull::new(self.chunks[chunk].load(Ordering::Relaxed))?;
            let slot = place.addr().get().checked_sub(first.addr().get())? / size_of::<Slot<T>>();
            let slots = (FIRST as usize) << chunk;
            (slot < slots).then(|| (slots - FIRST as usize + slot) as u32)
        };
        // Most are in the last chunks.
        (0..CHUNKS).rev().find_map(within).unwrap_or_else(|| unreachable!("every place is in a chunk"))
    }

    /// Takes slots back that a thread has no use for.
    fn take_back(&self, places: impl Iterator<Item = Place<T>>) {
        let mut pages = self.pages.lock();
        for place in places {
            let number = self.number(place);
            // SAFETY: slots stay for ever.
            let generation = unsafe { place.as_ref() }.generation.load(Ordering::Relaxed);
            if pages.put(number, generation) {
                give_back(self.place(number - number % PAGE));
            }
        }
    }

    /// Where the slot with this number is, which was handed out before.
    fn place(&self, number: u32) -> Place<T> {
        let (chunk, place) = locate(number);
        let first = NonNull::new(self.chunks[chunk].load(Ordering::Acquire));
        let first = first.unwrap_or_else(|| unreachable!("`refill` makes the chunk of what it hands out"));
        // SAFETY: `place` is below the chunk's length.
        unsafe { first.add(place) }
    }

    /// Moves a batch of free slots to `free`, making new ones where none are left.
    fn refill(&self, free: &mut Vec<Place<T>>) {
        let mut pages = self.pages.lock();
        for _ in 0..BATCH {
            let Taken { slot, generation } = pages.take();
            let (chunk, _) = locate(slot);
            if self.chunks[chunk].load(Ordering::Relaxed).is_null() {
                self.chunks[chunk].store(new_chunk(FIRST << chunk), Ordering::Release);
            }
            let place = self.place(slot);
            if let Some(generation) = generation {
                // SAFETY: slots stay for ever.
                unsafe { place.as_ref() }.generation.store(generation, Ordering::Relaxed);
            }
            free.push(place);
        }
        // Slots beside each other are used one after the other.
        free.reverse();
    }
}

/// Gives the memory of the page that begins there back to the system. Where it would not read as zeros
/// afterwards, it stays.
fn give_back<T>(first: Place<T>) {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: it only asks.
        let unit = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let start = first.addr().get().next_multiple_of(unit);
        let end = (first.addr().get() + PAGE as usize * size_of::<Slot<T>>()) / unit * unit;
        if start < end {
            let within = first.as_ptr().with_addr(start);
            // SAFETY: all of it belongs to slots of this page, which is a part of a chunk, private memory that is
            // never freed. Nobody has a handle to them, and the mutex of the pages keeps everybody from getting
            // one. Who asks by an id reads a count of zero, before and after, and looks no further.
            unsafe { libc::madvise(within.cast(), end - start, libc::MADV_DONTNEED) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = first;
}

/// The chunk of the slot with this number and its place in it.
fn locate(number: u32) -> (usize, usize) {
    let position = number + FIRST;
    let chunk = position.ilog2() - FIRST.ilog2();
    (chunk as usize, (position - (FIRST << chunk)) as usize)
}

/// Zeroed slots: generation 0 says empty, and a slot of zero bytes is an empty slot: two atomics and uninitialised
/// memory. The pages of a large chunk are not touched yet. Unwinds if there is no memory for them.
fn new_chunk<T>(slots: u32) -> *mut Slot<T> {
    let bytes = slots as usize * size_of::<Slot<T>>();
    let layout = Layout::array::<Slot<T>>(slots as usize).unwrap_or_else(|_| exhausted(bytes));
    // SAFETY: there are slots, and each has bytes.
    let chunk: *mut Slot<T> = unsafe { alloc_zeroed(layout) }.cast();
    if chunk.is_null() { exhausted(bytes) } else { chunk }
}

/// A counted handle to an item in its arena: the address of its slot, packed so that what holds a handle and a
/// small number has twelve bytes.
#[repr(Rust, packed(4))]
pub struct Strong<T: Home> {
    place: Place<T>,
}

// SAFETY: a handle shares its item, as `Arc` does, and `Home` wants items that may be shared and sent.
unsafe impl<T: Home> Send for Strong<T> {}
// SAFETY: as above.
unsafe impl<T: Home> Sync for Strong<T> {}

impl<T: Home> Strong<T> {
    /// Puts an item into a free slot.
    pub fn new(item: T) -> Self {
        Strong::new_with(|| item)
    }

    /// Puts into a free slot what `make` answers. Inlined, so that the item is made where it stays: a copy
    /// of what was just made in pieces waits for these.
    #[inline(always)]
    pub fn new_with(make: impl FnOnce() -> T) -> Self {
        Strong::settle(make, 1)
    }

    /// Puts an item into a free slot and gives its owner the handle that he keeps. It must be the last
    /// to go: the owner drops it when he goes himself, or by `disown`.
    pub fn new_owned(item: T) -> Self {
        Strong::settle(|| item, OWNED | 1)
    }

    #[inline(always)]
    fn settle(make: impl FnOnce() -> T, count: u32) -> Self {
        let take = |free: &mut Vec<Place<T>>| {
            if free.is_empty() {
                T::arena().refill(free);
            }
            free.pop()
        };
        // A thread that is ending has no lists; what it takes beyond one slot goes straight back.
        let place = T::local(|local| take(&mut local.free.borrow_mut())).flatten().unwrap_or_else(|| {
            let mut spare = Vec::new();
            let place = take(&mut spare);
            T::arena().take_back(spare.drain(..));
            place.unwrap_or_else(|| unreachable!("refill adds slots"))
        });
        // SAFETY: as in `slot`.
        let slot = unsafe { place.as_ref() };
        // SAFETY: the slot is empty and off the free lists, so this thread alone reaches it.
        unsafe { (*slot.item.get()).write(make()) };
        slot.strong.set(count);
        // Only the owner of an empty slot writes its generation, so this needs no atomic addition.
        slot.generation.store(slot.generation.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        Strong { place }
    }

    #[inline(always)]
    fn slot(&self) -> &Slot<T> {
        // SAFETY: places come from `Arena::place`, and slots stay for ever.
        unsafe { { self.place }.as_ref() }
    }

    /// Which item this is. Ids of live items differ; an id is never reused by a later tenant
    /// until its slot has seen two thousand million of them.
    pub fn id(&self) -> Id {
        let generation = NonZeroU32::new(self.slot().generation.load(Ordering::Relaxed));
        let generation = generation.unwrap_or_else(|| unreachable!("arrivals make generations odd"));
        Id { slot: { self.place }.cast(), generation }
    }

    /// A handle to the item with this id, unless its last handle has gone, or all but its owner's, who may
    /// be going himself: nobody can tell from here.
    pub fn upgrade(id: Id) -> Option<Self> {
        let place: Place<T> = id.slot.cast();
        // SAFETY: as in `slot`; ids of this kind of item are made of places in its arena.
        let slot = unsafe { place.as_ref() };
        if !slot.strong.add_unless(|count| count & !OWNED == 0 || count == OWNED | 1) {
            return None;
        }
        let handle = Strong { place };
        if slot.generation.load(Ordering::Acquire) == id.generation.get() {
            return Some(handle);
        }
        // A later tenant: dropping the handle gives back the count that was taken from it.
        None
    }

    /// Number of handles, for decisions that a wrong answer only makes slower.
    pub fn count(&self) -> u32 {
        self.slot().strong.get() & !OWNED
    }

    /// Drops the handle of an owner who stays, unless others hold the item: then he gets it back.
    pub fn disown(self) -> Option<Self> {
        if !self.slot().strong.replace(OWNED | 1, 0) {
            return Some(self);
        }
        Self::retire_all_from(self.place);
        std::mem::forget(self);
        None
    }

    /// Tells an item that its owner alone has it now.
    fn leave_to_owner(&self) {
        let slot = self.slot();
        let is_alone = || slot.strong.get() == OWNED | 1;
        // SAFETY: the owner is alive: what `wake` did for him is undone only here. So is the item.
        unsafe { (*slot.item.get()).assume_init_ref() }.rest(&is_alone);
    }

    /// Retires a slot, and then those whose last handle went with its item.
    fn retire_all_from(place: Place<T>) {
        let queued = T::local(|local| {
            if local.draining.replace(true) {
                local.dying.borrow_mut().push(place);
                return;
            }
            let mut next = Some(place);
            while let Some(place) = next {
                Self::retire(place, Some(local));
                next = local.dying.borrow_mut().pop();
            }
            local.draining.set(false);
        });
        if queued.is_none() {
            Self::retire(place, None);
        }
    }

    /// Drops the item of a slot whose last handle has gone and frees the slot.
    fn retire(place: Place<T>, local: Option<&Local<T>>) {
        // SAFETY: as in `slot`.
        let slot = unsafe { place.as_ref() };
        // SAFETY: the count reached zero and `upgrade` refuses a count of zero, so nobody else
        // reaches the item, and each slot is retired once per tenant.
        unsafe { (*slot.item.get()).assume_init_drop() };
        slot.generation.store(slot.generation.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        match local {
            Some(local) => {
                let mut free = local.free.borrow_mut();
                free.push(place);
                if free.len() > 4 * BATCH {
                    let keep = free.len() - 2 * BATCH;
                    T::arena().take_back(free.drain(keep..));
                }
            }
            None => T::arena().take_back(std::iter::once(place)),
        }
    }
}

impl<T: Home> Clone for Strong<T> {
    #[inline]
    fn clone(&self) -> Self {
        if self.slot().strong.add() == OWNED | 1 {
            self.wake();
        }
        Strong { place: self.place }
    }
}

impl<T: Home> Deref for Strong<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this handle keeps the item alive, and items are only shared, never lent mutably.
        unsafe { (*self.slot().item.get()).assume_init_ref() }
    }
}

impl<T: Home> Drop for Strong<T> {
    fn drop(&mut self) {
        let slot = self.slot();
        let count = slot.strong.subtract();
        match count & !OWNED {
            1 => Self::retire_all_from(self.place),
            2 if count & OWNED != 0 => self.leave_to_owner(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
