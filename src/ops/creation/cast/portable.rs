//! Copies and writes of all elements as plain data: Note [Plain data].

use super::{Clone as CloneOp, Order, ToCopy, copied};
use crate::dispatch::apply::{Outputs, portable};
use crate::dispatch::direct::misfit;
use crate::dispatch::modes::intercept;
use crate::dispatch::modes::plain::{Plain, Portable, Reader, Row, damaged, plain};
use crate::dispatch::operand::Value;
use crate::dtype::Scalar;
use crate::error::Result;
use crate::ops::creation::copy;

/// A write of the elements of one operand to another, as a recorded operation.
#[derive(::std::clone::Clone)]
pub(super) struct Copying;

impl Portable for Copying {
    const TARGETS: usize = 1;
    const IS_SURE: bool = true;

    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let [x, source] = intercept::tensors(operands)[..] else { return Err(misfit()) };
        copied(&x.memory(), &source.array()).map(|()| Outputs::new())
    }
}

/// A write of one number, or of that of another operand, to all elements, as a recorded operation.
#[derive(::std::clone::Clone)]
pub(super) struct Filling {
    pub(super) value: Scalar,
}

impl Portable for Filling {
    const TARGETS: usize = 1;
    const IS_SURE: bool = true;

    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        match operands {
            [Value::Tensor(x), Value::Tensor(value)] => copy::fill(&x.memory(), value.item()?)?,
            [Value::Tensor(x), ..] => copy::fill(&x.memory(), self.value)?,
            _ => return Err(misfit()),
        }
        Ok(Outputs::new())
    }
}

plain! {
    struct CloneOp { layout, packed }
    struct ToCopy { dtype, order }
    struct Copying {}
    struct Filling { value }
}

impl Plain for Order {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Order::Kept => 0u8.write(to),
            Order::RowMajor => 1u8.write(to),
            Order::ChannelsLast(ndim) => (2u8, *ndim).write(to),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Order> {
        match u8::read(from)? {
            0 => Ok(Order::Kept),
            1 => Ok(Order::RowMajor),
            2 => usize::read(from).map(Order::ChannelsLast),
            _ => Err(damaged("an order is unknown")),
        }
    }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[
    portable::row::<CloneOp>("clone"),
    portable::row::<ToCopy>("to copy"),
    Row::of::<Copying>("copy_"),
    Row::of::<Filling>("fill_"),
];
