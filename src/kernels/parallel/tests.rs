//! What loops over threads have to hold, at several numbers of threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;

use parking_lot::Mutex;

use super::{parallel_for, parallel_items, parallel_parts, spawn};
use crate::kernels::testing::at_thread_counts;

#[test]
fn every_index_is_visited_exactly_once() {
    at_thread_counts(|| {
        let seen: Vec<AtomicU32> = (0..10_001).map(|_| AtomicU32::new(0)).collect();
        parallel_for(seen.len(), 7, |range| {
            for index in range {
                seen[index].fetch_add(1, Ordering::Relaxed);
            }
        });
        assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    });
}

#[test]
fn the_split_does_not_depend_on_the_number_of_threads() {
    let splits = at_thread_counts(|| {
        let ranges = Mutex::new(Vec::new());
        parallel_for(1000, 64, |range| ranges.lock().push((range.start, range.end)));
        let mut ranges = ranges.into_inner();
        ranges.sort_unstable();
        ranges
    });
    assert_eq!(splits[0].len(), 16);
    assert!(splits.iter().all(|split| *split == splits[0]));
}

#[test]
fn loops_inside_loops_finish() {
    at_thread_counts(|| {
        let total = AtomicUsize::new(0);
        parallel_for(50, 1, |_| {
            parallel_for(50, 1, |range| {
                total.fetch_add(range.len(), Ordering::Relaxed);
            });
        });
        assert_eq!(total.into_inner(), 2500);
    });
}

#[test]
fn a_panic_reaches_the_caller_after_all_chunks_are_done() {
    at_thread_counts(|| {
        let running = AtomicUsize::new(0);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            parallel_for(100, 1, |range| {
                running.fetch_add(1, Ordering::SeqCst);
                thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                assert!(range.start != 13, "the unlucky chunk");
            });
        }));
        assert!(outcome.is_err());
        assert_eq!(running.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn spawned_jobs_run_and_may_split_their_own_work() {
    at_thread_counts(|| {
        let (sender, receiver) = std::sync::mpsc::channel();
        for _ in 0..8 {
            let sender = sender.clone();
            spawn(move || {
                let total = AtomicUsize::new(0);
                parallel_for(100, 3, |range| {
                    total.fetch_add(range.len(), Ordering::Relaxed);
                });
                let _ = sender.send(total.into_inner());
            });
        }
        drop(sender);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), vec![100; 8]);
    });
}

#[test]
fn parts_and_items_cover_the_whole_output() {
    at_thread_counts(|| {
        let mut output = vec![0; 1000];
        parallel_parts(&mut output, 33, |start, part| {
            part.iter_mut().enumerate().for_each(|(index, slot)| *slot = start + index);
        });
        assert!(output.iter().enumerate().all(|(index, &value)| index == value));
        let total = AtomicUsize::new(0);
        parallel_items(0..100, 8, |item| {
            total.fetch_add(item, Ordering::Relaxed);
        });
        assert_eq!(total.into_inner(), 4950);
    });
}
