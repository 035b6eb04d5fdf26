//! Sums and means as plain data: Note [Plain data].

use super::{Mean, Over, Sum};
use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};

plain! {
    struct Over { dims, keepdim, given }
    struct Sum { over, dtype }
    struct Mean { over, dtype }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Sum>("sum"), portable::row::<Mean>("mean")];
