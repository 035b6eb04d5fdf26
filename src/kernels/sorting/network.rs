//! Many short rows in order, side by side: each has a lane, and what is compared with what does not depend on what
//! was found before (a network of Batcher's), so that what is done with one lane is done with all.
//!
//! What is known of a type is how keys are read, so that this is compiled once.

use std::mem::MaybeUninit;

use pulp::{Arch, Simd, WithSimd};

use crate::kernels::geometry::dense::Extent;
use crate::kernels::geometry::moves;
use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;

/// Rows that lie side by side: numbers of two or more registers, so that these need not wait for each other.
const LANES: usize = 16;

/// A number of each row.
type Line = [u64; LANES];

/// The longest rows: comparisons are more the longer these are.
const LONGEST: usize = 256;

/// So few rows are not worth it.
const FEWEST: usize = 8;

/// Elements that are worth another thread.
const SORTED: usize = GRAIN / 16;

/// Bits of keys beneath which there is room for a place.
const NARROW: u32 = 32;
const PLACES: u64 = (1 << NARROW) - 1;

/// Whether rows along an axis are short, and many.
pub(super) fn takes(extent: Extent) -> bool {
    let beside = if extent.inner == 1 { extent.outer } else { extent.inner };
    (2..=LONGEST).contains(&extent.len) && beside >= FEWEST
}

/// Rows of keys, and what is wanted of them.
pub(super) struct Rows<'a> {
    pub(super) extent: Extent,
    /// Writes the keys of the elements that lie from a place on: narrow ones into the first bits.
    pub(super) read: &'a (dyn Fn(usize, &mut [u64]) + Sync),
    /// Whether keys have so many bits that a place has room beneath.
    pub(super) is_narrow: bool,
    /// The greatest key of a number.
    pub(super) most: u64,
    /// The place of which rank is wanted, of so many numbers in a row; else those of all.
    pub(super) rank: Option<&'a (dyn Fn(usize) -> usize + Sync)>,
}

impl Rows<'_> {
    /// Writes the places of the elements in their order; equal ones keep theirs.
    pub(super) fn places(&self, out: &mut [MaybeUninit<i64>]) {
        let Extent { len, inner, .. } = self.extent;
        let made = if self.rank.is_some() { 1 } else { len };
        let (block_in, block_out) = (len * inner, made * inner);
        let together = if inner == 1 { LANES } else { 1 };
        let blocks = (SORTED / block_in).max(1).next_multiple_of(together);
        parallel_parts(out, blocks * block_out, |start, part| {
            let mut room = interrupt::filled(2 * len, [0; LANES]);
            let (keys, places) = room.split_at_mut(len);
            let (first, mut steps) = (start / block_out * block_in, Steps::default());
            for (block, out) in part.chunks_mut(together * block_out).enumerate() {
                let first = first + block * together * block_in;
                if inner > 1 {
                    for column in (0..inner).step_by(LANES) {
                        let width = LANES.min(inner - column);
                        for (row, line) in keys.iter_mut().enumerate() {
                            (self.read)(first + row * inner + column, &mut line[..width]);
                        }
                        steps.take(len * width);
                        self.find(keys, places);
                        for (out, line) in out.chunks_exact_mut(inner).zip(&*places) {
                            put(&mut out[column..column + width], line);
                        }
                    }
                    continue;
                }
                let near = &mut places.as_flattened_mut()[..out.len() / made * len];
                (self.read)(first, near);
                steps.take(near.len());
                moves::turn(places.as_flattened(), [LANES, len], keys.as_flattened_mut(), moves::put);
                self.find(keys, places);
                if made > 1 {
                    moves::turn(places.as_flattened(), [len, LANES], keys.as_flattened_mut(), moves::put);
                    put(out, keys.as_flattened());
                } else {
                    put(out, &places[0]);
                }
            }
        });
    }

    /// Puts keys in order, and their places where they are wanted.
    fn find(&self, keys: &mut [Line], places: &mut [Line]) {
        Arch::new().dispatch(Network { rows: self, keys, places });
    }
}

fn put(out: &mut [MaybeUninit<i64>], places: &[u64]) {
    out.iter_mut().zip(places).for_each(|(out, place)| {
        out.write(*place as i64);
    });
}

/// Work that is compiled for each kind of vectors. The compiler leaves loops along lanes in pieces, where it is not told
/// what vectors there are.
struct Network<'a> {
    rows: &'a Rows<'a>,
    keys: &'a mut [Line],
    places: &'a mut [Line],
}

