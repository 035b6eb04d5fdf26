//! Running a plan on the calling thread, one node after another; and the steps that both ways of
//! running are made of.

use std::sync::Arc;

use smallvec::SmallVec;

use super::Options;
use super::buffer::Buffer;
use super::check;
use super::current::NodeGuard;
use super::leaf::Deposit;
use super::plan::{Plan, Task};
use super::tie;
use crate::error::{Error, Result};
use crate::graph::packing::{self, UnpackedOnce};
use crate::graph::profile::{self, Extent};
use crate::graph::{At, Call, Gradients, Hook, Hooks, Node, NodeRef, Place, Traits, anomaly, mode};
use crate::kernels::interrupt::{self, Asking};
use crate::ops::accumulate;
use crate::origin::{self, Origin};
use crate::tensor::Tensor;

/// What one node is run with: what a `Task` says, however it is stored.
pub(super) struct Step<'a> {
    pub(super) node: &'a NodeRef,
    /// Which edges lead to something wanted, a bit each.
    pub(super) wanted: u64,
    pub(super) options: Options,
    /// Where the run was started.
    pub(super) start: Origin,
    /// Whether functions of the host run on the way.
    pub(super) hosted: bool,
    /// Whether the host may see gradients.
    pub(super) seen: bool,
}

/// After so many tasks a run asks whether to go on.
const STRETCH: usize = 64;

/// Runs the plan. Answers the captured gradients.
pub(super) fn run(plan: &Plan<'_>, roots: &[Tensor], options: Options) -> Result<Vec<Option<Tensor>>> {
    let mut sweep = Sweep {
        plan,
        options,
        arrivals: SmallVec::with_capacity(plan.tasks.len()),
        captured: vec![None; plan.results],
        deposits: Vec::new(),
    };
    for task in &plan.tasks {
        sweep.arrivals.push(Arrivals { buffer: Buffer::default(), waiting: task.arrivals });
    }
    for (target, gradient) in plan.roots.iter().zip(roots) {
        let node = plan.tasks[target.task as usize].node;
        let gradient = check::fit(gradient.clone(), node, target.output, node, 0)?;
        let task = &plan.tasks[target.task as usize];
        if plan.roots.len() == 1 && !task.needed && task.captures.is_empty() {
            // Hooks see what arrives at a root that stands alone, even if nothing is wanted behind it.
            let mut shown = Gradients::from_elem(None, node.outputs());
            shown[target.output as usize] = Some(gradient.clone());
            tensor_hooks(node, &mut shown, &mut sweep.deposits)?;
        }
        sweep.arrive(target.task, target.output, Some(gradient))?;
    }
    for (position, &task) in plan.order.iter().enumerate() {
        if position % STRETCH == 0 {
            interrupt::unwind_if_due();
        }
        sweep.step(task)?;
    }
    let _uninterrupted = Asking::new(None);
    for deposit in sweep.deposits {
        deposit.put(options.create_graph)?;
    }
    Ok(sweep.captured)
}

struct Sweep<'p, 'a> {
    plan: &'p Plan<'a>,
    options: Options,
    /// By task.
    arrivals: SmallVec<[Arrivals; 8]>,
    captured: Vec<Option<Tensor>>,
    deposits: Vec<Deposit>,
}

/// What has arrived at a task.
struct Arrivals {
    buffer: Buffer,
    /// How much is still to come; leaves run when there is nothing.
    waiting: u32,
}

impl Sweep<'_, '_> {
    /// A gradient arrives, or it turns out that there is none along that edge.
    fn arrive(&mut self, task: u32, output: u32, gradient: Option<Tensor>) -> Result<()> {
        let index = task as usize;
        if let Some(gradient) = gradient {
            self.arrivals[index].buffer.add(output, gradient)?;
        }
        self.arrivals[index].waiting -= 1;
        let task: &Task<'_> = &self.plan.tasks[index];
        if task.is_leaf && self.arrivals[index].waiting == 0 {
            let gradients = self.gather(index)?;
            if task.needed {
                finish_leaf(task.node, gradients, self.options, &mut self.deposits)?;
            }
        }
        Ok(())
    }

    /// What arrived at a task, captured on the way if that is wanted.
    fn gather(&mut self, index: usize) -> Result<Gradients> {
        let task = &self.plan.tasks[index];
        let mut gradients = self.arrivals[index].buffer.take(task.node.outputs());
        if !task.captures.is_empty() {
            if !task.needed {
                tensor_hooks(task.node, &mut gradients, &mut self.deposits)?;
            }
            for &(output, result) in &task.captures {
                self.captured[result as usize] = gradients[output as usize].clone();
            }
        }
        Ok(gradients)
    }

