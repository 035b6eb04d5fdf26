//! Several tensors as one, row by row.

use std::mem::MaybeUninit;

use crate::kernels::geometry::moves::{move_ends, move_slice};
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::simd::vectorised;

/// Rows of parts that are longer than this are written as they lie in memory, which takes less time than part by part.
const LONG: usize = 32;

/// Rows one of which is made of a row of each part: its elements, and how many of them are a row.
pub fn side_by_side<T: Copy + Send + Sync>(parts: &[(&[T], usize)], out: &mut [MaybeUninit<T>]) {
    let row: usize = parts.iter().map(|(_, len)| len).sum();
    if out.is_empty() {
        return;
    }
    let are_long = parts.iter().all(|&(_, len)| len == 0 || len > LONG);
    parallel_parts(out, (GRAIN / row).max(1) * row, |start, piece| {
        let mut steps = Steps::default();
        vectorised(
            piece.len(),
            #[inline(always)]
            || {
                if are_long {
                    for (at, mut out) in piece.chunks_exact_mut(row).enumerate() {
                        steps.take(row);
                        for &(elements, len) in parts {
                            let (place, rest) = out.split_at_mut(len);
                            let elements = &elements[(start / row + at) * len..][..len];
                            move_slice(place, elements, |out, element| {
                                out.write(element);
                            });
                            out = rest;
                        }
                    }
                    return;
                }
                let mut offset = 0;
                for &(elements, len) in parts {
                    steps.take(piece.len() / row * len);
                    if len > 0 {
                        let rows = elements[start / row * len..].chunks_exact(len);
                        each_row(
                            piece.chunks_exact_mut(row).map(|out| &mut out[offset..offset + len]).zip(rows),
                            len,
                        );
                    }
                    offset += len;
                }
            },
        );
    });
}

/// Moves rows of one length to their places: how, is chosen for all of them at once.
#[inline(always)]
fn each_row<'a, T: Copy + Send + Sync + 'a>(
    rows: impl Iterator<Item = (&'a mut [MaybeUninit<T>], &'a [T])>,
    len: usize,
) {
    let write = |out: &mut MaybeUninit<T>, element| {
        out.write(element);
    };
    match len {
        1 => rows.for_each(|(out, a)| move_ends::<1, _, _>(out, a, write)),
        2 | 3 => rows.for_each(|(out, a)| move_ends::<2, _, _>(out, a, write)),
        4..=7 => rows.for_each(|(out, a)| move_ends::<4, _, _>(out, a, write)),
        8..=15 => rows.for_each(|(out, a)| move_ends::<8, _, _>(out, a, write)),
        16..=32 => rows.for_each(|(out, a)| move_ends::<16, _, _>(out, a, write)),
        _ => rows.for_each(|(out, a)| move_slice(out, a, write)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};

    #[test]
    fn rows_stand_side_by_side() {
        let (a, b): (Vec<i32>, Vec<i32>) = ((0..6).collect(), (10..16).collect());
        let joined = written(12, |out| side_by_side(&[(&a, 2), (&[], 0), (&b, 2)], out));
        assert_eq!(joined, [0, 1, 10, 11, 2, 3, 12, 13, 4, 5, 14, 15]);
        assert_eq!(written(0, |out| side_by_side::<i32>(&[(&[], 0)], out)), []);
    }

    #[test]
    fn rows_of_any_length_are_whole_at_any_number_of_threads() {
        for (left, right) in [(1, 3), (2, 7), (5, 40), (8, 16), (31, 32), (33, 500), (64, 65), (200, 1)] {
            let count = 3 * GRAIN / (left + right);
            let (a, b): (Vec<usize>, Vec<usize>) =
                ((0..count * left).collect(), (0..count * right).collect());
            let wanted = a.chunks(left).zip(b.chunks(right)).flat_map(|(a, b)| a.iter().chain(b).copied());
            let wanted: Vec<usize> = wanted.collect();
            let found = at_thread_counts(|| {
                written(wanted.len(), |out| side_by_side(&[(&a, left), (&b, right)], out))
            });
            assert!(found.iter().all(|found| *found == wanted), "{left} and {right}");
        }
    }
}
