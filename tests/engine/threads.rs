//! Backward on several threads: the same bits, work that is really shared, many runs at once, and
//! hooks on the caller's thread.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};
use rushlight::engine::{self, Options};
use rushlight::graph::mode::GradModeGuard;
use rushlight::graph::{At, Edge, Form, Forms, Gradients, Hook, HookCall, Node, Rule};
use rushlight::kernels::parallel;
use rushlight::ops;
use rushlight::ops::creation::cast;
use rushlight::ops::geometry::{join, part};
use rushlight::ops::linalg::products;
use rushlight::ops::reduction::reduce;
use rushlight::{Error, Result, Tensor};
use smallvec::smallvec;

use crate::random_graph::Dice;

/// The number of threads is the process's: tests that set it take turns.
static TURN: Mutex<()> = Mutex::new(());

fn take_turn() -> MutexGuard<'static, ()> {
    TURN.lock()
}

/// Runs `body` with this many threads, then with the number that there was.
fn at<R>(threads: usize, body: impl FnOnce() -> R) -> R {
    let before = parallel::num_threads();
    parallel::set_num_threads(threads);
    let result = body();
    parallel::set_num_threads(before);
    result
}

fn numbers(shape: &[usize], seed: u64) -> Tensor {
    let mut dice = Dice::new(seed);
    let count = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|_| dice.real() as f32).collect();
    Tensor::from_slice(shape, &values).unwrap()
}

fn leaf(shape: &[usize], seed: u64) -> Tensor {
    let x = numbers(shape, seed);
    x.set_requires_grad(true).unwrap();
    x
}

/// What a rule of the tests does with gradients that pass it unchanged.
type Visit = Arc<dyn Fn() -> Result<()> + Send + Sync>;

/// A rule that stands for a lot of work and calls a function.
struct Visited {
    visit: Visit,
}

impl Rule for Visited {
    fn name(&self) -> &str {
        "VisitedBackward"
    }

    fn vjp(&self, _at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        (self.visit)()?;
        Ok(gradients.clone())
    }

    fn work(&self) -> Option<u64> {
        Some(1_000_000)
    }
}

/// `x` with a call of `visit` on the way back to it.
fn visited(x: &Tensor, visit: Visit) -> Tensor {
    let form = Form { layout: x.layout(), dtype: x.dtype() };
    let node = Node::record(Visited { visit }, smallvec![x.gradient_edge().unwrap()], Forms::one(form));
    Tensor::with_history(x.array(), Some(Edge { node, output: 0 }))
}

/// A place where two threads wait for each other.
#[derive(Default)]
struct Meeting {
    present: Mutex<usize>,
    changed: Condvar,
    met: AtomicBool,
}

impl Meeting {
    /// Waits until somebody else is here too, but not for ever.
    fn join(&self) {
        let mut present = self.present.lock();
        *present += 1;
        self.changed.notify_all();
        let alone = |present: &mut usize| *present < 2;
        if !self.changed.wait_while_for(&mut present, alone, Duration::from_secs(20)).timed_out() {
            self.met.store(true, Ordering::Relaxed);
        }
    }

    /// Two branches from `x` whose rules run at the same time or not at all in time.
    fn branches(meeting: &Arc<Meeting>, x: &Tensor) -> Tensor {
        let branch = || {
            let meeting = meeting.clone();
            visited(
                x,
                Arc::new(move || {
                    meeting.join();
                    Ok(())
                }),
            )
        };
        ops::add(&branch(), &branch()).unwrap()
    }
}

/// How a run fails whose first branch, in the order of one thread, fails late, and whose second fails at once. Before
/// the first branch's rule that fails there are so many others.
fn failure_of_branches(hops: usize) -> Box<Error> {
    let x = leaf(&[4], 1);
    let failed = Arc::new(AtomicBool::new(false));
    let told = failed.clone();
    let at_once: Visit = Arc::new(move || {
        told.store(true, Ordering::Relaxed);
        Err(Error::LeafMoved {}.into())
    });
    let wait = move || {
        let patient = || !failed.load(Ordering::Relaxed) && parallel::num_threads() > 1;
        (0..2_000).take_while(|_| patient()).for_each(|_| thread::sleep(Duration::from_millis(1)));
        // The other thread has still to tell of its failure.
        thread::sleep(Duration::from_millis(20));
    };
    let waiting = wait.clone();
    let late: Visit = Arc::new(move || {
        waiting();
        Err(Error::ImplicitGradient {}.into())
    });
    let second = visited(&x, at_once);
    let mut first = visited(&x, late);
    for _ in 0..hops {
        let wait = wait.clone();
        let visit: Visit = Arc::new(move || {
            wait();
            Ok(())
        });
        first = visited(&first, visit);
    }
    let y = reduce::sum(&ops::add(&first, &second).unwrap(), None, false, None).unwrap();
    engine::backward(&[y], &[], Options::default()).unwrap_err()
}

