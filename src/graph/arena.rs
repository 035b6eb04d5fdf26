//! A slab of reference-counted slots with generations: where the nodes of graphs live.
//! It knows nothing of graphs; its tests drive it alone.
//!
//! Note [Arena]
//! ----
//! - A slot has a fixed place: chunks double in size and never move, so a shared reference stays
//!   valid for as long as a handle is held. An address is a `u32` index; with the generation it
//!   makes an `Id`, which tells a slot's present tenant from its earlier ones.
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

use std::cell::{RefCell, UnsafeCell};
use std::mem::MaybeUninit;
use std::num::NonZeroU32;
use std::ops::Deref;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use parking_lot::Mutex;

use crate::sharing::Count;

/// Slots in the first chunk; chunk `k` has `FIRST << k`.
const FIRST: u32 = 1024;
const CHUNKS: usize = 22;
/// Free slots that move between a thread and the shared list at once.
const BATCH: usize = 128;
/// The bit of a count that says that the item has an owner outside of the arena.
const OWNED: u32 = 1 << 31;

/// A slot and the generation of its tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    index: u32,
    generation: NonZeroU32,
}

struct Slot<T> {
    /// Odd while the slot has a tenant. It grows with every arrival and departure.
    generation: AtomicU32,
    strong: Count,
    item: UnsafeCell<MaybeUninit<T>>,
}

struct Shared {
    /// Slots that were tenanted before.
    free: Vec<u32>,
    /// The first slot that never was.
    fresh: u32,
}

/// The slots of one kind of item.
pub struct Arena<T> {
    chunks: [AtomicPtr<Slot<T>>; CHUNKS],
    shared: Mutex<Shared>,
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
    free: RefCell<Vec<u32>>,
    /// Slots whose last handle has gone, waiting for the loop that drops their items.
    dying: RefCell<Vec<u32>>,
    draining: std::cell::Cell<bool>,
    home: std::marker::PhantomData<T>,
}

impl<T: Home> Local<T> {
    /// Empty lists.
    pub const fn new() -> Self {
        Local {
            free: RefCell::new(Vec::new()),
            dying: RefCell::new(Vec::new()),
            draining: std::cell::Cell::new(false),
            home: std::marker::PhantomData,
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
        T::arena().shared.lock().free.append(&mut self.free.borrow_mut());
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
        Arena {
            chunks: [const { AtomicPtr::new(null_mut()) }; CHUNKS],
            shared: Mutex::new(Shared { free: Vec::new(), fresh: 0 }),
        }
    }

    /// Number of slots that were ever in use at the same time.
    pub fn capacity(&self) -> usize {
        self.shared.lock().fresh as usize
    }

    /// The items that are there now. Others may come and go meanwhile: ids are to be upgraded.
    pub fn ids(&self) -> Vec<Id> {
        let tenant = |index| {
            let generation = self.slot(index).generation.load(Ordering::Acquire);
            let generation = NonZeroU32::new(generation).filter(|generation| generation.get() % 2 == 1)?;
            Some(Id { index, generation })
        };
        (0..self.capacity() as u32).filter_map(tenant).collect()
    }

    #[inline]
    fn slot(&self, index: u32) -> &Slot<T> {
        let (chunk, place) = locate(index);
        // SAFETY: indices come from `refill`, which made the chunk and published it with Release
        // before any index in it; chunks are never freed, and `place` is below the chunk's length.
        unsafe { &*self.chunks[chunk].load(Ordering::Acquire).add(place) }
    }

    /// Moves a batch of free slots to `free`, making new ones where none are left.
    fn refill(&self, free: &mut Vec<u32>) {
        let mut shared = self.shared.lock();
        if shared.free.is_empty() {
            let start = shared.fresh;
            let end = start + BATCH as u32;
            for index in [start, end - 1] {
                let (chunk, _) = locate(index);
                if self.chunks[chunk].load(Ordering::Relaxed).is_null() {
                    self.chunks[chunk].store(new_chunk(FIRST << chunk), Ordering::Release);
                }
            }
            shared.fresh = end;
            free.extend((start..end).rev());
        } else {
            let keep = shared.free.len().saturating_sub(BATCH);
            free.extend(shared.free.drain(keep..));
        }
    }
}

/// The chunk of a slot and its place in it.
#[inline]
fn locate(index: u32) -> (usize, usize) {
    let position = index + FIRST;
    let chunk = position.ilog2() - FIRST.ilog2();
    (chunk as usize, (position - (FIRST << chunk)) as usize)
}

/// Zeroed slots: generation 0 says empty. The pages of a large chunk are not touched yet.
fn new_chunk<T>(slots: u32) -> *mut Slot<T> {
    // SAFETY: a slot of zero bytes is an empty slot: two atomics and uninitialised memory.
    let chunk: Box<[Slot<T>]> = unsafe { Box::new_zeroed_slice(slots as usize).assume_init() };
    Box::leak(chunk).as_mut_ptr()
}

/// A counted handle to an item in its arena, eight bytes small.
pub struct Strong<T: Home> {
    id: Id,
    home: std::marker::PhantomData<T>,
}

impl<T: Home> Strong<T> {
    /// Puts an item into a free slot.
    pub fn new(item: T) -> Self {
        Strong::new_with(|| item)
    }

