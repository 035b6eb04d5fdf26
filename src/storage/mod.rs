//! Memory that tensors share: a reference-counted block with a version counter.
//! What the bytes mean (type, shape) is the tensor's business.

#![allow(unsafe_code)]

mod allocate;
mod born;
mod joined;
mod resized;

pub use allocate::{
    Allocator, Exhausted, Reserve, allocated, collected, exhausted, filled, idle, push, room, spare, trim,
};
pub use born::{births, watch_births};

use std::any::Any;
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::error::Result;
use crate::sharing::Count;
use crate::threads::atomic::{AtomicU32, AtomicUsize, Ordering};
use resized::Resized;

/// What keeps bytes alive that are not ours: a numpy array.
pub type Owner = Arc<dyn Any + Send + Sync>;

/// The count, the version and the bytes of a storage lie in one allocation, since the common
/// tensor is a few elements small: header, then bytes. Large blocks leave a gap so that the bytes
/// start on a cache line. Where the bytes are others', the header is followed by whose they are instead.
///
/// How far behind the block's start its bytes are stands above their number in one word, so that
/// a number of one element and its header fit into the smallest block that there is. Less than the size
/// of a header says that the bytes are elsewhere, and how: `LENT`, `ALIAS`, `RESIZED`.
#[repr(C)]
struct Header {
    strong: Count,
    version: AtomicU32,
    place: AtomicUsize,
}

/// What follows the header of bytes that belong to somebody else.
#[repr(C)]
struct Elsewhere {
    data: NonNull<u8>,
    owner: Owner,
}

const HEADER: usize = size_of::<Header>();
/// From which bit on the header's word says where the bytes are. No memory has as many bytes as fit below.
const LEAD: u32 = 48;
const BYTES: usize = (1 << LEAD) - 1;
/// The bytes belong to the host: the header is followed by `Elsewhere`.
const LENT: usize = 0;
/// The bytes are those of another block: the header is followed by a handle to it, which is no alias.
const ALIAS: usize = 1;
/// There were other numbers of bytes before: instead of their number stands the address of a `Resized`.
const RESIZED: usize = 2;
/// Set in the word of a block that never gets another size: somebody knows where its bytes are.
const FIXED: usize = 1 << (usize::BITS - 1);
const CACHE_LINE: usize = 64;
/// From this size on the bytes start on a cache line.
const LARGE: usize = 1024;

/// The version of memory whose writes are not counted.
const UNCOUNTED: u32 = u32::MAX;
/// The version of memory that counts together with other memory: see `joined`.
const JOINED: u32 = u32::MAX - 1;

/// The count after one more write. It starts over before it could be taken for one of those above.
fn next_version(version: u32) -> u32 {
    (version + 1) % JOINED
}

thread_local!(static COUNTING: Cell<bool> = const { Cell::new(true) });

/// How many threads allocate memory without a count of writes, or are told of what they allocate. While there
/// are none, which is nearly always, nobody looks further.
static NOT_COUNTING: AtomicUsize = AtomicUsize::new(0);

/// Whether writes to memory that this thread allocates from now on are counted.
pub fn set_counting(counting: bool) {
    match (COUNTING.replace(counting), counting) {
        (true, false) => NOT_COUNTING.fetch_add(1, Ordering::Relaxed),
        (false, true) => NOT_COUNTING.fetch_sub(1, Ordering::Relaxed),
        _ => 0,
    };
}

/// What the count of a new block starts with.
fn first_version() -> u32 {
    if NOT_COUNTING.load(Ordering::Relaxed) == 0 { 0 } else { first_version_of_thread() }
}

/// `first_version` of a block that has just come into being.
fn version_at_birth(block: NonNull<Header>) -> u32 {
    if NOT_COUNTING.load(Ordering::Relaxed) == 0 { 0 } else { told_of_birth(block) }
}

