//! Bounds as plain data: Note [Plain data].

use super::{Bound, Caller, Clamp};
use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Plain, Reader, Row, damaged, plain};
use crate::dtype::Scalar;
use crate::error::Result;

plain! {
    struct Clamp { min, max, dtype, caller }
}

plain! {
    enum Caller { Clamp, ClampMin, ClampMax }
}

impl Plain for Bound {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Bound::None => 0u8.write(to),
            Bound::Number(number) => (1u8, *number).write(to),
            Bound::Tensor(place) => (2u8, *place).write(to),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Bound> {
        match u8::read(from)? {
            0 => Ok(Bound::None),
            1 => Scalar::read(from).map(Bound::Number),
            2 => usize::read(from).map(Bound::Tensor),
            _ => Err(damaged("a bound is of no kind")),
        }
    }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Clamp>("clamp")];
