//! Folding contiguous elements: lanes within a leaf, leaves along a pairwise tree.

use ndarray::ArrayViewD;
use std::hint::black_box;

use super::{Fold, columns};
use crate::kernels::geometry::moves;
use crate::kernels::interrupt;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::simd::vectorised;

/// Elements of one leaf.
pub(super) const LEAF: usize = 4096;

/// States that a leaf folds side by side, enough to fill the vector registers.
pub(super) const LANES: usize = 32;

/// The states of all lanes, in lines of memory: what is written across two of them is not at hand when it is read.
#[repr(C, align(64))]
struct Lanes<A>([A; LANES]);

/// Shorter rows take several times as long, element by element.
pub(super) const SHORT: usize = 64;

/// So many rows are turned together, if there are a few.
const TURNED: usize = 128;
pub(super) const A_FEW: usize = 8;

/// Elements that a lane takes in one after the other.
const GROUP: usize = 16;

/// Folds a slice to one state.
pub fn fold_slice<T, A, M, G>(elements: &[T], fold: Fold<A, M, G>) -> A
where
    T: Copy + Sync,
    A: Copy + Send + Sync,
    M: Fn(T) -> A + Copy + Sync,
    G: Fn(A, A) -> A + Copy + Sync,
{
    if elements.len() <= LEAF {
        return leaf(elements, fold);
    }
    let mut states = interrupt::filled(elements.len().div_ceil(LEAF), fold.identity);
    parallel_parts(&mut states, GRAIN / LEAF, |start, states| {
        states.iter_mut().zip(elements[start * LEAF..].chunks(LEAF)).for_each(|(state, elements)| {
            *state = leaf(elements, fold);
        });
    });
    pairwise(&mut states, fold.merge)
}

/// Folds every `len` elements to one result.
pub(super) fn fold_rows<T, A, V, M, G>(
    elements: &[T],
    len: usize,
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
    let grain = if len < SHORT { GRAIN / 4 } else { GRAIN };
    parallel_parts(out, (grain / len).max(1), |start, part| {
        part.iter_mut().zip(elements[start * len..].chunks_exact(len)).for_each(|(out, row)| {
            put(out, fold_slice(row, fold));
        });
    });
}

/// The rows of a view that is reduced along its last axis, and how long they are, if `fold_short` is for them.
pub(super) fn short_rows<'a, T>(view: &ArrayViewD<'a, T>, axes: &[usize]) -> Option<(&'a [T], usize)> {
    // Bytes would be moved one by one.
    let is_short = |len| size_of::<T>() > 1 && (2..SHORT).contains(&len) && view.len() / len >= A_FEW;
    whole_rows(view, axes, is_short)
}

/// The rows of a view that is reduced along its last axis, and how long they are, if they will do and lie in order.
pub(super) fn whole_rows<'a, T>(
    view: &ArrayViewD<'a, T>,
    axes: &[usize],
    will_do: impl FnOnce(usize) -> bool,
) -> Option<(&'a [T], usize)> {
    let (&len, &[axis]) = (view.shape().last()?, axes) else { return None };
    if axis + 1 == view.ndim() && will_do(len) { Some((view.to_slice()?, len)) } else { None }
}

/// As `fold_rows`, of rows that are short and not few: many at a time, turned to lie side by side. That pays where it
/// takes more than an addition to merge two states.
pub(super) fn fold_short<T, A, V, M, G>(
    elements: &[T],
    len: usize,
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
    let Some(&first) = elements.first() else { return };
    parallel_parts(out, (GRAIN / 4 / len).next_multiple_of(TURNED), |start, part| {
        let mut near = interrupt::filled(len * TURNED, first);
        for (block, out) in part.chunks_mut(TURNED).enumerate() {
            let (from, width) = ((start + block * TURNED) * len, out.len());
            let near = &mut near[..len * width];
            moves::turn(&elements[from..from + len * width], [width, len], near, moves::put);
            let states = columns::fold_leaves(near, len, width, width, fold);
            out.iter_mut().zip(states).for_each(|(out, state)| put(out, state));
        }
    });
}

fn leaf<T, A, M, G>(elements: &[T], Fold { identity, map, merge }: Fold<A, M, G>) -> A
where
    T: Copy,
    A: Copy,
    M: Fn(T) -> A + Copy,
    G: Fn(A, A) -> A + Copy,
{
    if elements.len() < LANES {
        return elements.iter().fold(identity, |state, &element| merge(state, map(element)));
    }
    vectorised(
        elements.len(),
        #[inline(always)]
        || {
            let (chunks, rest) = elements.as_chunks::<LANES>();
            let mut lanes = [identity; LANES];
            for group in chunks.chunks(GROUP) {
                let partial = side_by_side(group, Fold { identity, map, merge });
                lanes.iter_mut().zip(partial).for_each(|(lane, partial)| *lane = merge(*lane, partial));
            }
            lanes.iter_mut().zip(rest).for_each(|(lane, &element)| *lane = merge(*lane, map(element)));
            // The compiler shall not see both loops at once: it would take what the tree takes together, two lanes.
            let mut lanes = black_box(Lanes(lanes)).0;
            let mut width = LANES;
            while width > 1 {
                width /= 2;
                for lane in 0..width {
                    lanes[lane] = merge(lanes[lane], lanes[lane + width]);
                }
            }
            lanes[0]
        },
    )
}

/// Folds each lane of the chunks. The states stay in registers only in a loop as bare as this.
#[inline(always)]
fn side_by_side<T, A, M, G>(chunks: &[[T; LANES]], Fold { identity, map, merge }: Fold<A, M, G>) -> [A; LANES]
where
    T: Copy,
    A: Copy,
    M: Fn(T) -> A + Copy,
    G: Fn(A, A) -> A + Copy,
{
    let mut states = [identity; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            states[lane] = merge(states[lane], map(chunk[lane]));
        }
    }
    states
}

/// Merges neighbours until one state is left. There is at least one.
fn pairwise<A: Copy>(states: &mut [A], merge: impl Fn(A, A) -> A) -> A {
    let mut count = states.len();
    while count > 1 {
        for pair in 0..count / 2 {
            states[pair] = merge(states[2 * pair], states[2 * pair + 1]);
        }
        if count % 2 == 1 {
            states[count / 2] = states[count - 1];
        }
        count = count.div_ceil(2);
    }
    states[0]
}
