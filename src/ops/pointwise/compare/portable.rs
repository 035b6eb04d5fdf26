//! Comparisons and predicates as plain data: Note [Plain data].

use std::sync::Arc;

use smallvec::smallvec;

use super::predicates::Predicate;
use super::{Question, compare};
use crate::dispatch::apply::Outputs;
use crate::dispatch::direct::{Direct, misfit};
use crate::dispatch::modes::plain::{Portable, Row, plain};
use crate::dispatch::operand::Value;
use crate::error::Result;

impl Portable for Question {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let [a, b] = operands else { return Err(misfit()) };
        Ok(smallvec![compare(*self, a, b)?])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(*self))
    }
}

plain! {
    enum Question { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[Row::of::<Question>("comparison"), Row::of::<Predicate>("predicate")];
