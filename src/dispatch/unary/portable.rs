//! Elementwise operations of one tensor as plain data: Note [Plain data].

use std::any::TypeId;
use std::sync::Arc;

use smallvec::smallvec;

use super::numbers::{forward, overwrite};
use super::slope::Sloped;
use super::{Elementwise, direct};
use crate::dispatch::binary;
use crate::dispatch::direct::{Direct, OfOne};
use crate::dispatch::modes::intercept::{self, Beneath};
use crate::dispatch::modes::plain::{Plain, Portable, Read, Reader, Ready, Row, What, damaged, plain};
use crate::dispatch::operand::Value;
use crate::error::Result;
use crate::tensor::{Outputs, Tensor};

/// An operation.
#[derive(Clone)]
struct Computed<E>(E);

/// The same in place.
#[derive(Clone)]
struct Written<E>(E);

pub(super) fn beneath<E: Elementwise>(op: E) -> Beneath {
    Beneath { direct: directly(op), what: Some(Arc::new(Computed(op))) }
}

pub(super) fn written<E: Elementwise>(op: E) -> What {
    Arc::new(Written(op))
}

fn directly<E: Elementwise>(op: E) -> Option<Arc<dyn Direct>> {
    Some(Arc::new(OfOne(direct::Directly(op))))
}

fn compute<E: Elementwise>(op: E, operands: &[Value]) -> Result<Outputs> {
    let y = forward(&op, &intercept::only(operands)?.array())?;
    Ok(smallvec![Tensor::from_array(y)])
}

fn write<E: Elementwise>(op: E, operands: &[Value]) -> Result<Outputs> {
    overwrite(&op, &intercept::only(operands)?.array())?;
    Ok(Outputs::new())
}

/// What computes an operation of an operand.
type Run<E> = fn(E, &[Value]) -> Result<Outputs>;

/// What an operation without parameters is that was read: itself, or in place.
pub(crate) fn ready<E: Elementwise>(op: E, in_place: bool) -> Ready {
    let (compute, direct, what): (Run<E>, _, What) = match in_place {
        false => (compute::<E>, directly(op), Arc::new(Computed(op))),
        true => (write::<E>, None, Arc::new(Written(op))),
    };
    let compute = Arc::new(move |operands: &[Value]| compute(op, operands));
    Ready { what, compute, direct, targets: usize::from(in_place), is_sure: true }
}

/// What its derivative in one pass is. Only what has one is compiled: each is as many loops as an operation.
pub(crate) fn ready_slope<E: Elementwise>(op: E, from: &mut Reader<'_>) -> Result<Ready> {
    match const { E::SLOPE } {
        true => binary::portable::ready(Sloped(op), from),
        false => Err(damaged("an operation has no derivative of that kind")),
    }
}

/// How an operation without parameters, the one in the line that declares it, is written and read: itself, in place,
/// and its derivative in one pass, if it has one. Not one that has parameters: its block says so.
pub(crate) const fn rows<E: Elementwise>(
    [name, in_place, slope]: [&'static str; 3],
    op: &E,
    read: [Read; 3],
) -> [Option<Row>; 3] {
    if size_of::<E>() != 0 {
        return [None; 3];
    }
    [
        Some(Row { name, kind: TypeId::of::<Computed<E>>, write: |_, _| {}, read: read[0] }),
        Some(Row { name: in_place, kind: TypeId::of::<Written<E>>, write: |_, _| {}, read: read[1] }),
        if E::SLOPE { Some(binary::portable::row_of(slope, &Sloped(*op), read[2])) } else { None },
    ]
}

/// How one that has parameters is written and read.
pub(crate) const fn row<E: Elementwise + Plain>(name: &'static str) -> Row {
    Row::of::<Computed<E>>(name)
}

/// The same of its derivative in one pass.
pub(crate) const fn row_of_slope<E: Elementwise + Plain>(name: &'static str) -> Row {
    binary::portable::row::<Sloped<E>>(name)
}

impl<E: Elementwise + Plain> Portable for Computed<E> {
    const IS_SURE: bool = true;

    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        compute(self.0, operands)
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        directly(self.0)
    }
}

plain! {
    tuple Computed<E>(0: E);
    tuple Sloped<E>(0: E);
}
