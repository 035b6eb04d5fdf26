//! Running a plan on the calling thread, one node after another; and the steps that both ways of
//! running are made of.

use std::sync::Arc;

use smallvec::SmallVec;

use super::check;
use super::current::NodeGuard;
use super::leaf::{self, Deposit, Deposits};
use super::plan::{Plan, Target, Task};
use super::{Arrivals, Options};
use crate::dispatch::accumulate;
use crate::engine::zero_edge;
use crate::error::{Error, Result};
use crate::graph::observe::anomaly;
use crate::graph::observe::profile;
use crate::graph::observe::profile::Extent;
use crate::graph::saved_tensor_hooks;
use crate::graph::saved_tensor_hooks::UnpackedOnce;
use crate::graph::{At, Edge, Freeing, Gradients, Hook, HookCall, Hooks, Node, NodeRef, Place, Traits, mode};
use crate::kernels::interrupt::{self, Asking};
use crate::origin;
use crate::tensor::Tensor;

/// What all steps of a run have in common.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    pub(super) options: Options,
    /// The run as those nodes remember it that it frees.
    pub(super) freeing: Freeing,
    /// Whether functions of the host run on the way.
    pub(super) hosted: bool,
    /// Whether the host may see gradients.
    pub(super) seen: bool,
}

/// One node to run, with what its `Task` says, however that is stored.
pub(super) struct Step<'a> {
    pub(super) node: &'a NodeRef,
    /// Along which edges a gradient is wanted, a bit each.
    pub(super) wanted: u64,
    pub(super) terms: &'a Terms,
}

/// After so many tasks a run asks whether to go on.
const STRETCH: usize = 64;

/// Runs the plan. Answers the captured gradients.
pub(super) fn run(
    plan: &mut Plan<'_>,
    roots: &[(Edge, Tensor)],
    terms: &Terms,
) -> Result<Vec<Option<Tensor>>> {
    let mut sweep = Sweep {
        tasks: &mut plan.tasks,
        targets: &plan.targets,
        terms,
        captured: (0..plan.results).map(|_| None).collect(),
        apart: plan.apart.as_ref(),
        deposits: Deposits::new(),
    };
    for (&start, (_, gradient)) in plan.roots.iter().zip(roots) {
        let task = &sweep.tasks[start.task as usize];
        let mut gradient = Some(gradient.clone());
        check::fit(&mut gradient, task.node, start.output, task.node, 0)?;
        if plan.roots.len() == 1 && !task.needed && task.captures.is_empty() {
            // Hooks see what arrives at a root that stands alone, even if nothing is wanted behind it.
            let mut shown = Gradients::from_elem(None, task.node.outputs());
            shown[start.output as usize] = gradient.clone();
            tensor_hooks(task.node, &mut shown, &mut sweep.deposits)?;
        }
        sweep.arrive(start, gradient)?;
    }
    for (position, &task) in (1..).zip(&plan.order) {
        sweep.step(task)?;
        if position % STRETCH == 0 {
            interrupt::unwind_if_due();
        }
    }
    let _uninterrupted = interrupt::is_asking().then(Asking::nothing);
    leaf::put(&mut sweep.deposits, terms.options.create_graph)?;
    Ok(sweep.captured)
}

struct Sweep<'p, 'a> {
    tasks: &'p mut [Task<'a>],
    targets: &'p [Option<Target>],
    terms: &'p Terms,
    captured: Vec<Option<Tensor>>,
    apart: Option<&'p Arrivals>,
    deposits: Deposits,
}

impl Sweep<'_, '_> {
    /// A gradient arrives, or it turns out that there is none along that edge. Leaves run when there is nothing
    /// more to come.
    fn arrive(&mut self, target: Target, gradient: Option<Tensor>) -> Result<()> {
        let task = &mut self.tasks[target.task as usize];
        match (gradient, self.apart) {
            (Some(gradient), Some(apart)) if !task.captures.is_empty() => {
                let captures = task.captures.iter().filter(|(output, _)| *output == target.output);
                let mut apart = apart.lock();
                captures.for_each(|&(_, result)| apart[result as usize].push(gradient.clone()));
            }
            (Some(gradient), _) => task.buffer.add(target.output, gradient)?,
            (None, _) => {}
        }
        task.arrivals -= 1;
        if task.arrivals == 0 && task.is_leaf {
            let gradients = self.gather(target.task)?;
            let task = &self.tasks[target.task as usize];
            if task.needed {
                finish_leaf(task.node, gradients, self.terms.options, &mut self.deposits)?;
            }
        }
        Ok(())
    }

