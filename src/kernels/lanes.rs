//! Folding and visiting rows of elements inside work that is compiled for a processor as a whole (`simd::calculated`):
//! several rows at a time, in pieces whose widths the compiler knows, the narrower of them for what is left over.
//!
//! What a fold is depends on the length of the rows alone.

use std::hint::black_box;

use crate::kernels::merge::{Merge, Sum};
use crate::kernels::pointwise::math::Arithmetic;

/// Elements that are taken at once, enough to fill the vector registers.
const LANES: usize = 32;

/// Elements of a leaf: what is folded lane by lane. Leaves are folded along a tree.
const LEAF: usize = 4096;

/// A piece of each row. It is looked up once: the loops along it have nothing left to check.
#[inline(always)]
fn pieces<'a, T, const N: usize, const L: usize>(
    chunks: &[&'a [[T; L]]; N],
    chunk: usize,
) -> [&'a [T; L]; N] {
    std::array::from_fn(
        #[inline(always)]
        |row| &chunks[row][chunk],
    )
}

/// The elements of the rows at one place.
#[inline(always)]
fn column<A: Arithmetic, const N: usize, const L: usize>(
    pieces: &[&[A::Plain; L]; N],
    lane: usize,
) -> [A; N] {
    let mut column = [A::from_f64(0.0); N];
    for (row, element) in column.iter_mut().enumerate() {
        *element = A::new(pieces[row][lane]);
    }
    column
}

/// Keeps pieces apart, of which the compiler would take the first elements of several together, then the second.
#[inline(always)]
fn apart() {
    black_box(());
}

/// Rows cut into pieces.
#[inline(always)]
fn cut<T, const N: usize, const L: usize>(rows: [&[T]; N]) -> [&[[T; L]]; N] {
    let mut chunks = [[].as_slice(); N];
    for row in 0..N {
        chunks[row] = rows[row].as_chunks::<L>().0;
    }
    chunks
}

/// The last elements of each row, which has as many at least.
#[inline(always)]
fn ends<T, const N: usize, const L: usize>(rows: [&[T]; N]) -> [&[T; L]; N] {
    std::array::from_fn(
        #[inline(always)]
        |row| rows[row].last_chunk().unwrap_or_else(|| unreachable!("the row is as long")),
    )
}

/// What elements are folded with: `map` makes `K` states of those at one place, `merge` one state of two.
#[derive(Clone, Copy)]
pub(super) struct Folding<A, M, G> {
    pub(super) identity: A,
    pub(super) map: M,
    pub(super) merge: G,
}

/// What the lanes of `K` foldings have come to, in lines of memory: what is written across two of them is not at
/// hand when parts of it are read.
#[repr(C, align(64))]
struct States<T, const K: usize, const L: usize>([[T; L]; K]);

/// Folds each lane of the pieces, and then the lanes. What is left over of rows is in pieces that end with them; of
/// these, the lanes that were folded before are left out.
#[inline(always)]
fn fold_pieces<A: Arithmetic, const N: usize, const K: usize, const L: usize>(
    rows: [&[A::Plain]; N],
    folding: Folding<A, impl Fn([A; N]) -> [A; K] + Copy, impl Merge>,
) -> [A; K] {
    let chunks = cut::<_, N, L>(rows);
    let mut states = [[folding.identity.get(); L]; K];
    for chunk in 0..chunks[0].len() {
        apart();
        let pieces = pieces(&chunks, chunk);
        for lane in 0..L {
            let mapped = (folding.map)(column(&pieces, lane));
            for (state, lanes) in states.iter_mut().enumerate() {
                lanes[lane] = folding.merge.two(lanes[lane], mapped[state].get());
            }
        }
    }
    // The compiler shall see neither what follows together with the loop nor the tree: it would take numbers one by one.
    let mut states = black_box(States(states));
    let left = rows[0].len() % L;
    if left > 0 {
        let (pieces, first) = (ends::<_, N, L>(rows), first_of(left, L));
        for lane in 0..L {
            let mapped = (folding.map)(column(&pieces, lane));
            for (state, lanes) in states.0.iter_mut().enumerate() {
                let merged = folding.merge.two(lanes[lane], mapped[state].get());
                lanes[lane] = if lane as u32 >= first { merged } else { lanes[lane] };
            }
        }
        states = black_box(states);
    }
    let mut folded = [folding.identity; K];
    for (folded, lanes) in folded.iter_mut().zip(&states.0) {
        *folded = A::new(folding.merge.all(lanes));
    }
    folded
}

/// The first of the last so many lanes. The compiler shall take it for a narrow number: as many of those are compared
/// at once as there are elements.
#[inline(always)]
fn first_of(left: usize, lanes: usize) -> u32 {
    black_box((lanes - left) as u32)
}

/// Folds a leaf, in pieces as wide as it allows.
#[inline(always)]
fn fold_leaf<A: Arithmetic, const N: usize, const K: usize>(
    rows: [&[A::Plain]; N],
    folding: Folding<A, impl Fn([A; N]) -> [A; K] + Copy, impl Merge>,
) -> [A; K] {
    match rows[0].len() {
        LANES.. => fold_pieces::<A, N, K, LANES>(rows, folding),
        16.. => fold_pieces::<A, N, K, 16>(rows, folding),
        8.. => fold_pieces::<A, N, K, 8>(rows, folding),
        _ => fold_pieces::<A, N, K, 1>(rows, folding),
    }
}

