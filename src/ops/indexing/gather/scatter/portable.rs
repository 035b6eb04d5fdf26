//! Writes to elements named one by one as plain data: Note [Plain data].

use super::{Combination, Mode, Scatter};
use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Plain, Reader, Row, damaged, plain};
use crate::dtype::Scalar;
use crate::error::Result;

plain! {
    enum Combination { Sum, Product }
}

plain! {
    struct Scatter { dim, given, index, mode }
}

impl Plain for Mode {
    fn write(&self, to: &mut Vec<u8>) {
        match *self {
            Mode::Replace => 0u8.write(to),
            Mode::Fill(value) => (1u8, value).write(to),
            Mode::Add => 2u8.write(to),
            Mode::Combine(combination, value) => {
                3u8.write(to);
                combination.write(to);
                value.write(to);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Mode> {
        Ok(match u8::read(from)? {
            0 => Mode::Replace,
            1 => Mode::Fill(Scalar::read(from)?),
            2 => Mode::Add,
            3 => Mode::Combine(Combination::read(from)?, Option::read(from)?),
            _ => return Err(damaged("a write is unknown")),
        })
    }
}

/// How these are written as plain data.
pub(crate) const ROWS: &[Row] =
    &[portable::row::<Scatter>("scatter"), portable::row_of_write::<Scatter>("scatter_")];
