//! Elementwise operations of one tensor: a function of every element and its derivative give the
//! operation, its in-place form, its rule in both modes. The functions themselves live in files by
//! family, such as `exp_log` and `trigonometry`.

mod direct;
mod numbers;
mod operation;
pub(crate) mod portable;
mod slope;

use crate::ops;
use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::{one, single, tangent};
use crate::dispatch::forward_mode::tangents;
use crate::dispatch::in_place;
use crate::dispatch::in_place::Write;
use crate::dispatch::modes::{intercept, recording};
use crate::dispatch::operand::Value;
use crate::dispatch::record::{record_new, trace};
use crate::dispatch::{batch, long_work};
use crate::error::{Error, Result};
use crate::graph::node::boxed;
use crate::graph::{At, Attributes, Gradients, Rule, SavedTensor, Shown, Source, Traits, mode};
use crate::ops::conjugate;
use crate::ops::creation::cast;
use crate::tensor::{Array, Tensor};

pub(crate) use numbers::{compute, compute_function, computed};
use numbers::{forward, overwrite, result_type};
pub use operation::{Elementwise, Integers, Keeps, OutputStrides, Sign};
pub(crate) use operation::{node_of, policy_of};
pub(crate) use slope::at_once;

struct UnaryRule<E: Elementwise> {
    op: E,
    kept: Option<SavedTensor>,
    in_place: bool,
}

impl<E: Elementwise> UnaryRule<E> {
    fn load(&self, at: &At<'_>) -> Result<Option<Tensor>> {
        self.kept.as_ref().map(|kept| cast::load(kept, at)).transpose()
    }

    /// A gradient or tangent times the derivative.
    fn chain(&self, kept: Option<&Tensor>, t: &Tensor) -> Result<Tensor> {
        match kept {
            Some(y) if self.in_place && E::IN_PLACE_BY_OUTPUT => {
                ops::mul(t, &self.op.derivative_in_place(y)?)
            }
            kept => self.op.chain(kept, t),
        }
    }
}

impl<E: Elementwise> Rule for UnaryRule<E> {
    fn traits(&self) -> Traits {
        Traits::LIGHT.with(Traits::TOGETHER, E::TOGETHER)
    }

    fn name(&self) -> &str {
        if self.in_place { E::NODE_IN_PLACE } else { E::NODE }
    }

    fn vjp(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let is_complex = |saved: &SavedTensor| saved.dtype().resolved().is_complex();
        let conjugates = E::COMPLEX && E::ANALYTIC && self.kept.as_ref().is_some_and(is_complex);
        let kept = match self.load(at)? {
            Some(kept) if conjugates => Some(conjugate::conj(kept)?),
            kept => kept,
        };
        one(self.chain(kept.as_ref(), single(gradients))?)
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        one(self.chain(self.load(at)?.as_ref(), tangent(tangents))?)
    }

    fn keeps(&self) -> bool {
        self.kept.is_some()
    }

    fn saved(&self) -> SmallVec<[(&'static str, &SavedTensor); 2]> {
        let by_output = E::KEEPS == Keeps::Output || self.in_place && E::IN_PLACE_BY_OUTPUT;
        let name = if by_output { "result" } else { "self" };
        self.kept.iter().map(|kept| (name, kept)).collect()
    }

    fn shown(&self) -> Attributes {
        let mut shown = self.op.shown();
        shown.extend(E::COMPUTED.iter().map(|&name| (name, Shown::Computed)));
        shown
    }

    fn compute(&self, _name: &str, at: &At<'_>) -> Result<Tensor> {
        match &self.kept {
            Some(kept) => self.op.computed(&at.load(kept)?, at),
            None => unreachable!("what shows more keeps the input"),
        }
    }

    fn saved_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.kept.iter_mut().collect()
    }
}

/// What the operation makes of the numbers of an operand, which it takes.
pub(crate) fn numbers<E: Elementwise>(op: E, x: &Array) -> Result<Array> {
    forward(&op, x)
}

