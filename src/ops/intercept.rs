//! Operations as the host may intercept them: before an operation computes, beneath everything that
//! records it, whoever asked is shown what is about to run and answers in its place.
//!
//! Note [Interceptors]
//! ----
//! The innermost interceptor of a thread is called with an operation; `Operation::proceed` hands it on
//! to the next one, and behind the last one it is computed. What an interceptor answers becomes the
//! outputs, so that values that were kept from before can take the place of a computation, while the
//! operation is recorded as always. Doors come here only where something unusual goes on.

use std::any::Any;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use smallvec::{SmallVec, smallvec};

use super::apply::{Outputs, Overwrite};
use super::erased::AnyOp;
use super::operand::{Operand, Value};
use super::{half, view};
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::mode::{self, GradModeGuard, SpecialGuard};
use crate::graph::profile::{self, Label};
use crate::tensor::{Array, Creation, Tensor};

/// Who is shown operations before they run.
pub trait Interceptor: Send + Sync {
    /// Answers in the place of an operation.
    fn intercept(&self, operation: &Arc<Operation>) -> Result<Outputs>;

    /// The interceptor as the host knows it.
    fn as_any(&self) -> &dyn Any;
}

type Compute = Box<dyn Fn() -> Result<Outputs> + Send + Sync>;

/// An operation that is about to run.
pub struct Operation {
    /// torch's name of the node that it would record.
    pub node: &'static str,
    /// Whether it overwrites its first operand.
    pub in_place: bool,
    /// What it is given.
    pub operands: SmallVec<[Value; 3]>,
    /// What else it is known by, under torch's names.
    pub attributes: Attributes,
    /// How many tensors it gives.
    pub outputs: usize,
    compute: Compute,
    /// What it has given so far, each time that it was computed.
    computed: Mutex<Outputs>,
    /// Whether operations were recorded where it was called.
    grad: bool,
}

impl Operation {
    fn new(node: &'static str, operands: SmallVec<[Value; 3]>, compute: Compute) -> Operation {
        let computed = Mutex::new(Outputs::new());
        let grad = mode::flags().grad;
        let (attributes, in_place, outputs) = (Attributes::new(), false, 1);
        Operation { node, in_place, operands, attributes, outputs, compute, computed, grad }
    }

    /// Hands it on to the next interceptor, or computes it.
    pub fn proceed(self: &Arc<Operation>) -> Result<Outputs> {
        if let Some(outputs) = beneath(|innermost| innermost.intercept(self)) {
            return outputs;
        }
        let _as_called = GradModeGuard::new(self.grad);
        let _profiled = profile::begin(Label::Operation(self.node, self.in_place), || {
            let shape = |operand: &Value| Operand::from(operand).tensor().map(profile::shape);
            self.operands.iter().map(shape).collect()
        });
        let outputs = (self.compute)()?;
        let mut computed = self.computed.lock().unwrap_or_else(PoisonError::into_inner);
        computed.extend(outputs.iter().cloned());
        Ok(outputs)
    }

    /// Runs it; what it did not give itself is shown by a tensor of its own, as `adopt` makes it.
    fn run(self, adopt: &dyn Fn(Array) -> Tensor) -> Result<Outputs> {
        let operation = Arc::new(self);
        let outputs = operation.proceed()?;
        if outputs.len() != operation.outputs {
            let (node, got) = (operation.node.to_owned(), outputs.len());
            return Err(Error::Intercepted { node, got, expected: operation.outputs }.into());
        }
        let computed = operation.computed.lock().unwrap_or_else(PoisonError::into_inner);
        let own = |output: &Tensor| computed.iter().any(|computed| computed.is(output));
        Ok(outputs
            .into_iter()
            .map(|output| if own(&output) { output } else { adopt(output.array()) })
            .collect())
    }

    fn run_one(self, adopt: &dyn Fn(Array) -> Tensor) -> Result<Tensor> {
        self.run(adopt)?.pop().map_or_else(|| unreachable!("their number was looked at"), Ok)
    }
}

type Entry = (Arc<dyn Interceptor>, SpecialGuard);

thread_local!(static INTERCEPTORS: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) });

/// The interceptors of a thread without the innermost one, which is put back in the end.
struct Rest {
    innermost: Arc<dyn Interceptor>,
    entry: Option<Entry>,
}

impl Rest {
    fn without_innermost() -> Option<Rest> {
        let entry = INTERCEPTORS.with_borrow_mut(Vec::pop)?;
        Some(Rest { innermost: entry.0.clone(), entry: Some(entry) })
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        INTERCEPTORS.with_borrow_mut(|interceptors| interceptors.extend(self.entry.take()));
    }
}

/// No interceptor of this thread is shown anything until this goes.
#[must_use = "it lasts as long as the guard"]
pub(super) struct Aside {
    before: Vec<Entry>,
}

/// What is computed from now on is for the engine alone.
pub(super) fn aside() -> Aside {
    Aside { before: INTERCEPTORS.take() }
}

impl Drop for Aside {
    fn drop(&mut self) {
        INTERCEPTORS.set(std::mem::take(&mut self.before));
    }
}

