//! Backward. `plan` finds the nodes to run and their order, `run` runs them on one thread, `parallel` on several with
//! the same bits, as `schedule` shares them out, where `experience` says that it pays; `buffer` sums the gradients that
//! arrive at a node, `check` validates each, `leaf` accumulates into `.grad`. Nothing here names an operation: rules are
//! called through the graph.

mod buffer;
mod check;
mod current;
mod depth;
mod experience;
mod leaf;
mod parallel;
mod plan;
mod run;
pub mod schedule;
mod zero_edge;

pub use current::{
    current_node, current_order, current_run, is_handing_back, is_retaining, is_unrestricted, will_reach,
};

use std::sync::Arc;

use parking_lot::Mutex;

use self::experience::Threads;
use crate::dispatch::accumulate;
use crate::dispatch::long_work::{self, KeepLockGuard, LongWork};
use crate::error::{Error, Result};
pub use crate::graph::host::{Host, NoHost};
use crate::graph::observe::detach_site::Reason;
use crate::graph::observe::{anomaly, profile};
use crate::graph::{At, Edge, FormRef, Freeing, Gradients, NodeRef, mode, transform_level};
use crate::origin;
use crate::tensor::Tensor;

/// What a run is for: `.grad` of leaves, or gradients that are returned.
pub enum Wanted {
    /// Every leaf accumulates.
    AllLeaves,
    /// These leaves accumulate, and what is not on the way to them is not run.
    Leaves(Vec<Edge>),
    /// The gradients at these edges are handed back and no leaf changes. `None` is an edge that is
    /// known to be out of reach.
    Captured(Vec<Option<Edge>>),
    /// As above, but what arrives at these edges is handed back one by one, and nothing behind them is run.
    Apart(Vec<Option<Edge>>, Arrivals),
}

/// What arrives at each of several edges, in the order in which it does.
pub type Arrivals = Arc<Mutex<Vec<Vec<Tensor>>>>;

/// How to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether what the rules keep stays for another run.
    pub retain_graph: bool,
    /// Whether the run is recorded.
    pub create_graph: bool,
}

/// Work from which on the host's lock is given back, in estimated nanoseconds.
const WORTH_UNLOCKING: u64 = 100_000;

/// The gradient that a root starts with: the one given, or one for a scalar.
pub fn root(tensor: &Tensor, gradient: Option<Tensor>, index: usize) -> Result<(Edge, Tensor)> {
    if gradient.is_none() && tensor.is_view() && tensor.requires_grad() {
        // Before it is asked whether the view still has a history.
        let array = tensor.array();
        check_implicit(FormRef { layout: &array.layout, dtype: array.dtype })?;
    }
    let edge = tensor.gradient_edge()?.ok_or_else(|| {
        let (reason, stopped) = tensor.cut().site().unzip();
        let reason = reason.map_or("", Reason::name);
        Error::NoGrad { index, reason, stopped: stopped.unwrap_or_default() }
    })?;
    let gradient = match gradient {
        Some(gradient) => gradient,
        None => {
            check_implicit(edge.node.form(edge.output))?;
            let _profiled = profile::step("ones_like");
            accumulate::implicit(tensor)?
        }
    };
    Ok((edge, gradient))
}

/// The gradient that an edge starts with if none is given.
pub fn implicit(edge: &Edge) -> Result<Tensor> {
    let form = edge.node.form(edge.output);
    check_implicit(form)?;
    accumulate::ones(form)
}

/// Whether a root of this form may start with one.
fn check_implicit(form: FormRef<'_>) -> Result<()> {
    if form.layout.numel() != 1 {
        return Err(Error::ImplicitGradient {}.into());
    }
    if !form.dtype.is_float() {
        return Err(Error::ImplicitGradientDType { dtype: form.dtype }.into());
    }
    Ok(())
}