/// The operation on a tensor.
pub fn apply<E: Elementwise>(op: E, x: &Tensor) -> Result<Tensor> {
    let now = mode::thread_mode();
    if now.special {
        return apply_traced(op, x);
    }
    let reading = x.read();
    if !reading.array().dtype.is_plain() {
        drop(reading);
        return apply_traced(op, x);
    }
    if long_work::is_long(reading.array().layout.numel() as u64) {
        drop(reading);
        return long_work::at_length(false, || apply(op, x));
    }
    let y = forward(&op, reading.array())?;
    let requires_grad = reading.requires_grad();
    let passes_by = || mode::frozen_leaves() && !reading.array().storage.is_counted_throughout();
    if requires_grad == Some(false) || !now.records || passes_by() {
        let standing = reading.standing();
        drop(reading);
        return Ok(Tensor::unrecorded(y, standing));
    }
    let kept = match E::KEEPS {
        Keeps::Nothing | Keeps::Flat => None,
        Keeps::Input => Some(SavedTensor::new(reading.array().clone(), Source::Input(0))),
        Keeps::Output => Some(SavedTensor::new(y.clone(), Source::Output(0))),
    };
    let edge = reading.edge();
    drop(reading);
    if requires_grad.is_none() && !x.requires_grad() {
        return Ok(Tensor::unrecorded(y, x.standing()));
    }
    // Leaves and views look their edges up, which reads them again.
    let edge = if edge.is_none() { x.gradient_edge()? } else { edge };
    record_new(UnaryRule { op, kept, in_place: false }, smallvec![edge], y)
}

/// `apply` on a special thread: Note [The layers of a call].
#[cold]
fn apply_traced<E: Elementwise>(op: E, x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex()
        && let Some(y) = op.of_complex(x)
    {
        return y;
    }
    if let Some(y) = batch::unary(x, |x| apply(op, x)) {
        let (x, y) = (x.clone(), y?);
        let values = y.array();
        trace(&[&x], std::slice::from_ref(&y), |_| UnaryRule {
            op,
            kept: kept::<E>(Some(x.array()), values),
            in_place: false,
        })?;
        return Ok(y);
    }
    let array = x.array();
    let forward = &mut || match intercept::is_active() {
        true => {
            let forward =
                Box::new(move |operands: &[Value]| forward(&op, &intercept::first(operands).array()));
            let name = intercept::known_by(E::NODE, E::NAME);
            let shown = op.shown();
            intercept::elementwise(name, shown, &[x.into()], forward, &|| portable::beneath(op))
        }
        false => forward(&op, &array).map(Tensor::from_array),
    };
    tangents::run_one(&[Some(x)], forward, &mut |_, outputs| {
        let values = outputs.first().map_or_else(|| array.clone(), Tensor::array);
        boxed(UnaryRule { op, kept: kept::<E>(Some(array.clone()), values), in_place: false })
    })
}

/// What backward needs of the input, which is there if it is needed, and the output.
fn kept<E: Elementwise>(x: Option<Array>, y: Array) -> Option<SavedTensor> {
    match E::KEEPS {
        Keeps::Nothing | Keeps::Flat => None,
        Keeps::Input => x.map(|x| SavedTensor::new(x, Source::Input(0))),
        Keeps::Output => Some(SavedTensor::new(y, Source::Output(0))),
    }
}

/// The operation in place.
pub fn apply_in_place<E: Elementwise>(op: E, x: &Tensor) -> Result<()> {
    if batch::is_batched(x) {
        return batch::through(x, &[], "inplace arithmetic", |before| apply(op, before));
    }
    if long_work::is_long(x.numel() as u64) {
        return long_work::at_length(true, || apply_in_place(op, x));
    }
    if x.dtype().is_complex()
        && let Some(y) = op.of_complex(&x.detach())
    {
        return match y?.dtype().is_complex() {
            true => in_place::through(x, &[], |before| apply(op, before)),
            false => Err(Error::AbsInPlace {}.into()),
        };
    }
    if x.is_pending() {
        return in_place::through(x, &[], |before| apply(op, before));
    }
    let mut write = Write::begin(&[x])?;
    let target = x.array();
    let dtype = result_type(&op, target.dtype)?;
    if !dtype.can_cast(target.dtype) {
        return Err(Error::ResultCast { from: dtype, to: target.dtype }.into());
    }
    // The old values are about to go.
    let before = match write.is_traced() && E::KEEPS == Keeps::Input && !E::IN_PLACE_BY_OUTPUT {
        true => Some(in_place::former(x)?),
        false => None,
    };
    if mode::special() && before.is_some() {
        write.pack(&UnaryRule { op, kept: kept::<E>(before.clone(), target.clone()), in_place: true })?;
    }
    match intercept::is_active() {
        true => {
            let write = move |operands: &[Value]| overwrite(&op, &intercept::first(operands).array());
            let name = intercept::known_by(E::NODE, E::NAME);
            let what = recording::is_on().then(|| portable::written(op));
            intercept::written_as(name, &[x.into()], Attributes::new(), what, write)?;
        }
        false => overwrite(&op, &target)?,
    }
    write.finish(|_| {
        let kept = match before {
            _ if E::IN_PLACE_BY_OUTPUT => Some(SavedTensor::new(target, Source::Output(0))),
            Some(before) => Some(SavedTensor::former(before, 0)),
            None => kept::<E>(None, target),
        };
        UnaryRule { op, kept, in_place: true }
    })
}
