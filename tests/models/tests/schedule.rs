//! Backward on several threads: gradients that arrive from several sides are added in one order, and every task runs
//! once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rushlight_models::explore;
use rushlight_models::kernels::parallel::set_num_threads;
use rushlight_models::schedule::{Place, Schedule, Task, Work};
use smallvec::{SmallVec, smallvec};

/// Tasks that write down what has arrived, in the order of the slots, and answer it with their number.
struct Words {
    ran: Vec<AtomicUsize>,
    for_caller: Vec<bool>,
    fails: Option<u32>,
    said: std::sync::Mutex<Vec<String>>,
}

impl Work for Words {
    type Answer = String;
    type Failure = u32;

    fn within(&self, _: bool, body: &mut dyn FnMut()) {
        body();
    }

    fn is_for_caller(&self, task: u32) -> bool {
        self.for_caller[task as usize]
    }

    fn answers(
        &self,
        task: u32,
        arrived: Vec<Option<String>>,
        is_caller: bool,
    ) -> Result<SmallVec<[Option<String>; 2]>, u32> {
        assert_eq!(self.ran[task as usize].fetch_add(1, Ordering::SeqCst), 0, "a task runs once");
        assert!(is_caller || !self.is_for_caller(task));
        shuttle::thread::yield_now();
        if self.fails.is_some_and(|fails| fails <= task) {
            return Err(task);
        }
        let words: Vec<String> = arrived.into_iter().flatten().collect();
        let sum = format!("({}{task})", words.join("+"));
        self.said.lock().unwrap()[task as usize] = sum.clone();
        Ok(smallvec![Some(sum.clone()), Some(sum), None])
    }

    fn given_up(&self) -> Option<u32> {
        None
    }
}

/// Two roots, two tasks that both roots lead to, and a leaf that all four lead to, one of them by two edges.
fn diamond(for_caller: [bool; 5], fails: Option<u32>) -> Arc<Schedule<Words>> {
    let to = |task, slot| Some(Place { task, slot });
    let tasks = vec![
        Task::new(1, smallvec![to(2, 0), to(3, 0)], 0),
        Task::new(1, smallvec![to(2, 1), to(3, 1)], 1),
        Task::new(2, smallvec![to(4, 0), to(4, 1)], 2),
        Task::new(2, smallvec![to(4, 2), None, to(4, 3)], 3),
        Task::new(4, smallvec![], 4),
    ];
    let words = Words {
        ran: (0..5).map(|_| AtomicUsize::new(0)).collect(),
        for_caller: for_caller.into(),
        fails,
        said: std::sync::Mutex::new(vec![String::new(); 5]),
    };
    let run = Schedule::new(tasks, words);
    run.give(Place { task: 0, slot: 0 }, Some("a".into()));
    run.give(Place { task: 1, slot: 0 }, Some("b".into()));
    run
}

#[test]
fn sums_have_one_order_whoever_comes_first() {
    for for_caller in [[false; 5], [false, true, false, false, true]] {
        explore(move || {
            set_num_threads(3);
            let run = diamond(for_caller, None);
            assert_eq!(run.run(), Ok(()));
            let said = run.work.said.lock().unwrap();
            assert_eq!(said[4], "(((a0)+(b1)2)+((a0)+(b1)2)+((a0)+(b1)3)4)");
            assert!(run.work.ran.iter().all(|ran| ran.load(Ordering::SeqCst) == 1));
        });
    }
}

#[test]
fn a_run_that_fails_ends_with_the_first_failure_and_nobody_is_at_a_task_any_more() {
    for fails in 0..5 {
        explore(move || {
            set_num_threads(3);
            let run = diamond([false; 5], Some(fails));
            assert_eq!(run.run(), Err(fails), "the first in the order of one thread");
            let ran = |run: &Schedule<Words>| -> usize {
                run.work.ran.iter().map(|ran| ran.load(Ordering::SeqCst)).sum()
            };
            let before = ran(&run);
            shuttle::thread::yield_now();
            assert_eq!(ran(&run), before);
        });
    }
}