impl WithSimd for Network<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Network { rows, keys, places } = self;
        let ranks = rows.rank.map(|rank| {
            let numbers = numbers(simd, keys, rows.most);
            std::array::from_fn(|lane| rank(numbers[lane] as usize))
        });
        for (place, line) in (0..).zip(&mut *places) {
            *line = [place; LANES];
        }
        match ranks {
            Some(ranks) if !rows.is_narrow => {
                places.copy_from_slice(keys);
                sort(simd, keys);
                places[0] = found(simd, keys, places, ranks);
            }
            None if !rows.is_narrow => sort_both(simd, keys, places),
            _ => {
                let vectors = S::as_mut_simd_u64s(keys.as_flattened_mut()).0;
                for (key, place) in vectors.iter_mut().zip(S::as_simd_u64s(places.as_flattened()).0) {
                    *key = simd.or_u64s(*key, *place);
                }
                sort(simd, keys);
                let (vectors, bits) = (S::as_simd_u64s(keys.as_flattened()).0, simd.splat_u64s(PLACES));
                for (place, key) in S::as_mut_simd_u64s(places.as_flattened_mut()).0.iter_mut().zip(vectors) {
                    *place = simd.and_u64s(*key, bits);
                }
                if let Some(ranks) = ranks {
                    places[0] = picked(places, ranks);
                }
            }
        }
    }
}

/// How many keys of each lane are those of numbers, which are not greater than the last of them.
#[inline(always)]
fn numbers<S: Simd>(simd: S, keys: &[Line], most: u64) -> Line {
    let mut numbers = [0; LANES];
    let [one, none, most] = [1, 0, most].map(|number| simd.splat_u64s(number));
    for line in keys {
        for (count, key) in S::as_mut_simd_u64s(&mut numbers).0.iter_mut().zip(S::as_simd_u64s(line).0) {
            let is_number = simd.less_than_or_equal_u64s(*key, most);
            *count = simd.add_u64s(*count, simd.select_u64s(is_number, one, none));
        }
    }
    numbers
}

/// The number of each lane that is at its rank.
#[inline(always)]
fn picked(lines: &[Line], ranks: [usize; LANES]) -> Line {
    std::array::from_fn(|lane| lines[ranks[lane]][lane])
}

/// The places of the keys that are at these ranks in order, before they were put in order: of equal ones the one that
/// as many are before.
#[inline(always)]
fn found<S: Simd>(simd: S, sorted: &[Line], keys: &[Line], ranks: [usize; LANES]) -> Line {
    let (wanted, mut before, mut places) = (picked(sorted, ranks), ranks.map(|rank| rank as u64), [0; LANES]);
    let (one, none) = (simd.splat_u64s(1), simd.splat_u64s(0));
    let wanted = S::as_simd_u64s(&wanted).0;
    let before = S::as_mut_simd_u64s(&mut before).0;
    for line in sorted {
        for ((before, key), wanted) in before.iter_mut().zip(S::as_simd_u64s(line).0).zip(wanted) {
            let is_less = simd.less_than_u64s(*key, *wanted);
            *before = simd.sub_u64s(*before, simd.select_u64s(is_less, one, none));
        }
    }
    for (place, line) in (0..).zip(keys) {
        let (place, found) = (simd.splat_u64s(place), S::as_mut_simd_u64s(&mut places).0.iter_mut());
        let lanes = found.zip(before.iter_mut()).zip(S::as_simd_u64s(line).0).zip(wanted);
        for (((found, before), key), wanted) in lanes {
            let is_most = simd.less_than_or_equal_u64s(*key, *wanted);
            let is_equal = simd.and_m64s(is_most, simd.less_than_or_equal_u64s(*wanted, *key));
            let is_it = simd.and_m64s(is_equal, simd.less_than_u64s(*before, one));
            *found = simd.select_u64s(is_it, place, *found);
            *before = simd.sub_u64s(*before, simd.select_u64s(is_equal, one, none));
        }
    }
    places
}

/// Calls `exchange` with stretches of places whose numbers change places with those as far behind them as it says, if
/// they are not in order: the place of the first, how far, how many.
#[inline(always)]
fn each_stretch(len: usize, mut exchange: impl FnMut(usize, usize, usize)) {
    let mut merged = 1;
    while merged < len {
        let mut apart = merged;
        while apart > 0 {
            let mut start = apart % merged;
            while start + apart < len {
                // Both are of what is merged together.
                if start / (2 * merged) == (start + apart) / (2 * merged) {
                    exchange(start, apart, apart.min(len - apart - start));
                }
                start += 2 * apart;
            }
            apart /= 2;
        }
        merged *= 2;
    }
}

