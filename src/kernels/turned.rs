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
}
