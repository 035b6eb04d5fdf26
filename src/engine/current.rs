//! The runs that are under way on a thread, one inside the other, for hooks that ask where they are.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use super::plan::{Plan, Task};
use crate::graph::NodeId;

/// One run, and those of its nodes that will be reached, if the host may ask for them meanwhile.
struct Current {
    id: u64,
    reached: Vec<NodeId>,
    /// Whether these are in order, as from the first question on.
    sorted: bool,
    /// Whether gradients are handed back rather than accumulated.
    hands_back: bool,
    /// Whether it, and every run that it is inside of, leads to every leaf.
    unrestricted: bool,
}

thread_local!(static CURRENT: RefCell<Vec<Current>> = const { RefCell::new(Vec::new()) });

/// Makes a run the current one of this thread until it is dropped.
pub(super) struct CurrentGuard(());

impl CurrentGuard {
    pub(super) fn enter(plan: &Plan<'_>, unrestricted: bool) -> CurrentGuard {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let will_run = |task: &&Task<'_>| task.arrivals > 0 && (task.needed || !task.captures.is_empty());
        // A root that is alone starts the run and is not reached by it, as torch has it. It is the first task.
        let start = usize::from(plan.roots.len() == 1);
        let reached = match plan.hosted {
            true => plan.tasks.iter().skip(start).filter(will_run).map(|task| task.node.id()).collect(),
            false => Vec::new(),
        };
        let hands_back = plan.results > 0;
        CURRENT.with_borrow_mut(|runs| {
            runs.push(Current { id, reached, sorted: false, hands_back, unrestricted })
        });
        CurrentGuard(())
    }
}

impl Drop for CurrentGuard {
    fn drop(&mut self) {
        let ended = CURRENT.with_borrow_mut(Vec::pop);
        drop(ended);
    }
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
