//! Operations as the host may intercept them: before an operation computes, beneath everything that
//! records it, whoever asked is shown what is about to run and answers in its place.
//!
//! Note [Interceptors]
//! ----
//! The innermost interceptor of a thread is called with an operation; `Operation::proceed` hands it on
//! to the next one, and behind the last one it is computed. What an interceptor answers becomes the
//! outputs, so that values that were kept from before can take the place of a computation, while the
//! operation is recorded as always. Behind the last one come the classes that mind an operand: see Note
//! [Tensors that their class minds]. Doors come here only where something unusual goes on.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use smallvec::{SmallVec, smallvec};

use super::apply::{Outputs, Overwrite};
use super::erased::AnyOp;
use super::operand::{Operand, Value};
use super::{half, view};
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::mode::{self, GradModeGuard, SpecialGuard};
use crate::graph::profile::{self, Label};
use crate::tensor::{Array, Creation, Tensor, any_minded};

/// Who is shown operations before they run.
pub trait Interceptor: Send + Sync {
    /// Answers in the place of an operation.
    fn intercept(&self, operation: &Arc<Operation>) -> Result<Outputs>;

    /// The interceptor as the host knows it.
    fn as_any(&self) -> &dyn Any;
}

/// What computes an operation of operands. In place it has its own, whatever it is given.
type Compute = Arc<dyn Fn(&[Value]) -> Result<Outputs> + Send + Sync>;

/// What computes the only output of an elementwise operation.
pub(super) type Forward = Box<dyn Fn(&[Value]) -> Result<Array> + Send + Sync>;

/// An operation that is about to run.
pub struct Operation {
    /// torch's name of the node that it would record.
    pub node: &'static str,
    /// Whether it overwrites its first operand.
    pub in_place: bool,
    /// What it is given.
    pub operands: SmallVec<[Value; 3]>,
    /// What it holds beside its inputs, such as indices.
    pub beside: SmallVec<[Tensor; 1]>,
    /// How many of the operands, the last ones, are those.
    pub held: usize,
    /// What else it is known by, under torch's names.
    pub attributes: Attributes,
    /// How many tensors it gives.
    pub outputs: usize,
    compute: Compute,
    /// Of what other operands it could be computed.
    again: Again,
    /// What it has given so far, each time that it was computed.
    computed: Mutex<Outputs>,
    /// Whether operations were recorded where it was called.
    grad: bool,
    /// Whether the class of an operand minds it.
    minded: bool,
}

/// Of what other operands an operation that is intercepted could be computed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    /// Of those of the same shapes and types.
    Alike,
    /// Of those that also lie alike in memory.
    LyingAlike,
    /// Of none: it is a write.
    Never,
}

impl Again {
    fn fits(self, own: &Value, other: &Value) -> bool {
        let (Value::Tensor(own), Value::Tensor(other)) = (own, other) else {
            return matches!((own, other), (Value::Scalar(_), Value::Scalar(_)));
        };
        let (layout, others) = (own.layout(), other.layout());
        let fits = layout.shape() == others.shape() && own.dtype() == other.dtype();
        fits && (self == Again::Alike || layout == others)
    }
}

impl Operation {
    fn new(node: &'static str, operands: SmallVec<[Value; 3]>, compute: Compute) -> Operation {
        let computed = Mutex::new(Outputs::new());
        let grad = mode::flags().grad;
        let (attributes, in_place, outputs, again) = (Attributes::new(), false, 1, Again::Alike);
        let tensors = operands.iter().filter_map(|operand| Operand::from(operand).tensor());
        let minded = is_minding() && tensors.into_iter().any(Tensor::is_minded);
        Operation {
            node,
            in_place,
            operands,
            beside: SmallVec::new(),
            held: 0,
            attributes,
            outputs,
            compute,
            again,
            computed,
            grad,
            minded,
        }
    }

    /// Hands it on to the next interceptor, or to the classes that mind it, or computes it.
    pub fn proceed(self: &Arc<Operation>) -> Result<Outputs> {
        if let Some(outputs) = beneath(|innermost| innermost.intercept(self)) {
            return outputs;
        }
        match MINDER.get() {
            Some(minder) if self.minded => {
                let _off = GradModeGuard::off();
                minder.intercept(self)
            }
            _ => self.compute(),
        }
    }