#[cold]
#[inline(never)]
fn told_of_birth(block: NonNull<Header>) -> u32 {
    born::tell(block.as_ptr().addr());
    first_version_of_thread()
}

// Apart: the compiler takes finding a thread's own data for free, and does it before the question.
#[cold]
#[inline(never)]
fn first_version_of_thread() -> u32 {
    if COUNTING.get() { 0 } else { UNCOUNTED }
}

/// A strong handle to shared memory.
pub struct Storage {
    block: NonNull<Header>,
}

// SAFETY: the header's fields are atomic, and where bytes once were there is memory until the last handle goes.
// The bytes themselves are read and written under Note [Memory of tensors].
unsafe impl Send for Storage {}
// SAFETY: as above.
unsafe impl Sync for Storage {}

impl Storage {
    /// A new block of uninitialised bytes.
    pub fn uninit(bytes: usize) -> Result<Storage> {
        let (align, lead) = placement(bytes);
        let block = allocate::allocate(size_of_block(lead, bytes)?, align)
            .map_err(|_| allocate::out_of_memory(bytes))?;
        // SAFETY: the block has at least `lead >= HEADER` bytes and is aligned for `Header`.
        Ok(unsafe { Storage::place(block, lead, bytes) })
    }

    /// A new block of zero bytes.
    pub fn zeroed(bytes: usize) -> Result<Storage> {
        let (align, lead) = placement(bytes);
        let block = allocate::allocate_zeroed(size_of_block(lead, bytes)?, align)
            .map_err(|_| allocate::out_of_memory(bytes))?;
        // SAFETY: as in `uninit`.
        Ok(unsafe { Storage::place(block, lead, bytes) })
    }

    /// A storage over bytes that `owner` keeps alive.
    ///
    /// # Safety
    /// `data` must stay valid for reads and writes of `bytes` bytes, and aligned for the elements
    /// that will be read, for as long as `owner` lives.
    pub unsafe fn external(data: NonNull<u8>, bytes: usize, owner: Owner) -> Result<Storage> {
        size_of_block(HEADER, bytes)?;
        let block = allocate::allocate(HEADER + size_of::<Elsewhere>(), align_of::<Header>())?;
        // SAFETY: the block has room for the header and `Elsewhere` behind it, and `HEADER` keeps
        // that aligned since it is made of pointers.
        unsafe {
            block.as_ptr().add(HEADER).cast::<Elsewhere>().write(Elsewhere { data, owner });
            Ok(Storage::place(block, 0, bytes))
        }
    }

    /// The same bytes with a version counter of its own, wherever they will be. An alias of an alias is one of
    /// the same block: chains would be as long as a user's loop, and so would be freeing them.
    ///
    /// Of bytes whose writes are not counted it counts them from now on, if this thread counts and the bytes are
    /// ours: whether they were counted throughout can still be told.
    pub fn alias(&self) -> Result<Storage> {
        let alias = if self.is_lent() {
            // SAFETY: the bytes live as long as their owner.
            unsafe { Storage::external(self.data(), self.bytes(), self.elsewhere().owner.clone()) }?
        } else {
            let block = allocate::allocate(HEADER + size_of::<Storage>(), align_of::<Header>())?;
            // SAFETY: the block has room for the header and the handle behind it, which is a pointer.
            unsafe {
                block.as_ptr().add(HEADER).cast::<Storage>().write(self.root().clone());
                Storage::place(block, ALIAS, 0)
            }
        };
        let version = match self.is_counted() {
            true => 0,
            false if alias.is_lent() => UNCOUNTED,
            false => first_version(),
        };
        alias.set_version(version);
        Ok(alias)
    }

    /// What lies behind the header of bytes that are lent.
    fn elsewhere(&self) -> &Elsewhere {
        debug_assert!(self.is_lent());
        // SAFETY: `external` wrote it there, and the block lives as long as this handle.
        unsafe { &*self.block.as_ptr().cast::<u8>().add(HEADER).cast::<Elsewhere>() }
    }

