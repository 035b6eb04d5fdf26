//! Moving one row to all rows of a matrix, such as that of a broadcast axis.

use ndarray::ArrayView2;

use super::{PIECE, move_slice};
use crate::kernels::interrupt::Steps;
use crate::kernels::simd::vectorised;

/// Moves one row, which lies in order, to all. Short ones are repeated as often as there is room beforehand, and then
/// moved together.
pub(super) fn move_repeated<V: Send, T: Copy + Sync>(
    out: &mut [V],
    a: &ArrayView2<'_, T>,
    write: impl Fn(&mut V, T) + Copy + Sync,
    steps: &mut Steps,
) {
    let Some(row) = a.row(0).to_slice() else { unreachable!("rows lie in order") };
    let mut repeated = [row[0]; PIECE];
    let times = (PIECE / row.len()).min(a.nrows());
    let row = match times {
        0 | 1 => row,
        _ => {
            let repeated = &mut repeated[..times * row.len()];
            repeated.chunks_exact_mut(row.len()).for_each(|room| room.copy_from_slice(row));
            repeated
        }
    };
    vectorised(
        out.len(),
        #[inline(always)]
        || {
            for out in out.chunks_mut(row.len()) {
                steps.take(out.len());
                move_slice(out, &row[..out.len()], write);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use ndarray::{ArrayD, IxDyn};

    use crate::kernels::geometry::moves::move_into;

    #[test]
    fn a_row_comes_to_all_rows_however_many_and_long() {
        for (rows, len) in [(100, 1), (2, 9), (7, 33), (1000, 4), (30, 64), (30, 65), (5, 700)] {
            let row = ArrayD::from_shape_fn(IxDyn(&[2, 1, len]), |index| (index[0] * 1000 + index[2]) as i32);
            let all = row.broadcast(IxDyn(&[2, rows, len])).unwrap();
            let mut out = ArrayD::from_elem(IxDyn(&[2, rows, len]), -1);
            move_into(out.view_mut(), all.view());
            assert!(out == all, "{rows} {len}");
        }
    }
}
