//! Dispatch modes (`TorchDispatchMode`): before an operation computes, beneath vmap and recording, each mode of the
//! thread is shown the operation and may answer in its place.
//!
//! Note [Interceptors]
//! ----
//! The innermost interceptor of a thread is called with an operation; `Operation::proceed` hands it on
//! to the next one, and behind the last one it is computed. What an interceptor answers becomes the
//! outputs, so that values that were kept from before can take the place of a computation, while the
//! operation is recorded as always. Behind the last one come the dispatch subclasses among the operands: see Note
//! [Dispatch subclasses]. Only special threads come here.

mod calls;
mod stack;

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use crate::dispatch::direct::Direct;
use crate::dispatch::modes::plain::What;
use crate::dispatch::modes::recording;
use crate::dispatch::operand::{Operand, Value};
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::UNDERIVED;
use crate::graph::mode::{self, GradModeGuard};
use crate::graph::observe::profile;
use crate::graph::observe::profile::Label;
use crate::tensor::{Array, Outputs, Tensor, any_subclassed};

pub(crate) use crate::dispatch::modes::intercept::calls::{
    Beneath, beside, elementwise, first, of_subclass, of_value, only, overwritten, owned, several,
    several_of, shown, structured, tensors, written, written_as,
};
use crate::dispatch::modes::intercept::stack::SUBCLASS_HANDLER;
pub(crate) use crate::dispatch::modes::intercept::stack::suspend;
pub use crate::dispatch::modes::intercept::stack::{
    all, beneath, is_active, is_dispatching_to_subclasses, is_intercepting, pop, push,
    register_subclass_handler, set_dispatching_to_subclasses,
};

/// What an elementwise operation is known by: the node that it would record, or of those that torch has no node
/// for the name of its kernel, without what it runs on.
pub(crate) fn known_by(node: &'static str, kernel: &'static str) -> &'static str {
    if node == UNDERIVED { kernel.strip_suffix("_cpu").unwrap_or(kernel) } else { node }
}

/// Who is shown operations before they run.
pub trait Interceptor: Send + Sync {
    /// Answers in the place of an operation.
    fn intercept(&self, operation: &Arc<Operation>) -> Result<Outputs>;

    /// The interceptor as the host knows it.
    fn as_any(&self) -> &dyn Any;
}

/// What computes an operation of operands. In place it writes to the first of them.
pub type Compute = Arc<dyn Fn(&[Value]) -> Result<Outputs> + Send + Sync>;

/// What computes the only output of an elementwise operation.
pub(crate) type Forward = Box<dyn Fn(&[Value]) -> Result<Array> + Send + Sync>;

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
    pub(super) compute: Compute,
    /// The same into memory that is there, if that can be.
    pub(super) direct: Option<Arc<dyn Direct>>,
    /// It as a value of its own type, if it is recorded as one.
    pub(super) what: Option<What>,
    /// How many operands, the first ones, it overwrites.
    pub(super) targets: usize,
    /// Whether no numbers are refused: it succeeds of all operands that lie as these do.
    pub(super) is_sure: bool,
    /// Of what other operands it could be computed.
    again: Again,
    /// What it has given so far, each time that it was computed.
    computed: Mutex<Outputs>,
    /// Whether operations were recorded where it was called.
    grad: bool,
    /// Whether an operand is of a dispatch subclass.
    subclassed: bool,
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
        let subclassed = is_dispatching_to_subclasses() && tensors.into_iter().any(Tensor::is_subclassed);
        Operation {
            node,
            in_place,
            operands,
            beside: SmallVec::new(),
            held: 0,
            attributes,
            outputs,
            targets: 0,
            is_sure: false,
            compute,
            direct: None,
            what: None,
            again,
            computed,
            grad,
            subclassed,
        }
    }

    /// A write to so many operands, the first ones.
    pub(super) fn writing(
        node: &'static str,
        operands: SmallVec<[Value; 3]>,
        targets: usize,
        compute: Compute,
    ) -> Operation {
        let operation = Operation::new(node, operands, compute);
        Operation { in_place: true, again: Again::Never, outputs: 0, targets, ..operation }
    }

    /// Hands it on to the next interceptor, or to dispatch subclasses, or computes it.
    pub fn proceed(self: &Arc<Operation>) -> Result<Outputs> {
        if let Some(outputs) = beneath(|innermost| innermost.intercept(self)) {
            return outputs;
        }
        match SUBCLASS_HANDLER.get() {
            Some(handler) if self.subclassed => {
                let _off = GradModeGuard::off();
                handler.intercept(self)
            }
            _ => self.compute(),
        }
    }

    /// Computes it.
    pub fn compute(&self) -> Result<Outputs> {
        let tensors = self.operands.iter().filter_map(|operand| Operand::from(operand).tensor());
        if any_subclassed() && tensors.into_iter().any(Tensor::has_no_data) {
            return Err(Error::OperandWithoutData {}.into());
        }
        let _as_called = GradModeGuard::new(self.grad);
        let _profiled = profile::begin(Label::Operation(self.node, self.in_place), || {
            let shape = |operand: &Value| Operand::from(operand).tensor().map(profile::shape);
            self.operands.iter().map(shape).collect()
        });
        let outputs = recording::computed(self, || (self.compute)(&self.operands))?;
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
        let operation = Operation { in_place: true, again: Again::Never, outputs: 0, targets: 1, ..self };
        Arc::new(operation).proceed().map(drop)
    }

    fn run_one(self, adopt: &dyn Fn(Tensor) -> Tensor) -> Result<Tensor> {
        self.run(adopt)?.pop().map_or_else(|| unreachable!("their number was looked at"), Ok)
    }
}

/// What somebody else has given as an output: a tensor of a dispatch subclass stays what it is.
fn given(output: Tensor) -> Tensor {
    if output.is_subclassed() { output } else { Tensor::from_array(output.array()) }
}
