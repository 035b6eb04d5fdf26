//! The one place that asks the system for the memory of tensors, and gives it back.
//!
//! Note [Memory that is kept]
//! ----
//! A program does the same again and again, so most blocks are of a size that was freed a moment
//! ago. Large ones, which cost a page fault every 4 KB when they are new, wait for that in lists that all
//! threads share, up to a limit. Small ones are left to the allocator of the process.

mod large;

use std::alloc::{self, Layout};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

use crate::error::{Error, Result};

fn out_of_memory(bytes: usize) -> Box<Error> {
    Error::OutOfMemory { bytes: bytes as u64 }.into()
}

/// What was allocated less what was freed, by group of threads: one counter would travel between the
/// caches of all.
static COUNTS: [Count; GROUPS] = [const { Count(AtomicIsize::new(0)) }; GROUPS];
const GROUPS: usize = 16;

/// A counter on a cache line of its own.
#[repr(align(64))]
struct Count(AtomicIsize);

thread_local!(static GROUP: usize = {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed) % GROUPS
});

fn count(bytes: isize) {
    // A thread that is ending has no group.
    let group = GROUP.try_with(|group| *group).unwrap_or(0);
    COUNTS[group].0.fetch_add(bytes, Ordering::Relaxed);
}

/// Bytes in blocks that live, headers included.
pub fn allocated() -> usize {
    COUNTS.iter().map(|count| count.0.load(Ordering::Relaxed)).sum::<isize>().max(0).cast_unsigned()
}

/// Bytes in large blocks that wait for their next use.
pub fn idle() -> usize {
    large::idle()
}

/// Gives the memory that waits for its next use back to the system.
pub fn trim() {
    large::trim();
}

/// What the system is asked for when `bytes` are wanted: a whole class of large sizes has the same block.
fn layout(bytes: usize, align: usize) -> Result<Layout> {
    let (bytes, align) = match bytes {
        large::SMALLEST.. => (large::rounded(bytes), align.max(large::alignment(bytes))),
        _ => (bytes, align),
    };
    Layout::from_size_align(bytes, align).map_err(|_| out_of_memory(bytes))
}

/// A block that was kept.
fn kept(bytes: usize) -> Option<NonNull<u8>> {
    if bytes >= large::SMALLEST { large::take(bytes) } else { None }
}

/// A block from the system, by one of its two ways.
fn fresh(bytes: usize, align: usize, system: unsafe fn(Layout) -> *mut u8) -> Result<NonNull<u8>> {
    let layout = layout(bytes, align)?;
    // SAFETY: the size is not zero: a header lies in every block.
    let mut block = NonNull::new(unsafe { system(layout) });
    if block.is_none() && idle() > 0 {
        trim();
        // SAFETY: as above.
        block = NonNull::new(unsafe { system(layout) });
    }
    let block = block.ok_or_else(|| out_of_memory(bytes))?;
    if bytes >= large::SMALLEST {
        large::advise(block, layout.size());
    }
    Ok(block)
}

/// At least `bytes` (not zero) uninitialised bytes, or an error instead of an abort.
pub(super) fn allocate(bytes: usize, align: usize) -> Result<NonNull<u8>> {
    let block = match kept(bytes) {
        Some(block) => block,
        None => fresh(bytes, align, alloc::alloc)?,
    };
    count(bytes as isize);
    Ok(block)
}

/// The same, of zeros; large blocks that are new come as untouched pages.
pub(super) fn allocate_zeroed(bytes: usize, align: usize) -> Result<NonNull<u8>> {
    let block = match kept(bytes) {
        Some(block) => {
            // SAFETY: the block has at least so many bytes, and nobody else has it.
            unsafe { block.as_ptr().write_bytes(0, bytes) };
            block
        }
        None => fresh(bytes, align, alloc::alloc_zeroed)?,
    };
    count(bytes as isize);
    Ok(block)
}

/// Takes a block back.
///
/// # Safety
/// `block` came from this module with the same `bytes` and `align` and is not used afterwards. Blocks of
/// one size always have one alignment.
pub(super) unsafe fn free(block: NonNull<u8>, bytes: usize, align: usize) {
    count(-(bytes as isize));
    // SAFETY: by the caller's promise nobody uses the block any more, and it is of its size's class.
    let is_kept = bytes >= large::SMALLEST && unsafe { large::keep(block, bytes, align) };
    if !is_kept {
        // SAFETY: by the caller's promise.
        unsafe { release(block, bytes, align) };
    }
}

/// Gives a block back to the system.
///
/// # Safety
/// As for `free`.
unsafe fn release(block: NonNull<u8>, bytes: usize, align: usize) {
    // The layout was valid when the block was allocated with it.
    if let Ok(layout) = layout(bytes, align) {
        // SAFETY: by the caller's promise, and blocks that were kept are as they came.
        unsafe { alloc::dealloc(block.as_ptr(), layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_a_class_serves_every_size_of_it() {
        for bytes in [large::SMALLEST, 1 << 18, 300_000, 4_000_064, (1 << 22) + 1] {
            let layout = layout(bytes, 8).unwrap();
            assert!((bytes..=bytes + bytes / 8).contains(&layout.size()), "{bytes}");
            assert_eq!(self::layout(layout.size(), 8).unwrap(), layout, "{bytes}");
        }
    }

    #[test]
    fn a_size_that_no_machine_has_is_an_error() {
        assert!(allocate(usize::MAX / 2, 64).is_err());
        assert!(allocate_zeroed(usize::MAX - 64, 64).is_err());
    }

    #[test]
    fn kept_blocks_come_back_and_zeros_are_zeros() {
        for bytes in [40, large::SMALLEST, 3 << 20] {
            let block = allocate(bytes, 8).unwrap();
            // SAFETY: the block has so many bytes, and is freed once.
            unsafe {
                block.as_ptr().write_bytes(7, bytes);
                free(block, bytes, 8);
            }
            let again = allocate_zeroed(bytes, 8).unwrap();
            // SAFETY: as above.
            unsafe {
                assert!((0..bytes).all(|at| *again.as_ptr().add(at) == 0), "{bytes}");
                free(again, bytes, 8);
            }
        }
    }
}
