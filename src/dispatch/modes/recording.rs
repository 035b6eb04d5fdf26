//! The recorder: the operations that a thread computes, written down one after the other, so that they can be
//! computed again without the host's program. It is beneath dispatch modes; `program` makes a program of the
//! record.
//!
//! Note [Recording]
//! ----
//! A record is complete, or it says that it is not. Operations are written down where they compute; memory
//! that is made of nothing but numbers says so (`filled`, `fixed`). Whatever else happens leaves a trace:
//! memory that came into being, writes that were counted, numbers that left (`graph::following`). What an
//! operation reads was given to it by something that was written down, or was there before, or the record is
//! of no use.

use std::cell::RefCell;
use std::sync::Arc;

use smallvec::SmallVec;

use super::intercept::{Compute, Operation};
use crate::dispatch::direct::Direct;
use crate::dispatch::modes::plain::{Portable, Ready, What};
use crate::dispatch::operand::{Operand, Value};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::following::{self, Following, Known, Leak, Note, Origin, Place};
use crate::graph::tangents::live;
use crate::graph::{Attributes, mode};
use crate::ops::creation::copy;
use crate::shape::SharedLayout;
use crate::tensor::{Array, Outputs, Tensor};

/// What an operation was given or gave, without its numbers.
#[derive(Clone)]
pub struct Seen {
    /// Where.
    pub place: Place,
    /// In which order.
    pub layout: SharedLayout,
    /// Of which type.
    pub dtype: DType,
}

impl Seen {
    /// What is seen of these numbers.
    pub fn of(array: &Array) -> Seen {
        Seen { place: Place::of(&array.storage), layout: array.layout.clone(), dtype: array.dtype }
    }
}

/// What an operation was given.
#[derive(Clone)]
pub enum Given {
    /// A tensor.
    Tensor(Seen),
    /// A number.
    Number(Scalar),
}

/// An operation that was computed.
pub struct Computed {
    /// torch's name of its node.
    pub name: &'static str,
    /// What computes it of other operands, or writes to the first of them.
    pub compute: Compute,
    /// The same into memory that is there, if that can be.
    pub direct: Option<Arc<dyn Direct>>,
    /// It as a value of its own type, if it is recorded as one.
    pub what: Option<What>,
    /// Where it was called.
    pub origin: Origin,
    /// How many of its operands, the first ones, it overwrites.
    pub targets: usize,
    /// Whether it succeeds whatever numbers it is given.
    pub is_sure: bool,
    /// What it was given.
    pub operands: SmallVec<[Given; 3]>,
    /// What it gave.
    pub outputs: SmallVec<[Seen; 1]>,
}

/// Something that happened, in the order in which it did.
pub enum Event {
    /// Memory came into being.
    Born(usize),
    /// Memory is known to hold these numbers, whoever calls.
    Fixed(Place, Array),
    /// A write was counted.
    Wrote(Place),
    /// An operation was computed.
    Computed(Box<Computed>),
    /// What follows is backward, which was given these gradients, and none for some outputs.
    Backward(SmallVec<[Option<Place>; 2]>),
}

/// Memory that was filled with a number when it came into being; whether it still is when it is first used has
/// to be seen.
struct Filled {
    place: Place,
    value: Scalar,
    dtype: DType,
}

#[derive(Default)]
struct Log {
    events: Vec<Event>,
    filled: Vec<Filled>,
}

thread_local!(static LOG: RefCell<Log> = const { RefCell::new(Log { events: Vec::new(), filled: Vec::new() }) });

/// A record that is being made on this thread.
#[must_use = "it ends when it is dropped"]
pub struct Recording {
    _following: Following,
}

impl Recording {
    /// Begins one; what was written down before is gone.
    #[allow(clippy::new_without_default)] // It does something.
    pub fn new() -> Recording {
        LOG.take();
        Recording { _following: Following::new(is_expected) }
    }

    /// What follows is backward of what was computed, from these gradients, which have just been made.
    pub fn backward(&self, given: &[Option<Tensor>]) {
        let places = given.iter().map(|given| given.as_ref().map(|given| Place::of(&given.memory().storage)));
        let places = places.collect();
        LOG.with_borrow_mut(|log| {
            note(log);
            log.events.push(Event::Backward(places));
        });
    }

    /// What is left behind is used, if by nobody else.
    pub fn leaves_behind(&self, tensor: &Tensor) -> Result<()> {
        settle(&tensor.memory())
    }

    /// Ends it: what happened, and the first number that left.
    pub fn end(self) -> (Vec<Event>, Option<Leak>) {
        let leak = following::leak();
        LOG.with_borrow_mut(note);
        (LOG.take().events, leak)
    }
}

/// Whether what this thread does is written down.
#[inline]
pub fn is_on() -> bool {
    following::is_on()
}

/// Writes down what was noted elsewhere since.
fn note(log: &mut Log) {
    following::notes(|noted| {
        log.events.push(match noted {
            Note::Born(born) => {
                log.filled.retain(|filled| filled.place.block != born);
                Event::Born(born)
            }
            Note::Wrote(place) => Event::Wrote(place),
        });
    });
}