    /// Computes it.
    pub fn compute(&self) -> Result<Outputs> {
        let tensors = self.operands.iter().filter_map(|operand| Operand::from(operand).tensor());
        if any_minded() && tensors.into_iter().any(Tensor::is_hollow) {
            return Err(Error::HollowOperand {}.into());
        }
        let _as_called = GradModeGuard::new(self.grad);
        let _profiled = profile::begin(Label::Operation(self.node, self.in_place), || {
            let shape = |operand: &Value| Operand::from(operand).tensor().map(profile::shape);
            self.operands.iter().map(shape).collect()
        });
        let outputs = (self.compute)(&self.operands)?;
        let mut computed = self.computed.lock().unwrap_or_else(PoisonError::into_inner);
        computed.extend(outputs.iter().cloned());
        Ok(outputs)
    }

    /// Computes it of other operands, if they are such that it could have been given.
    pub fn of(&self, operands: SmallVec<[Value; 3]>) -> Option<Result<Outputs>> {
        let mut pairs = self.operands.iter().zip(&operands);
        let fit = self.again != Again::Never && operands.len() == self.operands.len();
        if !fit || !pairs.all(|(own, other)| self.again.fits(own, other)) {
            return None;
        }
        let (attributes, outputs, again, held) =
            (self.attributes.clone(), self.outputs, self.again, self.held);
        let operation = Operation::new(self.node, operands, self.compute.clone());
        Some(Operation { attributes, outputs, again, held, ..operation }.run(&given))
    }

    /// Runs it; what it did not give itself is shown by a tensor of its own, as `adopt` makes it.
    fn run(self, adopt: &dyn Fn(Tensor) -> Tensor) -> Result<Outputs> {
        let operation = Arc::new(self);
        let outputs = operation.proceed()?;
        if outputs.len() != operation.outputs {
            let (node, got) = (operation.node.to_owned(), outputs.len());
            return Err(Error::Intercepted { node, got, expected: operation.outputs }.into());
        }
        let computed = operation.computed.lock().unwrap_or_else(PoisonError::into_inner);
        let own = |output: &Tensor| computed.iter().any(|computed| computed.is(output));
        Ok(outputs.into_iter().map(|output| if own(&output) { output } else { adopt(output) }).collect())
    }

    /// Runs it as a write to its first operand.
    fn run_in_place(self) -> Result<()> {
        let operation = Operation { in_place: true, again: Again::Never, outputs: 0, ..self };
        Arc::new(operation).proceed().map(drop)
    }

    fn run_one(self, adopt: &dyn Fn(Tensor) -> Tensor) -> Result<Tensor> {
        self.run(adopt)?.pop().map_or_else(|| unreachable!("their number was looked at"), Ok)
    }
}

/// What somebody else has given as an output: what its class minds stays what it is.
fn given(output: Tensor) -> Tensor {
    if output.is_minded() { output } else { Tensor::from_array(output.array()) }
}

/// Who asks the classes that mind an operand.
static MINDER: OnceLock<Box<dyn Interceptor>> = OnceLock::new();

/// Says who asks the classes that mind an operand. Called once, by the host.
pub fn register_minder(minder: Box<dyn Interceptor>) {
    // A second registration would come from a second host in the process: the first one stays.
    let _ = MINDER.set(minder);
}

thread_local!(static UNMINDED: Cell<u32> = const { Cell::new(0) });

/// Whether classes are asked on this thread, if there are any.
pub fn is_minding() -> bool {
    any_minded() && UNMINDED.get() == 0
}

/// No class is asked on this thread, or again: as often as it was said.
pub fn set_minding(minding: bool) {
    UNMINDED.set(if minding { UNMINDED.get().saturating_sub(1) } else { UNMINDED.get() + 1 });
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
    mode::special() && (is_intercepting() || any_minded() || profile::is_active())
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
    let (own, creation, count) = (op.owned(), op.shows(), inputs.len());
    let beside = op.held();
    // What it holds beside is an operand like others where a class minds that.
    let minded = is_minding() && beside.iter().any(Tensor::is_minded);
    let held: &[Tensor] = if minded { &beside } else { &[] };
    let all: SmallVec<[&Tensor; 4]> = inputs.iter().copied().chain(held).collect();
    let compute = Arc::new(move |operands: &[Value]| {
        let tensors = tensors(operands);
        let (inputs, held) = tensors.split_at(count);
        match held {
            [] => own.forward(inputs),
            held => own.holding(&kept(held))?.forward(inputs),
        }
    });
    let operation = Operation {
        outputs: op.outputs(inputs),
        attributes: op.told(inputs),
        again: if creation.is_some() { Again::LyingAlike } else { Again::Alike },
        held: held.len(),
        beside: beside.clone(),
        ..Operation::new(op.name(), owned(&all), compute)
    };
    operation.run(&|output| match creation {
        Some(creation) => view::adopt(inputs[0], output, creation),
        None => given(output),
    })
}