#[test]
fn which_of_two_errors_is_told_does_not_depend_on_the_threads() {
    let _turn = take_turn();
    for threads in 1..=4 {
        for hops in [0, 1, 3] {
            let error = at(threads, || failure_of_branches(hops));
            assert!(
                matches!(*error, Error::ImplicitGradient {}),
                "{threads} threads, {hops} hops: {error:?}"
            );
        }
    }
}

fn bits(x: &Tensor) -> Vec<u32> {
    x.to_vec::<f32>().unwrap().iter().map(|value| value.to_bits()).collect()
}

/// Branches of large elementwise operations and products over two shared leaves, all of which add to
/// the leaves' gradients in single precision, where the order of a sum shows.
fn wide(x: &Tensor, w: &Tensor) -> Tensor {
    let branch = |index: u64| {
        let scaled = ops::mul(x, &numbers(&[128, 96], index + 10)).unwrap();
        let bent = ops::exp(&ops::mul(&scaled, 0.1 * index as f64).unwrap()).unwrap();
        let mixed = products::mm(&bent, w).unwrap();
        let half = part::narrow(&mixed, 0, 0, 64).unwrap();
        join::cat(&[&half, &half], 0).unwrap()
    };
    let mut total = branch(0);
    for index in 1..12 {
        total = ops::add(&total, &branch(index)).unwrap();
    }
    ops::mul(&total, &total).unwrap()
}

#[test]
fn the_bits_are_the_same_on_one_two_and_four_threads() {
    let _turn = take_turn();
    let outcome = |threads: usize| {
        at(threads, || {
            let (x, w) = (leaf(&[128, 96], 1), leaf(&[96, 48], 2));
            let meeting = Arc::new(Meeting::default());
            let y = if threads > 1 {
                wide(&Meeting::branches(&meeting, &x), &w)
            } else {
                wide(&ops::add(&x, &x).unwrap(), &w)
            };
            let y = reduce::sum(&y, None, false, None).unwrap();
            engine::backward(&[y], &[], Options::default()).unwrap();
            assert!(threads == 1 || meeting.met.load(Ordering::Relaxed), "two threads took part");
            [x, w].map(|leaf| bits(&leaf.grad().unwrap()))
        })
    };
    let one = outcome(1);
    assert!(one[0].iter().any(|&bits| bits != one[0][0]), "the gradients are numbers of all kinds");
    for threads in [2, 4, 2, 4] {
        assert!(outcome(threads) == one, "{threads} threads give other bits");
    }
}

#[test]
fn higher_orders_have_the_same_bits_too() {
    let _turn = take_turn();
    let outcome = |threads: usize| {
        at(threads, || {
            let (x, w) = (leaf(&[128, 96], 3), leaf(&[96, 48], 4));
            let y = reduce::sum(&wide(&x, &w), None, false, None).unwrap();
            let options = Options { create_graph: true, retain_graph: true };
            let slopes = engine::grad(&[y], &[x.clone(), w.clone()], &[], options).unwrap();
            let slopes: Vec<Tensor> = slopes.into_iter().flatten().collect();
            let norms: Vec<Tensor> = slopes
                .iter()
                .map(|slope| reduce::sum(&ops::mul(slope, slope).unwrap(), None, false, None).unwrap())
                .collect();
            engine::backward(&norms, &[], Options::default()).unwrap();
            [x, w].map(|leaf| bits(&leaf.grad().unwrap()))
        })
    };
    let one = outcome(1);
    assert!(outcome(2) == one && outcome(4) == one);
}

#[test]
fn a_single_thread_stays_alone() {
    let _turn = take_turn();
    let seen: Arc<Mutex<HashSet<ThreadId>>> = Arc::default();
    let note = seen.clone();
    let visit: Visit = Arc::new(move || {
        note.lock().insert(thread::current().id());
        Ok(())
    });
    at(1, || {
        let x = leaf(&[4], 5);
        let y = (0..16).fold(x.clone(), |sum, _| ops::add(&sum, &visited(&x, visit.clone())).unwrap());
        engine::backward(&[reduce::sum(&y, None, false, None).unwrap()], &[], Options::default()).unwrap();
    });
    assert_eq!(*seen.lock(), HashSet::from([thread::current().id()]));
}

#[test]
fn eight_threads_record_and_differentiate_through_shared_leaves_and_no_gradient_is_lost() {
    const ROUNDS: usize = 300;
    let x = Tensor::from_slice(&[3], &[1.0, 2.0, 3.0]).unwrap();
    x.set_requires_grad(true).unwrap();
    thread::scope(|scope| {
        for number in 1..=8 {
            let x = x.clone();
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let y = ops::mul(&ops::mul(&x, &x).unwrap(), f64::from(number)).unwrap();
                    let y = reduce::sum(&y, None, false, None).unwrap();
                    engine::backward(&[y], &[], Options::default()).unwrap();
                }
            });
        }
    });
    // Σ number · 2x over all rounds; whole numbers, so the sum is exact in any order.
    let factor = (36 * ROUNDS * 2) as f64;
    assert_eq!(x.grad().unwrap().to_vec::<f64>().unwrap(), [factor, 2.0 * factor, 3.0 * factor]);
    assert_eq!(x.handles(), 1, "the graphs are gone");
}

