//! The one place that asks the system for the memory of tensors.

use std::alloc::{self, Layout};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

use crate::error::{Error, Result};

fn layout(bytes: usize, align: usize) -> Result<Layout> {
    Layout::from_size_align(bytes, align).map_err(|_| out_of_memory(bytes))
}

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

fn counted(block: *mut u8, bytes: usize) -> Result<NonNull<u8>> {
    let block = NonNull::new(block).ok_or_else(|| out_of_memory(bytes))?;
    count(bytes as isize);
    Ok(block)
}

/// At least `bytes` (not zero) uninitialised bytes, or an error instead of an abort.
pub(super) fn allocate(bytes: usize, align: usize) -> Result<NonNull<u8>> {
    let layout = layout(bytes, align)?;
    // SAFETY: the size is not zero: a header lies in every block.
    counted(unsafe { alloc::alloc(layout) }, bytes)
}

/// The same, of zeros; large blocks come as untouched pages.
pub(super) fn allocate_zeroed(bytes: usize, align: usize) -> Result<NonNull<u8>> {
    let layout = layout(bytes, align)?;
    // SAFETY: as above.
    counted(unsafe { alloc::alloc_zeroed(layout) }, bytes)
}

/// Gives a block back.
///
/// # Safety
/// `block` came from this module with the same `bytes` and `align` and is not used afterwards.
pub(super) unsafe fn free(block: NonNull<u8>, bytes: usize, align: usize) {
    count(-(bytes as isize));
    // SAFETY: the layout was valid when the block was allocated with it.
    unsafe { alloc::dealloc(block.as_ptr(), Layout::from_size_align_unchecked(bytes, align)) }
}
