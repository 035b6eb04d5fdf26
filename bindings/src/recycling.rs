//! The allocator of the module: small blocks wait for their next use in lists of the thread that freed
//! them, one list for each sixteen bytes of size. A recorded operation takes and gives three of them, which by
//! the system's allocator is a tenth of its time.
//!
//! It stands in for the system's where a thread's own data can be given up without allocating: that is
//! where glibc is.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

#[global_allocator]
static RECYCLING: Recycling = Recycling;

struct Recycling;

/// The size of the smallest blocks: what the system's allocator gives for less comes with as much.
const SMALLEST: usize = 24;
/// How far the sizes of two lists are apart; also every block's alignment.
const STEP: usize = 16;
const LISTS_IN_ALL: usize = 32;
/// How many bytes a list holds at most.
const BYTES_A_LIST: usize = 1 << 16;

/// What lies in a block that waits: the next one.
struct Waiting {
    next: *mut Waiting,
}

struct List {
    first: Cell<*mut Waiting>,
    length: Cell<u32>,
}

struct Lists([List; LISTS_IN_ALL]);

thread_local!(static LISTS: Lists = const {
    Lists([const { List { first: Cell::new(ptr::null_mut()), length: Cell::new(0) } }; LISTS_IN_ALL])
});

/// The number of the list for a layout.
#[inline]
fn list_of(layout: Layout) -> Option<usize> {
    let list = (layout.size() + STEP - 1).saturating_sub(SMALLEST) / STEP;
    (list < LISTS_IN_ALL && layout.align() <= STEP).then_some(list)
}

/// What the system is asked for when a list has no block.
const fn layout_of(list: usize) -> Layout {
    // SAFETY: a power of two, and nowhere near the end of the numbers.
    unsafe { Layout::from_size_align_unchecked(SMALLEST + list * STEP, STEP) }
}

// SAFETY: a block comes from the system or from a list, where it was put when it was freed; all blocks of a
// list have the list's layout, which is at least as large and as strictly aligned as any that leads to it.
unsafe impl GlobalAlloc for Recycling {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(list) = list_of(layout) else {
            // SAFETY: by the caller's promise.
            return unsafe { System.alloc(layout) };
        };
        // A thread that is ending has no lists.
        let block = LISTS.try_with(|lists| lists.0[list].pop()).unwrap_or(ptr::null_mut());
        // SAFETY: the size is not zero.
        if block.is_null() { unsafe { System.alloc(layout_of(list)) } } else { block }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(list) = list_of(layout) else {
            // SAFETY: by the caller's promise.
            return unsafe { System.dealloc(block, layout) };
        };
        // SAFETY: by the caller's promise the block is free from now on.
        let is_kept = LISTS.try_with(|lists| unsafe { lists.0[list].push(block, list) }).unwrap_or(false);
        if !is_kept {
            // SAFETY: this is what `alloc` asked for.
            unsafe { System.dealloc(block, layout_of(list)) }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if list_of(layout).is_none() {
            // SAFETY: by the caller's promise.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: by the caller's promise, and the block has so many bytes.
        unsafe {
            let block = self.alloc(layout);
            if !block.is_null() {
                block.write_bytes(0, layout.size());
            }
            block
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the new size makes a layout.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (list_of(layout), list_of(wanted)) {
            // SAFETY: by the caller's promise; the block is the system's.
            (None, None) => unsafe { System.realloc(block, layout, size) },
            (Some(before), Some(after)) if before == after => block,
            // SAFETY: by the caller's promise; both blocks have what is copied.
            _ => unsafe {
                let moved = self.alloc(wanted);
                if !moved.is_null() {
                    ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                    self.dealloc(block, layout);
                }
                moved
            },
        }
    }
}

impl List {
    /// A block that waits, or null.
    #[inline]
    fn pop(&self) -> *mut u8 {
        let first = self.first.get();
        if !first.is_null() {
            // SAFETY: blocks in a list are nobody else's, and begin with the address of the next.
            self.first.set(unsafe { (*first).next });
            self.length.set(self.length.get() - 1);
        }
        first.cast()
    }

    /// Keeps a block; false if the list is full.
    ///
    /// # Safety
    /// The block is of this list's layout and nobody uses it.
    #[inline]
    unsafe fn push(&self, block: *mut u8, list: usize) -> bool {
        let has_room = (self.length.get() as usize) * layout_of(list).size() < BYTES_A_LIST;
        if has_room {
            let block: *mut Waiting = block.cast();
            // SAFETY: a list's blocks are large enough for an address and aligned for it.
            unsafe { block.write(Waiting { next: self.first.get() }) };
            self.first.set(block);
            self.length.set(self.length.get() + 1);
        }
        has_room
    }
}

impl Drop for Lists {
    fn drop(&mut self) {
        for (number, list) in self.0.iter().enumerate() {
            while let block = list.pop()
                && !block.is_null()
            {
                // SAFETY: the system gave the block for this layout.
                unsafe { System.dealloc(block, layout_of(number)) };
            }
        }
    }
}