#[inline(always)]
fn merged<A: Arithmetic, const K: usize>(mut a: [A; K], b: [A; K], merge: impl Merge) -> [A; K] {
    for (a, b) in a.iter_mut().zip(b) {
        *a = merge.two(*a, b);
    }
    a
}

/// Folds rows of one length, which there is at least one of.
#[inline(always)]
pub(super) fn fold<A: Arithmetic, const N: usize, const K: usize>(
    rows: [&[A::Plain]; N],
    folding: Folding<A, impl Fn([A; N]) -> [A; K] + Copy, impl Merge>,
) -> [A; K] {
    // One call of the loops for short rows and for long ones: they are in the program once.
    let len = rows[0].len();
    let leaves = len.div_ceil(LEAF).max(1);
    // A binary counter: the entry for bit b holds 2^b leaves.
    let (mut folded, mut levels) = ([folding.identity; K], Vec::new());
    for leaf in 0..leaves {
        let (start, end) = (leaf * LEAF, len.min((leaf + 1) * LEAF));
        let mut part = rows;
        for row in &mut part {
            *row = &row[start..end];
        }
        folded = fold_leaf(part, folding);
        if leaves == 1 {
            return folded;
        }
        for _ in 0..leaf.trailing_ones() {
            folded = levels.pop().map_or(folded, |earlier| merged(earlier, folded, folding.merge));
        }
        levels.push(folded);
    }
    // What the counter holds, from the latest leaves to the earliest.
    let latest = levels.pop().unwrap_or(folded);
    levels.into_iter().rev().fold(latest, |later, earlier| merged(earlier, later, folding.merge))
}

/// The sums of `K` functions of the elements at one place.
#[inline(always)]
pub(super) fn sums<A: Arithmetic, const N: usize, const K: usize>(
    rows: [&[A::Plain]; N],
    map: impl Fn([A; N]) -> [A; K] + Copy,
) -> [A; K] {
    fold(rows, Folding { identity: A::from_f64(0.0), map, merge: Sum })
}

/// Calls `put` for each element of `out` with those of the rows at its place.
#[inline(always)]
pub(super) fn visit<A: Arithmetic, V: Copy, const N: usize>(
    rows: [&[A::Plain]; N],
    out: &mut [V],
    put: impl Fn(&mut V, [A; N]) + Copy,
) {
    let mut rows = rows;
    for row in &mut rows {
        *row = &row[..out.len()];
    }
    match out.len() {
        LANES.. => visit_pieces::<A, V, N, LANES>(rows, out, put),
        16.. => visit_pieces::<A, V, N, 16>(rows, out, put),
        8.. => visit_pieces::<A, V, N, 8>(rows, out, put),
        _ => visit_pieces::<A, V, N, 1>(rows, out, put),
    }
}

#[inline(always)]
fn visit_pieces<A: Arithmetic, V: Copy, const N: usize, const L: usize>(
    rows: [&[A::Plain]; N],
    out: &mut [V],
    put: impl Fn(&mut V, [A; N]) + Copy,
) {
    let chunks = cut::<_, N, L>(rows);
    // What is left over comes first: places that were just written are not at hand when others are read with them.
    let left = out.len() % L;
    if left > 0 {
        let (pieces, first) = (ends::<_, N, L>(rows), first_of(left, L));
        let out = out.last_chunk_mut::<L>().unwrap_or_else(|| unreachable!("there are as many places"));
        let mut results = *out;
        for (lane, result) in results.iter_mut().enumerate() {
            let mut changed = *result;
            put(&mut changed, column(&pieces, lane));
            *result = if lane as u32 >= first { changed } else { *result };
        }
        *out = results;
    }
    for (chunk, out) in out.as_chunks_mut::<L>().0.iter_mut().enumerate() {
        apart();
        let pieces = pieces(&chunks, chunk);
        let mut results = *out;
        for (lane, result) in results.iter_mut().enumerate() {
            put(result, column(&pieces, lane));
        }
        *out = results;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_any_length_are_those_of_double_precision() {
        for len in [0, 1, 7, 8, 31, 32, 45, 1000, LEAF, LEAF + 1, 3 * LEAF + 77, 11 * LEAF] {
            let x: Vec<f32> = (0..len).map(|index| ((index * 37) % 101) as f32 * 0.37 - 11.0).collect();
            let exact = x.iter().fold([0.0, 0.0], |[a, b], &x| [a + f64::from(x), b + f64::from(x).powi(2)]);
            let found: [f32; 2] = sums([&x], |[x]: [f32; 1]| [x, x * x]);
            for (found, exact) in found.iter().zip(exact) {
                let off = (f64::from(*found) - exact).abs();
                assert!(
                    off <= 1e-5 * exact.abs().max(11.0 * len as f64).max(1.0),
                    "{len}: {found}, not {exact}"
                );
            }
        }
    }

    #[test]
    fn every_element_is_visited_with_those_beside_it() {
        for len in [0, 1, 8, 33, 47, 100] {
            let x: Vec<f64> = (0..len).map(f64::from).collect();
            let mut y = vec![1.0; len as usize];
            visit([&x, &x], &mut y, |y: &mut f64, [a, b]: [f64; 2]| *y += a + b);
            assert!(y.iter().zip(&x).all(|(y, x)| *y == 1.0 + 2.0 * x));
        }
    }
}
