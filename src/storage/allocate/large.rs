//! Large blocks, in lists that all threads share, eight for each doubling of the size. Together they
//! hold no more than a limit; what was not asked for longest goes first.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// The smallest size that is large. Smaller blocks the allocator of the system recycles well itself; of these it gives the
/// last ones back to the system when they are freed, and pages cost as much as the work in them.
pub(super) const SMALLEST: usize = 1 << 15;
/// The size of a huge page, which costs one page fault instead of 512.
const HUGE: usize = 1 << 21;
/// A multiple of the sizes that pages have.
#[cfg(target_os = "linux")]
const PAGE: usize = 1 << 16;
/// Blocks of a class are smaller than the next class by an eighth at most.
const CLASSES_A_DOUBLING: u32 = 8;
/// How many megabytes wait at most, unless the environment says otherwise.
const MEGABYTES: usize = 256;

/// A block that waits.
struct Block {
    address: NonNull<u8>,
    bytes: usize,
    align: usize,
}

// SAFETY: a block that waits is nobody's; whoever takes it out is its only owner.
unsafe impl Send for Block {}

/// The blocks of one size.
#[derive(Default)]
struct Class {
    blocks: Vec<Block>,
    /// When one was last put in or taken out.
    used: u64,
}

#[derive(Default)]
struct Cache {
    classes: BTreeMap<usize, Class>,
    idle: usize,
    clock: u64,
}

static CACHE: Mutex<Option<Cache>> = Mutex::new(None);
static IDLE: AtomicUsize = AtomicUsize::new(0);

/// How many bytes wait at most.
static LIMIT: LazyLock<usize> = LazyLock::new(|| {
    let told = std::env::var("RUSHLIGHT_CACHE_MB").ok().and_then(|told| told.trim().parse().ok());
    told.unwrap_or(MEGABYTES).saturating_mul(1 << 20)
});

/// The bytes of a class's blocks; saturates where no block can be.
pub(super) fn rounded(bytes: usize) -> usize {
    let step = (1 << bytes.ilog2()) / CLASSES_A_DOUBLING as usize;
    bytes.checked_next_multiple_of(step).unwrap_or(usize::MAX)
}

/// Blocks that can have huge pages begin on one.
pub(super) fn alignment(bytes: usize) -> usize {
    if bytes >= HUGE { HUGE } else { 1 }
}

/// Tells the system that a new block may have huge pages.
pub(super) fn advise(block: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    if bytes >= HUGE {
        // SAFETY: the range is a block of ours and begins on a page. Advice changes no contents; where
        // it is not taken, pages are small.
        unsafe { libc::madvise(block.cast(), bytes, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (block, bytes);
}

/// Gives the pages that lie wholly within such memory back to the system, which puts zeros in their place when they
/// are touched again. Where it cannot, they stay as they are.
///
/// # Safety
/// The memory is that of a block of ours, and nobody expects anything of what is in it.
pub(super) unsafe fn discard(start: NonNull<u8>, bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        let first = start.addr().get().next_multiple_of(PAGE);
        let end = (start.addr().get() + bytes) / PAGE * PAGE;
        if first < end {
            let place = start.as_ptr().with_addr(first);
            // SAFETY: by the caller's promise; addresses stay as they are.
            unsafe { libc::madvise(place.cast(), end - first, libc::MADV_DONTNEED) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, bytes);
}

pub(super) fn idle() -> usize {
    IDLE.load(Ordering::Relaxed)
}

/// A block of the class of `bytes`. Whoever holds the lock in the moment of a fork holds it in the child for
/// ever, so nobody waits for it.
pub(super) fn take(bytes: usize) -> Option<NonNull<u8>> {
    let mut cache = CACHE.try_lock()?;
    Some(cache.as_mut()?.take(rounded(bytes))?.address)
}

/// Keeps a block for its next use; false if it is too large for that.
///
/// # Safety
/// The block was allocated as one of the class of `bytes`, and nobody uses it any more.
pub(super) unsafe fn keep(address: NonNull<u8>, bytes: usize, align: usize) -> bool {
    if rounded(bytes) > *LIMIT {
        return false;
    }
    let Some(mut cache) = CACHE.try_lock() else { return false };
    let surplus = cache.get_or_insert_default().keep(Block { address, bytes, align }, *LIMIT);
    drop(cache);
    release(surplus);
    true
}

/// Gives everything that waits back to the system.
pub(super) fn trim() {
    let Some(cache) = CACHE.try_lock().and_then(|mut cache| cache.take()) else { return };
    IDLE.store(0, Ordering::Relaxed);
    release(cache.classes.into_values().flat_map(|class| class.blocks));
}

fn release(blocks: impl IntoIterator<Item = Block>) {
    for block in blocks {
        // SAFETY: `keep` was promised that nobody uses the block, and it is out of the lists.
        unsafe { super::release(block.address, block.bytes, block.align) };
    }
}

impl Cache {
    fn take(&mut self, size: usize) -> Option<Block> {
        self.clock += 1;
        let class = self.classes.get_mut(&size)?;
        class.used = self.clock;
        let block = class.blocks.pop()?;
        self.count(self.idle - size);
        Some(block)
    }

    /// Puts a block in; answers those that have to go for it.
    fn keep(&mut self, block: Block, limit: usize) -> Vec<Block> {
        let size = rounded(block.bytes);
        let mut surplus = Vec::new();
        self.clock += 1;
        self.classes.entry(size).or_default().used = self.clock;
        while self.idle + size > limit {
            let Some((&oldest, class)) = self.oldest() else { break };
            surplus.extend(class.blocks.pop());
            self.count(self.idle - oldest);
        }
        self.classes.entry(size).or_default().blocks.push(block);
        self.count(self.idle + size);
        surplus
    }

    /// The class that was not used for longest, of those that have blocks.
    fn oldest(&mut self) -> Option<(&usize, &mut Class)> {
        let filled = self.classes.iter_mut().filter(|(_, class)| !class.blocks.is_empty());
        filled.min_by_key(|(_, class)| class.used)
    }

    fn count(&mut self, idle: usize) {
        self.idle = idle;
        IDLE.store(idle, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(bytes: usize) -> Block {
        Block { address: NonNull::dangling(), bytes, align: 64 }
    }

    #[test]
    fn a_cache_stays_below_its_limit_and_gives_up_what_is_oldest() {
        let mut cache = Cache::default();
        let limit = 10 << 20;
        for _ in 0..4 {
            assert!(cache.keep(block(2 << 20), limit).is_empty());
        }
        assert!(cache.keep(block(1 << 20), limit).is_empty());
        assert_eq!(cache.idle, 9 << 20);
        let gone = cache.keep(block(4 << 20), limit);
        assert_eq!(gone.iter().map(|block| block.bytes).collect::<Vec<_>>(), [2 << 20; 2]);
        assert_eq!(cache.idle, 9 << 20);
        assert_eq!(cache.take(4 << 20).map(|block| block.bytes), Some(4 << 20));
        assert!(cache.take(4 << 20).is_none());
        assert_eq!(cache.idle, 5 << 20);
    }

    #[test]
    fn a_class_is_an_eighth_of_a_doubling() {
        assert_eq!(rounded(1 << 20), 1 << 20);
        assert_eq!(rounded((1 << 20) + 1), (1 << 20) + (1 << 17));
        assert_eq!(rounded(usize::MAX), usize::MAX);
    }
}
