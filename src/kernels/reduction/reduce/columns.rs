//! Folding along an axis that other axes follow in memory: whole rows are merged side by side,
//! rows of a leaf one after the other, leaves along a pairwise tree.

use super::{Fold, rows};
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::simd::vectorised;

/// Rows of one leaf.
const LEAF: usize = 32;

/// Columns folded together: their states stay in the first-level cache.
const WIDTH: usize = 512;

/// Rows of one segment at the least. Longer columns are cut so that threads can share them.
const SEGMENT: usize = 128 * LEAF;

/// Folds `elements` of shape (outer, `len`, `inner`) along the middle axis.
pub(super) fn fold_columns<T, A, V, M, G>(
    elements: &[T],
    len: usize,
    inner: usize,
    out: &mut [V],
    fold: Fold<A, M, G>,
    put: impl Fn(&mut V, A) + Copy + Sync,
) where
    T: Copy + Sync,
    A: Copy + Send + Sync,
    V: Send,
    M: Fn(T) -> A + Copy + Sync,
    G: Fn(A, A) -> A + Copy + Sync,
{
    if inner == 1 {
        return rows::fold_rows(elements, len, out, fold, put);
    }
    let segments = len.div_ceil(SEGMENT);
    if segments == 1 {
        return fold_segments(elements, len, inner, 1, out, fold, put);
    }
    let mut states = vec![fold.identity; out.len() * segments];
    fold_segments(elements, len, inner, segments, &mut states, fold, |out, state| *out = state);
    let Fold { identity, merge, .. } = fold;
    let again = Fold { identity, map: std::convert::identity, merge };
    fold_segments(&states, segments, inner, 1, out, again, put);
}

/// Folds each of the `segments` into which the middle axis is cut; `out` has shape (outer,
/// `segments`, `inner`).
fn fold_segments<T, A, V, M, G>(
    elements: &[T],
    len: usize,
    inner: usize,
    segments: usize,
    out: &mut [V],
    fold: Fold<A, M, G>,
    put: impl Fn(&mut V, A) + Copy + Sync,
) where
    T: Copy + Sync,
    A: Copy + Send + Sync,
    V: Send,
    M: Fn(T) -> A + Copy + Sync,
    G: Fn(A, A) -> A + Copy + Sync,
{
    let grain = (GRAIN / len.min(SEGMENT)).max(WIDTH.min(inner));
    parallel_parts(out, grain, |mut position, mut part| {
        while !part.is_empty() {
            let (row, column) = (position / inner, position % inner);
            let width = part.len().min(inner - column).min(WIDTH);
            let (outer, segment) = (row / segments, row % segments);
            let count = if segments == 1 { len } else { SEGMENT.min(len - segment * SEGMENT) };
            let first = (outer * len + segment * SEGMENT) * inner + column;
            let states = fold_block(&elements[first..], count, inner, width, fold);
            let (done, rest) = part.split_at_mut(width);
            done.iter_mut().zip(states).for_each(|(out, state)| put(out, state));
            (position, part) = (position + width, rest);
        }
    });
}

/// Folds the first `width` columns of `count` rows, which are `stride` elements apart.
fn fold_block<T, A, M, G>(
    elements: &[T],
    count: usize,
    stride: usize,
    width: usize,
    Fold { identity, map, merge }: Fold<A, M, G>,
) -> Vec<A>
where
    T: Copy,
    A: Copy,
    M: Fn(T) -> A + Copy,
    G: Fn(A, A) -> A + Copy,
{
    let merge_into = |earlier: &mut [A], later: &[A]| {
        earlier.iter_mut().zip(later).for_each(|(earlier, &later)| *earlier = merge(*earlier, later));
    };
    // A binary counter: the entry for bit b holds 2^b leaves, the largest first.
    let mut levels: Vec<Vec<A>> = Vec::new();
    for (leaf, start) in (0..count).step_by(LEAF).enumerate() {
        let mut states = vec![identity; width];
        vectorised(width, || {
            for row in start..count.min(start + LEAF) {
                let row = &elements[row * stride..][..width];
                states.iter_mut().zip(row).for_each(|(state, &element)| *state = merge(*state, map(element)));
            }
        });
        for _ in 0..leaf.trailing_ones() {
            if let Some(mut earlier) = levels.pop() {
                merge_into(&mut earlier, &states);
                states = earlier;
            }
        }
        levels.push(states);
    }
    let mut states = levels.pop().unwrap_or_else(|| vec![identity; width]);
    while let Some(mut earlier) = levels.pop() {
        merge_into(&mut earlier, &states);
        states = earlier;
    }
    states
}
