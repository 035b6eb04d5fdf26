//! Which thread runs which task of a plan, and when the run is over. What a task computes lives elsewhere.
//!
//! Note [Same bits]
//! ----
//! Every gradient that will arrive at a task has a slot, numbered in the order in which the
//! sequential run would deliver it. Tasks run when all slots have been answered, whoever answered
//! them, and add up slot by slot. The time of arrival decides nothing.
//!
//! Errors are the same too: when a task fails, those still run that the sequential run would have run before it, and
//! of several failures the first in that order counts. So every task has a rank above those of the tasks before it.
//!
//! The calling thread works too, and it alone runs hooks and rules of the host. Helpers take a task
//! when there is one and go home when there is none: nobody waits for a helper that has not started.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;

use crate::kernels::parallel;
use crate::sharing::ConcurrencyGuard;
use crate::threads::atomic::{AtomicU32, Ordering};
use crate::threads::{Condvar, Mutex};

/// Where an answer goes: a slot of a task.
#[derive(Clone, Copy)]
pub struct Place {
    /// The task.
    pub task: u32,
    /// The slot.
    pub slot: u32,
}

/// What a task answers, by edge.
pub type Answers<A> = SmallVec<[Option<A>; 2]>;

/// What the tasks of a run compute.
pub trait Work: Send + Sync + 'static {
    /// What one task answers another.
    type Answer: Send;
    /// Why a run ends early.
    type Failure: Send;

    /// Does what a thread does, as it has to be done on that thread.
    fn within(&self, is_caller: bool, body: &mut dyn FnMut());

    /// Whether the calling thread has to run a task: by its plan, or for what was added since.
    fn is_for_caller(&self, task: u32) -> bool;

    /// Computes a task of what has arrived in its slots. Answers by edge.
    fn answers(
        &self,
        task: u32,
        arrived: Vec<Option<Self::Answer>>,
        is_caller: bool,
    ) -> Result<Answers<Self::Answer>, Self::Failure>;

    /// Why the run is to be given up, if it is.
    fn given_up(&self) -> Option<Self::Failure>;
}

/// A task that any thread may own.
pub struct Task<A> {
    /// By edge: where the answer goes.
    targets: SmallVec<[Option<Place>; 2]>,
    /// Answers that are still to come.
    waiting: AtomicU32,
    slots: Mutex<Vec<Option<A>>>,
    /// Position in the sequential run, which decides what is taken first and which failure counts.
    rank: u32,
}

impl<A> Task<A> {
    /// A task with so many slots.
    pub fn new(slots: u32, targets: SmallVec<[Option<Place>; 2]>, rank: u32) -> Task<A> {
        let empty = (0..slots).map(|_| None).collect();
        Task { targets, waiting: AtomicU32::new(slots), slots: Mutex::new(empty), rank }
    }
}

/// What the threads of one run share.
pub struct Schedule<W: Work> {
    tasks: Vec<Task<W::Answer>>,
    /// What is computed.
    pub work: W,
    state: Mutex<State<W::Failure>>,
    changed: Condvar,
}

/// Tasks that can run, by rank.
type Ready = BinaryHeap<Reverse<(u32, u32)>>;

struct State<F> {
    ready: Ready,
    for_caller: Ready,
    /// Tasks not yet finished.
    left: usize,
    /// Threads that are running a task.
    busy: usize,
    /// Helpers that were asked to come and have not gone home.
    helpers: usize,
    /// The first failure so far, and the rank of its task.
    failure: Option<(u32, F)>,
}

/// How long the caller waits for others before it asks whether to go on.
const WAIT: Duration = Duration::from_millis(10);

impl<W: Work> Schedule<W> {
    /// A run of these tasks; those without slots are never run.
    pub fn new(tasks: Vec<Task<W::Answer>>, work: W) -> Arc<Self> {
        let left = tasks.iter().filter(|task| task.waiting.load(Ordering::Relaxed) > 0).count();
        let (ready, for_caller) = (BinaryHeap::new(), BinaryHeap::new());
        let state = State { ready, for_caller, left, busy: 0, helpers: 0, failure: None };
        Arc::new(Schedule { tasks, work, state: Mutex::new(state), changed: Condvar::new() })
    }

    /// Gives the run what it starts from.
    pub fn give(self: &Arc<Self>, place: Place, answer: Option<W::Answer>) {
        if let Some(task) = self.answer(place, answer) {
            self.offer(task);
        }
    }

