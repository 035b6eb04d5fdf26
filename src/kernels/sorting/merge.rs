//! Sorting of many items that all differ: stretches that the processor has at hand, side by side, which are then
//! merged in pairs. Both are cut at fixed places, so that threads do not show and long sorting can be given up.

use std::cmp::Ordering;

use crate::kernels::interrupt;
use crate::kernels::parallel::parallel_parts;

/// Items that are sorted, or merged, at a time.
pub(in crate::kernels) const RUN: usize = 1 << 17;

/// The fewest.
const LEAST: usize = 1 << 12;

/// The items in order. So many elements are looked at to compare two of them.
pub(in crate::kernels) fn in_order<K: Copy + Send + Sync>(
    mut items: Vec<K>,
    elements: usize,
    compare: impl Fn(&K, &K) -> Ordering + Copy + Sync,
) -> Vec<K> {
    let run = (RUN / elements.next_power_of_two()).max(LEAST);
    parallel_parts(&mut items, run, |_, run| run.sort_unstable_by(compare));
    if items.len() <= run {
        return items;
    }
    let mut merged = interrupt::collected(items.iter().copied());
    let mut width = run;
    while width < items.len() {
        parallel_parts(&mut merged, run, |start, out| {
            let pair = start / (2 * width) * (2 * width);
            let (left, right) = items[pair..].split_at(width.min(items.len() - pair));
            merge(left, &right[..width.min(right.len())], start - pair, out, compare);
        });
        std::mem::swap(&mut items, &mut merged);
        width *= 2;
    }
    items
}

/// What both have in order, but for the first `skip`, as much as there is room for.
fn merge<K: Copy>(left: &[K], right: &[K], skip: usize, out: &mut [K], compare: impl Fn(&K, &K) -> Ordering) {
    let is_left_first = |at: usize, other: usize| compare(&left[at], &right[other]).is_lt();
    // How many of what is skipped stand on the left.
    let (mut low, mut high) = (skip.saturating_sub(right.len()), skip.min(left.len()));
    while low < high {
        let middle = low.midpoint(high);
        if is_left_first(middle, skip - middle - 1) { low = middle + 1 } else { high = middle }
    }
    let (mut at, mut other) = (low, skip - low);
    let mut rest = out.iter_mut();
    while at < left.len() && other < right.len() {
        let Some(out) = rest.next() else { return };
        let is_left = is_left_first(at, other);
        *out = if is_left { left[at] } else { right[other] };
        at += usize::from(is_left);
        other += usize::from(!is_left);
    }
    rest.zip(left[at..].iter().chain(&right[other..])).for_each(|(out, &item)| *out = item);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::at_thread_counts;

    #[test]
    fn many_items_come_into_order_at_any_number_of_threads() {
        for count in [0, 1, RUN, RUN + 1, 5 * RUN + 17] {
            let items: Vec<u64> =
                (0..count as u64).map(|item| item.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let mut expected = items.clone();
            expected.sort_unstable();
            let found = at_thread_counts(|| in_order(items.clone(), 1, u64::cmp));
            assert!(found.iter().all(|found| *found == expected));
        }
    }

    #[test]
    fn a_merge_goes_on_from_anywhere() {
        let (left, right) = ([1, 4, 5, 9], [2, 3, 7]);
        for skip in 0..=7 {
            let mut out = [0; 7];
            merge(&left, &right, skip, &mut out[..7 - skip], i32::cmp);
            assert_eq!(out[..7 - skip], [1, 2, 3, 4, 5, 7, 9][skip..]);
        }
    }
}