/// A stretch of lines and as many so far behind them, as vectors.
#[inline(always)]
fn two<S: Simd>(
    lines: &mut [Line],
    start: usize,
    apart: usize,
    count: usize,
) -> (&mut [S::u64s], &mut [S::u64s]) {
    let (before, behind) = lines[start..start + apart + count].split_at_mut(apart);
    let before = S::as_mut_simd_u64s(before[..count].as_flattened_mut()).0;
    (before, S::as_mut_simd_u64s(behind.as_flattened_mut()).0)
}

/// Puts the numbers of each lane in order.
#[inline(always)]
fn sort<S: Simd>(simd: S, lines: &mut [Line]) {
    each_stretch(
        lines.len(),
        #[inline(always)]
        |start, apart, count| {
            let (a, b) = two::<S>(lines, start, apart, count);
            for (a, b) in a.iter_mut().zip(b) {
                let is_less = simd.less_than_u64s(*b, *a);
                let least = simd.select_u64s(is_less, *b, *a);
                *b = simd.select_u64s(is_less, *a, *b);
                *a = least;
            }
        },
    );
}

/// Puts the keys of each lane in order, equal ones by their places, which go with them.
#[inline(always)]
fn sort_both<S: Simd>(simd: S, keys: &mut [Line], places: &mut [Line]) {
    each_stretch(
        keys.len(),
        #[inline(always)]
        |start, apart, count| {
            let (keys, other_keys) = two::<S>(keys, start, apart, count);
            let (places, other_places) = two::<S>(places, start, apart, count);
            let (a, b) = (keys.iter_mut().zip(places), other_keys.iter_mut().zip(other_places));
            for ((a_key, a_place), (b_key, b_place)) in a.zip(b) {
                let is_equal_or_less = simd.less_than_or_equal_u64s(*b_key, *a_key);
                let is_less = simd.or_m64s(
                    simd.less_than_u64s(*b_key, *a_key),
                    simd.and_m64s(is_equal_or_less, simd.less_than_u64s(*b_place, *a_place)),
                );
                let key = simd.select_u64s(is_less, *b_key, *a_key);
                let place = simd.select_u64s(is_less, *b_place, *a_place);
                *b_key = simd.select_u64s(is_less, *a_key, *b_key);
                *b_place = simd.select_u64s(is_less, *a_place, *b_place);
                (*a_key, *a_place) = (key, place);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};

    /// Keys of which many are equal, and some the greatest.
    fn key(place: usize, is_narrow: bool) -> u64 {
        let mixed = (place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let most = if is_narrow { !PLACES } else { u64::MAX };
        if mixed.is_multiple_of(7) { most } else { ((mixed >> 17) % 19 * (u64::MAX / 20)) & most }
    }

    #[test]
    fn rows_of_any_length_and_number_have_the_order_of_their_keys_and_places() {
        for is_narrow in [true, false] {
            for (outer, len, inner) in
                [(8, 2, 1), (37, 3, 1), (16, 10, 1), (70, 31, 1), (9, 256, 1), (33, 64, 1)]
                    .into_iter()
                    .chain([(1, 5, 8), (3, 3, 16), (2, 64, 50), (40, 17, 9), (0, 5, 9)])
            {
                let extent = Extent { outer, len, inner };
                assert!(takes(extent));
                let count = outer * len * inner;
                let keys: Vec<u64> = (0..count).map(|place| key(place, is_narrow)).collect();
                let read = |start: usize, out: &mut [u64]| out.copy_from_slice(&keys[start..][..out.len()]);
                let most = if is_narrow { !PLACES - 1 } else { u64::MAX - 1 };
                let rows = Rows { extent, read: &read, is_narrow, most, rank: None };
                let [one, two, four] = at_thread_counts(|| written(count, |out| rows.places(out)));
                assert!(one == two && one == four);
                let rank = |numbers: usize| if numbers < len { numbers } else { len / 3 };
                let rows = Rows { rank: Some(&rank), ..rows };
                let ranked = written(outer * inner, |out| rows.places(out));
                for (row, &of_rank) in ranked.iter().enumerate() {
                    let (block, column) = (row / inner, row % inner);
                    let at = |place: usize| (block * len + place) * inner + column;
                    let mut expected: Vec<i64> = (0..len as i64).collect();
                    expected.sort_by_key(|&place| keys[at(place as usize)]);
                    let found: Vec<i64> = (0..len).map(|place| one[at(place)]).collect();
                    assert_eq!(found, expected);
                    let numbers = (0..len).filter(|&place| keys[at(place)] <= most).count();
                    assert_eq!(of_rank, expected[rank(numbers)]);
                }
            }
        }
    }
}
