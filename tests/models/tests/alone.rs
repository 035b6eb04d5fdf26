//! Note [One at a time]: threads that a lock of the host keeps apart change counts without atomic instructions, and
//! with them while one of them works without that lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rushlight_models::sharing::{ConcurrencyGuard, Mutex, Shared, is_alone, rely_on_lock};
use rushlight_models::{Told, explore, together};
use shuttle::sync::Mutex as HostLock;

#[test]
fn counts_and_locks_hold_while_threads_come_and_go_without_the_hosts_lock() {
    explore(|| {
        // SAFETY: the threads below hold the lock, or a guard that was begun with it.
        unsafe { rely_on_lock() };
        let host = Arc::new(HostLock::new(()));
        let (drops, made) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let kept = Arc::new((Shared::new_with(|| Told(drops.clone())), Mutex::new(0)));
        let use_it = {
            let (drops, made) = (drops.clone(), made.clone());
            move |kept: &(Shared<Told>, Mutex<i32>)| {
                let handle = kept.0.clone();
                *kept.1.lock() += 1;
                let own = Shared::new_with(|| Told(drops.clone()));
                made.fetch_add(1, Ordering::SeqCst);
                drop((handle, own));
            }
        };
        let with_lock =
            |use_it: Box<dyn Fn(&(Shared<Told>, Mutex<i32>)) + Send>| -> Box<dyn FnOnce() + Send> {
                let (host, kept) = (host.clone(), kept.clone());
                Box::new(move || {
                    let held = host.lock().unwrap();
                    use_it(&kept);
                    drop(held);
                    let held = host.lock().unwrap();
                    use_it(&kept);
                    drop((kept, held));
                })
            };
        let without = |use_it: Box<dyn Fn(&(Shared<Told>, Mutex<i32>)) + Send>| -> Box<dyn FnOnce() + Send> {
            let (host, kept) = (host.clone(), kept.clone());
            Box::new(move || {
                let held = host.lock().unwrap();
                use_it(&kept);
                let guard = ConcurrencyGuard::new();
                drop(held);
                use_it(&kept);
                let held = host.lock().unwrap();
                drop(guard);
                use_it(&kept);
                drop((kept, held));
            })
        };
        let threads = vec![
            with_lock(Box::new(use_it.clone())),
            without(Box::new(use_it.clone())),
            without(Box::new(use_it)),
        ];
        together(threads);
        assert!(is_alone());
        assert_eq!((kept.0.handles(), *kept.1.lock()), (1, 8));
        assert_eq!((drops.load(Ordering::SeqCst), made.load(Ordering::SeqCst)), (8, 8));
    });
}
