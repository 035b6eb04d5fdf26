//! The one place that asks the system for the memory of tensors, and gives it back.
//!
//! A program does the same again and again, so most blocks are of a size that was freed a moment
//! ago. Large ones, which cost a page fault every 4 KB when they are new, wait for that in lists that all
//! threads share, up to a limit. The smallest wait too, while one thread is alone: see Note [One at a time]. The
//! others are left to the allocator of the process.

mod count;
mod large;
mod reserve;
mod small;

use std::alloc::{self, Layout};
use std::panic::resume_unwind;
use std::ptr::NonNull;

pub use count::allocated;
use count::count;
pub use reserve::{Allocator, Reserve};

use crate::error::{Error, Result};

pub(super) fn out_of_memory(bytes: usize) -> Box<Error> {
    Error::OutOfMemory { bytes: bytes as u64 }.into()
}

/// Bytes in large blocks that wait for their next use.
pub fn idle() -> usize {
    large::idle()
}

/// Gives the memory that waits for its next use back to the system.
pub fn trim() {
    large::trim();
}

/// Gives the memory of so many bytes back to the system, but not its addresses: what is read there is not specified
/// any more.
///
/// # Safety
/// The bytes belong to a block of this module, and nobody expects anything of them.
pub(super) unsafe fn discard(start: NonNull<u8>, bytes: usize) {
    // SAFETY: as above.
    unsafe { large::discard(start, bytes) };
}

/// What the system is asked for when many bytes are wanted: a whole class of sizes has the same block.
fn large_layout(bytes: usize, align: usize) -> Result<Layout> {
    let align = align.max(large::alignment(bytes));
    Layout::from_size_align(large::rounded(bytes), align).map_err(|_| out_of_memory(bytes))
}

/// A large block from the system, by one of its two ways.
#[cold]
fn fresh(bytes: usize, align: usize, system: unsafe fn(Layout) -> *mut u8) -> Result<*mut u8> {
    let layout = large_layout(bytes, align)?;
    // SAFETY: the size is not zero.
    let mut block = unsafe { system(layout) };
    if block.is_null() && idle() > 0 {
        trim();
        // SAFETY: as above.
        block = unsafe { system(layout) };
    }
    if !block.is_null() {
        large::advise(block, layout.size());
    }
    Ok(block)
}

/// An empty vector with room for so many, or an error instead of an abort.
pub fn room<T>(len: usize) -> Result<Vec<T>> {
    let mut empty = Vec::new();
    match empty.try_reserve_exact(len) {
        Ok(()) => Ok(empty),
        Err(_) => Err(out_of_memory(len.saturating_mul(size_of::<T>()))),
    }
}

/// What there are so many of, in a vector: where the program says how many that are.
pub fn collected<T>(len: usize, items: impl Iterator<Item = T>) -> Result<Vec<T>> {
    let mut all = room(len)?;
    all.extend(items);
    Ok(all)
}

/// So many times the same.
pub fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>> {
    let mut all = room(len)?;
    all.resize(len, value);
    Ok(all)
}

/// Makes room for one more in a vector of which nobody knows how long it becomes.
#[inline]
pub fn spare<T>(all: &mut Vec<T>) -> Result<()> {
    if all.len() == all.capacity() && all.try_reserve(1).is_err() {
        return Err(out_of_memory((all.len() + 1).saturating_mul(size_of::<T>())));
    }
    Ok(())
}

/// Adds to such a vector.
#[inline]
pub fn push<T>(all: &mut Vec<T>, item: T) -> Result<()> {
    spare(all)?;
    all.push(item);
    Ok(())
}

/// What unwinds when there is no memory for so many bytes.
pub struct Exhausted {
    pub bytes: usize,
}

/// Unwinds for want of memory, where nobody waits for a failure.
pub fn exhausted(bytes: usize) -> ! {
    resume_unwind(Box::new(Exhausted { bytes }))
}

