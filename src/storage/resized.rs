//! Storages that are resized while tensors use them (`resize_`, `untyped_storage().resize_`).
//!
//! Note [Memory that changes its size]
//! ----
//! Tensors, views and aliases refer to a block, and the block says where its bytes are. To grow, a block is given
//! larger memory, and every tensor that refers to it sees that from then on. But another thread, or a caller further
//! up the stack, may be reading the old memory at that moment, through a layout that reaches anywhere within it.
//! Therefore no memory of a block is freed while the block lives: the old address stays readable, and the room never
//! shrinks. Pages that are no longer needed are returned to the operating system, which shows zeros there when they
//! are touched again. Each replacement is larger by half than the one before, so that all of them together take at
//! most a few times the last.

use std::ptr::NonNull;

use super::{ALIAS, BYTES, FIXED, LEAD, RESIZED, Storage, allocate, lead_of, size_of_block};
use crate::error::{Error, Result};
use crate::threads::Mutex;
use crate::threads::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// What a block refers to once its size has changed.
pub(super) struct Resized {
    /// The word of the block's header before.
    first: usize,
    bytes: AtomicUsize,
    /// Where the bytes are. Written before `room` and read after it: a reader never sees more room than there is.
    data: AtomicPtr<u8>,
    room: AtomicUsize,
    /// The memory that replaced the block's own, the present one last. The lock is held while the size changes.
    memory: Mutex<Vec<Storage>>,
}

impl Resized {
    pub(super) fn first(&self) -> usize {
        self.first
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Acquire)
    }

    pub(super) fn room(&self) -> usize {
        self.room.load(Ordering::Acquire)
    }

    pub(super) fn data(&self) -> NonNull<u8> {
        match NonNull::new(self.data.load(Ordering::Acquire)) {
            Some(data) => data,
            None => unreachable!("a block's bytes are somewhere"),
        }
    }

    /// Changes the number of bytes. New bytes are zeros.
    fn resize(&self, bytes: usize) -> Result<()> {
        let mut memory = self.memory.lock();
        let (had, room, data) = (self.bytes(), self.room(), self.data());
        if bytes > room {
            let larger = match memory.is_empty() {
                true => Storage::zeroed(bytes),
                false => Storage::zeroed(bytes.max(room + room / 2)).or_else(|_| Storage::zeroed(bytes)),
            }?;
            // SAFETY: there is memory for `had` bytes in both, which are not the same.
            unsafe { larger.data().copy_from_nonoverlapping(data, had) };
            self.data.store(larger.data().as_ptr(), Ordering::Release);
            self.room.store(larger.bytes(), Ordering::Release);
            memory.push(larger);
            // SAFETY: what was there has been copied.
            unsafe { allocate::discard(data, room) };
        } else if bytes > had {
            // SAFETY: there is room for so many.
            unsafe { data.add(had).write_bytes(0, bytes - had) };
        } else {
            // SAFETY: the bytes from there on are within the room, and no new layout can reach them.
            unsafe { allocate::discard(data.add(bytes), room - bytes) };
        }
        self.bytes.store(bytes, Ordering::Release);
        Ok(())
    }
}

impl Storage {
    /// The record of the changed size, if the size was ever changed.
    pub(super) fn resized(&self) -> Option<&Resized> {
        let word = self.word();
        if lead_of(word) != RESIZED {
            return None;
        }
        // SAFETY: `record_size` wrote the address there, and it is taken out when the last handle goes.
        Some(unsafe { &*std::ptr::with_exposed_provenance(word & BYTES) })
    }

