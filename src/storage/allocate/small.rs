//! The smallest blocks: a few lists of them, each for the sizes up to its own.

use std::alloc::{self, Layout};
use std::ptr::NonNull;

use crate::sharing::Spare;

/// The size of the smallest blocks, and how far those of two lists are apart: what common allocators have without
/// a gap.
const SMALLEST: usize = 24;
const STEP: usize = 16;
const LISTS: usize = 16;
/// How many blocks of a size wait at most.
const BLOCKS: u32 = 64;

static SPARE: [Spare; LISTS] = [const { Spare::new(BLOCKS) }; LISTS];

/// The list for a block of so many bytes, which are not zero: those from `LISTS` on are none.
#[inline(always)]
fn list(bytes: usize) -> usize {
    (bytes + STEP - 1).saturating_sub(SMALLEST) / STEP
}

/// Whether a block of so many bytes is one of these.
#[inline(always)]
pub(super) fn is_small(bytes: usize) -> bool {
    list(bytes) < LISTS
}

/// What the allocator is asked for: a list's blocks serve all of its sizes.
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

/// Takes a block back.
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