    /// Runs the tasks, as the calling thread, until all are done or the run has failed, and nobody is at one.
    pub fn run(self: &Arc<Self>) -> Result<(), W::Failure> {
        self.take_part(true);
        let mut state = self.state.lock();
        while state.busy > 0 {
            self.changed.wait(&mut state);
        }
        // Helpers that come late find that the run is over, also when its failure has been told.
        state.left = 0;
        state.failure.take().map_or(Ok(()), |(_, failure)| Err(failure))
    }

    /// Fills a slot; answers the task if that was the last one missing.
    fn answer(&self, place: Place, answer: Option<W::Answer>) -> Option<u32> {
        let task = &self.tasks[place.task as usize];
        if answer.is_some() {
            task.slots.lock()[place.slot as usize] = answer;
        }
        (task.waiting.fetch_sub(1, Ordering::AcqRel) == 1).then_some(place.task)
    }

    /// Puts a task where it will be taken from, and asks a helper to come if one may help.
    fn offer(self: &Arc<Self>, task: u32) {
        let ready = Reverse((self.tasks[task as usize].rank, task));
        let mut state = self.state.lock();
        if self.work.is_for_caller(task) {
            state.for_caller.push(ready);
        } else {
            state.ready.push(ready);
            let wanted = state.ready.len().min(parallel::num_threads() - 1);
            if state.helpers < wanted {
                state.helpers += 1;
                let (run, concurrency) = (self.clone(), ConcurrencyGuard::new());
                parallel::spawn(move || {
                    run.take_part(false);
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
    fn take_part(self: &Arc<Self>, is_caller: bool) {
        self.work.within(is_caller, &mut || {
            let mut state = self.state.lock();
            loop {
                let over = state.is_over();
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
        });
    }

    /// Ends the run if it is to be given up: no task comes before that.
    fn look_out(&self) {
        if let Some(failure) = self.work.given_up() {
            self.state.lock().failure.get_or_insert((0, failure)).0 = 0;
        }
    }

    /// Runs a task. Of those that it makes ready it answers one to go on with and offers the others.
    fn step(self: &Arc<Self>, number: u32, is_caller: bool) -> Option<u32> {
        let task = &self.tasks[number as usize];
        if !is_caller && self.work.is_for_caller(number) {
            // A hook was added while the task was waiting.
            self.offer(number);
            return None;
        }
        let arrived = std::mem::take(&mut *task.slots.lock());
        let mut follow = None;
        let failure = match self.work.answers(number, arrived, is_caller) {
            Ok(answers) => {
                let mut answers = answers.into_iter();
                for &target in &task.targets {
                    let answer = answers.next().flatten();
                    let Some(ready) = target.and_then(|target| self.answer(target, answer)) else {
                        continue;
                    };
                    match follow {
                        None if !self.work.is_for_caller(ready) => follow = Some(ready),
                        _ => self.offer(ready),
                    }
                }
                None
            }
            Err(failure) => Some(failure),
        };
        let mut state = self.state.lock();
        state.left -= 1;
        if let Some(failure) = failure
            && state.failure.as_ref().is_none_or(|(rank, _)| task.rank < *rank)
        {
            state.failure = Some((task.rank, failure));
        }
        follow.filter(|&next| state.comes_first(self.tasks[next as usize].rank))
    }
}

impl<F> State<F> {
    /// Whether no task is left, or none that comes before the failure and no thread at one.
    fn is_over(&self) -> bool {
        let is_next = |ready: &Ready| ready.peek().is_some_and(|Reverse((rank, _))| self.comes_first(*rank));
        let may_go_on = || self.busy > 0 || is_next(&self.ready) || is_next(&self.for_caller);
        self.left == 0 || self.failure.is_some() && !may_go_on()
    }

    /// Whether the sequential run would have come to a task of this rank before it failed.
    fn comes_first(&self, rank: u32) -> bool {
        self.failure.as_ref().is_none_or(|(failed, _)| rank < *failed)
    }

    /// The first task that this thread may run.
    fn take(&mut self, is_caller: bool) -> Option<u32> {
        let failed = self.failure.as_ref().map_or(u32::MAX, |(rank, _)| *rank);
        let first = |ready: &mut Ready| {
            let next = ready.peek_mut().filter(|next| next.0.0 < failed)?;
            Some(PeekMut::pop(next).0.1)
        };
        let own = if is_caller { first(&mut self.for_caller) } else { None };
        own.or_else(|| first(&mut self.ready))
    }
}
