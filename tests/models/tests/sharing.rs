//! Counts, handles and locks, used by several threads at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rushlight_models::sharing::{Count, Mutex, RwLock, Shared};
use rushlight_models::{Told, explore, together};

#[test]
fn one_thread_alone_finds_that_the_last_handle_went() {
    explore(|| {
        let (count, last) = (Arc::new(Count::new(3)), Arc::new(AtomicUsize::new(0)));
        let part = || -> Box<dyn FnOnce() + Send> {
            let (count, last) = (count.clone(), last.clone());
            Box::new(move || {
                count.add();
                for _ in 0..2 {
                    last.fetch_add(usize::from(count.is_last_gone()), Ordering::SeqCst);
                }
            })
        };
        together(vec![part(), part(), part()]);
        assert_eq!((count.get(), last.load(Ordering::SeqCst)), (0, 1));
    });
}

#[test]
fn a_name_leads_to_the_whole_value_or_to_none_while_the_last_handle_goes() {
    explore(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let value = Shared::new_with(|| Told(drops.clone()));
        let part = || -> Box<dyn FnOnce() + Send> {
            let name = value.downgrade();
            Box::new(move || {
                if let Some(value) = name.upgrade() {
                    assert_eq!(value.0.load(Ordering::SeqCst), 0, "it lives");
                    drop(value.clone());
                    assert_eq!(value.0.load(Ordering::SeqCst), 0, "it lives on");
                }
                drop(name.clone());
            })
        };
        let (first, second) = (part(), part());
        together(vec![first, second, Box::new(move || drop(value))]);
        assert_eq!(drops.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn who_sleeps_for_a_lock_is_woken_and_alone_with_it() {
    explore(|| {
        let (value, inside) = (Arc::new(Mutex::new(0)), Arc::new(AtomicUsize::new(0)));
        let part = || -> Box<dyn FnOnce() + Send> {
            let (value, inside) = (value.clone(), inside.clone());
            Box::new(move || {
                for _ in 0..2 {
                    let mut held = value.lock();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    shuttle::thread::yield_now();
                    *held += 1;
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
            })
        };
        together(vec![part(), part(), part()]);
        assert_eq!(*value.lock(), 6);
    });
}

#[test]
fn readers_come_together_and_writers_alone() {
    explore(|| {
        let pair = Arc::new(RwLock::new([0, 0]));
        let (first, second, third) = (pair.clone(), pair.clone(), pair.clone());
        let write = |pair: Arc<RwLock<[i32; 2]>>| {
            let mut both = pair.write();
            both[0] += 1;
            shuttle::thread::yield_now();
            both[1] += 1;
        };
        let read = |pair: Arc<RwLock<[i32; 2]>>| {
            for _ in 0..2 {
                let both = pair.read();
                let before = both[0];
                shuttle::thread::yield_now();
                assert_eq!((both[0], both[1]), (before, before));
            }
        };
        together(vec![
            Box::new(move || write(first)),
            Box::new(move || write(second)),
            Box::new(move || read(third.clone())),
            Box::new({
                let pair = pair.clone();
                move || read(pair)
            }),
        ]);
        assert_eq!(*pair.read(), [2, 2]);
    });
}
