//! Reductions over any set of axes: how a view is brought into rows and columns that `rows` and
//! `columns` fold. The named reductions are in `named`, those in two passes in `moments`, and
//! those that answer with an index in `extremes`.
//!
//! Every result is folded along a tree that depends on shape and layout alone: leaves with a fixed
//! number of lanes, then pairwise. So the error of a sum grows with the logarithm of its length, and
//! threads do not show in the bits.

mod columns;
mod extremes;
mod leaves;
mod moments;
mod named;
mod rows;

pub use extremes::{arg_extreme, extreme_with_index};
pub use moments::{logsumexp, var_mean};
pub use named::{all, any, count_nonzero, max, mean, min, norm, prod, sum, total, truths};
pub use rows::fold_slice;

use ndarray::ArrayViewD;
use smallvec::SmallVec;
use std::mem::MaybeUninit;

use crate::kernels::geometry::dense::dense;
use crate::kernels::interrupt;
use crate::kernels::pointwise::apply;

/// What is done to the elements of a reduction: each is mapped to a state, and states are merged,
/// starting from `identity`. `merge` has to be associative up to rounding.
#[derive(Clone, Copy, Debug)]
pub struct Fold<A, M, G> {
    /// The state of no elements.
    pub identity: A,
    /// The state of one element: `std::convert::identity` where an element is a state, so that the folds of
    /// states that follow are the same code.
    pub map: M,
    /// The state of both arguments' elements, those of the first argument being earlier.
    pub merge: G,
}

/// Neighbouring axes that are all reduced or all kept.
struct Run {
    reduced: bool,
    len: usize,
}

/// Reduces `axes` of a view. `out` has the shape of the kept axes.
pub fn reduce<T, A, U, M, G>(
    view: ArrayViewD<'_, T>,
    axes: &[usize],
    out: &mut [MaybeUninit<U>],
    fold: Fold<A, M, G>,
    finish: impl Fn(A) -> U + Copy + Sync,
) where
    T: Copy + Default + Send + Sync + 'static,
    A: Copy + Send + Sync,
    U: Send,
    M: Fn(T) -> A + Copy + Sync,
    G: Fn(A, A) -> A + Copy + Sync,
{
    reduce_with(view, axes, out, fold, move |out, state| {
        out.write(finish(state));
    });
}

/// As `reduce`, with `put` storing the results.
pub(in crate::kernels) fn reduce_with<T, A, V, M, G>(
    view: ArrayViewD<'_, T>,
    axes: &[usize],
    out: &mut [V],
    fold: Fold<A, M, G>,
    put: impl Fn(&mut V, A) + Copy + Sync,
) where
    T: Copy + Default + Send + Sync + 'static,
    A: Copy + Send + Sync,
    V: Send,
    M: Fn(T) -> A + Copy + Sync,
    G: Fn(A, A) -> A + Copy + Sync,
{
    if view.is_empty() {
        return out.iter_mut().for_each(|out| put(out, fold.identity));
    }
    if let (true, Some(slice), [out]) = (axes.len() == view.ndim(), view.as_slice(), &mut *out) {
        return put(out, fold_slice(slice, fold));
    }
    // Rows as they mostly lie need no look at axes.
    if let (Some(slice), &[axis], Some(&len)) = (view.as_slice(), axes, view.shape().last())
        && axis + 1 == view.ndim()
        && len > 1
    {
        return rows::fold_rows(slice, len, out, fold, put);
    }
    let (view, mut runs) = in_memory_order(view, axes);
    let elements = dense(&view);
    if reduced(&runs) <= 1 {
        return last_stage(&elements, &runs, out, fold, put);
    }
    // Reduced and kept axes alternate: reduce the last run, then what comes out of it.
    let Fold { identity, merge, .. } = fold;
    let again = Fold { identity, map: std::convert::identity, merge };
    let mut states = stage(&elements, &mut runs, fold);
    while reduced(&runs) > 1 {
        states = stage(&states, &mut runs, again);
    }
    last_stage(&states, &runs, out, again, put);
}

fn reduced(runs: &[Run]) -> usize {
    runs.iter().filter(|run| run.reduced).count()
}

/// The view with its axes as they lie in memory, where that does not change the order of the
/// results, and its runs.
fn in_memory_order<'a, T>(
    view: ArrayViewD<'a, T>,
    axes: &[usize],
) -> (ArrayViewD<'a, T>, SmallVec<[Run; 6]>) {
    let mut order: SmallVec<[usize; 6]> = (0..view.ndim()).collect();
    let in_order = view.is_standard_layout();
    if !in_order {
        order.sort_by_key(|&axis| std::cmp::Reverse(view.strides()[axis]));
        let kept = order.iter().filter(|axis| !axes.contains(axis));
        let sorted = view.view().permuted_axes(&order[..]);
        if !kept.is_sorted() || !sorted.is_standard_layout() {
            order.sort_unstable();
        }
    }
    let mut runs: SmallVec<[Run; 6]> = SmallVec::new();
    for &axis in &order {
        let (reduced, len) = (axes.contains(&axis), view.shape()[axis]);
        match runs.last_mut() {
            _ if len == 1 => {}
            Some(run) if run.reduced == reduced => run.len *= len,
            _ => runs.push(Run { reduced, len }),
        }
    }
    (if in_order { view } else { view.permuted_axes(&order[..]) }, runs)
}

/// Reduces the last reduced run and merges the kept runs around it.
fn stage<T, A, M, G>(elements: &[T], runs: &mut SmallVec<[Run; 6]>, fold: Fold<A, M, G>) -> Vec<A>
where
    T: Copy + Sync,
    A: Copy + Send + Sync,
    M: Fn(T) -> A + Copy + Sync,
    G: Fn(A, A) -> A + Copy + Sync,
{
    let inner = if runs.last().is_some_and(|run| run.reduced) { 1 } else { last_len(runs) };
    let len = last_len(runs);
    let mut states = interrupt::filled(elements.len() / len, fold.identity);
    columns::fold_columns(elements, len, inner, &mut states, fold, |out, state| *out = state);
    match runs.last_mut() {
        Some(run) if !run.reduced => run.len *= inner,
        _ => runs.push(Run { reduced: false, len: inner }),
    }
    states
}

/// Takes the last run away; without one there is an axis of length 1.
fn last_len(runs: &mut SmallVec<[Run; 6]>) -> usize {
    runs.pop().map_or(1, |run| run.len)
}

/// Reduces the only reduced run, if there is one.
fn last_stage<T, A, V, M, G>(
    elements: &[T],
    runs: &[Run],
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
    let Some(position) = runs.iter().position(|run| run.reduced) else {
        let Fold { identity, map, merge } = fold;
        let single = move |out: &mut V, element| put(out, merge(identity, map(element)));
        return apply::each_slice_1(out, elements, single);
    };
    let inner = runs[position + 1..].iter().map(|run| run.len).product();
    columns::fold_columns(elements, runs[position].len, inner, out, fold, put);
}

#[cfg(test)]
mod tests;