/// At least `bytes` (not zero) uninitialised bytes, or an error instead of an abort.
#[inline]
pub(super) fn allocate(bytes: usize, align: usize) -> Result<NonNull<u8>> {
    let block = if small::is_small(bytes) {
        small::take(bytes, align)
    } else if bytes < large::SMALLEST {
        // SAFETY: the size is neither zero, since a header lies in every block, nor near the end of the
        // numbers; alignments are those of types.
        unsafe { alloc::alloc(Layout::from_size_align_unchecked(bytes, align)) }
    } else {
        match large::take(bytes) {
            Some(block) => block.as_ptr(),
            None => fresh(bytes, align, alloc::alloc)?,
        }
    };
    counted(unspecified(block), bytes)
}

/// Has the compiler take what lies in new memory for numbers that it cannot know. Programs may ask for memory
/// without values (`empty`), and read it: that has to be unspecified numbers, not undefined behaviour.
#[cfg(all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn unspecified(block: *mut u8) -> *mut u8 {
    // SAFETY: there is no instruction. What the compiler has to assume is that some wrote to the block, which is
    // nobody else's.
    unsafe { std::arch::asm!("/* {0} */", in(reg) block, options(nostack, preserves_flags)) };
    block
}

/// As above, as well as it can be said for other processors.
#[cfg(not(all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[inline(always)]
fn unspecified(block: *mut u8) -> *mut u8 {
    std::hint::black_box(block)
}

/// The same, of zeros; large blocks that are new come as untouched pages.
pub(super) fn allocate_zeroed(bytes: usize, align: usize) -> Result<NonNull<u8>> {
    let block = if small::is_small(bytes) {
        let block = small::take(bytes, align);
        if !block.is_null() {
            // SAFETY: the block has at least so many bytes, and nobody else has it.
            unsafe { block.write_bytes(0, bytes) };
        }
        block
    } else if bytes < large::SMALLEST {
        // SAFETY: as in `allocate`.
        unsafe { alloc::alloc_zeroed(Layout::from_size_align_unchecked(bytes, align)) }
    } else {
        match large::take(bytes) {
            Some(block) => {
                // SAFETY: the block has at least so many bytes, and nobody else has it.
                unsafe { block.as_ptr().write_bytes(0, bytes) };
                block.as_ptr()
            }
            None => fresh(bytes, align, alloc::alloc_zeroed)?,
        }
    };
    counted(block, bytes)
}

// On the way of every tensor; whether it is a call of its own is not left to its neighbours.
#[inline(always)]
fn counted(block: *mut u8, bytes: usize) -> Result<NonNull<u8>> {
    let block = NonNull::new(block).ok_or_else(|| out_of_memory(bytes))?;
    count(bytes as isize);
    Ok(block)
}

/// Takes a block back.
///
/// # Safety
/// `block` came from this module with the same `bytes` and `align` and is not used afterwards. Blocks of
/// one size always have one alignment.
#[inline(always)]
pub(super) unsafe fn free(block: NonNull<u8>, bytes: usize, align: usize) {
    count(-(bytes as isize));
    if small::is_small(bytes) {
        // SAFETY: by the caller's promise nobody uses the block any more, and `take` gave it for this size.
        unsafe { small::keep(block, bytes, align) };
        return;
    }
    if bytes < large::SMALLEST {
        // SAFETY: by the caller's promise; this is what `allocate` asked for.
        unsafe { alloc::dealloc(block.as_ptr(), Layout::from_size_align_unchecked(bytes, align)) }
        return;
    }
    // SAFETY: by the caller's promise nobody uses the block any more, and it is of its size's class.
    unsafe {
        if !large::keep(block, bytes, align) {
            release(block, bytes, align);
        }
    }
}

/// Gives a large block back to the system.
///
/// # Safety
/// As for `free`.
unsafe fn release(block: NonNull<u8>, bytes: usize, align: usize) {
    // The layout was valid when the block was allocated with it.
    if let Ok(layout) = large_layout(bytes, align) {
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
            let layout = large_layout(bytes, 8).unwrap();
            assert!((bytes..=bytes + bytes / 8).contains(&layout.size()), "{bytes}");
            assert_eq!(large_layout(layout.size(), 8).unwrap(), layout, "{bytes}");
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