    /// What arrived at a task, captured on the way if that is wanted.
    fn gather(&mut self, task: u32) -> Result<Gradients> {
        let task = &mut self.tasks[task as usize];
        let mut gradients = task.buffer.take(task.node.outputs());
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
        let gradients = self.gather(task)?;
        let task = &self.tasks[task as usize];
        if !task.needed {
            return Ok(());
        }
        let targets = task.targets(self.targets);
        let step = Step { node: task.node, wanted: task.wanted, terms: self.terms };
        let mut results = step.run(gradients, true, &mut self.deposits)?;
        for (index, &target) in targets.iter().enumerate() {
            if let Some(target) = target {
                self.arrive(target, results.get_mut(index).and_then(Option::take))?;
            }
        }
        Ok(())
    }
}

impl Step<'_> {
    /// Runs hooks and rule; answers gradients by edge, each in the form of its target. Only the calling
    /// thread may call hooks.
    pub(super) fn run(
        &self,
        gradients: Gradients,
        is_caller: bool,
        deposits: &mut Deposits,
    ) -> Result<Gradients> {
        match self.terms.hosted || is_observed() {
            false => self.plainly(gradients, is_caller, deposits),
            true => self.observed(gradients, is_caller, deposits),
        }
    }

    /// The same where somebody may ask which node is running.
    #[cold]
    fn observed(&self, gradients: Gradients, is_caller: bool, deposits: &mut Deposits) -> Result<Gradients> {
        let _profiled = profile::node(self.node, Extent::Whole, &[]);
        let shown = is_caller && (self.terms.hosted || mode::special());
        let _current = shown.then(|| NodeGuard::enter(self.node));
        if !anomaly::is_enabled() {
            return self.plainly(gradients, is_caller, deposits);
        }
        // Where nothing can be recorded nobody asks whose rule is running.
        let records = self.terms.hosted || self.terms.options.create_graph || mode::special();
        let _running = records.then(|| anomaly::running(self.node));
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
        deposits: &mut Deposits,
    ) -> Result<Gradients> {
        // The record, so that it is looked up once.
        let node: &Node = self.node;
        // Asked anew after the rule: what runs on the way may add hooks.
        let hooks = || node.extras().map(|extras| &extras.hooks).filter(|it| is_caller && !it.is_empty());
        if let Some(hooks) = hooks() {
            before(hooks, &mut gradients, deposits)?;
        }
        if self.terms.hosted {
            check::arrived(self.node, &mut gradients)?;
        }
        let nothing = gradients.iter().all(Option::is_none) && node.rule().host().is_none();
        if node.is_released() {
            return Err(node.freed());
        }
        let mut results = match nothing {
            true => Gradients::from_elem(None, node.edges().len()),
            false => self.differentiate(&gradients)?,
        };
        for (index, (result, edge)) in results.iter_mut().zip(node.edges()).enumerate() {
            if let Some(edge) = edge {
                check::fit(result, &edge.node, edge.output, self.node, index)?;
            }
        }
        if self.terms.options.create_graph {
            zero_edge::attach(self.node, &mut results);
        }
        if let Some(hooks) = hooks() {
            for hook in hooks.at(Place::After) {
                hook.call(HookCall::After(&mut results, &gradients))?;
            }
        }
        if !self.terms.options.retain_graph {
            node.release(self.terms.freeing);
        }
        Ok(results)
    }

    /// Runs the rule, with what is to be around it.
    fn differentiate(&self, gradients: &Gradients) -> Result<Gradients> {
        let node: &Node = self.node;
        let tracking = self.terms.options.create_graph;
        let at = At { node: self.node, needed: self.wanted, tracking, seen: self.terms.seen };
        let rule = node.rule();
        if !(tracking || mode::special() || saved_tensor_hooks::ever()) {
            return rule.vjp(&at, gradients);
        }
        // The host's own rules have lines of their own.
        let _line =
            (tracking && !node.traits().has(Traits::CALLER_ONLY)).then(|| origin::within(node.origin()));
        let _profiled = profile::node(self.node, Extent::Rule, gradients);
        let _once = saved_tensor_hooks::ever().then(|| UnpackedOnce::of(self.node)).transpose()?;
        rule.vjp(&at, gradients)
    }
}

/// Whether somebody may ask what is running, or be told of it.
fn is_observed() -> bool {
    mode::special() || anomaly::is_enabled()
}

