//! The parallel loop: its caller, helpers that come when they come, and those that linger.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rushlight_models::kernels::interrupt::{Asking, Interrupted};
use rushlight_models::kernels::parallel::{
    parallel_for, parallel_items, parallel_parts, set_num_threads, spawn,
};
use rushlight_models::{explore, together};

#[test]
fn every_chunk_is_done_once_before_the_caller_goes_on() {
    explore(|| {
        set_num_threads(3);
        // Twice: helpers that linger come to the second loop from the first.
        for _ in 0..2 {
            let mut output = [0; 5];
            parallel_parts(&mut output, 2, |start, part| {
                shuttle::thread::yield_now();
                part.iter_mut().zip(start..).for_each(|(slot, at)| *slot += at + 1);
            });
            assert_eq!(output, [1, 2, 3, 4, 5]);
        }
    });
}

#[test]
fn loops_inside_loops_of_several_callers_finish() {
    explore(|| {
        set_num_threads(2);
        let part = || -> Box<dyn FnOnce() + Send> {
            Box::new(|| {
                let total = AtomicUsize::new(0);
                parallel_for(2, 1, |_| {
                    parallel_for(2, 1, |range| {
                        total.fetch_add(range.len(), Ordering::SeqCst);
                    });
                });
                assert_eq!(total.into_inner(), 4);
            })
        };
        together(vec![part(), part()]);
    });
}

#[test]
fn a_panic_is_passed_on_after_all_chunks_have_finished() {
    explore(|| {
        set_num_threads(3);
        let running = AtomicUsize::new(0);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            parallel_items(0..4, 1, |item| {
                running.fetch_add(1, Ordering::SeqCst);
                shuttle::thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                if item == 1 {
                    std::panic::resume_unwind(Box::new("the unlucky item"));
                }
            });
        }));
        assert_eq!(running.load(Ordering::SeqCst), 0);
        assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"the unlucky item"));
    });
}

#[test]
fn a_loop_that_is_given_up_unwinds_or_had_finished() {
    explore(|| {
        set_num_threads(2);
        let due = Arc::new(AtomicUsize::new(0));
        let asked = due.clone();
        let _asking = Asking::new(Arc::new(move || asked.load(Ordering::SeqCst) > 0));
        let done = AtomicUsize::new(0);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            parallel_for(4, 1, |range| {
                if range.start == 1 {
                    due.store(1, Ordering::SeqCst);
                }
                shuttle::thread::yield_now();
                done.fetch_add(1, Ordering::SeqCst);
            });
        }));
        match outcome {
            Ok(()) => assert_eq!(done.into_inner(), 4),
            Err(payload) => assert!(payload.is::<Interrupted>()),
        }
    });
}

#[test]
fn jobs_run_beside_loops() {
    explore(|| {
        set_num_threads(2);
        let (sender, receiver) = shuttle::sync::mpsc::channel();
        for job in 0..2 {
            let sender = sender.clone();
            spawn(move || {
                let total = AtomicUsize::new(0);
                parallel_for(3, 1, |range| {
                    total.fetch_add(range.start + job, Ordering::SeqCst);
                });
                sender.send(total.into_inner()).unwrap();
            });
        }
        drop(sender);
        let mut totals: Vec<_> = std::iter::from_fn(|| receiver.recv().ok()).collect();
        totals.sort_unstable();
        assert_eq!(totals, [3, 6]);
    });
}