#[test]
fn builders_and_sweepers_share_one_graph() {
    let _turn = take_turn();
    at(4, || {
        let x = leaf(&[64, 64], 6);
        let shared = ops::exp(&ops::mul(&x, 0.5).unwrap()).unwrap();
        let root = reduce::sum(&ops::mul(&shared, &shared).unwrap(), None, false, None).unwrap();
        let retain = Options { retain_graph: true, create_graph: false };
        let slope = |root: &Tensor, options: Options| {
            let roots = std::slice::from_ref(root);
            bits(&engine::grad(roots, std::slice::from_ref(&x), &[], options).unwrap().remove(0).unwrap())
        };
        let expected = slope(&root, retain);
        let branch = |k: f64| reduce::sum(&ops::mul(&shared, k).unwrap(), None, false, None).unwrap();
        let expected_branch = slope(&branch(3.0), retain);
        let swept = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..150 {
                        assert!(slope(&root, retain) == expected);
                        swept.fetch_add(1, Ordering::Relaxed);
                    }
                });
                scope.spawn(|| {
                    for _ in 0..150 {
                        assert!(slope(&branch(3.0), retain) == expected_branch);
                        // Recorded and thrown away while others are at work on what it hangs on.
                        drop(cast::clone(&ops::exp(&shared).unwrap()).unwrap());
                    }
                });
            }
        });
        assert_eq!(swept.into_inner(), 450);
    });
}

/// A hook that notes on which thread it is called.
struct Noted(Arc<Mutex<Vec<ThreadId>>>);

impl Hook for Noted {
    fn call(&self, _call: HookCall<'_>) -> Result<()> {
        self.0.lock().push(thread::current().id());
        Ok(())
    }
}

#[test]
fn hooks_run_on_the_thread_that_called_while_others_work() {
    let _turn = take_turn();
    at(4, || {
        let x = leaf(&[64, 64], 7);
        let calls: Arc<Mutex<Vec<ThreadId>>> = Arc::default();
        let meeting = Arc::new(Meeting::default());
        let mut total = Meeting::branches(&meeting, &x);
        for index in 0..8 {
            let branch = ops::exp(&ops::mul(&x, f64::from(index)).unwrap()).unwrap();
            branch.register_hook(Arc::new(Noted(calls.clone()))).unwrap();
            total = ops::add(&total, &branch).unwrap();
        }
        x.register_hook(Arc::new(Noted(calls.clone()))).unwrap();
        x.register_accumulated_hook(Arc::new(Noted(calls.clone())));
        let root = reduce::sum(&total, None, false, None).unwrap();
        engine::backward(&[root], &[], Options::default()).unwrap();
        assert!(meeting.met.load(Ordering::Relaxed), "two threads took part");
        assert_eq!(*calls.lock(), vec![thread::current().id(); 10]);
    });
}

#[test]
fn a_rule_that_fails_on_any_thread_fails_the_run_and_leaves_gradients_alone() {
    let _turn = take_turn();
    for threads in [1, 4] {
        at(threads, || {
            let x = leaf(&[64, 64], 8);
            let fail: Visit = Arc::new(|| Err(Error::ViewStride {}.into()));
            let fine: Visit = Arc::new(|| Ok(()));
            let branches = [&fine, &fail, &fine, &fine].map(|visit| visited(&x, visit.clone()));
            let total = branches[1..].iter().fold(branches[0].clone(), |sum, y| ops::add(&sum, y).unwrap());
            let root = reduce::sum(&total, None, false, None).unwrap();
            let error = engine::backward(&[root], &[], Options::default()).unwrap_err();
            assert!(matches!(*error, Error::ViewStride {}), "{error}");
            assert!(x.grad().is_none());
        });
    }
}

#[test]
fn runs_inside_of_runs_finish() {
    let _turn = take_turn();
    at(4, || {
        let x = leaf(&[32, 32], 9);
        let inner = x.clone();
        let visit: Visit = Arc::new(move || {
            let y = wide_and_small(&inner)?;
            let slopes = engine::grad(&[y], std::slice::from_ref(&inner), &[], Options::default())?;
            assert!(slopes[0].is_some());
            Ok(())
        });
        let y = (0..8).fold(x.clone(), |sum, _| ops::add(&sum, &visited(&x, visit.clone())).unwrap());
        engine::backward(&[reduce::sum(&y, None, false, None).unwrap()], &[], Options::default()).unwrap();
        assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), vec![9.0; 1024]);
    });
}

/// Enough side by side to be worth threads, quickly done.
fn wide_and_small(x: &Tensor) -> Result<Tensor> {
    // Rules run without recording; what they run themselves may record.
    let _on = GradModeGuard::new(true);
    let idle: Visit = Arc::new(|| Ok(()));
    let total = (0..4).try_fold(x.clone(), |sum, _| ops::add(&sum, &visited(x, idle.clone())))?;
    reduce::sum(&total, None, false, None)
}
