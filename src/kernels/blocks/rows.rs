//! Rows that are visited where they lie: they are long, and in order each.

use ndarray::{ArrayView2, ArrayViewD, Axis, Ix2};

use super::{Operand, Pair, Plan, Reader};
use crate::kernels::parallel::each_item;
use crate::kernels::pointwise::apply::GRAIN;

/// Shorter rows are gathered.
const LONG_ROW: usize = 32;

/// The same where one of two operands has an element for a row, which is repeated in less time than it takes to go on to
/// the next one.
const LONG_ROW_BESIDE: usize = 192;

/// Calls `visit` with the rows of a destination and their numbers, where operands are visited row by row.
pub(super) fn each_row<V: Send>(out: &mut [V], plan: &Plan, visit: &(dyn Fn(&mut [V], usize) + Sync)) {
    let columns = plan.sizes[1];
    let rows = (GRAIN / columns).max(1);
    let parts = out.chunks_mut(rows * columns).enumerate();
    each_item(parts, 1, &|(part, out): (usize, &mut [V])| {
        for (row, out) in out.chunks_mut(columns).enumerate() {
            visit(out, part * rows + row);
        }
    });
}

/// A row, which lies in order.
#[inline(always)]
pub(super) fn slice<'a, T>(rows: &ArrayView2<'a, T>, row: usize) -> &'a [T] {
    rows.index_axis_move(Axis(0), row).to_slice().unwrap_or_else(|| unreachable!("rows lie in order"))
}

/// A row of each of two operands, which lies in order or is one element.
#[inline(always)]
pub(super) fn pair<'a, A: Copy, B: Copy>(
    a: &ArrayView2<'a, A>,
    b: &ArrayView2<'a, B>,
    row: usize,
) -> Pair<'a, A, B> {
    match (a.strides()[1], b.strides()[1]) {
        (0, _) => Pair::Behind(a[[row, 0]], slice(b, row)),
        (_, 0) => Pair::Beside(slice(a, row), b[[row, 0]]),
        _ => Pair::Both(slice(a, row), slice(b, row)),
    }
}

impl<T: Copy> Reader<'_, '_, T> {
    /// The only element of a block, if it is repeated for all of it.
    pub(super) fn one(&self, start: usize, len: usize) -> Option<T> {
        let Operand::Spread(elements, strides) = self.operand else { return None };
        match self.plan.axes(strides, len)[..] {
            [(_, 0)] => Some(elements[self.plan.offset(strides, start)]),
            _ => None,
        }
    }
}

impl Plan {
    /// Whether one of two operands with these strides has long rows, in order each, and the other one element for each.
    pub(super) fn is_beside(&self, a: &[isize], b: &[isize]) -> bool {
        let [_, columns] = self.sizes[..] else { return false };
        columns >= LONG_ROW_BESIDE && matches!((a.last(), b.last()), (Some(1), Some(0)) | (Some(0), Some(1)))
    }

    /// Whether no block is more than a row.
    pub(super) fn is_within_row(&self) -> bool {
        self.inner == 1 || self.rows == 1 && self.axis + 2 == self.sizes.len()
    }

    /// Whether all operands with these strides are long rows, in order each, that do not follow each other without a gap
    /// in all of them.
    pub(super) fn is_in_rows(&self, strides: &[&[isize]]) -> bool {
        let [_, columns] = self.sizes[..] else { return false };
        let are_apart = |strides: &&[isize]| {
            let step = self.step_of_rows(strides);
            step != 0 && step != columns as isize
        };
        columns >= LONG_ROW
            && strides.iter().all(|strides| strides.last() == Some(&1))
            && strides.iter().any(are_apart)
    }

    /// How far it is from row to row of an operand with these strides, of which some axes are merged with those behind them.
    fn step_of_rows(&self, strides: &[isize]) -> isize {
        let before_last = (0..strides.len()).rev().filter(|axis| !self.merged.contains(axis)).nth(1);
        before_last.map_or(0, |axis| strides[axis])
    }

    /// A squeezed operand as rows.
    pub(super) fn rows_of<'a, T>(&self, view: ArrayViewD<'a, T>) -> ArrayView2<'a, T> {
        let view = self.merged_in(view).into_dimensionality::<Ix2>();
        view.unwrap_or_else(|_| unreachable!("two axes are left"))
    }
}