    /// Puts into a free slot what `make` answers. Inlined, so that the item is made where it stays: a copy
    /// of what was just made in pieces waits for these.
    #[inline(always)]
    pub fn new_with(make: impl FnOnce() -> T) -> Self {
        Strong::place(make, 1)
    }

    /// Puts an item into a free slot and gives its owner the handle that he keeps. It must be the last
    /// to go: the owner drops it when he goes himself, or by `disown`.
    pub fn new_owned(item: T) -> Self {
        Strong::place(|| item, OWNED | 1)
    }

    #[inline(always)]
    fn place(make: impl FnOnce() -> T, count: u32) -> Self {
        let take = |free: &mut Vec<u32>| {
            if free.is_empty() {
                T::arena().refill(free);
            }
            free.pop()
        };
        // A thread that is ending has no lists; what it takes beyond one slot goes straight back.
        let index = T::local(|local| take(&mut local.free.borrow_mut())).flatten().unwrap_or_else(|| {
            let mut spare = Vec::new();
            let index = take(&mut spare);
            T::arena().shared.lock().free.append(&mut spare);
            index.unwrap_or_else(|| unreachable!("refill adds slots"))
        });
        let slot = T::arena().slot(index);
        // SAFETY: the slot is empty and off the free lists, so this thread alone reaches it.
        unsafe { (*slot.item.get()).write(make()) };
        slot.strong.set(count);
        // Only the owner of an empty slot writes its generation, so this needs no atomic addition.
        let generation = slot.generation.load(Ordering::Relaxed).wrapping_add(1);
        slot.generation.store(generation, Ordering::Release);
        let generation =
            NonZeroU32::new(generation).unwrap_or_else(|| unreachable!("arrivals make generations odd"));
        Strong { id: Id { index, generation }, home: std::marker::PhantomData }
    }

    /// Which item this is. Ids of live items differ; an id is never reused by a later tenant
    /// until its slot has seen two thousand million of them.
    pub fn id(&self) -> Id {
        self.id
    }

    /// A handle to the item with this id, unless its last handle has gone, or all but its owner's, who may
    /// be going himself: nobody can tell from here.
    pub fn upgrade(id: Id) -> Option<Self> {
        let slot = T::arena().slot(id.index);
        if !slot.strong.add_unless(|count| count & !OWNED == 0 || count == OWNED | 1) {
            return None;
        }
        let handle = Strong { id, home: std::marker::PhantomData };
        if slot.generation.load(Ordering::Acquire) == id.generation.get() {
            return Some(handle);
        }
        // A later tenant: dropping the handle gives back the count that was taken from it.
        None
    }