    /// The block that has the bytes: another one, if this is an alias.
    fn root(&self) -> &Storage {
        if self.lead() != ALIAS {
            return self;
        }
        // SAFETY: `alias` wrote it there, and the block lives as long as this handle.
        unsafe { &*self.block.as_ptr().cast::<u8>().add(HEADER).cast::<Storage>() }
    }

    /// # Safety
    /// `block` has room for a header; the block is laid out as `drop` expects it.
    unsafe fn place(block: NonNull<u8>, lead: usize, bytes: usize) -> Storage {
        let block = block.cast::<Header>();
        let (strong, version) = (Count::new(1), AtomicU32::new(version_at_birth(block)));
        // SAFETY: the caller gives room, and allocations are aligned for pointers.
        unsafe { block.write(Header { strong, version, place: AtomicUsize::new(lead << LEAD | bytes) }) };
        Storage { block }
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: a handle keeps the block alive, and `place` initialised the header.
        unsafe { self.block.as_ref() }
    }

    #[inline]
    fn word(&self) -> usize {
        self.header().place.load(Ordering::Acquire)
    }

    /// How far behind the block's start the bytes are, or how they are elsewhere.
    #[inline]
    fn lead(&self) -> usize {
        lead_of(self.word())
    }

    /// The first byte. Aligned for every element type.
    #[inline]
    pub fn data(&self) -> NonNull<u8> {
        match self.lead() {
            lead if lead < HEADER => self.data_elsewhere(),
            // SAFETY: the block's bytes are there.
            lead => unsafe { self.block.cast::<u8>().add(lead) },
        }
    }

    #[inline(never)]
    fn data_elsewhere(&self) -> NonNull<u8> {
        match self.resized() {
            Some(resized) => resized.data(),
            None if self.is_lent() => self.elsewhere().data,
            None => self.root().data(),
        }
    }

    /// Number of bytes.
    #[inline]
    pub fn bytes(&self) -> usize {
        let word = self.word();
        if lead_of(word) >= HEADER { word & BYTES } else { self.bytes_elsewhere() }
    }

    #[inline(never)]
    fn bytes_elsewhere(&self) -> usize {
        match self.resized() {
            Some(resized) => resized.bytes(),
            None if self.is_lent() => self.word() & BYTES,
            None => self.root().bytes(),
        }
    }

    /// How many bytes there are memory for: never fewer than there were at any time, so that whoever was within
    /// the bytes stays within the memory.
    #[inline]
    pub fn room(&self) -> usize {
        let word = self.word();
        if lead_of(word) >= HEADER { word & BYTES } else { self.room_elsewhere() }
    }

    #[inline(never)]
    fn room_elsewhere(&self) -> usize {
        let root = self.root();
        root.resized().map_or_else(|| root.bytes(), Resized::room)
    }

    /// How often the bytes were written to in place; always the same where nobody counts.
    pub fn version(&self) -> u32 {
        match self.header().version.load(Ordering::Relaxed) {
            JOINED => joined::version(self.key()),
            version => version,
        }
    }

    /// Whether writes in place are counted.
    pub fn is_counted(&self) -> bool {
        self.header().version.load(Ordering::Relaxed) != UNCOUNTED
    }

    /// Whether writes in place have been counted since the bytes were allocated.
    pub fn is_counted_throughout(&self) -> bool {
        self.is_counted() && self.root().is_counted()
    }

