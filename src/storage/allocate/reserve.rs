//! Memory that is held for libraries: they ask for some themselves, and end the process where there is none.
//!
//! Note [What libraries ask for]
//! ----
//! Whoever calls such a library first takes as much as it may ask for, which can fail as any allocation, and holds it for
//! as long as the call lasts. When the system has nothing for the thread meanwhile, the reserve is given back, and the
//! system asked again. So a library finds memory although others take what is left at the same time. A program for which
//! that is to hold has `Allocator` as its global one, as the module for Python has.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;

use super::{idle, out_of_memory, trim};
use crate::error::Result;

/// What a thread holds; nothing, if it was given back.
#[derive(Clone, Copy)]
struct Held {
    block: *mut u8,
    layout: Layout,
}

const NOTHING: Held = Held { block: ptr::null_mut(), layout: Layout::new::<u8>() };

thread_local!(static HELD: Cell<Held> = const { Cell::new(NOTHING) });

/// Memory that this thread holds until this is dropped, or until the system has none.
#[must_use = "the memory is held as long as this lasts"]
pub struct Reserve {
    /// What the thread held before, and holds again.
    before: Held,
    /// It is of the thread that made it.
    own: PhantomData<*mut u8>,
}

impl Reserve {
    /// Holds so many bytes, or fails.
    pub fn new(bytes: usize) -> Result<Reserve> {
        let layout = Layout::array::<u8>(bytes.max(1)).map_err(|_| out_of_memory(bytes))?;
        // SAFETY: the size is not zero.
        let ask = || unsafe { System.alloc(layout) };
        let mut block = ask();
        if block.is_null() {
            // Not with what is held already.
            block = again(&ask, NOTHING);
        }
        if block.is_null() {
            return Err(out_of_memory(bytes));
        }
        Ok(Reserve { before: HELD.replace(Held { block, layout }), own: PhantomData })
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        give_back(HELD.replace(self.before));
    }
}

fn give_back(held: Held) {
    if !held.block.is_null() {
        // SAFETY: the block is what `Reserve::new` was given for this layout; it was taken out of its place.
        unsafe { System.dealloc(held.block, held.layout) };
    }
}

/// The allocator of the process: the system's, which is asked again when what only waits has been given back to it.
pub struct Allocator;

// Not inlined: once, and not for each of ten thousand callers.
// SAFETY: blocks are the system's, and it is asked for what is asked for here.
unsafe impl GlobalAlloc for Allocator {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller's promise.
        or_again(|| unsafe { System.alloc(layout) })
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller's promise.
        or_again(|| unsafe { System.alloc_zeroed(layout) })
    }

    #[inline(never)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: by the caller's promise; where there is no memory, the block is as it was.
        or_again(|| unsafe { System.realloc(block, layout, bytes) })
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: by the caller's promise.
        unsafe { System.dealloc(block, layout) };
    }
}

#[inline(always)]
fn or_again(ask: impl Fn() -> *mut u8) -> *mut u8 {
    let block = ask();
    if block.is_null() { again(&ask, HELD.replace(NOTHING)) } else { block }
}

/// Asks a second time if there is something to give back for it: what is held, and blocks that wait for their next use.
#[cold]
fn again(ask: &dyn Fn() -> *mut u8, held: Held) -> *mut u8 {
    let waits = idle() > 0;
    if !waits && held.block.is_null() {
        return ptr::null_mut();
    }
    trim();
    give_back(held);
    ask()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held() -> usize {
        let held = HELD.get();
        if held.block.is_null() { 0 } else { held.layout.size() }
    }

    #[test]
    fn a_reserve_is_held_until_it_is_dropped() {
        let outer = Reserve::new(1 << 20).unwrap();
        let inner = Reserve::new(1 << 10).unwrap();
        assert_eq!(held(), 1 << 10);
        drop(inner);
        assert_eq!(held(), 1 << 20);
        drop(outer);
        assert_eq!(held(), 0);
        assert!(Reserve::new(usize::MAX).is_err() && Reserve::new(usize::MAX / 4).is_err());
    }

    #[test]
    fn the_system_is_asked_again_when_a_reserve_was_given_back() {
        let block = Cell::new(0_u8);
        let full = || if held() > 0 { ptr::null_mut() } else { block.as_ptr() };
        let reserve = Reserve::new(1 << 20).unwrap();
        assert!(!or_again(full).is_null());
        assert_eq!(held(), 0);
        drop(reserve);
        assert!(or_again(ptr::null_mut).is_null());
    }
}