fn kept(inputs: &[&Tensor]) -> Vec<Tensor> {
    inputs.iter().map(|&input| input.clone()).collect()
}

fn references(inputs: &[Tensor]) -> SmallVec<[&Tensor; 3]> {
    inputs.iter().collect()
}

fn tensors(operands: &[Value]) -> SmallVec<[&Tensor; 3]> {
    operands.iter().filter_map(|operand| Operand::from(operand).tensor()).collect()
}

/// The first operand, which is a tensor.
pub(super) fn first(operands: &[Value]) -> &Tensor {
    match operands.first() {
        Some(Value::Tensor(first)) => first,
        _ => unreachable!("operands are replaced by others of their kind"),
    }
}

fn values(operands: &[Operand<'_>]) -> SmallVec<[Value; 3]> {
    operands.iter().map(|operand| Value::from(*operand)).collect()
}

/// The output of an elementwise operation.
#[cold]
pub(super) fn elementwise(node: &'static str, operands: &[Operand<'_>], forward: Forward) -> Result<Tensor> {
    let compute = Arc::new(move |operands: &[Value]| Ok(smallvec![Tensor::from_array(forward(operands)?)]));
    Operation::new(node, values(operands), compute).run_one(&given)
}

/// What the class of an operand that minds it gives in the place of what is computed without a node of
/// its own; `name` is torch's of the operator. `None` if there is no such class.
#[cold]
pub(super) fn minded(
    name: &'static str,
    operands: &[Operand<'_>],
    compute: impl Fn(&[Value]) -> Result<Tensor> + Send + Sync + 'static,
) -> Option<Result<Tensor>> {
    let minded = |operand: &Operand<'_>| operand.tensor().is_some_and(Tensor::is_minded);
    if !is_minding() || !operands.iter().any(minded) {
        return None;
    }
    let compute = Arc::new(move |operands: &[Value]| Ok(smallvec![compute(operands)?]));
    Some(Operation::new(name, values(operands), compute).run_one(&given))
}

/// What the class of `x`, which minds it, gives in the place of another tensor on its memory, or of one
/// that is made like it.
#[cold]
pub(super) fn beside(
    node: &'static str,
    attributes: Attributes,
    x: &Tensor,
    make: impl Fn(&Tensor) -> Result<Tensor> + Send + Sync + 'static,
) -> Result<Tensor> {
    let compute = Arc::new(move |operands: &[Value]| Ok(smallvec![make(first(operands))?]));
    Operation { attributes, ..Operation::new(node, owned(&[x]), compute) }.run_one(&given)
}

/// A view of `x`.
#[cold]
pub(super) fn shown(
    node: &'static str,
    attributes: Attributes,
    x: &Tensor,
    show: impl Fn(&Tensor) -> Tensor + Send + Sync + 'static,
) -> Result<Tensor> {
    let compute = Arc::new(move |operands: &[Value]| Ok(smallvec![show(first(operands))]));
    let adopt = &|output| view::adopt(x, output, Creation::Default);
    let operation = Operation::new(node, owned(&[x]), compute);
    Operation { attributes, again: Again::LyingAlike, ..operation }.run_one(adopt)
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
    let compute = Arc::new(move |_: &[Value]| write().map(|()| Outputs::new()));
    let operation = Operation::new(node, values(operands), compute);
    Operation { attributes, ..operation }.run_in_place()
}

/// `written` for an operation that changes part of its first input; `apart` are the inputs in memory
/// that the write leaves alone.
#[cold]
pub(super) fn overwritten<O: Overwrite>(op: &O, inputs: &[&Tensor], apart: &[&Tensor]) -> Result<()> {
    let (own, target, apart) = (op.clone(), inputs[0].array(), kept(apart));
    let write = move |_: &[Value]| {
        half::overwrite(&own, &target, &references(&apart))?;
        Ok(Outputs::new())
    };
    let operation = Operation::new(op.name(), owned(inputs), Arc::new(write));
    let attributes = AnyOp::told(op, inputs);
    Operation { attributes, beside: op.held(), ..operation }.run_in_place()
}