/// Runs the graph backward from the roots. Answers the captured gradients, if any were wanted.
///
/// What is meant for `.grad` is collected and put there when the run has succeeded, so that a rule
/// that fails or a hook that raises leaves every leaf as it was. Only leaves that somebody watches
/// (hooks after accumulation) are written to during the run, when torch would.
pub fn run(
    roots: &[(Edge, Tensor)],
    wanted: &Wanted,
    options: Options,
    host: &'static dyn Host,
) -> Result<Vec<Option<Tensor>>> {
    let start = origin::here();
    let mut plan = plan::Plan::new(roots, wanted)?;
    let terms = run::Terms {
        options,
        freeing: Freeing::by(start),
        hosted: plan.hosted,
        // Whether the host may see gradients: its functions run on the way, or it is handed some.
        seen: plan.hosted || matches!(wanted, Wanted::Captured(_) | Wanted::Apart(..)),
    };
    let watch = (plan.work() >= WORTH_UNLOCKING).then(|| LongWork::new(host));
    // A run that lies deep in others goes on on a further thread, in the same modes.
    let flags = mode::Flags { grad: options.create_graph, ..mode::flags() };
    let unrestricted = matches!(wanted, Wanted::AllLeaves) && is_unrestricted();
    let transform = transform_level::next_run();
    let mut outcome = Ok(Vec::new());
    let mut body = || {
        let _transform = transform.map(transform_level::RunGuard::of);
        let _mode = mode::FlagsGuard::new(flags);
        let _lock = KeepLockGuard::new();
        let _current = current::CurrentGuard::enter(&plan, options, unrestricted);
        // What is recorded is put in the order in which it happens, and later runs follow that order: a
        // recorded run must not depend on how threads meet. Failures are observed on the calling thread,
        // and what is unusual about it, such as the level whose tangents it computes, holds for no other.
        let alone = || {
            let is_apart = matches!(wanted, Wanted::Apart(..));
            options.create_graph
                || mode::special()
                || anomaly::is_enabled()
                || !flags.multithreading
                || is_apart
        };
        outcome = match &watch {
            None => long_work::caught(|| run::run(&mut plan, roots, &terms)),
            Some(watch) if plan.is_worth_threads() && !alone() => plan.kind().run(|way| match way {
                Threads::Several => watch.over(|| parallel::run(&plan, roots, terms, watch)),
                Threads::One => watch.over(|| run::run(&mut plan, roots, &terms)),
            }),
            Some(watch) => watch.over(|| run::run(&mut plan, roots, &terms)),
        };
    };
    match &watch {
        _ if depth::is_deep() => depth::on_further_thread(&mut body, host),
        Some(_) => host.unlocked(&mut body),
        None => body(),
    }
    outcome
}

/// Gives a node its gradients by hand: answers those of its inputs. The node of a leaf accumulates.
pub fn call(node: &NodeRef, gradients: &Gradients) -> Result<Gradients> {
    if gradients.iter().all(Option::is_none) {
        return Ok(Gradients::from_elem(None, node.edges().len()));
    }
    if let (Some(leaf), Some(Some(gradient))) = (node.leaf(), gradients.first()) {
        if leaf.requires_grad() {
            run::accumulate_now(node, leaf, gradient.clone())?;
        }
        return Ok(Gradients::new());
    }
    if node.is_released() {
        return Err(node.freed());
    }
    let (needed, tracking) = (plan::bits(node.edges()), mode::is_grad_enabled());
    let at = At { node, needed, tracking, seen: true };
    let gradients = check::handed(node, gradients)?;
    long_work::caught(|| node.rule().vjp(&at, &gradients))
}

/// Accumulates the gradients of `roots` into the leaves.
pub fn backward(roots: &[Tensor], gradients: &[Option<Tensor>], options: Options) -> Result<()> {
    let roots = with_gradients(roots, gradients)?;
    run(&roots, &Wanted::AllLeaves, options, &NoHost).map(drop)
}

/// The gradients of `roots` with respect to `inputs`; `None` where an input was not used.
pub fn grad(
    roots: &[Tensor],
    inputs: &[Tensor],
    gradients: &[Option<Tensor>],
    options: Options,
) -> Result<Vec<Option<Tensor>>> {
    let roots = with_gradients(roots, gradients)?;
    let edges: Result<Vec<_>> = inputs.iter().map(Tensor::gradient_edge).collect();
    run(&roots, &Wanted::Captured(edges?), options, &NoHost)
}

/// What `grad` adds up for each input: nothing of what is behind another input.
pub(crate) fn arrivals(
    roots: &[Tensor],
    inputs: &[Tensor],
    gradients: &[Option<Tensor>],
    options: Options,
) -> Result<Vec<Vec<Tensor>>> {
    let roots = with_gradients(roots, gradients)?;
    let edges = inputs.iter().map(Tensor::gradient_edge).collect::<Result<Vec<_>>>()?;
    let arrivals = Arrivals::new(Mutex::new(vec![Vec::new(); edges.len()]));
    run(&roots, &Wanted::Apart(edges, arrivals.clone()), options, &NoHost)?;
    let found = std::mem::take(&mut *arrivals.lock());
    Ok(found)
}

fn with_gradients(roots: &[Tensor], gradients: &[Option<Tensor>]) -> Result<Vec<(Edge, Tensor)>> {
    let given = gradients.iter().cloned().chain(std::iter::repeat(None));
    roots
        .iter()
        .zip(given)
        .enumerate()
        .map(|(index, (tensor, gradient))| root(tensor, gradient, index))
        .collect()
}
