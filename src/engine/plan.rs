//! Planning a run: which nodes, in which order, and how many gradients arrive at each. Nothing is run here, and nothing
//! recurses.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;

use super::buffer::Buffer;
use super::experience::PlanKind;
use super::{Arrivals, Wanted};
use crate::error::Result;
use crate::graph::{Edge, Node, NodeId, NodeRef, Traits, saved_tensor_hooks};
use crate::kernels::parallel;
use crate::storage;
use crate::tensor::Tensor;

/// Where a gradient goes: a task, and which of its outputs it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) task: u32,
    pub(super) output: u32,
}

/// One node to run.
pub(super) struct Task<'a> {
    pub(super) node: &'a NodeRef,
    /// Its position on the tape.
    seq: u64,
    /// Where its edges lead, among those of the plan: from which on, and how many.
    targets: (u32, u32),
    /// Along which edges a gradient is wanted, a bit each.
    pub(super) wanted: u64,
    /// How many gradients are still to arrive, roots included.
    pub(super) arrivals: u32,
    /// What has arrived.
    pub(super) buffer: Buffer,
    /// Whether the rule is run: it leads to something that is wanted.
    pub(super) needed: bool,
    /// Whether the node accumulates into a leaf.
    pub(super) is_leaf: bool,
    /// Whether there are hooks before the run, or the rule is the host's.
    pub(super) caller_only: bool,
    /// Outputs whose gradient is handed back, and as which result.
    pub(super) captures: SmallVec<[(u32, u32); 1]>,
    work: u64,
}

/// A run, planned.
pub(super) struct Plan<'a> {
    pub(super) tasks: Vec<Task<'a>>,
    /// Where the edges of all tasks lead; `None` where no gradient is wanted.
    pub(super) targets: Vec<Option<Target>>,
    /// The tasks that are not leaves, outputs before inputs: torch's order, by position on the tape.
    pub(super) order: Vec<u32>,
    /// Where the gradients of the roots go.
    pub(super) roots: SmallVec<[Target; 1]>,
    /// Number of gradients to hand back.
    pub(super) results: usize,
    /// Where these go, if they are not added up.
    pub(super) apart: Option<Arrivals>,
    /// Whether functions of the host run on the way, as far as is known now.
    pub(super) hosted: bool,
    work: u64,
    longest: u64,
}

/// Below this estimate threads always cost more than they bring: waking one takes 30 to 60 microseconds.
const WORTH_THREADS: u64 = 150_000;

/// How many tasks there is room for to begin with: allocators have blocks of that size at hand.
const FEW: usize = 8;

/// Whether some thread is planning with claims on nodes.
static CLAIMING: AtomicBool = AtomicBool::new(false);

/// Finds the number of a node's task.
///
/// Each node has room for one claim: the task's number and one more, zero where there is none. Only one
/// plan is made with claims at a time; those that other threads make meanwhile look nodes up in a table.
/// No code of the host runs between. Should planning panic all the same, every later plan has a table.
enum Claims {
    OnNodes,
    InTable(HashMap<NodeId, u32>),
}

impl Claims {
    fn new() -> Self {
        match CLAIMING.swap(true, Ordering::Acquire) {
            false => Claims::OnNodes,
            true => Claims::InTable(HashMap::new()),
        }
    }

    /// The task of a node, or `next` if it has none yet.
    fn find_or_claim(&mut self, node: &NodeRef, next: u32) -> u32 {
        match self {
            Claims::OnNodes => match node.claim.load(Ordering::Relaxed) {
                0 => {
                    node.claim.store(next + 1, Ordering::Relaxed);
                    next
                }
                claim => claim - 1,
            },
            Claims::InTable(table) => *table.entry(node.id()).or_insert(next),
        }
    }

    fn find(&self, node: &NodeRef) -> Option<u32> {
        match self {
            Claims::OnNodes => node.claim.load(Ordering::Relaxed).checked_sub(1),
            Claims::InTable(table) => table.get(&node.id()).copied(),
        }
    }