    /// Number of handles, for decisions that a wrong answer only makes slower.
    pub fn count(&self) -> u32 {
        T::arena().slot(self.id.index).strong.get() & !OWNED
    }

    /// Drops the handle of an owner who stays, unless others hold the item: then he gets it back.
    pub fn disown(self) -> Option<Self> {
        let slot = T::arena().slot(self.id.index);
        if !slot.strong.replace(OWNED | 1, 0) {
            return Some(self);
        }
        Self::retire_all_from(self.id.index);
        std::mem::forget(self);
        None
    }

    /// Retires a slot, and then those whose last handle went with its item.
    fn retire_all_from(index: u32) {
        let queued = T::local(|local| {
            if local.draining.replace(true) {
                local.dying.borrow_mut().push(index);
                return;
            }
            let mut next = Some(index);
            while let Some(index) = next {
                Self::retire(index, Some(local));
                next = local.dying.borrow_mut().pop();
            }
            local.draining.set(false);
        });
        if queued.is_none() {
            Self::retire(index, None);
        }
    }

    /// Drops the item of a slot whose last handle has gone and frees the slot.
    fn retire(index: u32, local: Option<&Local<T>>) {
        let slot = T::arena().slot(index);
        // SAFETY: the count reached zero and `upgrade` refuses a count of zero, so nobody else
        // reaches the item, and each slot is retired once per tenant.
        unsafe { (*slot.item.get()).assume_init_drop() };
        slot.generation.store(slot.generation.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        match local {
            Some(local) => {
                let mut free = local.free.borrow_mut();
                free.push(index);
                if free.len() > 4 * BATCH {
                    let keep = free.len() - 2 * BATCH;
                    T::arena().shared.lock().free.extend(free.drain(keep..));
                }
            }
            None => T::arena().shared.lock().free.push(index),
        }
    }
}

impl<T: Home> Clone for Strong<T> {
    #[inline]
    fn clone(&self) -> Self {
        if T::arena().slot(self.id.index).strong.add() == OWNED | 1 {
            self.wake();
        }
        Strong { id: self.id, home: std::marker::PhantomData }
    }
}

impl<T: Home> Deref for Strong<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this handle keeps the item alive, and items are only shared, never lent mutably.
        unsafe { (*T::arena().slot(self.id.index).item.get()).assume_init_ref() }
    }
}

impl<T: Home> Drop for Strong<T> {
    fn drop(&mut self) {
        let index = self.id.index;
        let slot = T::arena().slot(index);
        let count = slot.strong.subtract();
        if count & !OWNED != 1 {
            if count == OWNED | 2 {
                let is_alone = || slot.strong.get() == OWNED | 1;
                // SAFETY: the owner is alive: what `wake` did for him is undone only here. So is the item.
                unsafe { (*slot.item.get()).assume_init_ref() }.rest(&is_alone);
            }
            return;
        }
        Self::retire_all_from(index);
    }
}

/// Gives an item type an arena and its lists per thread: `home!(Node);`, with functions to be told
/// by if its items have owners: `home!(Node, wake, rest);`
#[macro_export]
macro_rules! home {
    ($T:ty $(, $wake:ident, $rest:ident)?) => {
        const _: () = {
            use $crate::graph::arena::{Arena, Home, Local};
            static ARENA: Arena<$T> = Arena::new();
            thread_local!(static LOCAL: Local<$T> = const { Local::new() });
            impl Home for $T {
                fn arena() -> &'static Arena<$T> {
                    &ARENA
                }
                fn local<R>(f: impl FnOnce(&Local<$T>) -> R) -> Option<R> {
                    LOCAL.try_with(f).ok()
                }
                $(
                    fn wake(&self) {
                        <$T>::$wake(self);
                    }
                    fn rest(&self, is_alone: &dyn Fn() -> bool) {
                        <$T>::$rest(self, is_alone);
                    }
                )?
            }
        };
    };
}

#[cfg(test)]
mod tests;
