//! Small blocks that wait for their next use.

use std::ptr::{NonNull, null_mut};

use super::is_alone;
use crate::threads::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Blocks of one size, for those who are alone: it takes a few instructions to have one, and none of them looks
/// up what belongs to the thread. Others go to the allocator, as those do for whom none is left.
pub struct Spare {
    first: AtomicPtr<Waiting>,
    /// For how many more there is room.
    room: AtomicU32,
}

/// A block that waits, of which nothing is used but its beginning.
struct Waiting {
    next: *mut Waiting,
}

impl Spare {
    /// A list for so many blocks.
    pub const fn new(room: u32) -> Spare {
        Spare { first: AtomicPtr::new(null_mut()), room: AtomicU32::new(room) }
    }

    /// A block that has waited.
    #[inline(always)]
    pub fn take(&self) -> Option<NonNull<u8>> {
        if !is_alone() {
            return None;
        }
        let first = NonNull::new(self.first.load(Ordering::Relaxed))?;
        // SAFETY: `keep` wrote it there, and blocks in the list are nobody's. No other thread is here.
        self.first.store(unsafe { first.as_ref() }.next, Ordering::Relaxed);
        self.room.store(self.room.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        Some(first.cast())
    }

    /// Lets a block wait. Answers whether there is room for it.
    ///
    /// # Safety
    /// Nobody uses the block any more. All of one list have one size, which is that of a pointer at least, and come
    /// from one allocator, which aligns them as pointers are at least.
    #[inline(always)]
    pub unsafe fn keep(&self, block: NonNull<u8>) -> bool {
        let room = self.room.load(Ordering::Relaxed);
        if !is_alone() || room == 0 {
            return false;
        }
        let block = block.cast::<Waiting>();
        // SAFETY: by the caller's promise.
        unsafe { block.write(Waiting { next: self.first.load(Ordering::Relaxed) }) };
        self.first.store(block.as_ptr(), Ordering::Relaxed);
        self.room.store(room - 1, Ordering::Relaxed);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_threads_may_meet_no_block_waits() {
        let spare = Spare::new(1);
        let mut block = 0u64;
        // SAFETY: the block is not used but here.
        assert!(!unsafe { spare.keep(NonNull::from(&mut block).cast()) });
        assert!(spare.take().is_none());
    }
}
