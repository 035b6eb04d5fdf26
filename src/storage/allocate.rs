//! The one place that asks the system for the memory of tensors.

use std::alloc::{self, Layout};
use std::ptr::NonNull;

use crate::error::{Error, Result};

fn layout(bytes: usize, align: usize) -> Result<Layout> {
    Layout::from_size_align(bytes, align).map_err(|_| out_of_memory(bytes))
}

fn out_of_memory(bytes: usize) -> Box<Error> {
    Error::OutOfMemory { bytes: bytes as u64 }.into()
}

/// At least `bytes` (not zero) uninitialised bytes, or an error instead of an abort.
pub(super) fn allocate(bytes: usize, align: usize) -> Result<NonNull<u8>> {
    let layout = layout(bytes, align)?;
    // SAFETY: the size is not zero: a header lies in every block.
    NonNull::new(unsafe { alloc::alloc(layout) }).ok_or_else(|| out_of_memory(bytes))
}

/// The same, of zeros; large blocks come as untouched pages.
pub(super) fn allocate_zeroed(bytes: usize, align: usize) -> Result<NonNull<u8>> {
    let layout = layout(bytes, align)?;
    // SAFETY: as above.
    NonNull::new(unsafe { alloc::alloc_zeroed(layout) }).ok_or_else(|| out_of_memory(bytes))
}

/// Gives a block back.
///
/// # Safety
/// `block` came from this module with the same `bytes` and `align` and is not used afterwards.
pub(super) unsafe fn free(block: NonNull<u8>, bytes: usize, align: usize) {
    // SAFETY: the layout was valid when the block was allocated with it.
    unsafe { alloc::dealloc(block.as_ptr(), Layout::from_size_align_unchecked(bytes, align)) }
}