    /// Takes the claims back that were made for these tasks.
    fn give_up(self, tasks: &[Task<'_>]) {
        if let Claims::OnNodes = self {
            tasks.iter().for_each(|task| task.node.claim.store(0, Ordering::Relaxed));
            CLAIMING.store(false, Ordering::Release);
        }
    }
}

impl<'a> Plan<'a> {
    /// Plans a run from the roots to what is wanted.
    pub(super) fn new(roots: &'a [(Edge, Tensor)], wanted: &Wanted) -> Result<Plan<'a>> {
        let mut claims = Claims::new();
        let mut plan = Plan {
            tasks: Vec::with_capacity(FEW),
            targets: Vec::with_capacity(2 * FEW),
            order: Vec::with_capacity(FEW),
            roots: SmallVec::new(),
            results: 0,
            apart: None,
            hosted: false,
            work: 0,
            longest: 0,
        };
        let outcome = plan.find(roots, &mut claims).and_then(|()| plan.mark(wanted, &claims));
        claims.give_up(&plan.tasks);
        outcome?;
        plan.estimate()?;
        Ok(plan)
    }

    /// Finds the tasks that there are on the way from the roots, and the order in which they run.
    fn find(&mut self, roots: &'a [(Edge, Tensor)], claims: &mut Claims) -> Result<()> {
        for (edge, _) in roots {
            let target = self.arrive(edge, claims)?;
            self.roots.push(target);
        }
        // Tasks are visited in the order in which they are found; finding one adds it at the end.
        let mut visited = 0;
        while visited < self.tasks.len() {
            let edges = self.tasks[visited].node.edges();
            let (first, mut wanted) = (self.targets.len() as u32, 0);
            for (index, edge) in edges.iter().enumerate() {
                let target = edge.as_ref().map(|edge| self.arrive(edge, claims)).transpose()?;
                storage::push(&mut self.targets, target)?;
                wanted |= bit(index, target.is_some());
            }
            let task = &mut self.tasks[visited];
            task.targets = (first, edges.len() as u32);
            task.wanted = wanted;
            if !task.is_leaf {
                storage::push(&mut self.order, visited as u32)?;
            }
            visited += 1;
        }
        self.sort();
        Ok(())
    }

    fn arrive(&mut self, edge: &'a Edge, claims: &mut Claims) -> Result<Target> {
        // A claim that is made is that of a task.
        storage::spare(&mut self.tasks)?;
        let next = self.tasks.len() as u32;
        let task = claims.find_or_claim(&edge.node, next);
        if task == next {
            let task = Task::new(&edge.node);
            self.hosted |= task.caller_only;
            self.tasks.push(task);
        }
        self.tasks[task as usize].arrivals += 1;
        Ok(Target { task, output: edge.output })
    }

    fn sort(&mut self) {
        let tasks = &*self.tasks;
        // Nodes of one thread never tie; among threads the order of discovery decides.
        let key = |task: &u32| (std::cmp::Reverse(tasks[*task as usize].seq), *task);
        if !self.order.is_sorted_by_key(key) {
            self.order.sort_unstable_by_key(key);
        }
    }

    /// Marks what is on the way to something wanted, and drops the targets that are not.
    fn mark(&mut self, wanted: &Wanted, claims: &Claims) -> Result<()> {
        let edges: Vec<Option<&Edge>> = match wanted {
            Wanted::AllLeaves => {
                self.tasks.iter_mut().for_each(|task| task.needed = true);
                return Ok(());
            }
            Wanted::Leaves(edges) => edges.iter().map(Some).collect(),
            Wanted::Captured(edges) | Wanted::Apart(edges, _) => {
                self.results = edges.len();
                edges.iter().map(Option::as_ref).collect()
            }
        };
        if let Wanted::Apart(_, arrivals) = wanted {
            self.apart = Some(arrivals.clone());
        }
        let captured = !matches!(wanted, Wanted::Leaves(_));
        let mut on_the_way = storage::filled(self.tasks.len(), false)?;
        for (result, edge) in (0..).zip(edges) {
            let Some((edge, task)) = edge.and_then(|edge| Some((edge, claims.find(&edge.node)?))) else {
                continue;
            };
            on_the_way[task as usize] = true;
            let task = &mut self.tasks[task as usize];
            if captured {
                task.captures.push((edge.output, result));
            } else {
                task.needed = true;
            }
        }
        for &task in self.order.iter().rev() {
            let task = task as usize;
            let (start, count) = self.tasks[task].targets;
            let targets = &mut self.targets[start as usize..][..count as usize];
            let is_end = self.apart.is_some() && !self.tasks[task].captures.is_empty();
            for target in targets.iter_mut() {
                target.take_if(|target| is_end || !on_the_way[target.task as usize]);
            }
            self.tasks[task].wanted = bits(targets);
            if targets.iter().any(Option::is_some) {
                self.tasks[task].needed = true;
                on_the_way[task] = true;
            }
        }
        self.recount(&on_the_way);
        Ok(())
    }

    /// Counts arrivals again after targets were dropped.
    fn recount(&mut self, on_the_way: &[bool]) {
        self.order.retain(|task| on_the_way[*task as usize]);
        self.tasks.iter_mut().for_each(|task| task.arrivals = 0);
        for root in &self.roots {
            self.tasks[root.task as usize].arrivals += 1;
        }
        for &task in &self.order {
            for target in self.tasks[task as usize].targets(&self.targets).iter().flatten() {
                self.tasks[target.task as usize].arrivals += 1;
            }
        }
    }

    /// Adds up the work, in all and along the longest path.
    fn estimate(&mut self) -> Result<()> {
        self.work = self.order.iter().map(|&task| self.tasks[task as usize].work).sum();
        if self.work < WORTH_THREADS {
            return Ok(());
        }
        let mut path = storage::filled(self.tasks.len(), 0)?;
        for &task in &self.order {
            let task = task as usize;
            path[task] += self.tasks[task].work;
            self.longest = self.longest.max(path[task]);
            for target in self.tasks[task].targets(&self.targets).iter().flatten() {
                let so_far = path[task];
                let reached = &mut path[target.task as usize];
                *reached = so_far.max(*reached);
            }
        }
        Ok(())
    }

    /// Estimated nanoseconds of the whole run on one thread.
    pub(super) fn work(&self) -> u64 {
        self.work
    }

    /// What plans have in common that take the same time.
    pub(super) fn kind(&self) -> PlanKind {
        PlanKind { tasks: self.tasks.len(), work: self.work, threads: parallel::num_threads() }
    }

    /// Whether there may be enough work side by side for threads to pay.
    pub(super) fn is_worth_threads(&self) -> bool {
        self.work >= WORTH_THREADS
            && self.work >= self.longest + self.longest / 3
            && parallel::num_threads() > 1
    }
}

impl<'a> Task<'a> {
    /// By edge, where its gradients go; `None` where none is wanted. `all` are the targets of the plan.
    pub(super) fn targets<'t>(&self, all: &'t [Option<Target>]) -> &'t [Option<Target>] {
        let (start, count) = self.targets;
        &all[start as usize..][..count as usize]
    }

