//! Folding along an axis that other axes follow in memory: whole rows are merged side by side,
//! rows of a leaf one after the other, leaves along a pairwise tree.

use std::convert::identity;
use std::mem::MaybeUninit;

use super::{Fold, rows};
use crate::dtype::Ring;
use crate::kernels::interrupt;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::simd::vectorised;

/// Rows of one leaf.
const LEAF: usize = 32;

/// Columns folded together: their states stay in the first-level cache.
const WIDTH: usize = 2048;

/// Short rows are taken together up to so many columns.
const WIDE: usize = 512;

/// So many columns are few.
const FEW: usize = 64;

/// Elements of one segment, unless that has only a few leaves. Longer columns are cut so that threads can share them.
const SEGMENT: usize = 2 * GRAIN;

/// Rows of one segment of columns that are so many.
fn segment(inner: usize) -> usize {
    (SEGMENT / inner / LEAF).max(4) * LEAF
}

/// Folds `elements` of shape (outer, `len`, `inner`) along the middle axis.
pub(super) fn fold_columns<T, A, V, M, G>(
    elements: &[T],
    len: usize,
    inner: usize,
    out: &mut [V],
    fold: Fold<A, M, G>,
    put: impl Fn(&mut V, A) + Copy + Sync,
) where
    T: Copy + Send + Sync + 'static,
    A: Copy + Send + Sync,
    V: Send,
    M: Fn(T) -> A + Copy + Sync,
    G: Fn(A, A) -> A + Copy + Sync,
{
    if inner == 1 {
        return rows::fold_rows(elements, len, out, fold, put);
    }
    let segments = len.div_ceil(segment(inner));
    if segments == 1 {
        return fold_segments(elements, len, inner, 1, out, fold, put);
    }
    let mut states = interrupt::filled(out.len() * segments, fold.identity);
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
    let rows = segment(inner);
    let grain = match inner <= WIDTH {
        true => (GRAIN / len.min(rows) / inner).max(1) * inner,
        false => (GRAIN / len.min(rows)).max(WIDTH),
    };
    parallel_parts(out, grain, |mut position, mut part| {
        while !part.is_empty() {
            let (row, column) = (position / inner, position % inner);
            let width = part.len().min(inner - column).min(WIDTH);
            let (outer, segment) = (row / segments, row % segments);
            let count = if segments == 1 { len } else { rows.min(len - segment * rows) };
            let first = (outer * len + segment * rows) * inner + column;
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
    fold: Fold<A, M, G>,
) -> Vec<A>
where
    T: Copy,
    A: Copy,
    M: Fn(T) -> A + Copy,
    G: Fn(A, A) -> A + Copy,
{
    // Of short rows as many as a loop may take are one row.
    let beside = if stride == width { (WIDE / width).max(1) } else { 1 };
    let wide = count / beside;
    if beside == 1 || wide < 2 {
        return fold_leaves(elements, count, stride, width, fold);
    }
    let mut groups = fold_leaves(elements, wide, width * beside, width * beside, fold);
    let mut groups_left = beside;
    while groups_left > 1 {
        let kept = groups_left.div_ceil(2);
        let (first, second) = groups[..groups_left * width].split_at_mut(kept * width);
        merge_into(first, second, fold.merge);
        groups_left = kept;
    }
    let rest = &elements[wide * beside * width..];
    groups.truncate(width);
    merge_into(&mut groups, &fold_leaves(rest, count % beside, width, width, fold), fold.merge);
    groups
}

/// The sums of few columns that are those of one leaf, if they are: nothing is kept of them in memory meanwhile.
pub(super) fn sums_of_leaf<T: Ring>(elements: &[T], width: usize, out: &mut [MaybeUninit<T>]) -> bool {
    let count = elements.len() / width.max(1);
    if !T::DTYPE.is_float() || !(2..=FEW).contains(&width) || count > LEAF || count / (WIDE / width) >= 2 {
        return false;
    }
    let mut states = [T::ZERO; FEW];
    let states = &mut states[..width];
    let fold = Fold { identity: T::ZERO, map: identity, merge: T::add };
    vectorised(
        elements.len(),
        #[inline(always)]
        || fold_leaf(elements, count, width, states, fold),
    );
    out.iter_mut().zip(states).for_each(|(out, state)| {
        out.write(*state);
    });
    true
}

fn merge_into<A: Copy>(states: &mut [A], others: &[A], merge: impl Fn(A, A) -> A) {
    states.iter_mut().zip(others).for_each(|(state, &other)| *state = merge(*state, other));
}

/// Folds leaves, and those along a tree.
pub(super) fn fold_leaves<T, A, M, G>(
    elements: &[T],
    count: usize,
    stride: usize,
    width: usize,
    fold: Fold<A, M, G>,
) -> Vec<A>
where
    T: Copy,
    A: Copy,
    M: Fn(T) -> A + Copy,
    G: Fn(A, A) -> A + Copy,
{
    // A binary counter: the entry for bit b holds 2^b leaves, the largest first.
    let mut levels: Vec<Vec<A>> = Vec::new();
    for (leaf, start) in (0..count).step_by(LEAF).enumerate() {
        let rows = LEAF.min(count - start);
        let mut states = interrupt::filled(width, fold.identity);
        vectorised(
            width * rows,
            #[inline(always)]
            || fold_leaf(&elements[start * stride..], rows, stride, &mut states, fold),
        );
        for _ in 0..leaf.trailing_ones() {
            if let Some(mut earlier) = levels.pop() {
                merge_into(&mut earlier, &states, fold.merge);
                states = earlier;
            }
        }
        levels.push(states);
    }
    let mut states = levels.pop().unwrap_or_else(|| interrupt::filled(width, fold.identity));
    while let Some(mut earlier) = levels.pop() {
        merge_into(&mut earlier, &states, fold.merge);
        states = earlier;
    }
    states
}

/// Folds rows one after the other, several of them in one loop along their states.
#[inline(always)]
fn fold_leaf<T, A, M, G>(
    elements: &[T],
    rows: usize,
    stride: usize,
    states: &mut [A],
    Fold { map, merge, .. }: Fold<A, M, G>,
) where
    T: Copy,
    A: Copy,
    M: Fn(T) -> A + Copy,
    G: Fn(A, A) -> A + Copy,
{
    let width = states.len();
    let row = |row: usize| &elements[row * stride..][..width];
    let whole = rows - rows % 4;
    for first in (0..whole).step_by(4) {
        let (early, late) =
            (row(first).iter().zip(row(first + 1)), row(first + 2).iter().zip(row(first + 3)));
        for (state, ((&a, &b), (&c, &d))) in states.iter_mut().zip(early.zip(late)) {
            *state = merge(merge(merge(merge(*state, map(a)), map(b)), map(c)), map(d));
        }
    }
    for index in whole..rows {
        states.iter_mut().zip(row(index)).for_each(|(state, &element)| *state = merge(*state, map(element)));
    }
}