/// Runs what computes an operation, and writes it down.
pub(super) fn computed(operation: &Operation, compute: impl FnOnce() -> Result<Outputs>) -> Result<Outputs> {
    if !is_on() {
        return compute();
    }
    let tensors = || {
        operation.operands.iter().filter_map(|operand| match operand {
            Value::Tensor(tensor) => Some(tensor),
            Value::Scalar(_) => None,
        })
    };
    LOG.with_borrow_mut(note);
    for tensor in tensors() {
        settle(&tensor.memory())?;
    }
    let outputs = {
        let _known = Known::new();
        compute()?
    };
    let given = |operand: &Value| match operand {
        Value::Tensor(tensor) => Given::Tensor(Seen::of(&tensor.memory())),
        Value::Scalar(number) => Given::Number(*number),
    };
    let computed = Computed {
        name: operation.node,
        compute: operation.compute.clone(),
        direct: operation.direct.clone(),
        what: operation.what.clone(),
        origin: following::place(),
        targets: operation.targets,
        is_sure: operation.is_sure,
        operands: operation.operands.iter().map(given).collect(),
        outputs: outputs.iter().map(|output| Seen::of(&output.memory())).collect(),
    };
    LOG.with_borrow_mut(|log| {
        note(log);
        log.events.push(Event::Computed(Box::new(computed)));
    });
    Ok(outputs)
}

/// Memory that was filled and is now used for the first time: it is fixed, if it still holds what it was filled
/// with. Else something wrote to it that nobody has seen, and where its numbers come from is not known.
fn settle(array: &Array) -> Result<()> {
    let place = Place::of(&array.storage);
    let found = LOG.with_borrow_mut(|log| {
        let at = log.filled.iter().position(|filled| filled.place.memory == place.memory)?;
        Some(log.filled.swap_remove(at))
    });
    let Some(Filled { place, value, dtype }) = found else { return Ok(()) };
    let _known = Known::new();
    let held = copy::whole(&Array { dtype, ..array.clone() })?;
    if copy::holds_only(&held, value)? {
        LOG.with_borrow_mut(|log| log.events.push(Event::Fixed(place, held)));
    }
    Ok(())
}

/// Every element of `x`, which has just come into being, is this number, whoever calls.
#[cold]
pub(crate) fn filled(x: &Array, value: Scalar) {
    LOG.with_borrow_mut(|log| {
        note(log);
        log.filled.push(Filled { place: Place::of(&x.storage), value, dtype: x.dtype });
    });
}

/// The elements of `x`, which has just come into being, are these, whoever calls.
#[cold]
pub fn fixed(x: &Tensor) -> Result<()> {
    if !is_on() {
        return Ok(());
    }
    let array = x.memory();
    let held = {
        let _known = Known::new();
        copy::whole(&array)?
    };
    LOG.with_borrow_mut(|log| {
        note(log);
        log.events.push(Event::Fixed(Place::of(&array.storage), held));
    });
    Ok(())
}

/// Has numbers looked at that may be refused: each time that what is written down is computed again.
pub(crate) fn checked(
    name: &'static str,
    tensors: &[&Tensor],
    check: impl Fn(&[&Tensor]) -> Result<()> + Send + Sync + 'static,
) -> Result<()> {
    if !is_on() {
        return check(tensors);
    }
    let operands = tensors.iter().map(|&tensor| Value::Tensor(tensor.clone())).collect();
    let compute = move |operands: &[Value]| {
        check(&super::intercept::tensors(operands))?;
        Ok(Outputs::new())
    };
    Operation::writing(name, operands, 0, Arc::new(compute)).compute().map(drop)
}

/// So many numbers at most are expected to be the same each time.
const MOST_EXPECTED: usize = 64;

/// Has numbers that the host's program is shown, which may branch on them, be compared each time with what they are now.
/// Answers whether they are: truth values, integers, and nothing; other numbers are hardly ever the same again.
fn is_expected(x: &Tensor) -> bool {
    let array = x.memory();
    let held = {
        let _known = Known::new();
        copy::dense(&array)
    };
    let Ok(held) = held else { return false };
    let is_steady =
        !array.dtype.is_differentiable() || copy::holds_only(&held, Scalar::Int(0)).unwrap_or(false);
    if !is_steady || held.layout.numel() > MOST_EXPECTED || x.differs() || x.is_subclassed() {
        return false;
    }
    let compare = move |x: &[&Tensor]| match copy::has_bits_of(&x[0].memory(), &held)? {
        true => Ok(()),
        false => Err(Error::ProgramDiverged { node: "a number that is looked at".to_owned() }.into()),
    };
    checked("_local_scalar_dense", &[x], compare).is_ok()
}

/// Whether a record is all that is made of what is computed of these tensors, beside their history.
pub(crate) fn is_alone(operands: &[&Tensor]) -> bool {
    let is_usual = |x: &&Tensor| !x.is_batched() && !x.is_followed() && !x.is_subclassed();
    is_on() && live().is_empty() && !super::intercept::is_intercepting() && operands.iter().all(is_usual)
}

