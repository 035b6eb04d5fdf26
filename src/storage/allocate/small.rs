//! Small blocks of memory: free lists by size class, so that the next tensor of that size needs no allocator.

use std::alloc::{self, Layout};
use std::ptr::NonNull;

use crate::sharing::Spare;

/// The size of the first class, and the step between classes. Common allocators waste nothing on these sizes.
const SMALLEST: usize = 24;
const STEP: usize = 16;
const LISTS: usize = 16;
/// How many free blocks a list keeps at most.
const BLOCKS: u32 = 64;

static SPARE: [Spare; LISTS] = [const { Spare::new(BLOCKS) }; LISTS];

/// The size class of a block of so many bytes, at least one. From `LISTS` on it is too large for these lists.
#[inline(always)]
fn list(bytes: usize) -> usize {
    (bytes + STEP - 1).saturating_sub(SMALLEST) / STEP
}

/// Whether a block of so many bytes has a free list.
#[inline(always)]
pub(super) fn is_small(bytes: usize) -> bool {
    list(bytes) < LISTS
}

/// What is asked of the allocator: the full size of the class, so that a block serves every size in it.
#[inline(always)]
fn layout(bytes: usize, align: usize) -> Layout {
    // SAFETY: alignments are those of types, and the size is small.
    unsafe { Layout::from_size_align_unchecked(SMALLEST + list(bytes) * STEP, align) }
}

/// A block, or null if there is no memory.
#[inline(always)]
pub(super) fn take(bytes: usize, align: usize) -> *mut u8 {
    match SPARE[list(bytes)].take() {
        Some(block) => block.as_ptr(),
        // SAFETY: the size is not zero.
        None => unsafe { alloc::alloc(layout(bytes, align)) },
    }
}

/// Returns a block to its free list, or to the allocator if the list is full.
///
/// # Safety
/// `take` gave it for the same `bytes` and `align`, and it is not used afterwards. Blocks of one size always have
/// one alignment.
#[inline(always)]
pub(super) unsafe fn keep(block: NonNull<u8>, bytes: usize, align: usize) {
    // SAFETY: by the caller's promise; blocks begin with a header, which is aligned as pointers are.
    unsafe {
        if !SPARE[list(bytes)].keep(block) {
            alloc::dealloc(block.as_ptr(), layout(bytes, align));
        }
    }
}