    /// Takes out what `resized` shows, as the last handle goes.
    pub(super) fn take_resized(&mut self) -> Option<Box<Resized>> {
        let at = std::ptr::from_ref(self.resized()?).addr();
        // SAFETY: `record_size` has made the address of a box, and nobody else takes it out.
        Some(unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut(at)) })
    }

    /// Changes the number of bytes, for every tensor that uses the storage. New bytes are zeros. It is an error if the
    /// memory belongs to the host (numpy), or if the host was given its address.
    pub fn resize(&self, bytes: usize) -> Result<()> {
        let root = self.root();
        if !root.is_resizable() {
            return Err(Error::ResizeLent {}.into());
        }
        size_of_block(super::HEADER, bytes)?;
        if bytes == root.bytes() {
            return Ok(());
        }
        match root.resized() {
            Some(resized) => resized.resize(bytes),
            None => root.record_size()?.resize(bytes),
        }
    }

    /// Makes the block refer to a record of its size, which can then be changed.
    fn record_size(&self) -> Result<&Resized> {
        let first = self.word();
        if let Some(resized) = self.resized() {
            // Another thread has made the record since the caller looked.
            return Ok(resized);
        }
        let resized = Box::into_raw(Box::new(Resized {
            first: first & !FIXED,
            bytes: AtomicUsize::new(self.bytes()),
            data: AtomicPtr::new(self.data().as_ptr()),
            room: AtomicUsize::new(self.bytes()),
            memory: Mutex::new(Vec::new()),
        }));
        let at = resized.expose_provenance();
        let place = &self.header().place;
        let word = first & FIXED | RESIZED << LEAD | at;
        let fits = at & !BYTES == 0;
        if !fits || place.compare_exchange(first, word, Ordering::AcqRel, Ordering::Acquire).is_err() {
            // SAFETY: the exchange failed, so that nobody else has the address.
            drop(unsafe { Box::from_raw(resized) });
        }
        // Now there is the record of this thread, or that of the one that was faster.
        self.resized().ok_or_else(|| Error::ResizeLent {}.into())
    }

    /// Whether there could be another number of bytes.
    pub fn is_resizable(&self) -> bool {
        let root = self.root();
        !root.is_lent() && root.word() & FIXED == 0
    }

    /// Keeps the number of bytes as it is: somebody is told where they are.
    pub fn fix_size(&self) {
        debug_assert_ne!(self.root().lead(), ALIAS);
        self.root().header().place.fetch_or(FIXED, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(storage: &Storage) -> Vec<u8> {
        // SAFETY: there are so many bytes, and nobody writes to them.
        unsafe { std::slice::from_raw_parts(storage.data().as_ptr(), storage.bytes()) }.to_vec()
    }

    fn filled(bytes: usize) -> Storage {
        let storage = Storage::uninit(bytes).unwrap();
        // SAFETY: there are so many bytes, and nobody else has them.
        unsafe { storage.data().write_bytes(7, bytes) };
        storage
    }

    #[test]
    fn handles_and_aliases_see_other_sizes() {
        for bytes in [0, 4, 8, 1 << 10, 1 << 20] {
            let storage = filled(bytes);
            let (handle, alias) = (storage.clone(), storage.alias().unwrap().alias().unwrap());
            alias.resize(bytes + 5).unwrap();
            let expected = [vec![7; bytes], vec![0; 5]].concat();
            for seen in [&storage, &handle, &alias] {
                assert_eq!(bytes_of(seen), expected);
                assert_eq!(seen.data(), storage.data());
            }
            assert_eq!((alias.holding().0, storage.version()), (storage.key(), 0));
        }
    }

    #[test]
    fn what_was_there_stays_readable_and_comes_back_as_zeros() {
        let storage = filled(1 << 20);
        let at_first = storage.data();
        storage.resize(3).unwrap();
        assert_eq!((storage.bytes(), storage.room(), storage.data()), (3, 1 << 20, at_first));
        storage.resize(5).unwrap();
        assert_eq!(bytes_of(&storage), [7, 7, 7, 0, 0]);
        storage.resize(1 << 21).unwrap();
        assert_ne!(storage.data(), at_first);
        // SAFETY: the block is there as long as a handle to it.
        let _ = unsafe { at_first.add((1 << 20) - 1).read() };
        assert_eq!(bytes_of(&storage)[..6], [7, 7, 7, 0, 0, 0]);
    }

    #[test]
    fn growing_step_by_step_takes_a_few_times_the_last_size() {
        let storage = filled(1);
        for bytes in 2..10_000 {
            storage.resize(bytes).unwrap();
        }
        let resized = storage.resized().unwrap();
        let all: usize = resized.memory.lock().iter().map(Storage::bytes).sum();
        assert!(all < 50_000, "{all}");
        assert_eq!(bytes_of(&storage)[..2], [7, 0]);
    }

    #[test]
    fn memory_that_somebody_knows_keeps_its_size() {
        let storage = filled(8);
        storage.resize(4).unwrap();
        storage.alias().unwrap().fix_size();
        assert!(!storage.is_resizable() && storage.resize(16).is_err() && storage.resize(0).is_err());
        assert_eq!(bytes_of(&storage), [7; 4]);
        assert!(filled(8).resize(usize::MAX).is_err());
    }
}