    fn step(&mut self, task: u32) -> Result<()> {
        let index = task as usize;
        let plan = self.plan;
        let task = &plan.tasks[index];
        let gradients = self.gather(index)?;
        if !task.needed {
            return Ok(());
        }
        let targets = plan.targets(task);
        let step = Step {
            node: task.node,
            wanted: wanted(targets),
            options: self.options,
            start: plan.start,
            hosted: plan.hosted,
            seen: plan.is_seen(),
        };
        let results = step.run(gradients, true, &mut self.deposits)?;
        let mut results = results.into_iter();
        for target in targets {
            let gradient = results.next().flatten();
            if let Some(target) = target {
                self.arrive(target.task, target.output, gradient)?;
            }
        }
        Ok(())
    }
}

/// A bit for each edge along which a gradient is wanted.
pub(super) fn wanted<T>(targets: &[Option<T>]) -> u64 {
    targets
        .iter()
        .take(64)
        .enumerate()
        .fold(0, |bits, (index, target)| bits | u64::from(target.is_some()) << index)
}

impl Step<'_> {
    /// Runs hooks and rule; answers gradients by edge, each in the form of its target. Only the calling
    /// thread may call hooks.
    pub(super) fn run(
        &self,
        gradients: Gradients,
        is_caller: bool,
        deposits: &mut Vec<Deposit>,
    ) -> Result<Gradients> {
        let _profiled = profile::node(self.node, Extent::Whole, &[]);
        let shown = is_caller && (self.hosted || mode::special());
        let _current = shown.then(|| NodeGuard::enter(self.node));
        if !anomaly::is_enabled() {
            return self.plainly(gradients, is_caller, deposits);
        }
        let _running = anomaly::running(self.node);
        self.plainly(gradients, is_caller, deposits)
            .and_then(|results| if anomaly::checks_nan() { self.without_nan(results) } else { Ok(results) })
            .map_err(|error| anomaly::failed(self.node, error))
    }

    /// The gradients, unless one has an element that is not a number.
    fn without_nan(&self, results: Gradients) -> Result<Gradients> {
        match results.iter().position(|result| result.as_ref().is_some_and(accumulate::has_nan)) {
            Some(index) => Err(Error::NanGradient { function: self.node.name(), index }.into()),
            None => Ok(results),
        }
    }

    fn plainly(
        &self,
        mut gradients: Gradients,
        is_caller: bool,
        deposits: &mut Vec<Deposit>,
    ) -> Result<Gradients> {
        // The record, so that it is looked up once.
        let node: &Node = self.node;
        // Asked anew after the rule: what runs on the way may add hooks.
        let hooks = || node.extras().map(|extras| &extras.hooks).filter(|it| is_caller && !it.is_empty());
        if let Some(hooks) = hooks() {
            before(hooks, &mut gradients, deposits)?;
        }
        if self.hosted {
            check::arrived(self.node, &mut gradients)?;
        }
        let nothing = gradients.iter().all(Option::is_none) && node.rule().host().is_none();
        if node.is_released() {
            return Err(node.freed());
        }
        let mut results = if nothing {
            Gradients::from_elem(None, node.edges().len())
        } else {
            let tracking = self.options.create_graph;
            let at = At { node: self.node, needed: self.wanted, tracking, seen: self.seen };
            let rule = node.rule();
            // The host's own rules have lines of their own.
            let _line =
                (tracking && !node.traits().has(Traits::CALLER_ONLY)).then(|| origin::within(node.origin()));
            let _profiled = profile::node(self.node, Extent::Rule, &gradients);
            let _once = packing::ever().then(|| UnpackedOnce::of(self.node)).transpose()?;
            rule.vjp(&at, &gradients)?
        };
        for (index, (result, edge)) in results.iter_mut().zip(node.edges()).enumerate() {
            let Some(edge) = edge else { continue };
            if let Some(gradient) = result.take() {
                *result = Some(check::fit(gradient, &edge.node, edge.output, self.node, index)?);
            }
        }
        if self.options.create_graph {
            tie::tie(self.node, &mut results);
        }
        if let Some(hooks) = hooks() {
            for hook in hooks.at(Place::After) {
                hook.call(Call::After(&mut results, &gradients))?;
            }
        }
        if !self.options.retain_graph {
            node.release(self.start);
        }
        Ok(results)
    }
}

/// Runs the hooks of the tensors that a node stands for, where nothing else of the node is run
/// because the gradient is only handed back.
pub(super) fn tensor_hooks(
    node: &NodeRef,
    gradients: &mut Gradients,
    deposits: &mut Vec<Deposit>,
) -> Result<()> {
    let leaf = node.leaf().and_then(Tensor::hooks_if_any);
    let own = node.extras().map(|extras| &extras.hooks);
    let _current = leaf.or(own).map(|_| NodeGuard::enter(node));
    for hooks in [leaf, own].into_iter().flatten() {
        at_outputs(hooks, gradients)?;
        retain(hooks, gradients, deposits);
    }
    Ok(())
}

