//! Running a plan on several threads, with the same bits as on one: what its tasks compute. Who runs which stands in
//! `schedule`: see Note [Same bits].

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use smallvec::SmallVec;

use super::buffer::Buffer;
use super::check;
use super::leaf::{self, Deposit, Deposits};
use super::plan::{self, Plan, has_hooks};
use super::run::{Step, Terms, finish_leaf, tensor_hooks};
use super::schedule::{Place, Schedule, Task, Work};
use crate::dispatch::long_work::LongWork;
use crate::error::{Error, Result};
use crate::graph::{Edge, Gradients, NodeRef, mode};
use crate::kernels::interrupt::{self, Asking, Interrupted};
use crate::tensor::Tensor;
use crate::threads::Mutex;

/// What a task is computed from.
struct Job {
    node: NodeRef,
    /// By edge: which output of its task the gradient belongs to.
    outputs: SmallVec<[u32; 2]>,
    /// Along which edges a gradient is wanted, a bit each.
    wanted: u64,
    captures: SmallVec<[(u32, u32); 1]>,
    needed: bool,
    is_leaf: bool,
    caller_only: bool,
    rank: u32,
}

/// The tasks of one run, and what they leave.
struct Jobs {
    jobs: Vec<Job>,
    terms: Terms,
    /// Every thread computes in the mode of the caller.
    flags: mode::Flags,
    watch: Arc<LongWork>,
    left: Mutex<Left>,
}

#[derive(Default)]
struct Left {
    captured: Vec<Option<Tensor>>,
    deposits: Vec<(u32, Deposit)>,
}

enum Failure {
    Error(Box<Error>),
    Panic(Box<dyn Any + Send>),
}

/// Runs the plan. Answers the captured gradients.
pub(super) fn run(
    plan: &Plan<'_>,
    roots: &[(Edge, Tensor)],
    terms: Terms,
    watch: &Arc<LongWork>,
) -> Result<Vec<Option<Tensor>>> {
    let (tasks, jobs) = split(plan);
    let left = Left { captured: vec![None; plan.results], deposits: Vec::new() };
    let (flags, watch) = (mode::flags(), watch.clone());
    let run = Schedule::new(tasks, Jobs { jobs, terms, flags, watch, left: Mutex::new(left) });
    for ((slot, target), (_, gradient)) in plan.roots.iter().enumerate().zip(roots) {
        let slot = plan.roots[..slot].iter().filter(|earlier| earlier.task == target.task).count() as u32;
        let node = &run.work.jobs[target.task as usize].node;
        let mut gradient = Some(gradient.clone());
        check::fit(&mut gradient, node, target.output, node, 0)?;
        run.give(Place { task: target.task, slot }, gradient.map(|gradient| (target.output, gradient)));
    }
    match run.run() {
        Ok(()) => {}
        Err(Failure::Error(error)) => return Err(error),
        Err(Failure::Panic(panic)) => resume_unwind(panic),
    }
    let Left { captured, mut deposits } = std::mem::take(&mut *run.work.left.lock());
    let _uninterrupted = Asking::nothing();
    deposits.sort_by_key(|(rank, _)| *rank);
    let mut deposits: Vec<Deposit> = deposits.into_iter().map(|(_, deposit)| deposit).collect();
    leaf::put(&mut deposits, terms.options.create_graph)?;
    Ok(captured)
}

/// The tasks with their slots, and what they are computed from: roots first, then consumers in the order of the
/// sequential run. There a leaf runs as soon as its last gradient has arrived.
fn split(plan: &Plan<'_>) -> (Vec<Task<(u32, Tensor)>>, Vec<Job>) {
    let mut next_slot = vec![0u32; plan.tasks.len()];
    for root in &plan.roots {
        next_slot[root.task as usize] += 1;
    }
    let (mut rank, mut ranked) = (vec![0; plan.tasks.len()], 0..);
    let mut targets: Vec<SmallVec<[_; 2]>> = vec![SmallVec::new(); plan.tasks.len()];
    for &task in &plan.order {
        rank[task as usize] = ranked.next().unwrap_or_default();
        for target in plan.tasks[task as usize].targets(&plan.targets) {
            let place = target.map(|target| {
                let slot = &mut next_slot[target.task as usize];
                *slot += 1;
                let receiver = &plan.tasks[target.task as usize];
                if receiver.is_leaf && *slot == receiver.arrivals {
                    rank[target.task as usize] = ranked.next().unwrap_or_default();
                }
                Place { task: target.task, slot: *slot - 1 }
            });
            targets[task as usize].push(place);
        }
    }
    let job = |(task, &rank): (&plan::Task<'_>, &u32)| Job {
        node: task.node.clone(),
        outputs: (task.targets(&plan.targets).iter())
            .map(|target| target.map_or(0, |target| target.output))
            .collect(),
        wanted: task.wanted,
        captures: task.captures.clone(),
        needed: task.needed,
        is_leaf: task.is_leaf,
        caller_only: task.caller_only,
        rank,
    };
    let jobs = plan.tasks.iter().zip(&rank).map(job).collect();
    let task = |((task, targets), rank): ((&plan::Task<'_>, _), _)| Task::new(task.arrivals, targets, rank);
    (plan.tasks.iter().zip(targets).zip(rank).map(task).collect(), jobs)
}

impl Work for Jobs {
    type Answer = (u32, Tensor);
    type Failure = Failure;

    fn within(&self, is_caller: bool, body: &mut dyn FnMut()) {
        let _mode = mode::FlagsGuard::new(self.flags);
        let _asking = Asking::new(self.watch.question(is_caller));
        body();
    }

    fn is_for_caller(&self, task: u32) -> bool {
        let job = &self.jobs[task as usize];
        job.caller_only || has_hooks(&job.node)
    }

    fn answers(
        &self,
        task: u32,
        arrived: Vec<Option<(u32, Tensor)>>,
        is_caller: bool,
    ) -> std::result::Result<SmallVec<[Option<(u32, Tensor)>; 2]>, Failure> {
        let job = &self.jobs[task as usize];
        let mut deposits = Deposits::new();
        let gradients = catch_unwind(AssertUnwindSafe(|| {
            interrupt::unwind_if_due();
            self.gradients(job, arrived, is_caller, &mut deposits)
        }))
        .map_err(Failure::Panic)?
        .map_err(Failure::Error)?;
        if !deposits.is_empty() {
            let deposits = deposits.into_iter().map(|deposit| (job.rank, deposit));
            self.left.lock().deposits.extend(deposits);
        }
        let together = gradients.into_iter().zip(&job.outputs);
        Ok(together.map(|(gradient, &output)| gradient.map(|gradient| (output, gradient))).collect())
    }

    fn given_up(&self) -> Option<Failure> {
        interrupt::is_due().then(|| Failure::Panic(Box::new(Interrupted)))
    }
}

impl Jobs {
    fn gradients(
        &self,
        job: &Job,
        arrived: Vec<Option<(u32, Tensor)>>,
        is_caller: bool,
        deposits: &mut Deposits,
    ) -> Result<Gradients> {
        let mut buffer = Buffer::default();
        for (output, gradient) in arrived.into_iter().flatten() {
            buffer.add(output, gradient)?;
        }
        let mut gradients = buffer.take(job.node.outputs());
        if !job.captures.is_empty() && !job.needed {
            tensor_hooks(&job.node, &mut gradients, deposits)?;
        }
        for &(output, result) in &job.captures {
            self.left.lock().captured[result as usize] = gradients[output as usize].clone();
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