/// Has `interceptor` shown the operations of this thread, until `pop`.
pub fn push(interceptor: Arc<dyn Interceptor>) {
    INTERCEPTORS.with_borrow_mut(|interceptors| interceptors.push((interceptor, SpecialGuard::new())));
}

/// Ends what the last `push` began.
pub fn pop() {
    let ended = INTERCEPTORS.with_borrow_mut(Vec::pop);
    drop(ended);
}

/// All interceptors of this thread, the innermost last.
pub fn all() -> Vec<Arc<dyn Interceptor>> {
    INTERCEPTORS.with_borrow(|entries| entries.iter().map(|(interceptor, _)| interceptor.clone()).collect())
}

/// Runs `body` with the innermost interceptor, which is shown nothing meanwhile; `None` if there is none.
pub fn beneath<T>(body: impl FnOnce(&Arc<dyn Interceptor>) -> T) -> Option<T> {
    let rest = Rest::without_innermost()?;
    // Whatever interceptors compute themselves is beneath the graph.
    let _off = GradModeGuard::off();
    Some(body(&rest.innermost))
}

/// Whether operations of this thread are intercepted, or profiled.
#[inline]
pub fn is_active() -> bool {
    mode::special() && (is_intercepting() || profile::is_active())
}

/// Whether there are interceptors on this thread.
pub fn is_intercepting() -> bool {
    INTERCEPTORS.with_borrow(|interceptors| !interceptors.is_empty())
}

fn owned(inputs: &[&Tensor]) -> SmallVec<[Value; 3]> {
    inputs.iter().map(|&input| Value::Tensor(input.clone())).collect()
}

/// The outputs of a structured operation.
#[cold]
pub(super) fn structured(op: &dyn AnyOp, inputs: &[&Tensor]) -> Result<Outputs> {
    let (own, tensors) = (op.owned(), kept(inputs));
    let compute = Box::new(move || own.forward(&references(&tensors)));
    let operation = Operation {
        outputs: op.outputs(inputs),
        attributes: op.told(),
        ..Operation::new(op.name(), owned(inputs), compute)
    };
    let creation = op.shows();
    operation.run(&|array| match creation {
        Some(creation) => view::adopt(inputs[0], array, creation),
        None => Tensor::from_array(array),
    })
}

fn kept(inputs: &[&Tensor]) -> Vec<Tensor> {
    inputs.iter().map(|&input| input.clone()).collect()
}

fn references(inputs: &[Tensor]) -> SmallVec<[&Tensor; 3]> {
    inputs.iter().collect()
}

fn values(operands: &[Operand<'_>]) -> SmallVec<[Value; 3]> {
    operands.iter().map(|operand| Value::from(*operand)).collect()
}

/// The output of an elementwise operation.
#[cold]
pub(super) fn elementwise(
    node: &'static str,
    operands: &[Operand<'_>],
    forward: impl Fn() -> Result<Array> + Send + Sync + 'static,
) -> Result<Tensor> {
    let compute = Box::new(move || Ok(smallvec![Tensor::from_array(forward()?)]));
    Operation::new(node, values(operands), compute).run_one(&Tensor::from_array)
}

/// A view of `x`.
#[cold]
pub(super) fn shown(
    node: &'static str,
    attributes: Attributes,
    x: &Tensor,
    show: impl Fn(&Tensor) -> Tensor + Send + Sync + 'static,
) -> Result<Tensor> {
    let source = x.clone();
    let compute = Box::new(move || Ok(smallvec![show(&source)]));
    let adopt = &|array| view::adopt(x, array, Creation::Default);
    Operation { attributes, ..Operation::new(node, owned(&[x]), compute) }.run_one(adopt)
}

/// A write to the first operand. Whoever answers without going on leaves it as it is.
#[cold]
pub(super) fn written(
    node: &'static str,
    operands: &[Operand<'_>],
    write: impl Fn() -> Result<()> + Send + Sync + 'static,
) -> Result<()> {
    written_with(node, operands, Attributes::new(), write)
}

/// `written` by an operation that has parameters.
#[cold]
pub(super) fn written_with(
    node: &'static str,
    operands: &[Operand<'_>],
    attributes: Attributes,
    write: impl Fn() -> Result<()> + Send + Sync + 'static,
) -> Result<()> {
    let target = operands.first().and_then(|target| target.tensor()).cloned();
    let compute = Box::new(move || write().map(|()| target.iter().cloned().collect()));
    let operation =
        Operation { in_place: true, attributes, ..Operation::new(node, values(operands), compute) };
    operation.run(&Tensor::from_array).map(drop)
}

/// `written` for an operation that changes part of its first input; `apart` are the inputs in memory
/// that the write leaves alone.
#[cold]
pub(super) fn overwritten<O: Overwrite>(op: &O, inputs: &[&Tensor], apart: &[&Tensor]) -> Result<()> {
    let (node, op, target, apart) = (op.name(), op.clone(), inputs[0].array(), kept(apart));
    let operands: SmallVec<[Operand<'_>; 3]> = inputs.iter().map(|&input| input.into()).collect();
    written(node, &operands, move || half::overwrite(&op, &target, &references(&apart)))
}