fn retain(hooks: &Hooks, gradients: &Gradients, deposits: &mut Vec<Deposit>) {
    for (output, tensor) in hooks.retained() {
        if let (Some(tensor), Some(gradient)) = (tensor.upgrade(), &gradients[output as usize]) {
            deposits.push(Deposit::retained(tensor, gradient.clone()));
        }
    }
}

fn at_outputs(hooks: &Hooks, gradients: &mut Gradients) -> Result<()> {
    for output in hooks.hooked_outputs() {
        if let Some(gradient) = gradients.get_mut(output as usize) {
            for hook in hooks.at(Place::Output(output)) {
                hook.call(Call::Gradient(gradient))?;
            }
        }
    }
    Ok(())
}

/// Hooks of the tensors that a node made, then gradients that are retained, then hooks of the node.
fn before(hooks: &Hooks, gradients: &mut Gradients, deposits: &mut Vec<Deposit>) -> Result<()> {
    at_outputs(hooks, gradients)?;
    retain(hooks, gradients, deposits);
    for hook in hooks.at(Place::Before) {
        hook.call(Call::Before(gradients))?;
    }
    Ok(())
}

/// A leaf's gradient is complete: hooks, then accumulation, now if somebody watches and later if not.
pub(super) fn finish_leaf(
    node: &NodeRef,
    gradients: Gradients,
    options: Options,
    deposits: &mut Vec<Deposit>,
) -> Result<()> {
    let _profiled = profile::node(node, Extent::Whole, &[]);
    if !anomaly::is_enabled() {
        return accumulate_leaf(node, gradients, options, deposits);
    }
    let _running = anomaly::running(node);
    accumulate_leaf(node, gradients, options, deposits).map_err(|error| anomaly::failed(node, error))
}

fn accumulate_leaf(
    node: &NodeRef,
    mut gradients: Gradients,
    options: Options,
    deposits: &mut Vec<Deposit>,
) -> Result<()> {
    // The record, so that it is looked up once.
    let record: &Node = node;
    let Some(leaf) = record.leaf() else { return Ok(()) };
    let own = record.extras().map(|extras| &extras.hooks).filter(|hooks| !hooks.is_empty());
    let hooks = leaf.hooks_if_any().filter(|hooks| !hooks.is_empty());
    let _current = hooks.or(own).map(|_| NodeGuard::enter(node));
    for hooks in [hooks, own].into_iter().flatten() {
        before(hooks, &mut gradients, deposits)?;
    }
    let _profiled = profile::node(node, Extent::Rule, &gradients);
    let gradient = gradients.first_mut().and_then(Option::take);
    if gradient.is_some() {
        check_leaf(leaf)?;
    }
    // A leaf may have been told since then that it wants none.
    let gradient = gradient.filter(|_| leaf.requires_grad());
    let watchers = hooks.map(|hooks| hooks.at(Place::Accumulated)).unwrap_or_default();
    let after: SmallVec<[_; 1]> = own.map(|hooks| hooks.at(Place::After).into()).unwrap_or_default();
    if watchers.is_empty() && after.is_empty() {
        deposits.extend(gradient.map(|gradient| Deposit::leaf(leaf.clone(), gradient)));
        return Ok(());
    }
    let incoming: Gradients = SmallVec::from_elem(gradient.clone(), 1);
    watched(leaf, gradient, options.create_graph, &watchers)?;
    for hook in after {
        hook.call(Call::After(&mut Gradients::new(), &incoming))?;
    }
    Ok(())
}

/// Refuses a leaf that an operation has written to since.
fn check_leaf(leaf: &Tensor) -> Result<()> {
    if leaf.is_known_as_leaf() { Ok(()) } else { Err(Error::LeafMoved {}.into()) }
}

/// Accumulates into a leaf, if there is a gradient, and tells those who watch it, also if there is none.
fn watched(
    leaf: &Tensor,
    gradient: Option<Tensor>,
    recording: bool,
    watchers: &[Arc<dyn Hook>],
) -> Result<()> {
    if let Some(gradient) = gradient {
        Deposit::leaf(leaf.clone(), gradient).put(recording)?;
    }
    watchers.iter().try_for_each(|hook| hook.call(Call::Accumulated(leaf)))
}

/// Does at once what the node of a leaf does in a run, apart from its hooks.
pub(super) fn accumulate_now(node: &NodeRef, leaf: &Tensor, gradient: Tensor) -> Result<()> {
    let gradient = check::fit(gradient, node, 0, node, 0)?;
    check_leaf(leaf)?;
    let watchers = leaf.hooks_if_any().map(|hooks| hooks.at(Place::Accumulated)).unwrap_or_default();
    watched(leaf, Some(gradient), mode::is_grad_enabled(), &watchers)
}
