//! Running a plan on several threads, with the same bits as on one.
//!
//! Note [Same bits]
//! ----
//! Every gradient that will arrive at a task has a slot, numbered in the order in which the
//! sequential run would deliver it. Tasks run when all slots have been answered, whoever answered
//! them, and add up slot by slot. The time of arrival decides nothing.
//!
//! The calling thread works too, and it alone runs hooks and rules of the host. Helpers take a task
//! when there is one and go home when there is none: nobody waits for a helper that has not started.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use smallvec::SmallVec;

use super::buffer::Buffer;
use super::check;
use super::leaf::{self, Deposit, Deposits};
use super::plan::{Plan, Target, has_hooks};
use super::run::{Step, Terms, finish_leaf, tensor_hooks};
use crate::dispatch::long_work::LongWork;
use crate::error::{Error, Result};
use crate::graph::{Edge, Gradients, NodeRef, mode};
use crate::kernels::interrupt::{self, Asking, Interrupted};
use crate::kernels::parallel;
use crate::sharing::ConcurrencyGuard;
use crate::tensor::Tensor;

/// A task that any thread may own.
struct Job {
    node: NodeRef,
    /// By edge: where the gradient goes, and into which slot.
    targets: SmallVec<[Option<(Target, u32)>; 2]>,
    /// Answers that are still to come.
    waiting: AtomicU32,
    slots: Mutex<Vec<Option<(u32, Tensor)>>>,
    /// Along which edges a gradient is wanted, a bit each.
    wanted: u64,
    captures: SmallVec<[(u32, u32); 1]>,
    needed: bool,
    is_leaf: bool,
    caller_only: bool,
    /// Position in the sequential run, which decides what is taken first and which error counts.
    rank: u32,
}

/// What the threads of one run share.
struct Run {
    jobs: Vec<Job>,
    terms: Terms,
    /// Every thread computes in the mode of the caller.
    flags: mode::Flags,
    watch: Arc<LongWork>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: BinaryHeap<Reverse<(u32, u32)>>,
    for_caller: BinaryHeap<Reverse<(u32, u32)>>,
    /// Tasks not yet finished.
    left: usize,
    /// Threads that are running a task.
    busy: usize,
    /// Helpers that were asked to come and have not gone home.
    helpers: usize,
    failure: Option<(u32, Failure)>,
    captured: Vec<Option<Tensor>>,
    deposits: Vec<(u32, Deposit)>,
}

enum Failure {
    Error(Box<Error>),
    Panic(Box<dyn Any + Send>),
}

/// How long the caller waits for others before it asks whether to go on.
const WAIT: Duration = Duration::from_millis(10);

/// Runs the plan. Answers the captured gradients.
pub(super) fn run(
    plan: &Plan<'_>,
    roots: &[(Edge, Tensor)],
    terms: Terms,
    watch: &Arc<LongWork>,
) -> Result<Vec<Option<Tensor>>> {
    let run = Arc::new(Run {
        jobs: jobs(plan),
        terms,
        flags: mode::flags(),
        watch: watch.clone(),
        state: Mutex::new(State {
            left: plan.tasks.iter().filter(|task| task.arrivals > 0).count(),
            captured: vec![None; plan.results],
            ..State::default()
        }),
        changed: Condvar::new(),
    });
    for ((slot, target), (_, gradient)) in plan.roots.iter().enumerate().zip(roots) {
        let slot = plan.roots[..slot].iter().filter(|earlier| earlier.task == target.task).count() as u32;
        let node = &run.jobs[target.task as usize].node;
        let mut gradient = Some(gradient.clone());
        check::fit(&mut gradient, node, target.output, node, 0)?;
        if let Some(job) = run.answer((*target, slot), gradient) {
            run.offer(job);
        }
    }
    run.work(true);
    let mut state = run.state.lock();
    while state.busy > 0 {
        run.changed.wait(&mut state);
    }
    match state.failure.take() {
        Some((_, Failure::Error(error))) => return Err(error),
        Some((_, Failure::Panic(panic))) => {
            drop(state);
            resume_unwind(panic)
        }
        None => {}
    }
    let mut deposits = std::mem::take(&mut state.deposits);
    let captured = std::mem::take(&mut state.captured);
    drop(state);
    let _uninterrupted = Asking::nothing();
    deposits.sort_by_key(|(rank, _)| *rank);
    let mut deposits: Vec<Deposit> = deposits.into_iter().map(|(_, deposit)| deposit).collect();
    leaf::put(&mut deposits, terms.options.create_graph)?;
    Ok(captured)
}

