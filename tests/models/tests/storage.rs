//! Memory that several threads share: handles, counts of writes, other memory in its place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rushlight_models::shape::{Layout, SharedLayout};
use rushlight_models::storage::Storage;
use rushlight_models::{explore, together};

#[test]
fn the_owner_of_lent_bytes_goes_once_and_after_the_last_handle() {
    struct Owner(Arc<AtomicUsize>);
    impl Drop for Owner {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    static BYTES: [u8; 8] = [7; 8];
    explore(|| {
        let gone = Arc::new(AtomicUsize::new(0));
        let start = std::ptr::NonNull::from(&BYTES).cast();
        // SAFETY: the bytes stay for ever, and nobody writes to them.
        let lent = unsafe { Storage::external(start, 8, Arc::new(Owner(gone.clone()))) }.unwrap();
        let part = |mine: Storage| -> Box<dyn FnOnce() + Send> {
            let gone = gone.clone();
            Box::new(move || {
                let again = mine.clone();
                drop(mine);
                assert_eq!(gone.load(Ordering::SeqCst), 0);
                let alias = again.alias().unwrap();
                drop(again);
                assert_eq!((alias.bytes(), gone.load(Ordering::SeqCst)), (8, 0));
            })
        };
        together(vec![part(lent.clone()), part(lent.clone()), part(lent)]);
        assert_eq!(gone.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn who_finds_memory_to_be_his_alone_may_write_to_it() {
    explore(|| {
        let shared = Storage::zeroed(8).unwrap();
        let writers = Arc::new(AtomicUsize::new(0));
        let part = |mine: Storage| -> Box<dyn FnOnce() + Send> {
            let writers = writers.clone();
            Box::new(move || {
                if mine.is_unique() {
                    assert_eq!(writers.fetch_add(1, Ordering::SeqCst), 0);
                    assert!(mine.is_unique(), "it stays his");
                }
            })
        };
        together(vec![part(shared.clone()), part(shared)]);
    });
}

#[test]
fn no_write_is_lost_from_the_count() {
    explore(|| {
        let memory = Storage::zeroed(8).unwrap();
        let part = || -> Box<dyn FnOnce() + Send> {
            let memory = memory.clone();
            Box::new(move || (0..2).for_each(|_| assert!(memory.bump_version())))
        };
        together(vec![part(), part(), part()]);
        assert_eq!(memory.version(), 6);
    });
}

#[test]
fn no_write_is_lost_while_other_memory_joins_the_count() {
    explore(|| {
        let (before, after) = (Storage::zeroed(8).unwrap(), Storage::zeroed(8).unwrap());
        let (writer, reader) = (before.clone(), before.clone());
        let next = after.clone();
        together(vec![
            Box::new(move || {
                writer.bump_version();
                writer.bump_version();
            }),
            Box::new(move || next.go_on_from(&reader)),
        ]);
        assert_eq!((before.version(), after.version()), (2, 2));
    });
}

#[test]
fn who_reads_while_memory_grows_finds_what_was_there() {
    explore(|| {
        let memory = Storage::zeroed(8).unwrap();
        // SAFETY: nobody else has the bytes.
        unsafe { memory.data().write_bytes(7, 8) };
        let grow = |bytes: usize| -> Box<dyn FnOnce() + Send> {
            let memory = memory.clone();
            Box::new(move || memory.resize(bytes).unwrap())
        };
        let reader = memory.clone();
        together(vec![
            grow(24),
            grow(40),
            Box::new(move || {
                let (room, data) = (reader.room(), reader.data());
                assert!(room >= 8);
                // SAFETY: there is room for so many, and memory is not taken away.
                assert!((0..8).all(|at| unsafe { *data.as_ptr().add(at) } == 7));
            }),
        ]);
        assert!([24, 40].contains(&memory.bytes()));
    });
}

#[test]
fn threads_that_make_one_layout_at_once_have_the_same() {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    explore(|| {
        let size = NEXT.fetch_add(1, Ordering::SeqCst);
        let part = move || -> Box<dyn FnOnce() + Send> {
            Box::new(move || {
                let mine = SharedLayout::new(Layout::contiguous(&[size, 7]).unwrap());
                assert_eq!(mine.clone().shape(), [size, 7]);
                drop(mine.clone());
                assert_eq!(mine.shape(), [size, 7]);
            })
        };
        together(vec![part(), part(), part()]);
    });
}