/// Whether what is made of these tensors may be computed at one go: no history is written down, and nobody has to see
/// of which steps it consists. A record or a profile is no reason to compute otherwise, which rounds otherwise.
pub(crate) fn is_undivided(operands: &[&Tensor]) -> bool {
    let is_usual = |x: &&Tensor| !x.is_batched() && !x.is_followed() && !x.is_subclassed();
    mode::is_plain()
        || !mode::is_grad_enabled()
            && live().is_empty()
            && !super::intercept::is_intercepting()
            && operands.iter().all(is_usual)
}

/// Runs what computes so many tensors of others, without a history, whatever it consists of: as one operation of this
/// name if it is written down.
pub(crate) fn as_one(
    name: &'static str,
    operands: &[&Tensor],
    outputs: usize,
    compute: impl Fn(&[&Tensor]) -> Result<Outputs> + Send + Sync + 'static,
) -> Result<Outputs> {
    if mode::is_grad_enabled() || !is_alone(operands) {
        return compute(operands);
    }
    let compute = move |operands: &[Value]| compute(&super::intercept::tensors(operands));
    super::intercept::several(name, Attributes::new(), operands, SmallVec::new(), outputs, compute)
}

/// Runs what computes a tensor of others at one go, and never has a history: as one operation of this name if it is
/// written down. Of what is mapped or followed, its numbers leave.
pub(crate) fn whole(
    name: &'static str,
    operands: &[&Tensor],
    compute: impl Fn(&[&Tensor]) -> Result<Tensor> + Clone + Send + Sync + 'static,
) -> Result<Tensor> {
    if is_alone(operands) {
        let again = compute.clone();
        let again = move |operands: &[Value]| again(&super::intercept::tensors(operands));
        let values: SmallVec<[Operand<'_>; 3]> = operands.iter().map(|&operand| operand.into()).collect();
        if let Some(found) = super::intercept::of_subclass(name, &values, again) {
            return found;
        }
    }
    following::leaves(name);
    compute(operands)
}

/// `as_one` of what is known by its type.
pub(crate) fn as_one_of(
    name: &'static str,
    operands: &[&Tensor],
    outputs: usize,
    own: impl Portable,
) -> Result<Outputs> {
    if mode::is_grad_enabled() || !is_alone(operands) {
        return own.compute(&super::intercept::owned(operands));
    }
    super::intercept::several_of(name, operands, outputs, Ready::of(own))
}

/// `overwriting` of what is known by its type, and of numbers, which may be others the next time.
pub(crate) fn overwriting_of(
    name: &'static str,
    targets: &[&Tensor],
    others: &[&Tensor],
    numbers: &[f64],
    own: impl Portable,
) -> Result<()> {
    let mut operands = super::intercept::owned(targets);
    operands.extend(super::intercept::owned(others));
    operands.extend(numbers.iter().map(|&number| Value::Scalar(Scalar::Float(number))));
    let Ready { what, compute, direct, .. } = Ready::of(own);
    let mut operation = Operation::writing(name, operands, targets.len(), compute);
    (operation.direct, operation.what) = (direct, Some(what));
    operation.compute().map(drop)
}

/// `checked` by what is known by its type.
pub(crate) fn checked_by(name: &'static str, tensors: &[&Tensor], own: impl Portable) -> Result<()> {
    if !is_on() {
        return own.compute(&super::intercept::owned(tensors)).map(drop);
    }
    overwriting_of(name, &[], tensors, &[], own)
}

/// Runs what overwrites the targets, and may read the others, as an operation of this name if it is written down.
pub(crate) fn overwriting(
    name: &'static str,
    targets: &[&Tensor],
    others: &[&Tensor],
    write: impl Fn(&[&Tensor], &[&Tensor]) -> Result<()> + Send + Sync + 'static,
) -> Result<()> {
    overwriting_directly(name, targets, others, None, move |targets, others, _| write(targets, others), None)
}

/// `overwriting` of what can be computed of arrays as well, in the same order, and of a number, which may be another
/// the next time.
pub(crate) fn overwriting_directly(
    name: &'static str,
    targets: &[&Tensor],
    others: &[&Tensor],
    number: Option<f64>,
    write: impl Fn(&[&Tensor], &[&Tensor], Option<f64>) -> Result<()> + Send + Sync + 'static,
    direct: Option<Arc<dyn Direct>>,
) -> Result<()> {
    let tensors = targets.iter().chain(others).map(|&tensor| Value::Tensor(tensor.clone()));
    let operands = tensors.chain(number.map(|number| Value::Scalar(Scalar::Float(number)))).collect();
    let count = targets.len();
    let compute = move |operands: &[Value]| {
        let tensors = super::intercept::tensors(operands);
        let (targets, others) = tensors.split_at(count);
        let number = match operands.last() {
            Some(Value::Scalar(number)) => Some(number.to_f64()),
            _ => None,
        };
        write(targets, others, number)?;
        Ok(Outputs::new())
    };
    let mut operation = Operation::writing(name, operands, count, Arc::new(compute));
    operation.direct = direct;
    operation.compute().map(drop)
}
