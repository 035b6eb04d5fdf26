//! Writes to memory that is shown several times, as the rows of an expanded tensor are.

use super::{compare, copy, part, select};
use crate::error::Result;
use crate::graph::mode::GradModeGuard;
use crate::tensor::{Array, Tensor};

/// Writes the elements of `after` that are not those of `before`, which `target` had, one row after the
/// other: what did not change leaves alone what another row wrote.
pub(super) fn write_changes(target: &Array, before: &Array, after: &Array) -> Result<()> {
    let _off = GradModeGuard::off();
    let [target, before, after] = [target, before, after].map(|array| Tensor::from_array(array.clone()));
    write_rows(&target, &before, &after)
}

fn write_rows(target: &Tensor, before: &Tensor, after: &Tensor) -> Result<()> {
    let layout = target.layout();
    if layout.is_non_overlapping() {
        let changed = compare::ne(after, before)?;
        return copy::write(&target.memory(), &select::where_(&changed, after, target)?.array());
    }
    let repeated = (0..layout.ndim()).find(|&dim| layout.strides()[dim] == 0 && layout.shape()[dim] > 1);
    let dim = repeated.unwrap_or(0);
    for row in 0..layout.shape()[dim] as i64 {
        let of = |x: &Tensor| part::select(x, dim as i64, row);
        write_rows(&of(target)?, &of(before)?, &of(after)?)?;
    }
    Ok(())
}