/// The tasks with their slots: roots first, then consumers in the order of the sequential run.
fn jobs(plan: &Plan<'_>) -> Vec<Job> {
    let mut next_slot = vec![0u32; plan.tasks.len()];
    for root in &plan.roots {
        next_slot[root.task as usize] += 1;
    }
    let mut rank = vec![u32::MAX; plan.tasks.len()];
    let mut targets: Vec<SmallVec<[_; 2]>> = vec![SmallVec::new(); plan.tasks.len()];
    for (position, &task) in (0..).zip(&plan.order) {
        rank[task as usize] = position;
        targets[task as usize] = (plan.tasks[task as usize].targets(&plan.targets).iter())
            .map(|target| {
                target.map(|target| {
                    let slot = &mut next_slot[target.task as usize];
                    *slot += 1;
                    (target, *slot - 1)
                })
            })
            .collect();
    }
    let job = |((task, targets), rank): ((&super::plan::Task<'_>, _), _)| Job {
        node: task.node.clone(),
        targets,
        waiting: AtomicU32::new(task.arrivals),
        slots: Mutex::new(vec![None; task.arrivals as usize]),
        wanted: task.wanted,
        captures: task.captures.clone(),
        needed: task.needed,
        is_leaf: task.is_leaf,
        caller_only: task.caller_only,
        rank,
    };
    plan.tasks.iter().zip(targets).zip(rank).map(job).collect()
}

impl Job {
    /// Whether the calling thread has to run it: by its plan, or for hooks that were added since.
    fn is_for_caller(&self) -> bool {
        self.caller_only || has_hooks(&self.node)
    }
}

impl Run {
    /// Fills a slot; answers the task if that was the last one missing.
    fn answer(&self, (target, slot): (Target, u32), gradient: Option<Tensor>) -> Option<u32> {
        let job = &self.jobs[target.task as usize];
        if let Some(gradient) = gradient {
            job.slots.lock()[slot as usize] = Some((target.output, gradient));
        }
        (job.waiting.fetch_sub(1, Ordering::AcqRel) == 1).then_some(target.task)
    }

    /// Puts a task where it will be taken from, and asks a helper to come if one may help.
    fn offer(self: &Arc<Self>, task: u32) {
        let job = &self.jobs[task as usize];
        let mut state = self.state.lock();
        if job.is_for_caller() {
            state.for_caller.push(Reverse((job.rank, task)));
        } else {
            state.ready.push(Reverse((job.rank, task)));
            let wanted = state.ready.len().min(parallel::num_threads() - 1);
            if state.helpers < wanted {
                state.helpers += 1;
                let (run, concurrency) = (self.clone(), ConcurrencyGuard::new());
                parallel::spawn(move || {
                    run.work(false);
                    // A helper may be the last to let go of the run, when the caller has gone on long since.
                    drop(run);
                    drop(concurrency);
                });
            }
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Takes tasks until there are none, or for the caller until the run is over.
    fn work(self: &Arc<Self>, is_caller: bool) {
        let _mode = mode::FlagsGuard::new(self.flags);
        let _asking = Asking::new(self.watch.question(is_caller));
        let mut state = self.state.lock();
        loop {
            let over = state.left == 0 || state.failure.is_some();
            let task = if over { None } else { state.take(is_caller) };
            let Some(task) = task else {
                if over || !is_caller {
                    state.helpers -= usize::from(!is_caller);
                    self.changed.notify_all();
                    return;
                }
                if self.changed.wait_for(&mut state, WAIT).timed_out() {
                    drop(state);
                    self.look_out();
                    state = self.state.lock();
                }
                continue;
            };
            state.busy += 1;
            drop(state);
            let mut next = Some(task);
            while let Some(task) = next {
                next = self.step(task, is_caller);
            }
            state = self.state.lock();
            state.busy -= 1;
        }
    }

    /// Ends the run if it is to be given up.
    fn look_out(&self) {
        if interrupt::is_due() {
            let failure = Failure::Panic(Box::new(Interrupted));
            self.state.lock().failure.get_or_insert((u32::MAX, failure));
        }
    }

    /// Runs a task. Of those that it makes ready it answers one to go on with and offers the others.
    fn step(self: &Arc<Self>, task: u32, is_caller: bool) -> Option<u32> {
        let job = &self.jobs[task as usize];
        if !is_caller && job.is_for_caller() {
            // A hook was added while the task was waiting.
            self.offer(task);
            return None;
        }
        let mut deposits = Deposits::new();
        let results = catch_unwind(AssertUnwindSafe(|| {
            interrupt::unwind_if_due();
            self.results(job, is_caller, &mut deposits)
        }))
        .map_err(Failure::Panic)
        .and_then(|results| results.map_err(Failure::Error));
        let mut follow = None;
        let failure = match results {
            Ok(results) => {
                let mut results = results.into_iter();
                for &target in &job.targets {
                    let gradient = results.next().flatten();
                    let Some(ready) = target.and_then(|target| self.answer(target, gradient)) else {
                        continue;
                    };
                    match follow {
                        None if !self.jobs[ready as usize].is_for_caller() => follow = Some(ready),
                        _ => self.offer(ready),
                    }
                }
                None
            }
            Err(failure) => Some(failure),
        };
        let mut state = self.state.lock();
        state.left -= 1;
        state.deposits.extend(deposits.into_iter().map(|deposit| (job.rank, deposit)));
        if let Some(failure) = failure
            && state.failure.as_ref().is_none_or(|(rank, _)| job.rank < *rank)
        {
            state.failure = Some((job.rank, failure));
        }
        let over = state.left == 0 || state.failure.is_some();
        drop(state);
        if over {
            self.changed.notify_all();
            return None;
        }
        follow
    }

    fn results(&self, job: &Job, is_caller: bool, deposits: &mut Deposits) -> Result<Gradients> {
        let mut buffer = Buffer::default();
        for (output, gradient) in std::mem::take(&mut *job.slots.lock()).into_iter().flatten() {
            buffer.add(output, gradient)?;
        }
        let mut gradients = buffer.take(job.node.outputs());
        if !job.captures.is_empty() && !job.needed {
            tensor_hooks(&job.node, &mut gradients, deposits)?;
        }
        for &(output, result) in &job.captures {
            self.state.lock().captured[result as usize] = gradients[output as usize].clone();
        }
        if !job.needed {
            return Ok(Gradients::new());
        }
        if job.is_leaf {
            finish_leaf(&job.node, gradients, self.terms.options, deposits)?;
            return Ok(Gradients::new());
        }
        let step = Step { node: &job.node, wanted: job.wanted, terms: &self.terms };
        step.run(gradients, is_caller, deposits)
    }
}

impl State {
    /// The first task that this thread may run.
    fn take(&mut self, is_caller: bool) -> Option<u32> {
        let own = if is_caller { self.for_caller.pop() } else { None };
        own.or_else(|| self.ready.pop()).map(|Reverse((_, task))| task)
    }
}
