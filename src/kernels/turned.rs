//! Short rows, turned so that many of them lie side by side: a loop along each would be over before it is under way.
//!
//! Every row has a lane of its own, and what is done with one lane is done with all. So results depend neither on the
//! number of rows nor on which of them are taken together.

use std::mem::MaybeUninit;

use crate::dtype::Real;
use crate::kernels::geometry::moves;
use crate::kernels::interrupt;

/// So many rows lie side by side.
pub(super) const SIDE: usize = 64;

/// So many rows are a few: short ones are turned then.
pub(super) const A_FEW: usize = 8;

/// So many elements of rows that are fewer are worth being turned elsewhere first.
const MANY: usize = 1 << 10;

/// A number of each row: their elements at one place, say.
pub(super) type Line<T> = [T; SIDE];

/// Calls `work` with rows of `len` elements in blocks, as lines, with the lines of `made` results a row, and with how many
/// rows there are in the block: what is in the other lanes does not matter. `out` is empty if nothing is to come of rows.
#[inline(always)]
pub(super) fn each_block<T: Real, const N: usize>(
    inputs: [&[T]; N],
    [len, made]: [usize; 2],
    out: &mut [MaybeUninit<T>],
    mut work: impl FnMut([&[Line<T>]; N], &mut [Line<T>], usize),
) {
    let mut near: [Vec<Line<T>>; N] = std::array::from_fn(|_| interrupt::filled(len, [T::ZERO; SIDE]));
    let mut results = interrupt::filled(if out.is_empty() { 0 } else { made }, [T::ZERO; SIDE]);
    let (whole, mut rest) = (SIDE * len, out);
    // The rows of the last block, where they are fewer.
    let mut few: Option<Vec<T>> = None;
    for start in (0..inputs[0].len()).step_by(whole) {
        let width = SIDE.min((inputs[0].len() - start) / len);
        for (near, input) in near.iter_mut().zip(inputs) {
            let rows = &input[start..start + width * len];
            match width {
                SIDE => moves::turn(rows, [SIDE, len], near.as_flattened_mut(), moves::put),
                _ if width * len < MANY => {
                    for (lane, row) in rows.chunks_exact(len).enumerate() {
                        near.iter_mut().zip(row).for_each(|(line, &element)| line[lane] = element);
                    }
                }
                _ => {
                    let few = few.get_or_insert_with(|| interrupt::filled(width * len, T::ZERO));
                    moves::turn(rows, [width, len], few, moves::put);
                    for (line, few) in near.iter_mut().zip(few.chunks_exact(width)) {
                        line[..width].copy_from_slice(few);
                    }
                }
            }
        }
        work(near.each_ref().map(Vec::as_slice), &mut results, width);
        let Some(out) = rest.split_off_mut(..width * made) else { continue };
        match width {
            SIDE => moves::turn(results.as_flattened(), [made, SIDE], out, moves::put_first),
            _ => {
                for (lane, row) in out.chunks_exact_mut(made).enumerate() {
                    row.iter_mut().zip(&results).for_each(|(place, line)| {
                        place.write(line[lane]);
                    });
                }
            }
        }
    }
}

/// As `each_block`, of rows that stand side by side already: as the columns of matrices, which follow one another. As many
/// of these are taken together as there is room for, one at the least.
#[inline(always)]
pub(super) fn each_block_of_columns<T: Real, const N: usize>(
    inputs: [&[T]; N],
    [len, made, columns]: [usize; 3],
    out: &mut [MaybeUninit<T>],
    mut work: impl FnMut([&[Line<T>]; N], &mut [Line<T>]),
) {
    let mut near: [Vec<Line<T>>; N] = std::array::from_fn(|_| interrupt::filled(len, [T::ZERO; SIDE]));
    let mut results = interrupt::filled(made, [T::ZERO; SIDE]);
    let (matrix, together) = (len * columns, SIDE / columns);
    for (block, out) in out.chunks_mut(together * made * columns).enumerate() {
        let matrices = out.len() / (made * columns);
        for (near, input) in near.iter_mut().zip(inputs) {
            let elements = &input[block * together * matrix..][..matrices * matrix];
            for (lane, elements) in (0..).step_by(columns).zip(elements.chunks_exact(matrix)) {
                for (line, row) in near.iter_mut().zip(elements.chunks_exact(columns)) {
                    line[lane..lane + columns].copy_from_slice(row);
                }
            }
        }
        work(near.each_ref().map(Vec::as_slice), &mut results);
        for (lane, out) in (0..).step_by(columns).zip(out.chunks_exact_mut(made * columns)) {
            for (row, line) in out.chunks_exact_mut(columns).zip(&results) {
                row.write_copy_of_slice(&line[lane..lane + columns]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::written;

    #[test]
    fn every_row_comes_to_a_lane_and_back_however_many_there_are() {
        for (count, len) in [(1, 3), (8, 1), (63, 9), (64, 16), (65, 37), (200, 8)] {
            let x: Vec<f64> = (0..count * len).map(|number| number as f64).collect();
            let mut seen = 0;
            let doubled = written(x.len(), |out| {
                each_block([&x, &x], [len; 2], out, |[a, b], out, width| {
                    seen += width;
                    for ((a, b), out) in a.iter().zip(b).zip(out) {
                        for lane in 0..SIDE {
                            out[lane] = a[lane] + b[lane];
                        }
                    }
                });
            });
            assert!(seen == count && doubled.iter().zip(&x).all(|(y, x)| *y == x + x));
            let firsts = written(count, |out| {
                each_block([&x], [len, 1], out, |[x], out, _| out[0] = x[0]);
            });
            assert!(firsts.iter().enumerate().all(|(row, first)| *first == x[row * len]));
            each_block([&x], [len; 2], &mut [], |_, out, _| assert!(out.is_empty()));
        }
    }

    #[test]
    fn every_column_has_a_lane_however_many_matrices_there_are() {
        for (matrices, len, columns) in [(1, 3, 64), (5, 2, 16), (9, 7, 10), (3, 4, 33), (130, 3, 1)] {
            let x: Vec<f64> = (0..matrices * len * columns).map(|number| number as f64).collect();
            let doubled = written(x.len(), |out| {
                each_block_of_columns([&x, &x], [len, len, columns], out, |[a, b], out| {
                    for ((a, b), out) in a.iter().zip(b).zip(out) {
                        for lane in 0..SIDE {
                            out[lane] = a[lane] + b[lane];
                        }
                    }
                });
            });
            assert!(doubled.iter().zip(&x).all(|(y, x)| *y == x + x));
            let firsts = written(matrices * columns, |out| {
                each_block_of_columns([&x], [len, 1, columns], out, |[x], out| out[0] = x[0]);
            });
            let mut expected = x.chunks(len * columns).flat_map(|matrix| &matrix[..columns]);
            assert!(firsts.iter().all(|first| Some(first) == expected.next()));
        }
    }
}
