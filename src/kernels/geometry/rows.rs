//! Rows that are moved with others: turned round, or cleared on one side of a diagonal.

use std::mem::MaybeUninit;

use crate::kernels::geometry::moves::move_slice;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::simd::vectorised;

/// Row-major blocks of so many elements, each turned round: its last `shift` elements come first.
pub fn turned_round<T: Copy + Send + Sync>(a: &[T], out: &mut [MaybeUninit<T>], block: usize, shift: usize) {
    if shift > 0 && block <= SHORT {
        return each_turned_round(a, out, block, shift);
    }
    parallel_parts(out, GRAIN, |mut position, mut part| {
        let mut within = position % block.max(1);
        vectorised(
            part.len(),
            #[inline(always)]
            || {
                while !part.is_empty() {
                    let is_early = within < shift;
                    let (source, end) =
                        if is_early { (position + block - shift, shift) } else { (position - shift, block) };
                    let count = (end - within).min(part.len());
                    let (now, rest) = std::mem::take(&mut part).split_at_mut(count);
                    move_slice(now, &a[source..source + count], |out, element| {
                        out.write(element);
                    });
                    (position, part) = (position + count, rest);
                    within = if within + count == block { 0 } else { within + count };
                }
            },
        );
    });
}

/// Blocks up to this length are moved all at once, and what went to their neighbours once more.
const SHORT: usize = 64;

/// `turned_round` of short blocks.
fn each_turned_round<T: Copy + Send + Sync>(a: &[T], out: &mut [MaybeUninit<T>], block: usize, shift: usize) {
    parallel_parts(out, (GRAIN / block).max(1) * block, |start, part| {
        let a = &a[start..start + part.len()];
        vectorised(
            part.len(),
            #[inline(always)]
            || {
                part[shift..].write_copy_of_slice(&a[..a.len() - shift]);
                for (out, a) in part.chunks_exact_mut(block).zip(a.chunks_exact(block)) {
                    move_slice(&mut out[..shift], &a[block - shift..], |out, element| {
                        out.write(element);
                    });
                }
            },
        );
    });
}

/// Matrices, given row by row, with zeros where the column comes behind the row and so many more, or before these if
/// it is the upper triangle that stays.
pub fn triangle<T: Copy + Default + Send + Sync>(
    a: &[T],
    out: &mut [MaybeUninit<T>],
    [rows, columns]: [usize; 2],
    diagonal: i64,
    upper: bool,
) {
    if out.is_empty() {
        return;
    }
    let zero = T::default();
    parallel_parts(out, (GRAIN / columns).max(1) * columns, |start, part| {
        vectorised(
            part.len(),
            #[inline(always)]
            || {
                let a = a[start..].chunks_exact(columns);
                for (row, (out, a)) in (start / columns..).zip(part.chunks_exact_mut(columns).zip(a)) {
                    let (left, right) = out.split_at_mut(edge_of_row(row % rows, columns, diagonal, upper));
                    let (a_left, a_right) = a.split_at(left.len());
                    let (kept, from, cleared) =
                        if upper { (right, a_right, left) } else { (left, a_left, right) };
                    kept.write_copy_of_slice(from);
                    cleared.iter_mut().for_each(|out| {
                        out.write(zero);
                    });
                }
            },
        );
    });
}

/// Where in a row what stays of a triangle ends, or begins if it is the upper one.
#[inline(always)]
fn edge_of_row(row: usize, columns: usize, diagonal: i64, upper: bool) -> usize {
    let first = (row as i64 + i64::from(!upper)).saturating_add(diagonal);
    first.clamp(0, columns as i64) as usize
}

/// Puts the zeros of `triangle` into the matrices themselves.
pub fn clear_beside_triangle<T: Copy + Default + Send + Sync>(
    elements: &mut [T],
    [rows, columns]: [usize; 2],
    diagonal: i64,
    upper: bool,
) {
    if elements.is_empty() {
        return;
    }
    parallel_parts(elements, (GRAIN / columns).max(1) * columns, |start, part| {
        for (row, elements) in (start / columns..).zip(part.chunks_exact_mut(columns)) {
            let (left, right) = elements.split_at_mut(edge_of_row(row % rows, columns, diagonal, upper));
            let cleared = if upper { left } else { right };
            cleared.fill(T::default());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::written;

    #[test]
    fn blocks_are_turned_round_one_by_one() {
        for (block, count) in [(1, 5), (7, 30), (70_000, 3)] {
            let a: Vec<usize> = (0..block * count).collect();
            for shift in [0, 1, block - 1] {
                let out = written(a.len(), |out| turned_round(&a, out, block, shift));
                let turned =
                    a.chunks(block).flat_map(|a| a[block - shift..].iter().chain(&a[..block - shift]));
                assert!(out.iter().eq(turned), "{block} by {shift}");
            }
        }
    }
}
