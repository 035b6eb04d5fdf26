//! Integers of few kinds in order: how many there are of each says where those of the next begin.

use crate::dtype::Ordered;
use crate::kernels::interrupt;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::simd::vectorised;
use crate::kernels::sorting::keys::key;

/// Writes the places in order of integers of which few differ: how many there are of each says where its places begin.
/// Answers whether they are such.
pub(super) fn by_counts<T: Ordered>(lane: &[T], turned: u64, out: &mut [i64]) -> bool {
    /// For so many elements there may be one more kind.
    const WORTH: usize = 4;
    let ends = vectorised(
        lane.len(),
        #[inline(always)]
        || {
            lane.iter().fold((u64::MAX, 0), |(least, most), &x| {
                let key = key(x) ^ turned;
                (least.min(key), most.max(key))
            })
        },
    );
    let kinds = ends.1.wrapping_sub(ends.0);
    if kinds >= (lane.len() / WORTH).min(1 << 16) as u64 {
        return false;
    }
    let kind = |&x: &T| ((key(x) ^ turned) - ends.0) as usize;
    let mut starts = interrupt::filled(kinds as usize + 1, 0);
    for part in lane.chunks(GRAIN) {
        interrupt::unwind_if_due();
        part.iter().for_each(|x| starts[kind(x)] += 1);
    }
    let mut before = 0;
    for start in &mut starts {
        (*start, before) = (before, before + *start);
    }
    for (part, lane) in lane.chunks(GRAIN).enumerate() {
        interrupt::unwind_if_due();
        for (place, x) in (part * GRAIN..).zip(lane) {
            let start = &mut starts[kind(x)];
            out[*start] = place as i64;
            *start += 1;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::sorting::keys::turned;

    #[test]
    fn integers_of_few_kinds_are_put_in_order_by_their_counts() {
        let elements: Vec<i64> = (0..3000).map(|at| at * 7919 % 101 - 50).collect();
        for descending in [false, true] {
            let mut found = vec![0; elements.len()];
            assert!(by_counts(&elements, turned::<i64>(descending), &mut found));
            let mut expected: Vec<i64> = (0..3000).collect();
            let key = |&place: &i64| elements[place as usize] * if descending { -1 } else { 1 };
            expected.sort_by_key(key);
            assert_eq!(found, expected);
        }
        assert!(!by_counts(&[i64::MIN, 0, i64::MAX, 3], 0, &mut [0; 4]));
    }
}
