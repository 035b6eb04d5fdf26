//! Rows that are visited where they lie: they are long, and in order each, or one element.

use super::plan::Plan;
use super::{Pair, Visit2};
use crate::kernels::geometry::strided::{self, Strided};
use crate::kernels::pointwise::apply::Rows;

/// Shorter rows are gathered.
const LONG: usize = 16;

/// Bytes of a row that is visited by a call of its own.
const LONG_ALONE: usize = 1 << 10;

/// Fewer elements of a matrix are gathered with those of others.
const MANY: usize = 1 << 10;

impl Plan {
    /// Rows of one operand that are so long that each is visited by a call of its own, and their length.
    pub(super) fn long_rows<'a, T>(&self, a: &Strided<'a, T>) -> Option<(usize, Rows<'a, T>)> {
        match (self.sizes.as_slice(), self.strides[0].as_slice()) {
            (&[_, len], &[step, 1]) if len * size_of::<T>() >= LONG_ALONE => {
                Some((len, Rows { elements: a.memory(), step }))
            }
            _ => None,
        }
    }

    /// Whether two operands are matrices of rows that are visited where they lie, with one element for a row only if such
    /// are taken.
    pub(super) fn has_rows(&self, takes_one: bool) -> bool {
        let Some((&len, outer)) = self.sizes.split_last() else { return false };
        let is_row = match (self.strides[0].last(), self.strides[1].last()) {
            (Some(1), Some(1)) => true,
            (Some(1), Some(0)) | (Some(0), Some(1)) => takes_one,
            _ => false,
        };
        let is_matrix = match outer {
            [] | [_] => true,
            [.., rows] => rows * len >= MANY,
        };
        is_row && len >= LONG && is_matrix
    }
}

/// Calls `visit` with matrices of rows.
pub(super) fn each_matrix<V: Send, A: Copy, B: Copy>(
    out: &mut [V],
    plan: &Plan,
    (a, b): (&[A], &[B]),
    visit: Visit2<'_, V, A, B>,
) {
    let [ref outer @ .., len] = plan.sizes[..] else { return };
    let (outer, rows) = match *outer {
        [ref outer @ .., rows] => (outer, rows),
        [] => (&[][..], 1),
    };
    let step = |place: usize| match plan.strides[place][..] {
        [.., step, _] => step,
        _ => 0,
    };
    for (matrix, out) in out.chunks_mut((rows * len).max(1)).enumerate() {
        let start = |place: usize| strided::offset(matrix, outer, &plan.strides[place]);
        let a = Rows { elements: &a[start(0)..], step: step(0) };
        let b = Rows { elements: &b[start(1)..], step: step(1) };
        let pair = match (plan.strides[0].last(), plan.strides[1].last()) {
            (_, Some(0)) => Pair::Beside(a, b),
            (Some(0), _) => Pair::Behind(a, b),
            _ => Pair::Both(a, b),
        };
        visit(out, len, pair);
    }
}
