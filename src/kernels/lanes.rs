//! Folding and visiting rows of elements inside work that is compiled for a processor as a whole (`simd::calculated`):
//! several rows at a time, in pieces whose widths the compiler knows, the narrower of them for what is left over.
//!
//! What a fold is depends on the length of the rows alone.

use std::hint::black_box;

use crate::kernels::pointwise::math::Arithmetic;

/// Elements that are taken at once, enough to fill the vector registers.
const LANES: usize = 32;

/// Of what is left over, so many are taken at once.
const FEW: usize = 8;

/// Elements of a leaf: what is folded lane by lane. Leaves are folded along a tree.
const LEAF: usize = 4096;

/// More leaves than two to this power have no room in memory.
const LEVELS: usize = 52;

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

/// Rows cut into pieces, and what is left over of each.
#[inline(always)]
fn cut<T, const N: usize, const L: usize>(rows: [&[T]; N]) -> ([&[[T; L]]; N], [&[T]; N]) {
    let (mut chunks, mut rest) = ([[].as_slice(); N], rows);
    for row in 0..N {
        (chunks[row], rest[row]) = rows[row].as_chunks::<L>();
    }
    (chunks, rest)
}

/// What elements are folded with: `map` makes `K` states of those at one place, `merge` one state of two.
#[derive(Clone, Copy)]
pub(super) struct Folding<A, M, G> {
    pub(super) identity: A,
    pub(super) map: M,
    pub(super) merge: G,
}

/// Folds each lane of the pieces, and then the lanes.
#[inline(always)]
fn fold_pieces<A: Arithmetic, const N: usize, const K: usize, const L: usize>(
    chunks: [&[[A::Plain; L]]; N],
    folding: Folding<A, impl Fn([A; N]) -> [A; K] + Copy, impl Fn(A, A) -> A + Copy>,
) -> [A; K] {
    let mut states = [[folding.identity; L]; K];
    for chunk in 0..chunks[0].len() {
        apart();
        let pieces = pieces(&chunks, chunk);
        for lane in 0..L {
            let mapped = (folding.map)(column(&pieces, lane));
            for (state, lanes) in states.iter_mut().enumerate() {
                lanes[lane] = (folding.merge)(lanes[lane], mapped[state]);
            }
        }
    }
    // The compiler shall not see both loops at once: it would take what the tree takes together, two lanes.
    let mut states = black_box(states);
    let mut folded = [folding.identity; K];
    for (folded, lanes) in folded.iter_mut().zip(&mut states) {
        let mut width = L;
        while width > 1 {
            width /= 2;
            for lane in 0..width {
                lanes[lane] = (folding.merge)(lanes[lane], lanes[lane + width]);
            }
        }
        *folded = lanes[0];
    }
    folded
}

/// Folds a leaf.
#[inline(always)]
fn fold_leaf<A: Arithmetic, const N: usize, const K: usize>(
    rows: [&[A::Plain]; N],
    folding: Folding<A, impl Fn([A; N]) -> [A; K] + Copy, impl Fn(A, A) -> A + Copy>,
) -> [A; K] {
    let mut folded = [folding.identity; K];
    let (chunks, rest) = cut::<_, N, LANES>(rows);
    if !chunks[0].is_empty() {
        folded = fold_pieces(chunks, folding);
    }
    let (chunks, rest) = cut::<_, N, FEW>(rest);
    if !chunks[0].is_empty() {
        folded = merged(folded, fold_pieces(chunks, folding), folding.merge);
    }
    let (chunks, _) = cut::<_, N, 1>(rest);
    for chunk in 0..chunks[0].len() {
        folded = merged(folded, (folding.map)(column(&pieces(&chunks, chunk), 0)), folding.merge);
    }
    folded
}

#[inline(always)]
fn merged<A: Copy, const K: usize>(mut a: [A; K], b: [A; K], merge: impl Fn(A, A) -> A) -> [A; K] {
    for (a, b) in a.iter_mut().zip(b) {
        *a = merge(*a, b);
    }
    a
}

/// Folds rows of one length, which there is at least one of.
#[inline(always)]
pub(super) fn fold<A: Arithmetic, const N: usize, const K: usize>(
    rows: [&[A::Plain]; N],
    folding: Folding<A, impl Fn([A; N]) -> [A; K] + Copy, impl Fn(A, A) -> A + Copy>,
) -> [A; K] {
    // One call of the loops for short rows and for long ones: they are in the program once.
    let len = rows[0].len();
    let leaves = len.div_ceil(LEAF).max(1);
    let (mut folded, mut levels) = ([folding.identity; K], [[folding.identity; K]; LEVELS]);
    for leaf in 0..leaves {
        let (start, end) = (leaf * LEAF, len.min((leaf + 1) * LEAF));
        let mut part = rows;
        for row in &mut part {
            *row = &row[start..end];
        }
        folded = fold_leaf(part, folding);
        if leaves == 1 {
            break;
        }
        // A binary counter: the entry for bit b holds 2^b leaves.
        let full = leaf.trailing_ones() as usize;
        for level in &levels[..full] {
            folded = merged(*level, folded, folding.merge);
        }
        levels[full] = folded;
    }
    if leaves > 1 {
        // What the counter holds, from the latest leaves to the earliest.
        let bits = (0..LEVELS).filter(|level| leaves >> level & 1 == 1);
        let mut held = None;
        for level in bits {
            held = Some(match held {
                Some(later) => merged(levels[level], later, folding.merge),
                None => levels[level],
            });
        }
        folded = held.unwrap_or(folded);
    }
    folded
}

/// The sums of `K` functions of the elements at one place.
#[inline(always)]
pub(super) fn sums<A: Arithmetic, const N: usize, const K: usize>(
    rows: [&[A::Plain]; N],
    map: impl Fn([A; N]) -> [A; K] + Copy,
) -> [A; K] {
    fold(rows, Folding { identity: A::from_f64(0.0), map, merge: |a: A, b: A| a + b })
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
    let (chunks, rest) = cut::<_, N, LANES>(rows);
    let (out, out_rest) = out.as_chunks_mut::<LANES>();
    visit_pieces(chunks, out, put);
    let (chunks, rest) = cut::<_, N, FEW>(rest);
    let (out, out_rest) = out_rest.as_chunks_mut::<FEW>();
    visit_pieces(chunks, out, put);
    let (chunks, _) = cut::<_, N, 1>(rest);
    let (out, _) = out_rest.as_chunks_mut::<1>();
    visit_pieces(chunks, out, put);
}

#[inline(always)]
fn visit_pieces<A: Arithmetic, V: Copy, const N: usize, const L: usize>(
    chunks: [&[[A::Plain; L]]; N],
    out: &mut [[V; L]],
    put: impl Fn(&mut V, [A; N]) + Copy,
) {
    for (chunk, out) in out.iter_mut().enumerate() {
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