/// Runs the hooks of the tensors that a node stands for, where nothing else of the node is run
/// because the gradient is only handed back.
pub(super) fn tensor_hooks(node: &NodeRef, gradients: &mut Gradients, deposits: &mut Deposits) -> Result<()> {
    let leaf = node.leaf().and_then(Tensor::hooks_if_any);
    let own = node.extras().map(|extras| &extras.hooks);
    let _current = leaf.or(own).map(|_| NodeGuard::enter(node));
    for hooks in [leaf, own].into_iter().flatten() {
        at_outputs(hooks, gradients)?;
        retain(hooks, gradients, deposits);
    }
    Ok(())
}

fn retain(hooks: &Hooks, gradients: &Gradients, deposits: &mut Deposits) {
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
                hook.call(HookCall::Gradient(gradient))?;
            }
        }
    }
    Ok(())
}

/// Hooks of the tensors that a node made, then gradients that are retained, then hooks of the node.
fn before(hooks: &Hooks, gradients: &mut Gradients, deposits: &mut Deposits) -> Result<()> {
    at_outputs(hooks, gradients)?;
    retain(hooks, gradients, deposits);
    for hook in hooks.at(Place::Before) {
        hook.call(HookCall::Before(gradients))?;
    }
    Ok(())
}

/// A leaf's gradient is complete: hooks, then accumulation, now if somebody watches and later if not.
pub(super) fn finish_leaf(
    node: &NodeRef,
    gradients: Gradients,
    options: Options,
    deposits: &mut Deposits,
) -> Result<()> {
    if !is_observed() {
        return accumulate_leaf(node, gradients, options, deposits);
    }
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
    deposits: &mut Deposits,
) -> Result<()> {
    // The record, so that it is looked up once.
    let record: &Node = node;
    let Some(leaf) = record.leaf() else { return Ok(()) };
    let own = record.extras().map(|extras| &extras.hooks).filter(|hooks| !hooks.is_empty());
    let hooks = leaf.hooks_if_any().filter(|hooks| !hooks.is_empty());
    if own.is_none() && hooks.is_none() && !mode::special() {
        if let Some(gradient) = taken_by(leaf, &mut gradients)? {
            deposits.push(Deposit::leaf(leaf.clone(), gradient));
        }
        return Ok(());
    }
    let _current = hooks.or(own).map(|_| NodeGuard::enter(node));
    for hooks in [hooks, own].into_iter().flatten() {
        before(hooks, &mut gradients, deposits)?;
    }
    let _profiled = profile::node(node, Extent::Rule, &gradients);
    let gradient = taken_by(leaf, &mut gradients)?;
    let watchers = hooks.map(|hooks| hooks.at(Place::Accumulated)).unwrap_or_default();
    let after: SmallVec<[_; 1]> = own.map(|hooks| hooks.at(Place::After).into()).unwrap_or_default();
    if watchers.is_empty() && after.is_empty() {
        deposits.extend(gradient.map(|gradient| Deposit::leaf(leaf.clone(), gradient)));
        return Ok(());
    }
    let incoming: Gradients = SmallVec::from_elem(gradient.clone(), 1);
    watched(leaf, gradient, options.create_graph, &watchers)?;
    for hook in after {
        hook.call(HookCall::After(&mut Gradients::new(), &incoming))?;
    }
    Ok(())
}

/// The gradient that a leaf is to accumulate, if there is one.
fn taken_by(leaf: &Tensor, gradients: &mut Gradients) -> Result<Option<Tensor>> {
    let Some(gradient) = gradients.first_mut().and_then(Option::take) else { return Ok(None) };
    check_leaf(leaf)?;
    // It may have been told since then that it wants none.
    Ok(leaf.requires_grad().then_some(gradient))
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
    watchers.iter().try_for_each(|hook| hook.call(HookCall::Accumulated(leaf)))
}

/// Does at once what the node of a leaf does in a run, apart from its hooks.
pub(super) fn accumulate_now(node: &NodeRef, leaf: &Tensor, gradient: Tensor) -> Result<()> {
    let mut gradient = Some(gradient);
    check::fit(&mut gradient, node, 0, node, 0)?;
    check_leaf(leaf)?;
    let watchers = leaf.hooks_if_any().map(|hooks| hooks.at(Place::Accumulated)).unwrap_or_default();
    watched(leaf, gradient, mode::is_grad_enabled(), &watchers)
}
