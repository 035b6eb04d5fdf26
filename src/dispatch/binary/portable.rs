//! Elementwise operations of two operands as plain data: Note [Plain data].

use std::any::{Any, TypeId};
use std::sync::Arc;

use smallvec::smallvec;

use super::numbers::forward;
use super::overwrite::overwrite;
use super::{Elementwise2, direct, fitted};
use crate::dispatch::direct::Direct;
use crate::dispatch::modes::intercept::Beneath;
use crate::dispatch::modes::plain::{Plain, Portable, Read, Reader, Ready, Row, What, damaged, plain};
use crate::dispatch::operand::{Operand, Value};
use crate::dtype::DType;
use crate::error::Result;
use crate::tensor::{Outputs, Tensor};

/// An operation, and the type that it calculates in.
#[derive(Clone)]
struct Computed<E>(E, DType);

/// The same in place of the first operand.
#[derive(Clone)]
struct Written<E>(E, DType);

pub(super) fn beneath<E: Elementwise2>(op: E, dtype: DType) -> Beneath {
    Beneath { direct: directly(op), what: Some(Arc::new(Computed(op, dtype))) }
}

pub(super) fn written<E: Elementwise2>(op: E, dtype: DType) -> What {
    Arc::new(Written(op, dtype))
}

fn directly<E: Elementwise2>(op: E) -> Option<Arc<dyn Direct>> {
    Some(Arc::new(direct::Directly(op)))
}

fn compute<E: Elementwise2>(op: E, dtype: DType, operands: &[Value]) -> Result<Outputs> {
    let [a, b] = operands else { return Err(damaged("an operation has another number of operands")) };
    let y = forward(&op, &Operand::from(a).numbers(), &Operand::from(b).numbers(), dtype)?;
    Ok(smallvec![Tensor::from_array(y)])
}

fn write<E: Elementwise2>(op: E, dtype: DType, operands: &[Value]) -> Result<Outputs> {
    let [Value::Tensor(target), other] = operands else {
        return Err(damaged("an operation has another number of operands"));
    };
    let target = target.array();
    let apart = fitted(&target, &Operand::from(other).numbers(), dtype)?;
    overwrite(&op, &target, &apart, dtype)?;
    Ok(Outputs::new())
}

/// What an operation without parameters is that was read.
pub(crate) fn ready<E: Elementwise2>(op: E, from: &mut Reader<'_>) -> Result<Ready> {
    let dtype = DType::read(from)?;
    let compute = Arc::new(move |operands: &[Value]| compute(op, dtype, operands));
    let what = Arc::new(Computed(op, dtype));
    Ok(Ready { what, compute, direct: directly(op), targets: 0, is_sure: true })
}

/// The same in place of the first operand. Derivatives are not: what only they would need is not compiled.
pub(crate) fn ready_in_place<E: Elementwise2>(op: E, from: &mut Reader<'_>) -> Result<Ready> {
    let dtype = DType::read(from)?;
    let compute = Arc::new(move |operands: &[Value]| write(op, dtype, operands));
    Ok(Ready { what: Arc::new(Written(op, dtype)), compute, direct: None, targets: 1, is_sure: true })
}

/// How an operation without parameters is written and read.
pub(crate) const fn row_of<E: Elementwise2>(name: &'static str, _op: &E, read: Read) -> Row {
    let write = |what: &dyn Any, to: &mut Vec<u8>| {
        what.downcast_ref::<Computed<E>>().into_iter().for_each(|own| own.1.write(to));
    };
    Row { name, kind: TypeId::of::<Computed<E>>, write, read }
}

/// The same in place.
const fn row_of_in_place<E: Elementwise2>(name: &'static str, read: Read) -> Row {
    let write = |what: &dyn Any, to: &mut Vec<u8>| {
        what.downcast_ref::<Written<E>>().into_iter().for_each(|own| own.1.write(to));
    };
    Row { name, kind: TypeId::of::<Written<E>>, write, read }
}

/// How an operation without parameters, the one in the line that declares it, is written and read. Not one that has
/// parameters: its block says so.
pub(crate) const fn rows<E: Elementwise2>(
    [name, in_place]: [&'static str; 2],
    op: &E,
    read: [Read; 2],
) -> [Option<Row>; 2] {
    if size_of::<E>() != 0 {
        return [None; 2];
    }
    [Some(row_of(name, op, read[0])), Some(row_of_in_place::<E>(in_place, read[1]))]
}

/// How one that has parameters is written and read.
pub(crate) const fn row<E: Elementwise2 + Plain>(name: &'static str) -> Row {
    Row::of::<Computed<E>>(name)
}

/// The same in place.
pub(crate) const fn row_of_write<E: Elementwise2 + Plain>(name: &'static str) -> Row {
    Row::of::<Written<E>>(name)
}

impl<E: Elementwise2 + Plain> Portable for Computed<E> {
    const IS_SURE: bool = true;

    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        compute(self.0, self.1, operands)
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        directly(self.0)
    }
}

impl<E: Elementwise2 + Plain> Portable for Written<E> {
    const TARGETS: usize = 1;
    const IS_SURE: bool = true;

    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        write(self.0, self.1, operands)
    }
}

plain! {
    tuple Computed<E>(0: E, 1: DType);
    tuple Written<E>(0: E, 1: DType);
}
