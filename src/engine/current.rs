//! The runs that are under way on a thread, one inside the other, for hooks that ask where they are.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Options;
use super::plan::{Plan, Task};
use crate::graph::{NodeId, NodeRef, mode};

/// One run, and those of its nodes that will be reached, if the host may ask for them meanwhile.
struct Current {
    id: u64,
    /// The node whose hooks or rule the host runs now.
    node: Option<NodeRef>,
    /// The nodes in the order in which they run, if the host may ask for that.
    order: Option<Vec<NodeRef>>,
    reached: Vec<NodeId>,
    /// Whether these are in order, as from the first question on.
    sorted: bool,
    /// Whether gradients are handed back rather than accumulated.
    hands_back: bool,
    /// Whether what the rules keep stays.
    retains: bool,
    /// Whether it, and every run that it is inside of, leads to every leaf.
    unrestricted: bool,
}

thread_local!(static CURRENT: RefCell<Vec<Current>> = const { RefCell::new(Vec::new()) });

/// Makes a run the current one of this thread until it is dropped.
pub(super) struct CurrentGuard(());

impl CurrentGuard {
    pub(super) fn enter(plan: &Plan<'_>, options: Options, unrestricted: bool) -> CurrentGuard {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let will_run = |task: &&Task<'_>| task.arrivals > 0 && (task.needed || !task.captures.is_empty());
        // A root that is alone starts the run and is not reached by it, as torch has it. It is the first task.
        let start = usize::from(plan.roots.len() == 1);
        let reached = match plan.hosted {
            true => plan.tasks.iter().skip(start).filter(will_run).map(|task| task.node.id()).collect(),
            false => Vec::new(),
        };
        let current = Current {
            id,
            node: None,
            order: (plan.hosted && !mode::flags().multithreading).then(|| order(plan)),
            reached,
            sorted: false,
            hands_back: plan.results > 0,
            retains: options.retain_graph,
            unrestricted,
        };
        CURRENT.with_borrow_mut(|runs| runs.push(current));
        CurrentGuard(())
    }
}

/// The nodes of a plan in the order in which they run: a leaf as soon as everything has arrived at it.
fn order(plan: &Plan<'_>) -> Vec<NodeRef> {
    let mut waiting: Vec<u32> = plan.tasks.iter().map(|task| task.arrivals).collect();
    let mut order = Vec::with_capacity(plan.tasks.len());
    let mut arrive = |task: u32, order: &mut Vec<NodeRef>| {
        let waiting = &mut waiting[task as usize];
        *waiting -= 1;
        let task = &plan.tasks[task as usize];
        if task.is_leaf && *waiting == 0 {
            order.push(task.node.clone());
        }
    };
    for root in &plan.roots {
        arrive(root.task, &mut order);
    }
    for &task in &plan.order {
        let task = &plan.tasks[task as usize];
        order.push(task.node.clone());
        if task.needed {
            task.targets(&plan.targets).iter().flatten().for_each(|target| arrive(target.task, &mut order));
        }
    }
    order
}

impl Drop for CurrentGuard {
    fn drop(&mut self) {
        let ended = CURRENT.with_borrow_mut(Vec::pop);
        drop(ended);
    }
}

/// Makes a node the one that the host runs something of, on this thread, until it is dropped.
pub(super) struct NodeGuard {
    before: Option<NodeRef>,
}

impl NodeGuard {
    pub(super) fn enter(node: &NodeRef) -> NodeGuard {
        NodeGuard { before: replace_node(Some(node.clone())) }
    }
}

impl Drop for NodeGuard {
    fn drop(&mut self) {
        // What was there is dropped outside of the borrow.
        drop(replace_node(self.before.take()));
    }
}

fn replace_node(node: Option<NodeRef>) -> Option<NodeRef> {
    CURRENT.with_borrow_mut(|runs| runs.last_mut().and_then(|run| std::mem::replace(&mut run.node, node)))
}

/// How many runs are under way on this thread, one inside the other.
pub(super) fn depth() -> usize {
    CURRENT.with_borrow(Vec::len)
}

/// The node whose hooks or rule the host runs now on this thread.
pub fn current_node() -> Option<NodeRef> {
    CURRENT.with_borrow(|runs| runs.iter().rev().find_map(|run| run.node.clone()))
}

/// The nodes of the innermost run on this thread, in the order in which they run, if it is one on this
/// thread alone.
pub fn current_order() -> Option<Vec<NodeRef>> {
    CURRENT.with_borrow(|runs| runs.last().and_then(|run| run.order.clone()))
}

/// Whether the innermost run on this thread leaves what the rules keep.
pub fn is_retaining() -> Option<bool> {
    CURRENT.with_borrow(|runs| runs.last().map(|run| run.retains))
}

/// The number of the innermost run on this thread, if there is one.
pub fn current_run() -> Option<u64> {
    CURRENT.with_borrow(|runs| runs.last().map(|run| run.id))
}

/// Whether the innermost run on this thread reaches a node.
pub fn will_reach(node: NodeId) -> Option<bool> {
    CURRENT.with_borrow_mut(|runs| {
        let run = runs.last_mut()?;
        if !run.sorted {
            run.reached.sort_unstable();
            run.sorted = true;
        }
        Some(run.reached.binary_search(&node).is_ok())
    })
}

/// Whether the innermost run on this thread hands gradients back.
pub fn is_handing_back() -> bool {
    CURRENT.with_borrow(|runs| runs.last().is_some_and(|run| run.hands_back))
}

/// Whether every run that this thread is in leads to every leaf. A backward that a hook or a function
/// of the host starts inside of another run would reach leaves that were not asked for.
pub fn is_unrestricted() -> bool {
    CURRENT.with_borrow(|runs| runs.last().is_none_or(|run| run.unrestricted))
}