    fn new(node: &'a NodeRef) -> Task<'a> {
        // The record, so that it is looked up once.
        let record: &Node = node;
        let (traits, leaf) = (record.traits(), record.leaf());
        let weight = if traits.has(Traits::WEIGHED) { record.rule().work() } else { None };
        Task {
            node,
            seq: record.seq(),
            targets: (0, 0),
            wanted: 0,
            arrivals: 0,
            buffer: Buffer::default(),
            needed: false,
            is_leaf: leaf.is_some(),
            caller_only: is_hooked(record, leaf)
                || traits.has(Traits::CALLER_ONLY)
                || saved_tensor_hooks::ever() && saved_tensor_hooks::leads_to_host(node),
            captures: SmallVec::new(),
            work: weight.unwrap_or_else(|| 100 + record.form(0).layout.numel() as u64),
        }
    }
}

/// The bit of an edge along which a gradient is wanted. Beyond the bits there is none.
fn bit(index: usize, wanted: bool) -> u64 {
    if index < 64 { u64::from(wanted) << index } else { 0 }
}

/// The bits of the edges along which a gradient is wanted.
pub(super) fn bits<T>(targets: &[Option<T>]) -> u64 {
    targets.iter().enumerate().fold(0, |bits, (index, target)| bits | bit(index, target.is_some()))
}

/// Whether a node, or the leaf that it accumulates into, has hooks by now: hooks may add some.
pub(super) fn has_hooks(node: &NodeRef) -> bool {
    is_hooked(node, node.leaf())
}

fn is_hooked(node: &Node, leaf: Option<&Tensor>) -> bool {
    node.extras().is_some_and(|extras| !extras.hooks.is_empty())
        || leaf.and_then(Tensor::hooks_if_any).is_some_and(|hooks| !hooks.is_empty())
}