    /// Counts one more write in place. Answers whether writes are counted here.
    pub fn bump_version(&self) -> bool {
        let next = |version: u32| match version {
            UNCOUNTED | JOINED => None,
            _ => Some(next_version(version)),
        };
        match self.header().version.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            Err(JOINED) => joined::bump(self.key()),
            counted => counted.is_ok(),
        }
    }

    /// Sets the counter.
    pub fn set_version(&self, version: u32) {
        let unless_joined = |before: u32| (before != JOINED).then_some(version);
        if self.header().version.fetch_update(Ordering::Relaxed, Ordering::Relaxed, unless_joined).is_err() {
            joined::set_version(self.key(), version);
        }
    }

    /// Takes the place of `before` with one of its tensors: goes on with its count, and together with whoever
    /// else is on that memory. Writes to both are counted.
    pub fn go_on_from(&self, before: &Storage) {
        let version = before.header().version.load(Ordering::Relaxed);
        if version == JOINED || !before.is_unique() {
            joined::join(before, self);
        } else {
            self.header().version.store(version, Ordering::Relaxed);
        }
    }

    /// Whether this is the only handle.
    #[inline]
    pub fn is_unique(&self) -> bool {
        self.header().strong.get() == 1
    }

    /// Whether both handles name the same block: the same bytes and the same counter.
    pub fn is(&self, other: &Storage) -> bool {
        self.block == other.block
    }

    /// A number that tells this block from all that are alive.
    pub fn key(&self) -> usize {
        self.block.as_ptr().addr()
    }

    /// Whether nobody else has a handle to the bytes, be it by another block.
    pub fn is_apart(&self) -> bool {
        self.is_unique() && self.root().is_unique()
    }

    /// The block that holds the bytes, as its `key` and how many bytes of ours it takes: the block that
    /// this one is an alias of, if it is one. Bytes that belong to the host are counted as they are.
    pub fn holding(&self) -> (usize, usize) {
        let root = self.root();
        match root.lead() {
            LENT => (root.data().addr().get(), root.bytes()),
            RESIZED => (root.key(), HEADER + root.bytes()),
            lead => (root.key(), lead + root.bytes()),
        }
    }

    /// Whether the bytes belong to the host, which alone can say how many there are.
    pub fn is_lent(&self) -> bool {
        self.lead() == LENT
    }
}

/// How far behind the start of a block its bytes are by its header's word, or how they are elsewhere.
#[inline]
fn lead_of(word: usize) -> usize {
    usize::from((word >> LEAD) as u8)
}

/// How large a block with so many bytes is.
#[inline]
fn size_of_block(lead: usize, bytes: usize) -> Result<usize> {
    if bytes >> LEAD == 0 { Ok(lead + bytes) } else { Err(allocate::out_of_memory(bytes)) }
}

/// Alignment of a block and where its bytes start.
fn placement(bytes: usize) -> (usize, usize) {
    if bytes >= LARGE { (CACHE_LINE, CACHE_LINE) } else { (align_of::<Header>(), HEADER) }
}

impl Clone for Storage {
    fn clone(&self) -> Storage {
        self.header().strong.add();
        Storage { block: self.block }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        // The only handle stays the only one: others are made of handles. It need not be counted down.
        if !self.is_unique() && !self.header().strong.is_last_gone() {
            return;
        }
        if self.header().version.load(Ordering::Relaxed) == JOINED {
            joined::leave(self.key());
        }
        let block = self.block.cast::<u8>();
        let word = match self.take_resized() {
            Some(resized) => resized.first(),
            None => self.word(),
        };
        // SAFETY: this was the last handle, so nobody reads the block any more; sizes and
        // alignments are those that `uninit`, `zeroed`, `external` and `alias` allocated with.
        unsafe {
            match lead_of(word) {
                LENT => {
                    drop(block.as_ptr().add(HEADER).cast::<Elsewhere>().read());
                    allocate::free(block, HEADER + size_of::<Elsewhere>(), align_of::<Header>());
                }
                ALIAS => {
                    drop(block.as_ptr().add(HEADER).cast::<Storage>().read());
                    allocate::free(block, HEADER + size_of::<Storage>(), align_of::<Header>());
                }
                _ => {
                    let (align, lead) = placement(word & BYTES);
                    allocate::free(block, lead + (word & BYTES), align);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
